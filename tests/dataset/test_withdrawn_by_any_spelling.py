"""Whoever asks knows the page by some address, at some moment: it goes all the same, and what is at work sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawler.dataset import exclude
from crawler.dataset.export import export
from crawler.dataset.living import Living
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.mix.spec import Source
from crawler.dataset.refused import Refusals
from crawler.dataset.select import Selection, select
from crawler.document import DropReason, Reason
from crawler.operations.exclude import WORK
from crawler.operations.merge import WORK as MERGE
from crawler.operations.registry import LINEAGE
from crawler.storage.corpus.labels import LABELS, forget_labels
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record
from crawler.urls.canonicalize import canonicalize
from tests.support.letters import OTHER, SITE, Letters
from tests.support.operations import answer_of
from tests.support.syllables import prose

NAME = canonicalize("https://bücher.example/über uns?b=2&a=1")
WHY = ("--reason", "asked", "--yes")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    letters = Letters(tmp_path / "corpus")
    assert NAME is not None
    letters.add(NAME, prose(90, 1))
    letters.add(f"{SITE}/other", prose(90, 2))
    letters.close()
    return tmp_path / "corpus"


def withdrawn(corpus: Path, *words: str) -> dict[str, Any]:
    done = answer_of(WORK, *words, *WHY, corpus)
    assert not done.problems
    return dict(done.facts)


def kept(corpus: Path) -> list[str]:
    return sorted(record["url"] for record in Living(Place(str(corpus))).kept())


@pytest.mark.parametrize(
    "spelling",
    [
        "https://bücher.example/über uns?b=2&a=1",
        "https://XN--BCHER-KVA.example/%c3%bcber%20uns?b=2&a=1",
        "http://bücher.example.:80/%C3%BCber%20uns?b=2&a=1#who",
        "HTTPS://Bücher.Example:443/x/../%C3%BCber%20uns?b=2&a=1&utm_source=mail&fbclid=3",
        "  https://bu\u0308cher.example/über%20%75ns?b=2&a=1\n",
        "https://bücher。example/über uns?a=1&b=2",
    ],
)
def test_a_page_goes_by_any_spelling_of_its_address(corpus: Path, spelling: str) -> None:
    assert withdrawn(corpus, "--url", spelling)["kept"] == 1
    assert kept(corpus) == [f"{SITE}/other"]
    assert Refusals.of([Place(str(corpus))]).refusal(spelling) is not None


def test_an_address_that_led_to_the_page_stands_for_it(corpus: Path) -> None:
    letters = Letters(corpus, "w2")
    letters.add(f"{OTHER}/long", prose(90, 3), redirects=[f"{OTHER}/s/1", f"{OTHER}/middle"])
    letters.add(f"{OTHER}/s/1", "", reason=DropReason.REDIRECTED, html="")
    letters.close()
    done = withdrawn(corpus, "--url", f"{OTHER}/s/1?")
    assert (done["kept"], done["raw"], done["unknown"]) == (1, 1, [])
    assert set(done["pages"]) >= {f"{OTHER}/long", f"{OTHER}/s/1"}
    assert Refusals.of([Place(str(corpus))]).refusal(f"{OTHER}/long") is not None


def test_what_was_taken_back_comes_back_and_goes_again(corpus: Path) -> None:
    assert NAME is not None
    withdrawn(corpus, "--url", NAME)
    assert answer_of(WORK, "--undo", "1", "--reason", "a mistake", corpus).facts["undone"] == 1
    letters = Letters(corpus, "w2")
    letters.add(NAME, prose(90, 1), when=3)
    letters.close()
    assert NAME in kept(corpus)
    again = withdrawn(corpus, "--url", NAME)
    assert (again["entry"], again["kept"], again["raw"]) == (2, 1, 1)
    assert kept(corpus) == [f"{SITE}/other"]


def test_a_withdrawal_that_begins_while_a_folder_is_made_leaves_none_with_the_page(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed as soon as it has said what it wants: neither shards nor manifest have changed."""
    place = Place(str(corpus))
    wish = exclude.Wish("asked", urls=frozenset({f"{SITE}/other"}), reach="text")
    whole = Living.kept

    def interrupted(living: Living, **more: Any) -> Iterator[Record]:
        yield from whole(living, **more)
        exclude._log(place, wish, exclude.find(place, wish).pages, 1.9e9)

    monkeypatch.setattr(Living, "kept", interrupted)
    with pytest.raises(StorageError, match="run the same command again"):
        export(place, tmp_path / "e", "jsonl.gz", max_bytes=10**6, now=1.8e9)
    (corpus / exclude.WITHDRAWALS).unlink()
    with pytest.raises(StorageError, match="run the same command again"):
        select(place, Place(str(tmp_path / "s")), Selection(), max_bytes=10**6, now=1.8e9)
    assert not (tmp_path / "e").exists() and not (tmp_path / "s").exists()
    sources = Sources((Source("ours", str(corpus), (), {}, {}, 1.0),))
    before = sources.state()
    (corpus / exclude.WITHDRAWALS).unlink()
    assert sources.state() != before


