"""What a person keeps is kept although its lines are short, repeated or full of figures; what looks like it is not."""

from __future__ import annotations

import pytest

from bench.web.prose import prose
from crawler.config import ExtractionConfig, from_mapping
from crawler.document import Document, Drop, DropReason, Reason
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage
from crawler.stages.quality.stage import QualityStage

VERSES = [
    ["Down by the harbour where the grey gulls cry", "I watched the sails against a burning sky",
     "My father told me never leave the shore", "But I was young and wanted something more"],
    ["The captain laughed and took me by the hand", "He said a boy grows older far from land",
     "We crossed the line before the month was through", "And every star I counted spoke of you"],
    ["Now I am old and sit beside the quay", "The young men ask me what I learned at sea",
     "I tell them love is heavier than gold", "And songs are warmer when the nights are cold"],
]  # fmt: skip
CHORUS = ["Oh roll me home, roll me home again", "Through the silver wind and the driving rain",
          "If the tide should take me, let the bells all ring", "Roll me home and hear the morning sing"]  # fmt: skip
SONG = [line for verse in VERSES for line in (*verse, *CHORUS)]
PROSE = [
    "The harvest of apples in the valley has grown in nearly every year since the orchards on the slopes were planted.",
    "Growers say that mild winters and the channel which the cooperative built are the main reasons for it.",
    "They expect prices to stay where they are, because the buyers in the towns have signed for three years.",
]
GUIDE = prose(3, words=300)


def judged(lines: list[str], profile: str = "auto", **signals: float) -> Document | Drop:
    doc = Document(url="https://a.test/", text="\n".join(lines), language="en", quality_signals=dict(signals))
    return QualityStage(from_mapping({"QUALITY_PROFILE": profile}).quality)(doc)


def reason(lines: list[str], profile: str = "auto", **signals: float) -> Reason | None:
    verdict = judged(lines, profile, **signals)
    return verdict.reason if isinstance(verdict, Drop) else None


TABLE = [*PROSE, *(f"{year} | {year * 7 % 4999} | {year * 3 % 997} | {year % 89}.5 %" for year in range(2005, 2026))]
RECIPE = [
    "Bread for two days", "Prep: 20 min", *(f"- {n} g {x}" for n, x in enumerate(
        ("flour", "salt", "yeast", "sugar", "oil", "seeds", "bran", "malt", "rye", "oats", "water", "milk"), 5)),
    "1. Mix the flour with the salt and the seeds in a large bowl.",
    "2. Dissolve the yeast in the water, and add it with the oil.",
    "3. Knead the dough until it is smooth, and leave it under a cloth for two hours.",
    "4. Heat the oven, shape the loaf, and bake it until it sounds hollow when you knock on it.",
]  # fmt: skip
ITEMS = [f"{kind}{n:x}h sock{n:x}k and hat{n:x}t" for n in range(20) for kind in ("wool", "steel", "rubber")]
CHECKLIST = [*GUIDE, *ITEMS]
SPECS = [label for n in range(12) for label in ("Best for", f"Walk {n:x}q", "Length", f"Hill{n:x}w", "Height")]
LABELS = [*GUIDE, *SPECS]
PLAN = [*GUIDE, *(f"Week {n} | Rest | Walk for half an hour and rest | Rest | Walk for half an hour" for n in range(9))]


@pytest.mark.parametrize(
    "lines",
    [TABLE, RECIPE, CHECKLIST, LABELS, PLAN],
    ids=["figures", "recipe", "checklist", "labels", "plan"],
)
def test_prose_is_kept_whatever_stands_beside_it(lines):
    assert reason(lines) is None
    assert reason(lines, "datatrove") is not None


@pytest.mark.parametrize("lines", [SONG, [line for verse in VERSES for line in verse]], ids=["song", "poem"])
def test_verse_is_kept_with_its_chorus(lines):
    doc = judged(lines, marked_verse=0.9)
    assert isinstance(doc, Document)
    assert doc.quality_signals["profile"] == "verse"
    assert reason(lines) is not None  # nothing but the page's markup tells it from a menu
    assert reason(lines, "datatrove", marked_verse=0.9) is not None


def test_examples_of_code_may_repeat_what_stands_between_their_empty_lines():
    examples = [f"{text}\n\n}}\n\nreturn None\n" for text in GUIDE]
    assert reason(examples, marked_code=0.1) is None


