"""Chats, glossaries and bibliographies are kept in every language; menus, data sheets and offers are no such thing.

The texts are our own.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from crawler.config import QualityConfig
from crawler.document import Document, Drop
from crawler.stages.quality.entries import entries_in
from crawler.stages.quality.stage import QualityStage

CHATS = Path(__file__).with_name("golden") / "chats.tsv"
SAID = dict(line.split("\t") for line in CHATS.read_text("utf-8").splitlines())
"""What is said in a language, an answer behind another."""
NAMES = ("anna", "joe", "lee_2")
GLOSSARY = """bolting – sieving flour through a fine cloth
bedstone – the lower stone, which does not turn
damsel – the spindle that shakes the shoe
grist – grain that is to be ground
hopper – the box above the stones
meal – what comes from the stones before bolting
quern – a small mill turned by hand
race – the channel that leads water to the wheel
runner – the upper stone, which turns
sluice – the gate that lets the water in
toll – the part that the miller keeps"""
REFERENCES = "\n".join(
    f"{author} ({1980 + n}). {title}. Journal of Milling, {n + 3}({n % 4 + 1}), {40 + n}–{49 + n}."
    for n, (author, title) in enumerate(
        zip(
            ("Sample, A.", "Example, B. C.", "Miller, D.", "Baker, E. F.", "Grain, G.", "Stone, H. I.", "Wheel, J.",
             "Sieve, K. L.", "Oven, M.", "Crust, N. O."),
            ("Dust in mills and what it does to lungs", "More dust and what to do about it", "Air in motion",
             "Flour as an aerosol in small rooms", "The sack problem revisited", "Wear of millstones under load",
             "Water wheels in winter", "Sieving by hand and by machine", "Heat in brick ovens", "Why crusts crack"),
            strict=True,
        )
    )
)  # fmt: skip


def chat(language: str, form: str) -> str:
    """Lines such as "[09:01] <anna> morning" or "anna: morning"."""
    return "\n".join(
        form.format(minute=n, name=NAMES[n * n % 3], said=said) for n, said in enumerate(SAID[language].split("|"))
    )


def judged(text: str, language: str) -> Document | Drop:
    return QualityStage(QualityConfig())(Document("https://example.org/", text=text, language=language))


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize(
    "form", ["[09:{minute:02}] <{name}> {said}", "{name}: {said}", "09:{minute:02} - {name}: {said}"]
)
def test_a_chat_is_kept_in_every_language_with_its_names_and_times(form: str, language: str) -> None:
    text = chat(language, form)
    found = judged(text, language)
    assert not isinstance(found, Drop), found
    assert found.text == text


@pytest.mark.parametrize("text", [GLOSSARY, REFERENCES, f"References\n{REFERENCES}"])
def test_a_glossary_and_a_bibliography_are_kept(text: str) -> None:
    assert not isinstance(found := judged(text, "en"), Drop), found


MENU = ("Home", "News", "Sport", "Money", "Food", "Travel", "Style", "Video", "Jobs")
JUNK = {
    "a menu": [f"{name}: read more about it" for name in MENU],
    "a data sheet": [f"{name}: {n} mm" for n, name in enumerate(MENU)],
    "offers": [
        f"Title: Senior miller for our mill number {n}\nPlace: A town by the river {n}\nPay: As good as you are, {n}00"
        for n in range(9)
    ],
    "one label": [f"Liked by: {one}, {other} and {n} more of us" for n, (one, other) in enumerate(pairwise(MENU))],
    "headlines with a year": [f"Mills of the year {year} are named" for year in range(2001, 2020)],
    "an archive": [f"{('March', 'May')[year % 2]} {year} ({year - 1990})" for year in range(2001, 2020)],
}


@pytest.mark.parametrize("name", JUNK)
def test_what_only_begins_like_entries_is_judged_as_it_is(name: str) -> None:
    text = "\n".join(JUNK[name])
    assert entries_in(text, "en") == ""
    assert isinstance(judged(text, "en"), Drop)
