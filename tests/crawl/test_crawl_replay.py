"""`gristmill crawl replay` on archives of any origin: order, damage, kills and parts change nothing in the corpus."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler import settings as project
from crawler.problems import InputError
from crawler.spiders.arguments import read_replay_arguments
from crawler.storage.files.shards import read_lines
from tests.support.foreign import Writer, page

PAGES = 60
DAMAGED = 4


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Two archives of 30 pages; every sixth page repeats the text of an earlier one, four records are damaged."""
    folder = tmp_path_factory.mktemp("archives")
    for part in range(2):
        writer = Writer()
        for number in range(part * PAGES // 2, (part + 1) * PAGES // 2):
            writer.add(f"http://a.test/{number}", page(number % 25 if number % 6 == 0 else number))
            if number % 15 == 7:
                writer.break_last()
        writer.save(folder / f"{part}.warc.gz")
    return folder


def lines(folder: Path) -> dict[str, bytes]:
    """All records of a corpus by folder, in order, whatever the shards are cut into."""
    return {
        kind: b"".join(line for path in sorted((folder / kind).glob("*.jsonl.zst")) for line in read_lines(path))
        for kind in ("shards", "rejected")
    }


def sealed(folder: Path) -> dict[str, bytes]:
    return {f"{kind}/{p.name}": p.read_bytes() for kind in ("shards", "rejected") for p in (folder / kind).iterdir()}


def slowed() -> str:
    """The pipelines with one more that takes its time, right before the comparison with other documents."""
    return json.dumps({**project.ITEM_PIPELINES, "tests.crawl.slow_pipeline.SlowPipeline": 460})


def counters(folder: Path) -> Counter[str]:
    runs = json.loads((folder / "manifest.json").read_bytes())["runs"]
    return sum((Counter(run["counters"]) for run in runs), Counter())


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "the condition never came true"
        time.sleep(0.02)


def bookmarks(folder: Path) -> int:
    """How far the bookmarks are: bytes before them, all archives together."""
    found = [json.loads(path.read_bytes()) for path in folder.glob("manifest.d/replay-*/*.bookmark")]
    return sum(mark["offset"] for mark in found)


def test_a_page_rejected_behind_a_pipeline_of_the_users_keeps_its_scores(crawl, tmp_path):
    writer = Writer()
    writer.add("http://a.test/1", page(1))
    writer.save(tmp_path / "one.warc.gz")
    pipelines = json.dumps({**project.ITEM_PIPELINES, "tests.crawl.slow_pipeline.SlowPipeline": 250})
    archive = {"archive": str(tmp_path / "one.warc.gz")}
    done = crawl.run(archive, spider="replay", timeout=300, ITEM_PIPELINES=pipelines, QUALITY_MIN_SCORE=1.0)
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, lines(crawl.folder)["rejected"].splitlines())
    assert record["reason"] == "low_quality"
    assert 0 < record["quality_score"] < 1 and record["quality_signals"]


def test_a_page_without_a_byte_is_checked_for_opt_outs_as_in_the_crawl(crawl, tmp_path):
    writer = Writer()
    writer.add("http://a.test/empty", b"")
    writer.save(tmp_path / "one.warc.gz")
    done = crawl.run({"archive": str(tmp_path / "one.warc.gz")}, spider="replay", timeout=300)
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, lines(crawl.folder)["rejected"].splitlines())
    assert (record["reason"], record["noai_checked"]) == ("no_text", True)


def test_timing_kills_and_number_of_workers_change_no_byte(crawl, archives, tmp_path):
    """Once undisturbed; once with two workers and a slow step; once killed twice on the way: the same records."""
    place = {"archive": str(archives)}
    crawl.folder = tmp_path / "undisturbed"
    done = crawl.run(place, spider="replay", timeout=300)
    assert done.returncode == 0, done.stderr
    expected, files = lines(crawl.folder), sealed(crawl.folder)
    reasons = Counter(json.loads(line)["reason"] for line in expected["rejected"].splitlines())
    assert reasons["broken_record"] == DAMAGED
    assert reasons["exact_duplicate"] >= 3
    assert sum(reasons.values()) + len(expected["shards"].splitlines()) == PAGES

    crawl.folder = tmp_path / "slowed"
    done = crawl.run(place, spider="replay", timeout=300, STAGE_WORKERS=2, ITEM_PIPELINES=slowed())
    assert done.returncode == 0, done.stderr
    assert sealed(crawl.folder) == files

    crawl.folder = tmp_path / "killed"
    for _ in range(2):
        before = bookmarks(crawl.folder)
        process = crawl.start(place, spider="replay", ITEM_PIPELINES=slowed(), COMMIT_SECONDS=0.05)
        wait_for(lambda seen=before, running=process: bookmarks(crawl.folder) > seen or running.poll() is not None)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    done = crawl.run(place, spider="replay", timeout=300)
    assert done.returncode == 0, done.stderr
    assert lines(crawl.folder) == expected
    assert counters(crawl.folder)["replay/archives_finished"] >= 1

    kept = sealed(crawl.folder)
    done = crawl.run(place, spider="replay", timeout=300)  # there is nothing left to do
    assert (done.returncode, sealed(crawl.folder)) == (0, kept), done.stderr
    done = crawl.run(place, spider="replay", timeout=300, QUALITY_MIN_SCORE=0.9)
    assert done.returncode == 1 and "with other settings" in done.stderr