@pytest.mark.parametrize(
    ("lines", "signals", "why"),
    [
        (TABLE[3:], {}, DropReason.GOPHER_BELOW_ALPHA_THRESHOLD),
        ([*PROSE[:1], *ITEMS], {}, DropReason.FINEWEB_LINE_PUNCT_RATIO),
        ([*PROSE[:1], *SPECS], {}, DropReason.DUP_LINE_FRAC),
        (CHORUS * 20, {"marked_verse": 1.0}, DropReason.DUP_LINE_FRAC),
        ([f"Seat {n} of the house at {n * 3} {n % 7}5" for n in range(60)], {"marked_verse": 1.0}, None),
        ([PROSE[0]] * 20 + ITEMS, {}, None),
    ],
    ids=["a table alone", "a list", "a shop", "one stanza again and again", "a list with breaks", "one sentence"],
)
def test_what_has_no_prose_beside_it_is_dropped_as_before(lines, signals, why):
    found = reason(lines, **signals)
    assert found is not None
    assert why is None or found is why


def test_the_record_says_what_was_forgiven_and_why():
    doc = judged(CHECKLIST)
    assert isinstance(doc, Document)
    said = doc.quality_signals["skipped_rules"]["fineweb_line_punct_ratio"]
    assert said.startswith("fineweb_punctuated_lines 0.0625 < 0.12, but ")
    assert said.endswith("% of the words stand in sentences")
    assert "fineweb_punctuated_lines" not in doc.quality_signals


def test_the_extraction_marks_stanzas_and_neither_addresses_nor_menus():
    def marked(body: str) -> float:
        doc = Document(
            url="http://a.test/", content_type="text/html", html=f"<html><body>{body}</body></html>".encode()
        )
        ParseStage()(doc)
        ExtractionStage(ExtractionConfig(extractor="trafilatura", min_words=0))(doc)
        return float(doc.quality_signals["marked_verse"])

    song = "".join(f"<p>{'<br>'.join(verse)}</p>" for verse in (*VERSES, CHORUS))
    assert marked(f"<article><h1>Roll me home</h1>{song}</article>") > 0.9
    prose = "".join(f"<p>{line}</p>" for line in GUIDE)
    assert marked(f"<article>{prose}<p>Spoons<br>4 Hill St.<br>Birch<br>Phone 12345</p></article>") == 0
    assert marked(f"<article>{prose}<p>{'<br>'.join(f'<a href=/>{line}</a>' for line in CHORUS)}</p></article>") == 0
    assert marked(f"<article><p>{'<br>'.join(GUIDE)}</p></article>") == 0


POINTS = [
    "Why the old mill was closed", "The river no longer carries enough water in summer",
    "Nobody in the village wanted to learn the trade", "Flour from the city costs half as much",
    "Insurance has doubled since the fire", "What could be done with the building",
    "A museum that shows how the stones were set", "Flats for the families who wait for one",
    "A workshop for the school on the hill", "What each of these would cost the town",
    "The roof alone takes a third of the budget", "A grant of the county pays for the wheel",
    "Volunteers have offered to clear the race", "What we ask of you tonight",
    "A vote on which of the three to plan", "Two people who keep the accounts", "A date for the first day of work",
]  # fmt: skip
"""Our own."""


def on_slides(lines: list[str], kind: str = "pptx") -> Document | Drop:
    doc = Document(url="https://a.test/", text="\n".join(lines), language="en", document_kind=kind)
    return QualityStage(from_mapping({}).quality)(doc)


@pytest.mark.parametrize("kind", ["pptx", "odp"])
def test_points_on_slides_need_no_full_stops(kind):
    doc = on_slides(POINTS, kind)
    assert isinstance(doc, Document) and doc.quality_signals["profile"] == "slides"
    found = on_slides(POINTS, "html")
    assert isinstance(found, Drop) and found.reason is DropReason.FINEWEB_LINE_PUNCT_RATIO


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([" ".join(line.split()[:3]) for line in POINTS * 3], None),
        (
            ["the of and " + " ".join(f"w{n * 7919:x}a of{n:x}r" for n in range(90))],
            DropReason.FINEWEB_LINE_PUNCT_RATIO,
        ),
        (TABLE[3:], DropReason.GOPHER_BELOW_ALPHA_THRESHOLD),
    ],
    ids=["titles alone", "a list of words", "a table of figures"],
)
def test_what_is_no_text_on_slides_is_dropped(lines, why):
    found = on_slides(lines)
    assert isinstance(found, Drop) and (why is None or found.reason is why)


def test_a_profile_that_was_asked_for_stands_before_the_kind():
    doc = Document(url="https://a.test/", text="\n".join(POINTS), language="en", document_kind="pptx")
    doc.profile = "prose"
    assert isinstance(QualityStage(from_mapping({}).quality)(doc), Drop)
