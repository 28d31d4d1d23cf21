"""Chunks are pieces of the kept texts that can be found again: every one is text[start:end] of its page."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.dataset.chunks.cut import Chunk, Cutter
from crawler.dataset.chunks.fragment import Fragments
from crawler.dataset.chunks.rows import COLUMNS, SCHEMA_VERSION, rows_of
from crawler.dataset.chunks.sentences import sentence_starts
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.registry.find import newest_first
from crawler.dataset.registry.holdings import Wanted, trace
from crawler.dataset.supersede import read_latest
from crawler.dataset.verify_derived import verify_derived
from crawler.document import FORMS, Document, DropReason, Span
from crawler.operations.chunks import WORK
from crawler.operations.declared import WrongCall
from crawler.stages.text.words import token_estimate
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import as_lists, record_of
from tests.support.letters import Letters
from tests.support.operations import answer_of
from tests.support.syllables import prose
from tests.support.three_domains import everything

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is optional")
PAGE = "https://birch.example/page"


def written(*blocks: tuple[str, str]) -> tuple[str, list[Span]]:
    """A text of one line or more for each block, with its parts. blocks: form and lines."""
    text, parts = "", list[Span]()
    for form, lines in blocks:
        parts.append((len(text), len(text) + len(lines), form))
        text += f"{lines}\n"
    return text.rstrip("\n"), parts


def pieces(text: str, chunks: list[Chunk]) -> list[str]:
    return [text[chunk.start : chunk.end] for chunk in chunks]


def cut(text: str, size: int, *, parts: list[Span] | None = None, language: str = "", overlap: int = 0) -> list[str]:
    return pieces(text, Cutter(token_estimate, size, overlap).cut(text, parts or [], language))


# --- where a text is cut ----------------------------------------------------------------------------------------------
@st.composite
def texts(draw: st.DrawFn) -> tuple[str, list[Span]]:
    line = st.text("ab. ?!\u0e01\u0e34中。、é\u0301\U0001f468\u200d\U0001f469", min_size=1, max_size=40)
    blocks = st.tuples(st.sampled_from(FORMS), st.lists(line, min_size=1, max_size=4).map("\n".join))
    return written(*draw(st.lists(blocks, min_size=1, max_size=8)))


@given(texts(), st.integers(1, 20), st.integers(0, 6), st.sampled_from(["", "th", "zh", "el"]))
@settings(max_examples=150, deadline=None)
def test_every_character_is_in_a_chunk_and_no_chunk_is_too_long(
    made: tuple[str, list[Span]], size: int, overlap: int, language: str
) -> None:
    text, parts = made
    overlap = min(overlap, size - 1)
    chunks = Cutter(token_estimate, size, overlap).cut(text, parts, language)
    covered = {place for chunk in chunks for place in range(chunk.start, chunk.end)}
    assert {place for place, char in enumerate(text) if not char.isspace()} <= covered
    for before, chunk in zip([None, *chunks], chunks, strict=False):
        piece = text[chunk.start : chunk.end]
        assert piece.strip() and chunk.tokens == token_estimate(piece)
        assert token_estimate(piece.strip()) <= size or len(piece) <= 8  # one cluster is never cut
        if before is not None and overlap == 0:
            assert chunk.start >= before.end
        if before is not None:
            assert before.end < chunk.end and before.start < chunk.start


def test_a_chunk_ends_within_no_row_no_line_of_code_and_no_sentence_while_these_fit() -> None:
    sentences = [f"{prose(6, seed).capitalize()}." for seed in range(30)]
    rows = [f"{prose(3, seed)} | {prose(3, seed + 1)}" for seed in range(40, 60)]
    code = [f"    call_{seed}({prose(2, seed)!r})" for seed in range(60, 80)]
    text, parts = written(
        ("paragraph", " ".join(sentences)), ("table", "\n".join(rows)), ("code", "def f():\n" + "\n".join(code))
    )
    found = cut(text, 40, parts=parts, language="en")
    whole = {*sentences, *rows, *code, "def f():"}
    units = [unit for piece in found for line in piece.split("\n") for unit in line.replace(". ", ".\0").split("\0")]
    assert set(units) == whole and len(units) == len(whole)
    assert len(found) > 10


def test_a_chunk_crosses_no_heading_and_a_heading_without_text_goes_with_the_next() -> None:
    text, parts = written(
        ("heading", "One"), ("paragraph", "First."), ("heading", "Two"), ("heading", "Three"), ("paragraph", "Second.")
    )
    assert cut(text, 500, parts=parts) == ["One\nFirst.", "Two\nThree\nSecond."]


def test_the_headings_above_a_chunk_nest_by_the_levels_that_markdown_says() -> None:
    text, parts = written(
        ("heading", "# Book"), ("paragraph", "a."), ("heading", "## Part"), ("paragraph", "b."),
        ("heading", "### Page"), ("paragraph", "c."), ("heading", "## Next"), ("paragraph", "d."),
    )  # fmt: skip
    chunks = Cutter(token_estimate, 500).cut(text, parts)
    assert [c.headings for c in chunks] == [("Book",), ("Book", "Part"), ("Book", "Part", "Page"), ("Book", "Next")]


def test_a_heading_without_a_level_stands_below_no_other() -> None:
    text, parts = written(("heading", "Book"), ("paragraph", "a."), ("heading", "Part"), ("paragraph", "b."))
    assert [c.headings for c in Cutter(token_estimate, 500).cut(text, parts)] == [("Book",), ("Part",)]


def test_the_headings_of_a_post_end_with_it() -> None:
    text, parts = written(
        ("heading", "# Forum"), ("heading", "## Mine"), ("paragraph", "a."), ("paragraph", "b."), ("paragraph", "c.")
    )
    ends = [span[1] for span in parts]
    parts += [(parts[1][0], ends[2], "post"), (parts[3][0], ends[3], "post")]
    chunks = Cutter(token_estimate, 500).cut(text, sorted(parts, key=lambda s: (s[0], -s[1])))
    assert [(text[c.start : c.end], c.headings) for c in chunks] == [
        ("# Forum", ("Forum",)), ("## Mine\na.", ("Forum", "Mine")), ("b.", ("Forum",)), ("c.", ("Forum",)),
    ]  # fmt: skip


def test_what_is_repeated_is_whole_sentences_and_gives_way_to_what_follows() -> None:
    text = "Alder birch cedar. Dogwood elm fir. Gum holly ivy. Juniper kiwi."
    assert cut(text, 10, overlap=5) == [
        "Alder birch cedar. Dogwood elm fir.", "Dogwood elm fir. Gum holly ivy.", "Gum holly ivy. Juniper kiwi.",
    ]  # fmt: skip
    assert cut(text, 6, overlap=5) == ["Alder birch cedar.", "Dogwood elm fir.", "Gum holly ivy.", "Juniper kiwi."]


@pytest.mark.parametrize(
    ("language", "line", "sentences"),
    [
        ("en", "Dr. Reed came, e.g. with J. Mossman. He left.", ["Dr. Reed came, e.g. with J. Mossman.", "He left."]),
        ("de", "Am 3. Mai kam z.B. Prof. Ried. Er ging.", ["Am 3. Mai kam z.B. Prof. Ried. Er ging."]),
        ("en", 'She said "No." Then 1.5 litres ran out!', ['She said "No."', "Then 1.5 litres ran out!"]),
        ("zh", "今天很好。我用Python。他走了！3．5升。", ["今天很好。", "我用Python。", "他走了！", "3．5升。"]),
        ("ja", "「行くよ。」と言った。雨だ。", ["「行くよ。」", "と言った。", "雨だ。"]),
        ("th", "วันนี้อากาศดี เราไปเดินเล่น", ["วันนี้อากาศดี", "เราไปเดินเล่น"]),
        ("ar", "ذهبت إلى السوق. هل رأيتني؟ نعم.", ["ذهبت إلى السوق.", "هل رأيتني؟", "نعم."]),
        ("he", "הלכתי לשוק. ראית אותי? כן.", ["הלכתי לשוק.", "ראית אותי?", "כן."]),
        ("el", "Πού πας; Πάω σπίτι.", ["Πού πας;", "Πάω σπίτι."]),
        ("hi", "मैं घर गया। वह आया।", ["मैं घर गया।", "वह आया।"]),
        ("my", "နေကောင်းလား။ကောင်းပါတယ်။", ["နေကောင်းလား။", "ကောင်းပါတယ်။"]),
        ("am", "ሰላም ነው። ደህና ነኝ።", ["ሰላም ነው።", "ደህና ነኝ።"]),
    ],
)  # fmt: skip
def test_sentences_end_as_their_language_ends_them(language: str, line: str, sentences: list[str]) -> None:
    places = [0, *sentence_starts(line, language), len(line)]
    assert [line[a:b].strip() for a, b in pairwise(places)] == sentences


def test_a_text_without_any_mark_is_cut_between_characters_as_people_see_them() -> None:
    text = "กิ" * 50 + "👨‍👩‍👧" * 5
    found = cut(text, 6, language="zh")
    assert "".join(found) == text
    assert all(not piece.startswith(("ิ", "\u200d")) for piece in found)


def test_a_very_long_line_without_spaces_is_cut_in_linear_time() -> None:
    calls = 0

    def count(text: str) -> int:
        nonlocal calls
        calls += len(text)
        return token_estimate(text)

    text = "x" * 400_000
    assert len(Cutter(count, 100).cut(text)) == 1_000
    assert calls < 60 * len(text)


# --- links ------------------------------------------------------------------------------------------------------------
def test_a_link_names_the_first_and_the_last_words_percent_encoded() -> None:
    text = "One, two-three four five six seven eight nine ten & eleven twelve."
    words = "#:~:text=One%2C%20two%2Dthree%20four%20five%20six%20seven,eight%20nine%20ten%20%26%20eleven%20twelve."
    assert Fragments(text, []).of(0, len(text)) == words
    assert Fragments("Few words.", []).of(0, 10) == "#:~:text=Few%20words."


@pytest.mark.parametrize("form", ["table", "code", "PERSON"])
def test_no_link_is_made_of_words_that_the_page_may_not_have(form: str) -> None:
    text = "First line here.\nLast line here."
    assert Fragments(text, [(0, 5, form)]).of(0, len(text)) is None
    assert Fragments("A *word* here.", []).of(0, 14) is None


# --- the folder -------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chunks") / "corpus"
    letters = Letters(folder)
    text, parts = written(
        ("heading", "# Birch"), ("paragraph", f"{prose(80, 1)}. {prose(90, 2)}."), ("heading", "## Bark"),
        ("paragraph", f"{prose(70, 3)}."), ("table", "a | b\nc | d"),
    )  # fmt: skip
    more: dict[str, Any] = {"parts": parts, "document_kind": "html", "language": "en", "title": "Birch"}
    letters.add(PAGE, text, license_tag="CC-BY-4.0", license_tier="A", **more)
    letters.add("https://alder.example/gone", f"{prose(90, 9)} quillmarker.", language="en")
    letters.add("https://alder.example/old", prose(90, 10), language="en", when=1)
    letters.add("https://alder.example/no", prose(90, 11), reason=DropReason.LOW_QUALITY)
    letters.close()
    return folder


@pytest.fixture
def corpus(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / "corpus"))


def rows(folder: Path) -> list[dict[str, Any]]:
    return [row for path in sorted((folder / "data").iterdir()) for row in parquet.read_table(path).to_pylist()]


def test_each_chunk_of_a_corpus_is_cut_out_of_its_record(corpus: Path, tmp_path: Path) -> None:
    answer = answer_of(WORK, corpus, "--out", tmp_path / "out", "--tokens", 100)
    found = rows(tmp_path / "out")
    texts = {record["canonical_url"]: record for record in read_latest(Place(str(corpus)))}
    assert {row["canonical_url"] for row in found} == texts.keys() and len(texts) == 3
    for row in found:
        record = texts[row["canonical_url"]]
        assert record["text"][row["start"] : row["end"]] == row["text"]
        assert row["tokens"] == token_estimate(row["text"]) <= 100
        assert {name: row[name] for name in ("license_tag", "doc_id", "crawled_at", "content_hash", "warc_file")} == {
            name: record[name] for name in ("license_tag", "doc_id", "crawled_at", "content_hash", "warc_file")
        }
    mine = [row for row in found if row["canonical_url"] == PAGE]
    assert [row["number"] for row in mine] == [*range(mine[0]["chunks"])]
    assert mine[0]["headings"] == ["Birch"] and mine[-1]["headings"] == ["Birch", "Bark"]
    assert mine[-1]["forms"][-1] == "table"
    assert answer.facts["chunks"] == len(found) and answer.facts["pages"] == 3
    assert answer.facts["tokens"] == sum(row["tokens"] for row in found)


def test_equal_corpora_give_equal_files_with_a_stable_schema(corpus: Path, tmp_path: Path) -> None:
    for name in "ab":
        answer_of(WORK, corpus, "--out", tmp_path / name, "--tokens", 60, "--overlap", 20, SHARD_MAX_BYTES=4_000)
    first, second = (sorted((tmp_path / name / "data").iterdir()) for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second] and len(first) > 1
    schema = parquet.read_schema(first[0])
    assert schema.names == list(COLUMNS) and schema.metadata[b"crawler.schema"] == SCHEMA_VERSION.encode()


def test_the_folder_has_a_manifest_with_lineage_and_can_be_verified(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer_of(WORK, corpus, "--out", out)
    manifest = json.loads((out / "chunks.json").read_bytes())
    assert manifest["chunk_tokens"] == 512 and manifest["counts"]["pages"] == 3
    assert verify_derived(Place(str(out))).damage == []
    version = newest_first(Place(str(out)))[0]
    assert version["operation"] == "dataset chunks"
    assert version["parents"][0]["sha256"] == manifest["source"]["manifest_sha256"]
    assert [h.folder for h in trace(str(corpus), [], Wanted(frozenset({PAGE}))).holdings] == [str(corpus), str(out)]
    (out / "data" / "part-000000.parquet").write_bytes(b"PAR1")
    assert len(verify_derived(Place(str(out))).damage) == 1


def test_withdrawn_expired_and_rejected_pages_are_in_no_chunk_and_a_later_withdrawal_names_the_folder(
    tmp_path: Path, corpus: Path
) -> None:
    answer_of(WORK, corpus, "--out", tmp_path / "before")
    assert b"quillmarker" in everything(tmp_path / "before")
    withdraw(Place(str(corpus)), Wish(urls=frozenset({"https://alder.example/gone"}), reason="x"), now=1.8e9)
    held = trace(str(corpus), [], Wanted()).holdings
    assert [Path(h.folder).name for h in held if h.withdrawn] == ["before"]
    answer = answer_of(WORK, corpus, "--out", tmp_path / "after", DOCUMENT_TTL_DAYS="CC-BY-4.0:1")
    assert answer.facts["left_out"] == {"older than documents may become": 1}
    assert {row["canonical_url"] for row in rows(tmp_path / "after")} == {"https://alder.example/old"}
    assert b"quillmarker" not in everything(tmp_path / "after")


def test_a_named_tokenizer_counts(corpus: Path, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    words = ("--out", tmp_path / "out", "--tokens", 50, "--tokenizer", tmp_path / "tokenizer.json")
    answer = answer_of(WORK, corpus, *words)
    assert answer.facts["counted_by"].startswith("tokenizers: sha256:")
    for row in rows(tmp_path / "out"):
        assert row["tokens"] == len(made.encode(row["text"]).ids) <= 50


def test_what_cannot_be_done_is_a_sentence_and_leaves_nothing(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongCall, match="--overlap: expected fewer tokens than a chunk has"):
        answer_of(WORK, corpus, "--out", tmp_path / "out", "--tokens", 10, "--overlap", 10)
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(StorageError, match="is not a tokenizer"):
        answer_of(WORK, corpus, "--out", tmp_path / "out", "--tokenizer", tmp_path / "bad.json")
    with pytest.raises(StorageError, match="lies in the corpus"):
        answer_of(WORK, corpus, "--out", corpus / "chunks")
    assert {path.name for path in tmp_path.iterdir()} == {"bad.json", "corpus"}


def test_a_record_of_an_older_version_without_parts_is_cut_by_lines() -> None:
    record = {"url": PAGE, "text": "One line.\nAnother line.", "parts": None}
    assert [row["text"] for row in rows_of(record, Cutter(token_estimate, 4))] == ["One line.", "Another line."]
    assert rows_of({"url": PAGE, "text": ""}, Cutter(token_estimate, 4)) == []


def test_a_link_is_made_for_a_web_page_alone() -> None:
    doc = Document(url=PAGE, canonical_url=PAGE, text="Some words stand here.", document_kind="html")
    assert rows_of(record_of(doc), Cutter(token_estimate, 40))[0]["link"] == (
        f"{PAGE}#:~:text=Some%20words%20stand%20here."
    )
    doc.document_kind = "pdf"
    assert rows_of(record_of(doc), Cutter(token_estimate, 40))[0]["link"] is None
    doc.document_kind, doc.pii_spans = "html", [(0, 4, "PERSON")]
    assert record_of(doc)["pii_spans"] == as_lists([(0, 4, "PERSON")])
    assert rows_of(record_of(doc), Cutter(token_estimate, 40))[0]["link"] is None


def test_a_heading_stands_alone_only_where_the_next_sentence_is_whole_by_that() -> None:
    text, parts = written(("heading", "Bark"), ("paragraph", "Alder birch cedar dogwood elm fir gum holly."))
    assert cut(text, 11, parts=parts) == ["Bark", "Alder birch cedar dogwood elm fir gum holly."]
    assert cut(text, 6, parts=parts) == ["Bark\nAlder birch cedar", "dogwood elm fir gum", "holly."]
