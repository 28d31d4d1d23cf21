"""What a record repeats of a decision follows its text: cut, exported, searched for, held back, withdrawn.

The text is our own, in the layout of a federal opinion.
"""

from __future__ import annotations

import pytest

from crawler.config import from_mapping
from crawler.dataset.addresses import Addresses
from crawler.dataset.containing import containing
from crawler.dataset.cuts import without
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.held import Choice, confirm
from crawler.dataset.rewrite import records_in
from crawler.dataset.word_rows import words
from crawler.document import Document, Drop, DropReason
from crawler.stages.quality.stage import QualityStage
from crawler.stages.text.spans import quotes
from crawler.storage.files.columns import arrow_schema, fits, kind_of, record_of_row, row_of
from crawler.storage.files.place import Place
from crawler.storage.files.records import (
    QUOTED,
    Record,
    encode,
    holding_of,
    record_fields,
    record_of,
    rejection_of,
    spans_in,
)
from tests.support.corpus_folder import Folder, document

LAW = from_mapping({"QUALITY_PROFILE": "law", "QUALITY_RULES": "gopher_quality"}).quality
TEXT = """UNITED STATES COURT OF APPEALS FOR THE NINTH CIRCUIT
HARBOR MILLS COMPANY, Plaintiff-Appellant,
v.
COUNTY OF WESTBAY, Defendant-Appellee.
No. 17-35412
Filed May 14, 2019
OPINION
The mill sued under 42 U.S.C. § 1983. See 457 U.S. 800, and again 42 U.S.C. § 1983.
The page https://example.org/people/Ada-Quillfeather was shown, and 555 F.3d 1021 cited. The judgment is affirmed."""
NAMES = ("17-35412", "42 U.S.C. § 1983", "NINTH CIRCUIT", "2019-05-14", "appellant")


def decision(number: int, **values: object) -> Document:
    doc = document(number, text=TEXT, **values)
    QualityStage(LAW)(doc)
    assert doc.legal_dockets == ["17-35412"] and len(doc.legal_citations) == 3
    return doc


def quoted(record: Record) -> tuple[list[str], list[str]]:
    return quotes(record["text"], spans_in(record, "legal_spans"))


def test_a_citation_that_is_cut_in_part_goes_and_the_others_follow() -> None:
    record = record_of(decision(1))
    at = words(TEXT).index("457")
    made = without(record, [(at, at + 1)])
    assert "See U.S. 800" in made["text"]
    assert made["legal_citations"] == ["42 U.S.C. § 1983", "555 F.3d 1021"]
    assert (made["legal_citations"], made["legal_dockets"]) == quoted(made)
    labels = [label for *_, label in spans_in(made, "legal_spans")]
    assert labels.count("statute") == 2 and "heading" in labels


def test_a_record_of_an_older_version_without_spans_keeps_what_it_had() -> None:
    record = record_of(decision(1))
    del record["legal_spans"]
    assert without(record, [(0, 1)])["legal_citations"] == record["legal_citations"]


def test_spans_follow_an_address_that_an_export_redacts() -> None:
    places = {"url": [[27, 43, "PERSON"]], "canonical_url": [[27, 43, "PERSON"]]}
    url = "https://example.org/people/Ada-Quillfeather"
    record = record_of(decision(1, url=url, canonical_url=url, pii_entity_types=["PERSON"]))
    made = Addresses().of(record | {"language_signals": {"pii_url": places}})
    assert "people/[PERSON] was" in made["text"]
    assert (made["legal_citations"], made["legal_dockets"]) == quoted(made) == quoted(record)


def test_the_columns_have_the_same_type_whether_a_record_is_of_law_or_not() -> None:
    kinds = {name: kind_of(name) for name in record_fields() if name.startswith("legal_")}
    assert kinds["legal_spans"] == kind_of("parts")
    schema = arrow_schema()
    for record in (record_of(decision(1)), record_of(document(2))):
        assert all(fits(kind, record[name]) for name, kind in kinds.items())
        assert record_of_row(row_of(record, schema.names)) == record


@pytest.fixture
def folder(tmp_path) -> Folder:
    made = Folder(tmp_path / "corpus")
    corpus = made.opened()
    corpus.keep(record_of(decision(1)))
    corpus.reject(rejection_of(decision(2), Drop("quality", DropReason.LOW_QUALITY), with_text=False))
    corpus.hold(holding_of(decision(3), Drop("pii", DropReason.HELD_PII, "de")), "pii")
    corpus.close()
    return made


def whole(folder: Folder) -> bytes:
    kinds = ("shards", "rejected", "held/pii")
    there = [kind for kind in kinds if (folder.path / kind).is_dir()]
    return b"".join(encode(record) for kind in there for record in folder.records(kind))


def test_a_withdrawal_leaves_nothing_of_what_the_fields_hold(folder: Folder) -> None:
    assert all(name.encode() in whole(folder) for name in NAMES)
    withdraw(Place(str(folder.path)), Wish("a letter", frozenset({"example.org"})), now=1.8e9)
    assert [record["url"] for record in folder.records("rejected")] == ["https://example.org/2"]
    assert [name for name in NAMES if name.encode() in whole(folder)] == []


def test_of_a_held_page_that_is_confirmed_no_quotation_stays(folder: Folder) -> None:
    confirm(Place(str(folder.path)), Choice(), now=1.8e9, reason="a person's life")
    record = next(r for r in records_in(Place(str(folder.path)), ("rejected",)) if r["url"].endswith("/3"))
    assert not any(record.get(name) for name in (*QUOTED, "legal_spans"))


def test_a_number_of_a_case_is_found_in_a_record_that_has_lost_its_text(folder: Folder) -> None:
    found = containing(Place(str(folder.path)), "17-35412")
    assert "rejected" in found.pages["https://example.org/2"].sure
