"""Profile `law`: decisions, statutes and regulations are told from texts about them, and their form is on the record.

The texts of `golden/legal/` are written for this project in the layouts that courts and authorities print (`layout`
names where each is laid down or shown; of the others `legal_forms.txt` does). Their author also wrote the rules, so
they show what the rules mean, not how often they are right on the web.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.config import from_mapping
from crawler.document import CITED, SECTIONED, STATED, Document, Drop, DropReason
from crawler.stages.chain import Chain
from crawler.stages.pii.stage import PiiStage
from crawler.stages.quality.legal import LegalFacts, legal_spans, read_legal
from crawler.stages.quality.legal_citations import _FORM as FORM
from crawler.stages.quality.legal_citations import _KIND as KINDS
from crawler.stages.quality.legal_citations import citations_in
from crawler.stages.quality.stage import QualityStage
from crawler.stages.text.spans import change_text, quotes

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
    assert (facts.validity or "") == expected["validity"]
    assert facts.parties == listed(expected["parties"])
    cited, dockets = quotes(text, legal_spans(text, facts))
    assert set(cited) == set(listed(expected["citations"]))
    assert dockets == listed(expected["dockets"])


def listed(words: str) -> list[str]:
    return list(filter(None, words.split(" | ")))


@pytest.mark.parametrize("name", CASES)
def test_each_section_begins_at_its_heading_and_ends_where_the_next_of_its_rank_begins(name: str) -> None:
    expected, text = case(name)
    spans = legal_spans(text, read_legal(None, text))
    sections = [(start, end) for start, end, label in spans if label in SECTIONED]
    wanted = listed(expected.get("sections", ""))
    found = [text[start:end] for start, end in sections]
    assert [words[: len(begin)] for words, begin in zip(found, wanted, strict=True)] == wanted
    for at, (start, end) in enumerate(sections):
        assert text[start:end] == text[start:end].strip() != ""
        assert all(end <= later or last <= end for later, last in sections[at + 1 :]), "sections cross"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Nos. 17-99, 17-101 and 18-5", ["17-99", "17-101", "18-5"]),
        ("Joined Cases C-203/15 and C-698/15", ["C-203/15", "C-698/15"]),
        ("No. of pages: four", []),
        ("At the casino. 12 people", []),
        ("Appeal from No. 16-1, and No. of sacks", []),
        ("Civil Appeal No. 99 of 2019", ["99 of 2019"]),
        ("No. 17-99, and two sacks", ["17-99"]),
    ],
)
def test_all_numbers_of_a_case_are_read_and_no_others(line: str, expected: list[str]) -> None:
    text = f"SUPREME COURT OF THE UNITED STATES\n{line}\nMILL, Plaintiff, v. FERRY\nThe judgment is affirmed.\n"
    assert quotes(text, legal_spans(text, read_legal(None, text)))[1] == expected


def test_a_section_holds_its_paragraphs_and_no_others() -> None:
    text = case("ca_supreme_court")[1]
    spans = legal_spans(text, read_legal(None, text))
    analysis = next(text[start:end] for start, end, label in spans if text.startswith("II. Analysis", start))
    assert analysis.startswith("II. Analysis\nA. What is a dam\n[3]") and analysis.endswith("dismiss the appeal.")
    first = next(text[start:end] for start, end, label in spans if text.startswith("A. What is a dam", start))
    assert first.endswith("Nothing turns on the teeth.")


@pytest.mark.parametrize("name", CASES)
def test_what_the_head_states_is_cut_from_the_text_by_its_span(name: str) -> None:
    expected, text = case(name)
    found: dict[str, str] = {}
    for start, end, label in legal_spans(text, read_legal(None, text)):
        if label in STATED:
            found.setdefault(label, text[start:end])
    assert bool(found.get("docket")) == bool(expected.get("dockets"))
    assert bool(found.get("date")) == bool(expected.get("decision_date"))
    assert bool(found.get("validity")) == bool(expected.get("validity"))
    if day := expected.get("decision_date"):
        assert str(int(day[-2:])) in found["date"].replace("/0", "/").replace("er", "")


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
    assert (doc.legal_spans, doc.legal_dockets, doc.legal_parties, doc.legal_validity) == ([], [], [], None)


CITATIONS = {
    "ECLI:DE:BGH:2020:120320UIXZR1.20.0": "ecli",
    "32016R0679": "celex",
    "62018CJ0311": "celex",
    "12012E/TXT": "celex",
    "[2015] UKSC 11": "neutral",
    "[2020] EWHC 999 (Ch)": "neutral",
    "2015 SCC 5": "neutral",
    "[2019] IESC 4": "neutral",
    "410 U.S. 113": "reporter",
    "[1932] AC 562": "reporter",
    "BVerfGE 7, 198": "reporter",
    "ATF 140 III 86": "reporter",
    "BGH, Urt. v. 12.03.2020 – IX ZR 1/20": "decision",
    "BGH, Beschluss vom 12. März 2020 – 3 StR 99/19": "decision",
    "OLG Frankfurt, Urteil vom 1. Juli 2019 - 6 U 99/18": "decision",
    "Cass. civ. 1re, 4 mars 2020, n° 19-99.999": "decision",
    "Civ. 2e, 4 mars 2020, n° 19-99.999": "decision",
    "CE, Sect., 4 mars 2020, n° 419999": "decision",
    "n° 2013-672 DC": "decision",
    "Cass. civ., sez. III, 12 maggio 2015, n. 9876": "decision",
    "STC 31/2010, de 28 de junio": "decision",
    "C-311/18 P": "decision",
    "Regulation (EU) 2016/679": "act",
    "Verordnung (EU) Nr. 575/2013": "act",
    "Richtlinie 95/46/EG": "act",
    "Pub. L. No. 111-148": "act",
    "42 U.S.C. § 1983": "statute",
    "42 U.S. Code § 1983": "statute",
    "29 C.F.R. § 1910.95(c)(1)": "statute",
    "Art 3 Abs 1 GG": "statute",
    "Cal. Penal Code § 187": "statute",
    "Fed. R. Civ. P. 12(b)(6)": "statute",
    "§ 823 Abs. 1 BGB": "statute",
    "§§ 280 Abs. 1, 281 BGB": "statute",
    "§ 31 SGB X": "statute",
    "Article 267 TFEU": "statute",
    "Articles 101 and 102 TFEU": "statute",
    "Article 6(1)(f) GDPR": "statute",
    "Art. 6 Abs. 1 lit. f DSGVO": "statute",
    "art. 1240 C. civ.": "statute",
    "article 1240 du code civil": "statute",
    "art. 2043 c.c.": "statute",
    "art. 6:162 BW": "statute",
    "section 47(1)(a) of the Companies Act 2006": "statute",
}


@pytest.mark.parametrize(("cited", "kind"), CITATIONS.items())
def test_a_citation_is_a_span_of_its_kind(cited: str, kind: str) -> None:
    text = f"As was held 🙂 before ({cited}), mills turn; see also {cited}."
    spans = legal_spans(text, LegalFacts())
    assert [(text[start:end], label) for start, end, label in spans] == [(cited, kind)] * 2
    assert quotes(text, spans) == ([cited], [])


@pytest.mark.parametrize(
    "words",
    [
        "ECLI:DE:BGH:2020", "ECLI:BGH:2020:120320", "ECLI:DE:BGH:20:1203", "§ 5 of these terms",
        "Article 5 of the tender",
        "Article 12 News", "12 May 2015", "room 32016", "about 410 U. Street 113", "Section 1. Acceptance", "n. 12",
        "the Acts 2006", "Case 12", "art. 12 bought", "5 C 12", "BGH in 2020", "[12] 11", "§ 2 II. Zwei",
    ],
)  # fmt: skip
def test_what_only_resembles_a_citation_is_none(words: str) -> None:
    assert legal_spans(f"We read {words} and went home.", LegalFacts()) == []


@pytest.mark.parametrize("name", CASES)
def test_the_quick_search_for_citations_finds_what_the_whole_expression_finds(name: str) -> None:
    text = "\n".join((case(name)[1], *CITATIONS, *(f"({cited})" for cited in CITATIONS)))
    assert list(citations_in(text)) == [(*found.span(), KINDS[found.lastindex or 0]) for found in FORM.finditer(text)]


LINES = (
    "I.", "II. Zwei", "A. Eins", "B.", "1.", "2. Kurz", "1 Ein Satz.", "2 Noch einer.", "a) klein", "b)", "Tenor", "",
    "[3] Wort.", "2.1 Wort.", "2.2 Wort.", "§ 1 Zweck", "§ 2", "(1) Wer", "(2) Das", "Art. 3", "Chapter 1", "Part 2",
    "Section 1. Short title", "words that say nothing", "  1. indented", "# I. marked", "3 Power to count",
)  # fmt: skip


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.lists(st.sampled_from(LINES), max_size=30), st.sampled_from(("opinion", "order", "statute", "regulation")))
def test_sections_never_cross_and_hold_ink_at_both_ends_whatever_the_lines_are(lines: list[str], kind: str) -> None:
    text = "\n".join(lines)
    found = legal_spans(text, LegalFacts(document_type=kind))
    spans = [(start, end) for start, end, label in found if label in SECTIONED]
    assert spans == sorted(spans, key=lambda span: (span[0], -span[1]))
    for at, (start, end) in enumerate(spans):
        assert text[start:end] and text[start:end] == text[start:end].strip()
        assert all(end <= later or last <= end for later, last in spans[at + 1 :])


def test_an_initial_a_date_and_a_short_list_begin_no_section() -> None:
    head, text = case("bgh_urteil")[1].split("Entscheidungsgründe:")
    more = "A. Sample hat dies gesehen.\n12.03.2020\na) eins\n1. Mehl\nI."
    whole = f"{head}Entscheidungsgründe:\n{more}{text}"
    spans = legal_spans(whole, read_legal(None, whole))
    found = [whole[start:end].partition("\n")[0][:8] for start, end, label in spans if label in SECTIONED]
    assert found == ["Tatbesta", "1 Die Pa", "2 Das Am", "Entschei", "3 Die Re"]


def test_spans_follow_their_text_and_a_citation_that_was_cut_goes_with_its_quotation() -> None:
    text = case("federal_opinion")[1]
    doc, _ = judged(text, QUALITY_RULES="gopher_quality")
    quoted = list(doc.legal_citations)
    assert [doc.text[s:e] for s, e, label in doc.legal_spans if label in CITED] == quoted
    change_text(doc, doc.text.replace("42 U.S.C. § 1983", "42 U.S.C.").replace("This case asks", "It asks"))
    assert doc.legal_citations == quoted[1:] == [doc.text[s:e] for s, e, label in doc.legal_spans if label in CITED]
    assert doc.legal_dockets == ["17-35412"]
    opinion = next((s, e) for s, e, label in doc.legal_spans if label in SECTIONED)
    assert doc.text[slice(*opinion)].startswith("OPINION\n") and opinion[1] == len(doc.text.rstrip())


def test_what_is_redacted_in_the_text_is_in_no_legal_field() -> None:
    text = case("federal_opinion")[1].replace("17-35412", "202-555-0143")
    text = text.replace("OPINION\n", "OPINION\nWrite to clerk@meadow-mail.net, telephone 202-555-0143.\n")
    doc, _ = judged(text, QUALITY_RULES="gopher_quality")
    assert doc.legal_dockets == ["202-555-0143"]
    dockets = [span for span in doc.legal_spans if span[2] == "docket"]
    PiiStage(from_mapping(NO_RULES).pii)(doc)
    assert "202-555-0143" not in doc.text and dockets
    assert doc.legal_dockets == [] and not [span for span in doc.legal_spans if span[2] == "docket"]
    cited = [doc.text[s:e] for s, e, label in doc.legal_spans if label in CITED]
    assert cited == doc.legal_citations == ["42 U.S.C. § 1983", "457 U.S. 800", "555 F.3d 1021"]


def test_a_page_whose_text_is_forgotten_keeps_no_quotation_of_it() -> None:
    doc, _ = judged(case("federal_opinion")[1])
    doc.forget_text()
    assert (doc.legal_spans, doc.legal_citations, doc.legal_dockets, doc.legal_court) == ([], [], [], None)


def test_a_date_after_the_fetch_is_no_date_of_a_decision() -> None:
    _, text = case("federal_opinion")
    assert read_legal(None, text, "2019-05-13T00:00:00Z").decision_date is None
    assert read_legal(None, text, "2019-05-14T00:00:00Z").decision_date == "2019-05-14"


def test_no_party_is_among_the_citations() -> None:
    text = "See Smith v. Jones, 123 U.S. 456 (1887); In re Baker, 12 F.3d 34."
    assert quotes(text, legal_spans(text, LegalFacts()))[0] == ["123 U.S. 456", "12 F.3d 34"]


@pytest.mark.parametrize("name", CASES)
def test_of_the_parties_only_roles_are_read(name: str) -> None:
    roles = {"claimant", "defendant", "appellant", "respondent", "petitioner", "applicant", "intervener", "accused",
             "prosecution"}  # fmt: skip
    assert roles.issuperset(read_legal(None, case(name)[1]).parties)


def test_the_whole_chain_gives_the_same_record_twice_with_spans_of_its_final_text() -> None:
    expected, text = case("federal_opinion")
    text = text.replace("OPINION\n", "OPINION\n\nWrite to clerk@meadow-mail.net about it, or to nobody.\n")
    html = "".join(f"<p>{line}</p>" for line in text.split("\n") if line)
    records = []
    for _ in range(2):
        config = from_mapping({**NO_RULES, "QUALITY_PROFILE": "law", "EXTRACTION_MIN_WORDS": "20"})
        doc = Document("https://example.org/", html=f"<html><body><main>{html}</main></body></html>".encode())
        doc.content_type = "text/html; charset=utf-8"
        doc = Chain(config).run(doc)
        records.append((doc.legal_court, doc.legal_decision_date, doc.legal_citations, doc.legal_jurisdiction))
        assert "[EMAIL_ADDRESS]" in doc.text
        assert quotes(doc.text, doc.legal_spans) == (doc.legal_citations, doc.legal_dockets)
    assert records[0] == records[1]
    assert records[0][0] == expected["court"]
    assert records[0][2] == listed(expected["citations"])


@pytest.mark.parametrize(
    "piece",
    [
        "§ 1 ",
        "12 U.S. ",
        "1 May ",
        "No. ",
        "Supreme Court of ",
        "decided on May 1, ",
        "[2020] ",
        "1. ",
        "I.\n",
        "§ 1 Abs. ",
        "Art. 1 ",
        "Companies Act ",
        "BGH, ",
        "section 1 of the ",
        "1\n",
        "(1)\n",
        "Cal. ",
    ],
)
def test_repetition_costs_linear_time(piece: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        facts = read_legal(piece * 10, piece * count)
        for kind in ("opinion", "statute"):
            legal_spans(piece * count, replace(facts, document_type=kind, places=[]))
        return time.process_time() - start

    small, large = min(seconds(5_000) for _ in range(3)), min(seconds(20_000) for _ in range(3))
    assert large < 12 * max(small, 0.002)
