"""Held pages are in a partition of their own: counted, in no product, released whole, confirmed without text."""

import io
import re

import orjson
import pytest
from rich.console import Console

from crawler.config import from_mapping
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.exclude import _log as write_log
from crawler.dataset.held import Choice, confirm, release, waiting
from crawler.dataset.rewrite import records_in
from crawler.dataset.verify import verify
from crawler.document import Drop, DropReason
from crawler.observe.report.summary import summarise
from crawler.observe.report.terminal import show
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import Place
from crawler.storage.files.records import holding_of, record_of
from tests.support.corpus_folder import Folder, document

HOLD = Drop("pii", DropReason.HELD_PII, "no model of PII_MODELS for 'de'; words on pay")
NOW = 1.8e9


def held(number, **values):
    doc = document(number, language="de", pii_spans=[(0, 3, "PERSON")], **values)
    return holding_of(doc, HOLD)


@pytest.fixture(params=["jsonl.zst", "parquet"])
def folder(tmp_path, request):
    made = Folder(tmp_path / "corpus")
    corpus = made.opened(SHARD_FORMAT=request.param)
    corpus.keep(record_of(document(0)))
    for number in (1, 2, 3):
        corpus.hold(held(number), "pii")
    corpus.close()
    return made


def place_of(folder):
    return Place(str(folder.path))


def healthy(folder):
    found = verify(place_of(folder))
    return not (found.damage or found.surplus or found.beside.strangers or found.beside.unfinished)


def urls(folder, kind):
    return [record["url"].rpartition("/")[2] for record in records_in(place_of(folder), (kind,))]


def test_held_pages_are_counted_by_themselves(folder):
    manifest = folder.manifest()
    assert {name: manifest["counts"][name] for name in ("kept", "held", "rejected")} == {
        "kept": 1,
        "held": 3,
        "rejected": 0,
    }
    assert [e["path"].rpartition("-")[0] for e in manifest["files"] if e["kind"] == "held"] == ["held/pii/crawl-w1"]
    summary = summarise(str(folder.path))
    assert (summary.kept, summary.withheld, summary.rejected) == (1, 3, 0)
    console = Console(file=io.StringIO(), width=100, color_system=None)
    show(summary, console)
    assert re.search(r"1 kept +0 rejected +3 held for review$", console.file.getvalue(), re.MULTILINE)
    assert summary.withheld_languages == {"de": 3}
    assert healthy(folder)


def test_a_released_page_is_the_kept_one_that_it_would_have_been(folder):
    done = release(place_of(folder), Choice(urls=frozenset({"https://example.org/2"})), now=NOW, reason="a mill")
    assert (done.version, done.released) == (2, 1)
    assert urls(folder, "held") == ["1", "3"]
    assert sorted(urls(folder, "shards")) == ["0", "2"]
    found = next(r for r in records_in(place_of(folder)) if r["url"].endswith("/2"))
    expected = orjson.loads(orjson.dumps(record_of(document(2, language="de", pii_spans=[(0, 3, "PERSON")]))))
    assert {name: value for name, value in found.items() if name != "extra"} == expected
    assert healthy(folder)


def test_of_a_confirmed_page_no_text_stays_anywhere(folder):
    confirm(place_of(folder), Choice(domains=frozenset({"example.org"})), now=NOW, reason="a person's life")
    assert urls(folder, "held") == []
    assert urls(folder, "shards") == ["0"]
    assert sorted(urls(folder, "rejected")) == ["1", "2", "3"]
    for record in records_in(place_of(folder), ("rejected",)):
        assert record["reason"] == "pii_confirmed"
        assert not record.get("text")
    assert not [path for path in folder.path.rglob("held/pii/*") if path.is_file()]
    assert healthy(folder)


def test_a_choice_takes_what_all_its_parts_name(folder):
    place = place_of(folder)
    assert len(list(waiting(place, Choice("pii")))) == 3
    assert len(list(waiting(place, Choice(languages=frozenset({"de"}))))) == 3
    assert not list(waiting(place, Choice(languages=frozenset({"fr"}))))
    assert not list(waiting(place, Choice(urls=frozenset({"https://example.org/2"}), languages=frozenset({"fr"}))))


def test_a_withdrawal_reaches_held_pages(folder):
    withdraw(place_of(folder), Wish("letter", frozenset({"example.org"})), now=NOW)
    assert not list(waiting(place_of(folder), Choice()))
    assert not [p for p in folder.path.rglob("*") if p.is_file() and b"The text of page" in p.read_bytes()]


def test_a_page_whose_withdrawal_was_cut_off_is_not_released(folder):
    place = place_of(folder)
    write_log(place, Wish("letter", frozenset({"example.org"}), refused=frozenset({"example.org"})), [], now=NOW)
    assert release(place, Choice(), now=NOW, reason="a mill").released == 0
    assert urls(folder, "shards") == ["0"]
    assert sorted(urls(folder, "held")) == ["1", "2", "3"]


def test_held_pages_of_a_killed_worker_are_recovered(tmp_path):
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "c"), "CRAWL_ID": "crawl", "WORKER_ID": "w1"})
    corpus = Corpus(config)
    corpus.open()
    corpus.hold(held(1), "pii")
    corpus.commit()
    for writer in (corpus._archive, *corpus._records()):  # as a death does
        writer.abandon()
    corpus._lock.release()
    other = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c"), "CRAWL_ID": "crawl", "WORKER_ID": "w2"}))
    found = other.open()
    other.close()
    assert [file.path.rpartition("/")[0] for file in found] == ["held/pii"]
    assert len(list(waiting(Place(str(tmp_path / "c")), Choice()))) == 1
