"""Lines of code are no prose: they condemn no page, and what is said of prose is said of what stands beside them."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from bench.web.prose import prose
from crawler.config import ExtractionConfig, from_mapping
from crawler.document import Document, Drop, DropReason, Reason, Span
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage
from crawler.stages.quality.rules import FineWeb, GopherQuality, GopherRepetition
from crawler.stages.quality.rules.base import LEAST_PROSE, LEAST_WORDS, Page
from crawler.stages.quality.stage import QualityStage

TALK = prose(11, words=250)
CALL = ['    "amount": null,', '    "currency": null,', '    "customer": null,', '    "receipt_number": null,', "  },"]
ANSWERS = [line for n in range(30) for line in (f'  "charge_{n}": {{', *CALL)]
FIGURES = [f"[{n}, {n * 7 % 31}, {n * 13 % 101}, -{n % 9}, {n * 17 % 89}, {n * 3 % 7}]" for n in range(120)]


def parts_of(lines: list[str], examples: list[str]) -> list[Span]:
    """The lines of the examples as code, each for itself, the others as paragraphs."""
    spans, at, of_code = [], 0, set(examples)
    for line in lines:
        spans.append((at, at + len(line), "code" if line in of_code else "paragraph"))
        at += len(line) + 1
    return [span for span in spans if span[0] < span[1]]


def shown(lines: list[str], examples: list[str]) -> Page:
    return Page("\n".join(lines), parts=tuple(parts_of(lines, examples)))


def judged(lines: list[str], examples: list[str], profile: str = "auto") -> tuple[Document, Reason | None]:
    doc = Document(url="https://a.test/", text="\n".join(lines), language="en", parts=parts_of(lines, examples))
    doc.quality_signals["marked_code"] = 0.5
    verdict = QualityStage(from_mapping({"QUALITY_PROFILE": profile}).quality)(doc)
    return doc, verdict.reason if isinstance(verdict, Drop) else None


def test_a_page_is_not_rejected_for_what_its_code_repeats():
    assert judged([*TALK, *ANSWERS], ANSWERS)[1] is None
    assert judged([*TALK, *ANSWERS], [])[1] is DropReason.DUP_LINE_FRAC
    assert judged([*TALK, *ANSWERS], ANSWERS, "datatrove")[1] is DropReason.DUP_LINE_FRAC


def test_the_record_says_that_the_rules_were_missed_with_the_code_alone():
    signals = judged([*TALK, *ANSWERS], ANSWERS)[0].quality_signals
    said = signals["skipped_rules"]["dup_line_frac"]
    assert said.startswith("dup_line_frac 0.7") and said.endswith(" > 0.6, but only with its code")
    assert signals["dup_line_frac"] == 0


def test_prose_that_is_bad_is_rejected_whatever_code_stands_beside_it():
    menu = [f"Shop {n % 4} all kinds of shoes and hats" for n in range(60)]
    assert judged([*menu, *ANSWERS], ANSWERS)[1] is judged([*menu, *ANSWERS], [])[1] is not None


def test_a_remark_on_a_long_log_is_judged_with_the_log():
    log = [f"error {n % 5} in the loop of the worker that has failed" for n in range(400)]
    words = sum(len(line.split()) for line in TALK)
    assert (LEAST_WORDS, LEAST_PROSE) == (50, 0.2)
    assert words >= LEAST_WORDS and words < LEAST_PROSE * (words + 11 * len(log))
    assert judged([*TALK, *log], log)[1] is DropReason.DUP_LINE_FRAC
    assert judged([*TALK, *log[:60]], log)[1] is None


def test_a_page_that_is_all_code_is_judged_as_a_whole():
    assert judged(TALK, TALK)[1] is judged(TALK, [])[1] is None
    assert judged(ANSWERS, ANSWERS)[1] is judged(ANSWERS, [])[1] is not None


def test_a_page_that_passes_with_its_code_is_not_asked_again():
    manual = [line for text in TALK for line in (text, "", "")]
    head = [f"Section {n} of the manual that follows it" for n in range(20)]
    page = shown([*manual, *head], manual)
    whole = dataclasses.replace(page, parts=())
    rules = FineWeb(min_punctuated_lines=0.06, count_code=False)
    assert rules.judge(page).values == rules.judge(whole).values
    assert "code" in [what for _, what in page.views()]
    assert rules.judge(page.prose).failure is not None


@pytest.mark.parametrize(
    ("rules", "examples", "signal"),
    [
        (GopherRepetition(), ANSWERS, "dup_line_frac"),
        (GopherQuality(), FIGURES, "gopher_alphabetic_tokens"),
        (FineWeb(), ANSWERS, "fineweb_duplicate_line_chars"),
    ],
    ids=["gopher_repetition", "gopher_quality", "fineweb"],
)
def test_each_rule_set_counts_code_unless_it_is_told_not_to(rules: Any, examples: list[str], signal: str):
    page = shown([*TALK, *examples], examples)
    alone = rules.judge(Page("\n".join(TALK)))
    assert alone.failure is None
    assert rules.judge(page).failure is not None
    asked = dataclasses.replace(rules, count_code=False).judge(page)
    assert asked.failure is None and asked.values[signal] == alone.values[signal]


def test_a_reference_may_say_again_what_several_of_its_calls_share():
    said = prose(12, words=1_500)
    lines = [*said, *said[: len(said) // 4]]
    page = Page("\n".join(lines))
    limit = FineWeb(max_duplicate_line_chars=0.15, label_chars=40, enough_sentences=0.5)
    assert limit.judge(page).failure is not None
    found = dataclasses.replace(limit, forgive_repeats=True).judge(page)
    assert found.failure is None
    assert found.skipped["fineweb_char_dup_ratio"].endswith("of the words stand in sentences")
    again = Page("\n".join(said * 3))  # said again and again: less than half of it is new
    assert dataclasses.replace(limit, forgive_repeats=True).judge(again).failure is not None
    assert judged(lines, [])[1] is None and judged(lines, [], "prose")[1] is not None


def page_of(body: str) -> Document:
    doc = Document(url="http://a.test/", content_type="text/html", html=f"<html><body>{body}</body></html>".encode())
    ParseStage()(doc)
    return doc


@pytest.mark.parametrize("extractor", ["learned", "trafilatura", "resiliparse"])
@pytest.mark.parametrize("layout", ["text", "markdown"])
def test_a_page_of_documentation_is_kept_with_its_examples(extractor, layout):
    talk = "".join(f"<p>{line}</p>" for line in TALK)
    answers = "\n".join(ANSWERS)
    doc = page_of(
        f"<main><article><h1>The charges of a shop</h1>{talk}<pre><code>{answers}</code></pre></article></main>"
    )
    ExtractionStage(ExtractionConfig(extractor=extractor, text_format=layout))(doc)
    assert '"receipt_number": null' in doc.text
    doc.language = "en"
    without = dataclasses.replace(doc, parts=[], quality_signals=dict(doc.quality_signals))
    assert "`" not in Page(doc.text, parts=tuple(doc.parts)).prose.text
    stage = QualityStage(from_mapping({}).quality)
    assert stage(doc) is doc
    assert isinstance(stage(without), Drop)
