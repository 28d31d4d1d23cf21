"""A corpus in Parquet is the same corpus: every operation reads and writes it as it does JSON lines."""

from __future__ import annotations

import shutil

import pytest

from crawler.config import from_mapping
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.page import find_page
from crawler.dataset.refused import Refusals
from crawler.dataset.rewrite import rewrite
from crawler.dataset.select import Selection, select
from crawler.dataset.verify import finish_dead_writers, fix, verify
from crawler.dataset.versions import Cause
from crawler.observe.publish.croissant import metadata
from crawler.observe.publish.dataset_card import card
from crawler.observe.publish.provenance import gather
from crawler.observe.report.summary import summarise
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import as_lists
from tests.support.three_domains import Folder, add, fill, secret

pytest.importorskip("pyarrow", reason="pyarrow is optional")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")
    for shard_format in ("jsonl.zst", "parquet"):
        fill(folder / shard_format, SHARD_FORMAT=shard_format)
    return folder


@pytest.fixture
def corpus(made, tmp_path) -> Folder:
    return Folder(shutil.copytree(made / "parquet", tmp_path / "corpus"))


def names(folder: Folder) -> set[str]:
    return {e["path"].partition(".")[2] for e in folder.manifest()["files"] if e["kind"] != "archive"}


def test_it_holds_the_same_records_in_the_same_order_with_the_same_counts(made):
    lines, columns = Folder(made / "jsonl.zst"), Folder(made / "parquet")
    for folder in ("shards", "rejected"):
        assert columns.records(folder) == lines.records(folder) != []
    assert names(columns) == {"parquet"}
    volatile = {"path", "sha256", "bytes", "made_by", "archives"}

    def facts(folder):
        files = [e for e in folder.manifest()["files"] if e["kind"] != "archive"]
        return [{name: value for name, value in e.items() if name not in volatile} for e in files]

    assert facts(columns) == facts(lines)
    assert summarise(str(columns.path)).kept == summarise(str(lines.path)).kept == 12


def test_verify_finds_it_whole_and_finds_damage(corpus):
    assert not verify(corpus.place).damage
    path = next(e["path"] for e in corpus.manifest()["files"] if e["kind"] == "shards")
    content = bytearray((corpus.path / path).read_bytes())
    content[len(content) // 3] ^= 0xFF
    (corpus.path / path).write_bytes(content)
    assert path in verify(corpus.place).damage[0]


def test_a_subset_a_rewrite_and_a_withdrawal_stay_parquet(corpus, tmp_path):
    target = Folder(tmp_path / "subset")
    select(corpus.place, target.place, Selection(languages=frozenset({"de"})), max_bytes=10**6, now=1.8e9)
    assert target.records() == [r for r in corpus.records() if r["language"] == "de"] != []
    before = corpus.records()
    rewrite(corpus.place, lambda r: r | {"quality_score": 0.125, "of_mine": [1]}, Cause("test", "why", 1.8e9))
    assert corpus.records() == [r | {"quality_score": 0.125, "of_mine": [1]} for r in before]
    withdraw(corpus.place, Wish("asked", domains=frozenset({"alder.example"})), now=1.8e9)
    assert {r["domain"] for r in corpus.records()} == {"birch.example", "cedar.example"}
    assert secret("alder.example", 1).encode() not in corpus.everything()
    assert names(corpus) == names(target) == {"parquet"}
    assert not verify(corpus.place).damage and not verify(target.place).damage


def test_a_page_is_found_in_it(corpus):
    record = corpus.records()[3]
    assert find_page(corpus.place, record["url"], Refusals()).record == record


def test_surplus_records_go_and_the_file_stays_parquet(corpus):
    path = next(e["path"] for e in corpus.manifest()["files"] if e["kind"] == "shards")
    fix(corpus.place, [(path, 0)])
    assert len(corpus.records()) == 11 and names(corpus) == {"parquet"} and not verify(corpus.place).damage


def test_what_a_crash_leaves_is_sealed_as_parquet(tmp_path):
    config = from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1", "SHARD_FORMAT": "parquet"})
    corpus = Corpus(config)
    corpus.open()
    for number in range(3):
        add(corpus, "alder.example", "CC0-1.0", number, kept=True)
    for writer in (corpus._kept, corpus._rejected, corpus._archive):
        writer.abandon()
    corpus._lock.release()
    (part,) = (tmp_path / "shards").glob("*.part")
    assert part.name.endswith(".parquet.part")
    part.write_bytes(part.read_bytes() + b"half a frame")
    (tmp_path / "shards" / f".{part.name.removesuffix('.part')}.tmp").write_bytes(b"PAR1 half a file")
    assert finish_dead_writers(Place(str(tmp_path))) >= 1
    assert [r["url"] for r in Folder(tmp_path).records()] == [
        f"https://{'www.' * (n % 2)}alder.example/{n}" for n in range(3)
    ]
    assert not list((tmp_path / "shards").glob("*.part")) and not list((tmp_path / "shards").glob(".*"))
    assert not verify(Place(str(tmp_path))).damage


def test_a_shard_of_another_format_beside_it_is_read_too(corpus):
    add_more = Corpus(from_mapping({"CORPUS_DIR": str(corpus.path), "WORKER_ID": "w2", "SHARD_FORMAT": "jsonl.gz"}))
    add_more.open()
    add(add_more, "dogwood.example", "CC0-1.0", 7, kept=True)
    add_more.close()
    assert len(corpus.records()) == 13 and names(corpus) == {"parquet", "jsonl.gz"}
    assert not verify(corpus.place).damage


def test_published_descriptions_name_the_format(corpus):
    found = gather(str(corpus.path))
    assert {f["encodingFormat"] for f in metadata(found)["distribution"]} == {"application/vnd.apache.parquet"}
    assert "shards/*.parquet" in card(found)


@pytest.mark.parametrize("shard_format", ["jsonl.zst", "parquet"])
def test_load_dataset_reads_the_corpus_by_its_card_without_a_network(made, tmp_path, monkeypatch, shard_format):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed (make test installs it)")
    corpus = Folder(shutil.copytree(made / shard_format, tmp_path / "corpus"))

    # fields that are null everywhere, and objects whose names and types differ from record to record
    def filled(record):
        mixed = record["language"] if record["language"] == "de" else 2
        return record | {
            "quality_signals": {record["domain"]: 1, "x": mixed},
            "pii_spans": as_lists([(1, 2, "PERSON")]),
        }

    rewrite(corpus.place, filled, Cause("test", "why", 1.8e9))
    (corpus.path / "README.md").write_text(card(gather(str(corpus.path))))
    loaded = datasets.load_dataset(str(corpus.path), cache_dir=str(tmp_path / "cache"))["train"]
    assert [(r["url"], r["text"], r["title"], r["quality_score"]) for r in loaded] == [
        (r["url"], r["text"], r["title"], r["quality_score"]) for r in corpus.records()
    ]
    assert loaded.features["author"] == datasets.Value("string")
    if shard_format == "jsonl.zst":
        # its JSON reader takes a time for one, and the string it makes of it again is written in another way
        times = [r | {"crawled_at": r["crawled_at"].replace("T", " ").removesuffix("Z")} for r in corpus.records()]
        assert [dict(r) for r in loaded] == times


def test_damage_in_a_file_that_is_read_names_the_file(corpus):
    path = next(e["path"] for e in corpus.manifest()["files"] if e["kind"] == "shards")
    (corpus.path / path).write_bytes(b"PAR1 nothing")
    with pytest.raises(StorageError, match="restore it from a copy"):
        corpus.records()
