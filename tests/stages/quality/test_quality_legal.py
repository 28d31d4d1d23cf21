"""Profile `law`: decisions, statutes and regulations are told from texts about them, and their form is on the record.

The texts of `golden/legal/` are written for this project in the form of public-domain documents. Their author also
wrote the rules, so they show what the rules mean, not how often they are right on the web.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.stages.chain import Chain
from crawler.stages.quality.legal import read_legal
from crawler.stages.quality.stage import QualityStage

GOLDEN = Path(__file__).with_name("golden") / "legal"
CASES = sorted(path.stem for path in GOLDEN.glob("*.txt"))
NO_RULES = {"QUALITY_RULES": "c4_paragraphs", "QUALITY_MIN_SCORE": "0", "PII_PERSON": "off"}


def case(name: str) -> tuple[dict[str, str], str]:
    head, _, text = (GOLDEN / f"{name}.txt").read_text("utf-8").partition("\n---\n")
    return {key: value.strip() for key, _, value in (line.partition(":") for line in head.splitlines())}, text


def judged(text: str, profile: str = "law", **values: str) -> tuple[Document, Drop | None]:
    stage = QualityStage(
        from_mapping({**NO_RULES, "QUALITY_RULES": "c4", **values, "QUALITY_PROFILE": profile}).quality
    )
    doc = Document("https://example.org/", text=text, language="en", crawled_at="2026-11-22T10:00:00Z")
    result = stage(doc)
    return doc, result if isinstance(result, Drop) else None


@pytest.mark.parametrize("name", CASES)
def test_the_form_of_each_document_is_read_as_its_head_says(name: str) -> None:
    expected, text = case(name)
    facts = read_legal(None, text)
    assert facts.document_type == (expected["document_type"] or None)
    if facts.document_type is None:
        return
    assert (facts.jurisdiction or "") == expected["jurisdiction"]
    assert (facts.court or "") == expected["court"]
    assert (facts.court_level or "") == expected["court_level"]
    assert (facts.decision_date or "") == expected["decision_date"]
    assert set(facts.citations) == set(filter(None, expected["citations"].split(" | ")))


@pytest.mark.parametrize("name", CASES)
def test_profile_law_keeps_the_documents_and_rejects_texts_about_them(name: str) -> None:
    expected, text = case(name)
    doc, drop = judged(text)
    if expected["document_type"]:
        assert drop is None or drop.reason is not DropReason.NOT_OF_PROFILE
        assert doc.legal_document_type == expected["document_type"]
    else:
        assert drop is not None
        assert (drop.reason, "law" in drop.detail) == (DropReason.NOT_OF_PROFILE, True)


def test_profile_legal_notes_the_form_and_rejects_nothing_for_it() -> None:
    doc, drop = judged(case("news_about_a_decision")[1], "legal")
    assert drop is None or drop.reason is not DropReason.NOT_OF_PROFILE
    assert doc.legal_document_type is None
    doc, _ = judged(case("statute")[1], "legal")
    assert doc.legal_document_type == "statute"


def test_other_profiles_read_no_form() -> None:
    doc, _ = judged(case("statute")[1], "prose")
    assert (doc.legal_document_type, doc.legal_citations) == (None, [])


def test_a_date_after_the_fetch_is_no_date_of_a_decision() -> None:
    _, text = case("federal_opinion")
    assert read_legal(None, text, "2019-05-13T00:00:00Z").decision_date is None
    assert read_legal(None, text, "2019-05-14T00:00:00Z").decision_date == "2019-05-14"


def test_no_party_is_among_the_citations() -> None:
    text = "See Smith v. Jones, 123 U.S. 456 (1887); In re Baker, 12 F.3d 34."
    assert read_legal(None, text).citations == ["123 U.S. 456", "12 F.3d 34"]


def test_the_whole_chain_gives_the_same_record_twice() -> None:
    expected, text = case("federal_opinion")
    html = "".join(f"<p>{line}</p>" for line in text.split("\n") if line)
    records = []
    for _ in range(2):
        config = from_mapping({**NO_RULES, "QUALITY_PROFILE": "law", "EXTRACTION_MIN_WORDS": "20"})
        doc = Document("https://example.org/", html=f"<html><body><main>{html}</main></body></html>".encode())
        doc.content_type = "text/html; charset=utf-8"
        doc = Chain(config).run(doc)
        records.append((doc.legal_court, doc.legal_decision_date, doc.legal_citations, doc.legal_jurisdiction))
    assert records[0] == records[1]
    assert records[0][0] == expected["court"]


@pytest.mark.parametrize(
    "piece", ["§ 1 ", "12 U.S. ", "1 May ", "No. ", "Supreme Court of ", "decided on May 1, ", "[2020] "]
)
def test_repetition_costs_linear_time(piece: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        read_legal(piece * 10, piece * count)
        return time.process_time() - start

    small, large = min(seconds(20_000) for _ in range(3)), min(seconds(80_000) for _ in range(3))
    assert large < 12 * max(small, 0.002)