@pytest.mark.parametrize(
    ("reason", "stays"),
    [
        (DropReason.GONE, False),
        (DropReason.OPTOUT, False),
        (DropReason.ROBOTS_DISALLOWED, False),
        (DropReason.LOW_QUALITY, True),
        (DropReason.DOWNLOAD_FAILED, True),
    ],
)
def test_what_another_source_found_gone_or_closed_later_leaves_every_source(
    corpus: Path, tmp_path: Path, reason: Reason, stays: bool
) -> None:
    letters = Letters(tmp_path / "later", "w2", CRAWL_ID="later")
    letters.add(f"{SITE}/other", "", reason=reason, when=9, html="")
    letters.add(f"{OTHER}/new", prose(90, 8), when=9)
    letters.close()
    names = (str(corpus), str(tmp_path / "later"))
    counts = Counts()
    found = {r["url"] for r in Sources(tuple(Source(n, n, (), {}, {}, 1.0) for n in names)).read(0, counts)}
    assert (f"{SITE}/other" in found) is stays
    assert counts.withdrawn == (not stays)


def test_raw_pages_that_a_merge_left_where_they_were_are_named(corpus: Path, tmp_path: Path) -> None:
    letters = Letters(tmp_path / "two", CRAWL_ID="two")
    letters.add(f"{OTHER}/two", prose(90, 9))
    letters.close()
    answer_of(MERGE, "--out", tmp_path / "all", "--leave-archives", corpus, tmp_path / "two")
    done = answer_of(WORK, "--url", f"{SITE}/other", *WHY, tmp_path / "all")
    told = f"{corpus}: still holds 1 withdrawn raw page; withdraw the same there with `gristmill dataset exclude`"
    assert any(line.startswith(told) for line in done.lines)  # type: ignore[union-attr]
    found = answer_of(LINEAGE, tmp_path / "all", "--withdrawn")
    assert found.code == 1 and any(problem.startswith(told) for problem in found.problems)
    withdrawn(corpus, "--url", f"{SITE}/other")
    assert answer_of(LINEAGE, tmp_path / "all", "--withdrawn").code == 0


def test_labels_go_with_their_page_and_all_else_in_the_file_stays(corpus: Path) -> None:
    lines = [
        json.dumps({"url": f"{SITE}/other?utm_source=x", "answer": "keep", "at": "2026-01-02T00:00:00Z"}),
        "not a label",
        json.dumps({"url": NAME, "answer": "keep", "at": "2026-01-02T00:00:00Z"}),
    ]
    (corpus / LABELS).write_text("\n".join(lines))
    withdrawn(corpus, "--url", f"{SITE}/other")
    assert (corpus / LABELS).read_text().splitlines() == lines[1:]
    (corpus / LABELS).unlink()
    assert forget_labels(Place(str(corpus)), lambda _: True) == 0