def test_parts_share_the_archives_and_leave_nothing_out(crawl, archives):
    for part in ("1/2", "2/2"):
        done = crawl.run({"archive": f"{archives}/*.warc.gz", "part": part}, spider="replay", timeout=300)
        assert done.returncode == 0, done.stderr
    urls = Counter(record["url"] for kind in ("shards", "rejected") for record in crawl.records(kind))
    assert len(urls) == PAGES and set(urls.values()) == {1}
    assert {record["worker_id"] for record in crawl.records()} == {"replay-1of2", "replay-2of2"}


def foreign(folder: Path) -> dict[str, int]:
    """One archive with every case, and a WET file; answers the offset of what is broken."""
    writer = Writer()
    writer.add("http://a.test/kept", page("kept"))
    writer.add("http://a.test/header", page("header"), http=[("X-Robots-Tag", "noai")])
    writer.add("http://a.test/tdm", page("tdm"), http=[("TDM-Reservation", "1")])
    writer.add("http://a.test/meta", page("meta", '<meta name="robots" content="noai">'))
    writer.add("http://a.test/gone", b"not here", "404 Not Found")
    writer.add("http://a.test/moved", b"", "301 Moved Permanently", http=[("Location", "/kept")])
    writer.add("http://a.test/denied", b"", "403 Forbidden")
    writer.add("http://a.test/again", b"", "304 Not Modified", kind="revisit", warc={"WARC-Refers-To": "<urn:uuid:0>"})
    writer.add("http://a.test/cut", page("cut"), warc={"WARC-Truncated": "length"})
    writer.add("http://a.test/lost", page("lost"), warc={"WARC-Truncated": "disconnect"})
    writer.add("dns:a.test", b"a.test. 300 IN A 127.0.0.1\n", kind="resource")
    writer.add("http://a.test/broken", page("broken"))
    broken = writer.break_last()
    writer.add("http://a.test/image", b"\x89PNG\r\n", http=[("Content-Type", "image/png")])
    writer.save(folder / "CC-MAIN-1.warc.gz")
    text = "\n".join(re.findall(r"<p>(.*?)</p>", page("text").decode()))
    Writer().add("http://a.test/text", text.encode(), kind="conversion").save(folder / "CC-MAIN-1.warc.wet.gz")
    (folder / "list.txt").write_text(f"# both\n{folder}/CC-MAIN-1.warc.gz\n\n{folder}/CC-MAIN-1.warc.wet.gz\n")
    return {"broken": broken, "text": len(text)}


