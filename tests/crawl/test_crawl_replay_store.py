"""A replay into an object store takes out at its end what a later version replaced or refused, or says it did not.

`file://` is a store to the project: it has a spool, uploads, and no locks.
"""

from __future__ import annotations

import json
import sys

import pytest

from crawler.dataset.verify import verify
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_records
from tests.support import warm
from tests.support.foreign import Writer, page
from tests.support.places import PROJECT

LATER = {"WARC-Date": "2026-02-02T03:04:05Z"}
REFUSED = "http://a.test/1"


@pytest.fixture
def archives(tmp_path):
    """Three pages, and a later archive in which one of them refuses."""
    folder = tmp_path / "archives"
    folder.mkdir()
    first, later = Writer(), Writer()
    for number in range(3):
        first.add(f"http://a.test/{number}", page(number))
    later.add(REFUSED, page(11), http=[("X-Robots-Tag", "noai")], warc=LATER)
    first.save(folder / "a.warc.gz")
    later.save(folder / "b.warc.gz")
    return folder


@pytest.fixture
def replay(crawl, archives, tmp_path):
    def run(**arguments):
        return crawl.run(
            {"archive": str(archives), **arguments},
            spider="replay",
            timeout=300,
            CORPUS_DIR=f"file://{tmp_path}/store",
            CORPUS_SPOOL_DIR=tmp_path / f"spool-{arguments.get('part', 'all')[0]}",  # each on a machine of its own
        )

    return run


@pytest.fixture
def store(tmp_path):
    return Place(f"file://{tmp_path}/store")


def texts(place):
    return {
        record["url"]: record.get("text")
        for folder in ("shards", "rejected")
        for name in place.listing(folder)
        for record in read_records(place, f"{folder}/{name}")
    }


def test_a_page_that_a_later_archive_refuses_is_withdrawn_from_the_store(replay, store):
    done = replay()
    assert done.returncode == 0, done.stderr
    found = texts(store)
    assert set(found) == {f"http://a.test/{number}" for number in range(3)}
    assert not found[REFUSED]
    assert verify(store).damage == []
    assert store.manifest()["version"] == 2
    assert "supersede" not in done.stderr


def test_the_last_of_several_parts_says_what_is_to_be_done_and_ends_with_1(replay, store):
    first = replay(part="1/2")
    assert first.returncode == 0, first.stderr
    last = replay(part="2/2")
    assert last.returncode == 1
    assert "every page is recorded, but records that were replaced or withdrawn are still there" in last.stderr
    (command,) = {line.split("`")[1] for line in last.stderr.splitlines() if "`gristmill dataset supersede" in line}
    done = warm.run(
        [sys.executable, "-m", "crawler.commands.gristmill", *command.split()[1:]],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "1 page opted out and was deleted" in done.stdout
    assert not texts(store)[REFUSED]
    again = replay(part="2/2")
    assert again.returncode == 0, again.stderr


def test_while_another_part_is_at_work_a_part_only_says_who_does_it(replay, store):
    assert replay(part="1/2").returncode == 0
    name = "manifest.d/crawl-replay-1of2.json"
    ledger = json.loads(store.content(name))
    ledger["runs"][0]["ended"] = None
    store.put(name, json.dumps(ledger).encode())
    done = replay(part="2/2")
    assert done.returncode == 0, done.stderr
    assert "once the other parts have ended (crawl-replay-1of2 for one), `gristmill dataset supersede" in done.stderr


def test_a_replay_beside_an_open_run_says_that_it_left_what_was_replaced(replay, store):
    assert replay(part="1/2").returncode == 0
    name = "manifest.d/crawl-replay-1of2.json"
    ledger = json.loads(store.content(name))
    ledger["runs"][0]["ended"] = None
    store.put(name, json.dumps(ledger).encode())
    done = replay()
    assert done.returncode == 1
    assert "1 run without an end: crawl-replay-1of2" in done.stderr
