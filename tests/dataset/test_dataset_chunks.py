"""Chunks for retrieval say where they stand in a page, are no longer than asked for, and lose nothing of it."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import shutil

import orjson
import pytest

from crawler.config import from_mapping
from crawler.dataset.chunks import chunks, fragment_url
from crawler.dataset.chunks_folder import chunk_corpus, row_of, schema
from crawler.dataset.entries import Wanted
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.registry.derived import CHUNKS
from crawler.dataset.registry.holdings import trace
from crawler.dataset.rewrite import rewrite
from crawler.dataset.verify_derived import verify_derived
from crawler.dataset.versions import Cause
from crawler.operations.chunks import WORK
from crawler.operations.declared import WrongCall
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import as_lists, record_of
from tests.support.corpus_folder import Folder, document
from tests.support.syllables import prose
from tests.support.three_domains import DOMAINS

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is optional")


def length(text):
    return len(text)


def page(*blocks, language="en", **fields):
    """A record of blocks: (type, text), an empty line between two."""
    text, spans = "", []
    for kind, block in blocks:
        text += "\n\n" if text else ""
        spans.append((len(text), len(text) + len(block), kind))
        text += block
    return {
        "text": text, "parts": as_lists(spans), "language": language, "title": "Birds", "doc_id": "sha256:1",
        "canonical_url": "https://birds.example/a", "url": "https://birds.example/a",
    } | fields  # fmt: skip


def cut(record, size, overlap=0, measure=length):
    found = list(chunks(record, measure, size=size, overlap=overlap))
    assert all(measure(record["text"][c.start : c.end]) == c.tokens for c in found)
    return found, [record["text"][c.start : c.end] for c in found]


def test_a_heading_begins_a_chunk_and_stands_in_its_path():
    record = page(("paragraph", "An opening."), ("heading", "Owls"), ("heading", "Food"), ("paragraph", "Mice."),
                  ("heading", "Geese"), ("paragraph", "Grass."))  # fmt: skip
    found, texts = cut(record, 1_000)
    assert texts == ["An opening.", "Owls\n\nFood\n\nMice.", "Geese\n\nGrass."]
    assert [row_of(record, c)["heading_path"] for c in found] == [
        ["Birds"], ["Birds", "Owls", "Food"], ["Birds", "Geese"],
    ]  # fmt: skip
    assert found[1].types == ("heading", "paragraph")


def test_rows_of_tables_and_lines_of_code_stay_whole_while_the_size_allows_it():
    record = page(("table", "owl | mouse. Vole\ngoose | grass\nswan | weed"), ("code", "fly(owl)\nland(owl)"))
    assert cut(record, 20)[1] == ["owl | mouse. Vole", "goose | grass", "swan | weed", "fly(owl)\nland(owl)"]


def test_a_sentence_is_not_cut_at_an_abbreviation_or_at_the_end_of_a_line():
    record = page(("paragraph", "Here Dr. Finch\nsaw an owl. It flew e.g. at night. Then it slept."))
    assert cut(record, 36)[1] == ["Here Dr. Finch\nsaw an owl.", "It flew e.g. at night.", "Then it slept."]


@pytest.mark.parametrize(
    ("language", "text", "size", "first"),
    [
        ("zh", "猫头鹰吃老鼠。它晚上飞。白天睡觉。", 8, "猫头鹰吃老鼠。"),
        ("ja", "「鳥は飛ぶ。」と言った。夜である。", 12, "「鳥は飛ぶ。」と言った。"),
        ("th", "นกฮูกกินหนู มันบินตอนกลางคืน", 14, "นกฮูกกินหนู"),
        ("hi", "उल्लू रात में उड़ता है। वह दिन में सोता है।", 26, "उल्लू रात में उड़ता है।"),
        ("ar", "هل تطير البومة؟ نعم تطير ليلا.", 18, "هل تطير البومة؟"),
    ],
)
def test_sentences_of_every_script_end_where_its_writers_end_them(language, text, size, first):
    assert cut(page(("paragraph", text), language=language), size)[1][0] == first


def test_a_text_without_boundaries_is_cut_between_signs_and_never_before_a_mark():
    for text in ("นี้" * 40, "e\u0301" * 40, "👩\u200d🚀" * 20, "x" * 100):
        texts = cut(page(("paragraph", text), language="und"), 7)[1]
        assert "".join(texts) == text and all(len(each) <= 7 for each in texts)
        assert not any(each[0] in "\u0301\u200d\u0e35\u0e49" for each in texts)
    assert cut(page(("paragraph", "e\u0301e\u0301")), 1)[1] == ["e\u0301", "e\u0301"]  # one sign is the least


@pytest.mark.parametrize("size", [1, 5, 17, 60, 400])
@pytest.mark.parametrize("part", [0, 2])
def test_nothing_but_white_space_is_lost_and_what_is_repeated_is_no_more_than_asked(size, part):
    sentences = " ".join(f"Owl {n} flies at {n * n}." for n in range(20))
    record = page(("paragraph", sentences), ("heading", "Food"), ("list", "mice\nvoles"), ("code", "a = 1\n\n\nb = 2"))
    overlap = size // 2 if part else 0
    found, _ = cut(record, size, overlap)
    seen = set(itertools.chain.from_iterable(range(c.start, c.end) for c in found))
    assert not {at for at, sign in enumerate(record["text"]) if not sign.isspace()} - seen
    assert all(c.tokens <= size for c in found)
    for before, after in itertools.pairwise(found):
        assert before.end < after.end and before.start < after.start
        assert before.end - after.start <= overlap


def test_whole_sentences_are_repeated():
    assert cut(page(("paragraph", "One owl. Two owls. Six owls. Ten owls.")), 20, 10)[1] == [
        "One owl. Two owls.", "Two owls. Six owls.", "Six owls. Ten owls.",
    ]  # fmt: skip


def test_a_page_without_text_or_parts_has_the_chunks_that_it_has():
    assert cut({"text": "", "parts": None}, 5)[1] == []
    assert cut({"text": " \n "}, 5)[1] == []
    assert cut({"text": "No parts. None at all."}, 12)[1] == ["No parts.", "None at all."]


def test_an_address_scrolls_to_a_chunk_only_where_the_page_has_its_words():
    record = page(("paragraph", "Owls, by night-time & day."), ("table", "owl | mouse"))
    first, second = cut(record, 26)[0]
    assert fragment_url(record, first) == ("https://birds.example/a#:~:text=Owls%2C%20by%20night%2Dtime%20%26%20day.")
    assert fragment_url(record, second) is None
    assert fragment_url(record | {"document_kind": "pdf"}, first) is None
    assert fragment_url(record | {"pii_spans": as_lists([(0, 4, "PERSON")])}, first) is None


@pytest.fixture
def made(three_domains, tmp_path):
    out = tmp_path / "chunks"
    done = chunk_corpus(three_domains.place, out, size=12, overlap=0, tokenizer=None, max_bytes=3_000, now=1.8e9)
    return out, done


def rows_in(out):
    return [row for path in sorted(out.glob("data/*.parquet")) for row in pq.read_table(path).to_pylist()]


def test_every_row_is_cut_out_of_its_record_and_says_under_which_licence(three_domains, made):
    out, done = made
    texts = {r["canonical_url"]: r for r in three_domains.records()}
    rows = rows_in(out)
    assert (len(rows), done.documents) == (done.chunks, len({row["canonical_url"] for row in rows}))
    assert done.files > 1 and len({row["chunk_id"] for row in rows}) == len(rows) > done.documents
    for row in rows:
        record = texts[row["canonical_url"]]
        assert record["text"][row["start"] : row["end"]] == row["text"]
        assert row["license_tag"] == DOMAINS[row["domain"]] and row["warc_record_id"] == record["warc_record_id"]
        assert row["tokens"] == -(-len(row["text"].encode()) // 4) <= 12
    assert pq.read_schema(next(out.glob("data/*.parquet"))).equals(schema())


def test_equal_corpora_give_equal_files_and_a_damaged_one_is_found(three_domains, made, tmp_path):
    out, _ = made
    again = tmp_path / "again"
    chunk_corpus(three_domains.place, again, size=12, overlap=0, tokenizer=None, max_bytes=3_000, now=1.8e9)
    assert (out / CHUNKS).read_bytes() == (again / CHUNKS).read_bytes()
    found = verify_derived(Place(str(out)))
    assert not found.damage and found.files > 1
    said = orjson.loads((out / CHUNKS).read_bytes())
    assert (
        said["source"]["manifest_sha256"]
        == hashlib.sha256((three_domains.path / "manifest.json").read_bytes()).hexdigest()
    )
    (out / said["files"][0]["path"]).write_bytes(b"PAR1")
    assert verify_derived(Place(str(out))).damage


def test_what_was_withdrawn_is_found_in_older_chunks_and_never_in_new_ones(three_domains, made, tmp_path):
    out, _ = made
    wish = Wish("letter of 3 May", domains=frozenset({"alder.example"}), refused=frozenset({"alder.example"}))
    withdraw(three_domains.place, wish, now=1.83e9)
    held = [h for h in trace(str(three_domains.path), (), Wanted()).holdings if h.folder == str(out)]
    assert held and held[0].version["operation"] == "dataset chunks"
    theirs = {row["canonical_url"] for row in rows_in(out) if row["domain"] == "alder.example"}
    assert sum(h.withdrawn for h in held) == len(theirs)
    chunk_corpus(three_domains.place, tmp_path / "new", size=12, overlap=0, tokenizer=None, max_bytes=3_000, now=1.84e9)
    assert {row["domain"] for row in rows_in(tmp_path / "new")} == DOMAINS.keys() - {"alder.example"}


def test_a_text_that_was_withdrawn_at_another_address_is_found_in_chunks_that_are_older(tmp_path):
    text = prose(200, 1)
    ours, theirs = Folder(tmp_path / "ours"), Folder(tmp_path / "theirs")
    for folder, texts in ((ours, {1: prose(200, 2), 2: text, 3: prose(200, 3)}), (theirs, {4: text})):
        corpus = folder.opened()
        for number, each in texts.items():
            corpus.keep(record_of(document(number, text=each)))
        corpus.close()
    out = tmp_path / "chunks"
    chunk_corpus(Place(str(ours.path)), out, size=40, overlap=10, tokenizer=None, max_bytes=2_000, now=1.8e9)
    wish = Wish("a letter", urls=frozenset({"https://example.org/4"}), reach="text")
    withdraw(Place(str(theirs.path)), wish, now=1.83e9)
    (holding,) = [h for h in trace(str(theirs.path), [str(out)], Wanted()).holdings if h.folder == str(out)]
    assert holding.withdrawn == 1 and len(holding.version["files"]) > 3, "a document lies in several files"
    (page,) = trace(str(out), [], Wanted(names=frozenset({"https://example.org/3"}))).holdings
    assert sum(held.documents for held in page.files) == 1


def test_a_record_of_another_shape_is_named_and_no_folder_is_left(three_domains, tmp_path):
    rewrite(three_domains.place, lambda record: record | {"warc_offset": "far"}, Cause("test", "why", 1.8e9))
    with pytest.raises(StorageError, match="a field is not of its column"):
        chunk_corpus(three_domains.place, tmp_path / "c", size=9, overlap=0, tokenizer=None, max_bytes=10**6, now=1.8e9)
    assert not (tmp_path / "c").exists()


def test_a_named_tokenizer_counts_and_what_is_none_is_said(three_domains, tmp_path):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is optional")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))  # no password
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    words.save(str(tmp_path / "words.json"))
    given = {"size": 5, "overlap": 0, "max_bytes": 10**6, "now": 1.8e9}
    done = chunk_corpus(three_domains.place, tmp_path / "a", tokenizer=tmp_path / "words.json", **given)
    assert done.tokens_by.startswith("tokenizers: sha256:")
    assert all(row["tokens"] == len(row["text"].split()) <= 5 for row in rows_in(tmp_path / "a"))
    (tmp_path / "bad.json").write_text("{}")
    for name in ("bad.json", "none.json"):
        with pytest.raises(StorageError, match=name):
            chunk_corpus(three_domains.place, tmp_path / "b", tokenizer=tmp_path / name, **given)
    assert not (tmp_path / "b").exists()


def test_an_overlap_of_more_than_half_is_a_wrong_call_and_a_full_folder_is_left_alone(three_domains, made):
    parser = argparse.ArgumentParser()
    WORK.declare(parser)
    out, _ = made

    def load(**over):
        return from_mapping(over)

    with pytest.raises(WrongCall, match="at most half of --tokens 10"):
        WORK.run(parser.parse_args(["c", "--out", "x", "--tokens", "10", "--overlap", "6"]), load)
    shutil.rmtree(out / "data")
    with pytest.raises(StorageError, match="expected an empty or new folder"):
        WORK.run(parser.parse_args([str(three_domains.path), "--out", str(out)]), load)
    answer = WORK.run(parser.parse_args([str(three_domains.path), "--out", str(out.with_name("more"))]), load)
    assert answer.facts.keys() == WORK.fields.keys() and answer.facts["documents"] == 12