def test_foreign_archives_are_judged_as_a_crawl_would_and_say_what_they_do_not_know(crawl, tmp_path):
    facts = foreign(tmp_path / "cc")
    done = crawl.run({"archive": str(tmp_path / "cc" / "list.txt")}, spider="replay", timeout=300)
    assert done.returncode == 0, done.stderr
    kept = {record["url"]: record for record in crawl.records()}
    assert set(kept) == {"http://a.test/kept", "http://a.test/text"}
    assert {record["robots_status"] for record in kept.values()} == {"unknown"}
    assert kept["http://a.test/kept"]["crawled_at"] == "2026-01-02T03:04:05.000Z"
    assert kept["http://a.test/text"]["extractor"] == "wet"
    assert len(str(kept["http://a.test/text"]["text"])) == facts["text"]
    rejected = {str(r["url"]).rpartition("/")[2]: (r["stage"], r["reason"]) for r in crawl.records("rejected")}
    place = f"CC-MAIN-1.warc.gz#{facts['broken']}"
    assert rejected == {
        "header": ("optout", "optout"),
        "tdm": ("optout", "optout"),
        "meta": ("optout", "optout"),
        "gone": ("fetch", "gone"),
        "moved": ("frontier", "redirected"),
        "denied": ("fetch", "access_denied"),
        "again": ("fetch", "unchanged"),
        "cut": ("fetch", "too_large"),
        "lost": ("fetch", "download_failed"),
        "image": ("parse", "not_text"),
        place: ("archive", "broken_record"),
    }
    [broken] = [r for r in crawl.records("rejected") if r["reason"] == "broken_record"]
    assert broken["warc_offset"] == facts["broken"] and f"byte {facts['broken']}" in str(broken["detail"])
    assert not any("text" in r for r in crawl.records("rejected") if r["stage"] in {"optout", "fetch", "archive"})
    counted = counters(crawl.folder)
    assert (counted["replay/robots_unknown"], counted["replay/broken_records"]) == (12, 1)
    assert counted["replay/skipped/scheme/dns"] == 1


def test_of_a_page_that_says_no_in_a_later_archive_no_text_stays_and_of_others_the_newest_version(crawl, tmp_path):
    no, later = [("X-Robots-Tag", "noai")], {"WARC-Date": "2026-03-01T00:00:00Z"}
    writer = Writer()
    for name in ("stays", "refuses", "same"):
        writer.add(f"http://a.test/{name}", page(name))
    writer.add("http://a.test/stays", page("stays, later"), warc=later)
    writer.add("http://a.test/refuses", page("refuses, later"), http=no, warc=later)
    writer.add("http://a.test/same", b"", "304 Not Modified", kind="revisit", http=no, warc=later)
    writer.add("http://jane:secret@a.test/", page("a name"))
    writer.save(tmp_path / "all.warc.gz")
    done = crawl.run({"archive": str(tmp_path / "all.warc.gz")}, spider="replay", timeout=300)
    assert done.returncode == 0, done.stderr
    assert [(r["url"], r["title"]) for r in crawl.records()] == [("http://a.test/stays", "Page stays, later")]
    reasons = Counter(str(r["reason"]) for r in crawl.records("rejected"))
    assert reasons == {"optout": 2, "broken_record": 1} and counters(crawl.folder)["replay/broken_records"] == 1
    assert "secret" not in done.stderr + str(crawl.records("rejected"))


def test_a_replay_that_cannot_be_done_ends_with_one_sentence_and_code_1(crawl, tmp_path):
    (tmp_path / "list.txt").write_text(f"{tmp_path}/gone.warc.gz\n")
    done = crawl.run({"archive": f"{tmp_path}/list.txt"}, spider="replay", timeout=300, STAGE_WORKERS=0)
    assert done.returncode == 1
    assert "gone.warc.gz: cannot be opened" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "needs -a archive="),
        ({"archive": "/nowhere/*.warc.gz"}, "no archive matches"),
        ({"archive": "/nowhere/x.warc.gz"}, "no such archive"),
        ({"archive": "/nowhere/list.txt"}, "cannot be opened"),
        ({"archive": "nowhere://bucket/x.warc.gz"}, "nowhere"),
        ({"archive": "x.warc.gz", "part": "3/2"}, "expected K/N"),
        ({"archive": "x.warc.gz", "anonymous": "perhaps"}, "expected yes or no"),
        ({"archive": "x.warc.gz", "parts": "3"}, "unknown argument"),
    ],
)
def test_unusable_arguments_are_named_with_what_to_do(arguments, said):
    with pytest.raises(InputError, match=re.escape(said)):
        read_replay_arguments(arguments)


def test_an_archive_of_another_kind_is_refused_before_anything_starts(tmp_path):
    (tmp_path / "x.arc.gz").write_bytes(b"")
    with pytest.raises(InputError, match="warcio recompress"):
        read_replay_arguments({"archive": f"{tmp_path}/x.arc.gz"})


def test_every_part_has_its_own_archives_and_name(tmp_path):
    place = tmp_path
    (place / "x.warc").write_bytes(b"")
    plans = [read_replay_arguments({"archive": f"{place}/*.warc", "part": f"{n}/3"}) for n in (1, 2, 3)]
    assert [plan.share(list("abcdefg")) for plan in plans] == [list("adg"), list("be"), list("cf")]
    assert [plan.worker_id for plan in plans] == ["replay-1of3", "replay-2of3", "replay-3of3"]
