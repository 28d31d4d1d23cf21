"""Profiles of a field keep its documents, as authorities and journals print them, and no text about such things.

The texts of `golden/fields/` are our own, under the headings of the layouts that `field_forms.txt` names.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.stages.quality.field_headings import headings_in
from crawler.stages.quality.score import LEAST_HEADINGS
from crawler.stages.quality.stage import QualityStage

GOLDEN = Path(__file__).with_name("golden") / "fields"
CASES = sorted(path.stem for path in GOLDEN.glob("*.txt"))
FIELDS = ("medicine", "science", "finance")


def case(name: str) -> tuple[str, str, str]:
    """Field ("" for a text of none), language and text."""
    head, _, text = (GOLDEN / f"{name}.txt").read_text("utf-8").partition("\n---\n")
    field, language = head.split(" ")
    return field, language, text


def judged(text: str, language: str, profile: str, **signals: float) -> tuple[Document, Drop | None]:
    stage = QualityStage(from_mapping({"QUALITY_PROFILE": profile}).quality)
    doc = Document("https://example.org/", text=text, language=language)
    doc.quality_signals |= signals
    result = stage(doc)
    return doc, result if isinstance(result, Drop) else None


@pytest.mark.parametrize("name", CASES)
def test_a_text_has_the_headings_of_its_own_field_alone(name: str) -> None:
    field, _, text = case(name)
    assert [one for one in FIELDS if headings_in(one, text) >= LEAST_HEADINGS] == ([field] if field else [])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("profile", FIELDS)
def test_the_profile_keeps_documents_of_its_field_under_the_default_rules(name: str, profile: str) -> None:
    field, language, text = case(name)
    doc, drop = judged(text, language, profile)
    if field == profile:
        assert drop is None, drop
    else:
        assert drop is not None and drop.reason is DropReason.NOT_OF_PROFILE, drop
        assert "field_headings" in drop.detail
    assert doc.quality_signals["field_headings"] == headings_in(profile, text)


def test_profile_code_keeps_what_the_page_marks_as_code_and_nothing_else() -> None:
    text = case("none_essay_with_introduction")[2]
    assert judged(text, "en", "code", marked_code=0.1)[1] is None
    for signals in ({"marked_code": 0.01}, {}):
        drop = judged(text, "en", "code", **signals)[1]
        assert drop is not None and (drop.reason, "marked_code" in drop.detail) == (DropReason.NOT_OF_PROFILE, True)


@pytest.mark.parametrize(
    "line", ["4.3 Contraindications", "## 4.3. CONTRAINDICATIONS:", "Contraindications: none known"]
)
def test_a_heading_counts_with_its_number_its_marks_and_what_follows_a_colon(line: str) -> None:
    assert headings_in("medicine", line) == 1
    assert headings_in("medicine", f"{line}\n{line}") == 1


def test_a_word_within_a_sentence_is_no_heading() -> None:
    assert (
        headings_in("medicine", "There are contraindications and adverse reactions, and an overdose is possible.") == 0
    )
