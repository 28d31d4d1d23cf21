"""A page in two languages is named by the one that most of it is written in, however short it is."""

from __future__ import annotations

import random
from collections import defaultdict
from functools import cache

import pytest

from crawler.config import LanguageConfig
from crawler.document import Document, Drop
from crawler.stages.language.identifiers import Answer, Langdetect, Py3Langid
from crawler.stages.language.stage import LanguageStage, Thresholds
from tests.support.places import SHARED_DATA

GERMAN = (
    "Das Amt hat seine Öffnungszeiten geändert. Wer einen Ausweis beantragen möchte, kommt bitte am Vormittag, denn am "
    "Nachmittag werden nur noch Termine vergeben. Die Unterlagen liegen im Eingang aus, und die Kollegen an der Tür "
    "helfen gern weiter, wenn etwas fehlt oder unklar ist. Wir danken allen für ihre Geduld in diesen Wochen. "
)
ENGLISH = (
    "The ferry leaves the island twice a day, in the morning before the market opens and in the evening when the last "
    "visitors have gone. In winter the crossing takes longer because the captain keeps to the sheltered side of the "
    "bay. Tickets are sold on board, and bicycles travel free as long as there is room for them on the lower deck. "
    "Those who miss the boat find a bed above the post office, where the keeper has three rooms and a stove. "
)


@cache
def stage() -> LanguageStage:
    return LanguageStage(LanguageConfig())


def identified(text: str) -> Document:
    doc = Document("https://example.org/", text=text)
    assert not isinstance(stage()(doc), Drop)
    return doc


def test_a_short_page_is_named_by_its_body_and_not_by_its_beginning():
    text = GERMAN[:332] + "\n" + (ENGLISH * 3)[:1074]
    doc = identified(text)
    assert (doc.language, doc.language_score) == ("en", 0.8)
    assert doc.language_signals["main_share"] == 0.8
    assert doc.language_signals["py3langid"][0]["language"] == "de"  # what the beginning says stays on the record


def test_a_short_page_that_ends_in_another_language_says_so_and_keeps_its_own():
    doc = identified((ENGLISH * 3)[:1074] + "\n" + GERMAN[:332])
    assert (doc.language, doc.language_score) == ("en", 1.0)
    assert doc.language_signals["main_share"] == 0.8
    assert doc.languages == [{"language": "en", "share": 0.8}, {"language": "de", "share": 0.2}]


@pytest.mark.parametrize("length", [600, 1000, 1800, 2900, 6000])
def test_a_page_in_one_language_is_whole(length):
    for text, code in ((GERMAN, "de"), (ENGLISH, "en")):
        doc = identified((text * 20)[:length])
        assert (doc.language, doc.language_signals["main_share"]) == (code, 1.0)


def test_a_text_under_six_hundred_characters_is_one_sample():
    doc = identified(GERMAN[:299] + (ENGLISH * 2)[:300])
    assert doc.language == "de" and doc.language_signals["main_share"] == 1.0


class Told:
    """An identifier that answers by the letter a text begins with."""

    name = "told"

    def __init__(self, known: str, **answers: Answer) -> None:
        self.known, self._answers, self.asked = frozenset(known.split()), answers, list[str]()

    def identify(self, text: str) -> Answer | None:
        self.asked.append(text)
        return self._answers.get(text[0])


def mixed(first: dict[str, Answer], second: dict[str, Answer], known: str) -> Document:
    """A text of a beginning in `a` and a body in `b`, judged by identifiers that say what is given."""
    doc = Document("https://example.org/", text="a" * 800 + "b" * 3200)
    LanguageStage(LanguageConfig(min_score=0.0), Told("en de la id ms", **first), Told(known, **second))(doc)
    return doc


EN, DE, LA = Answer("en", 1.0), Answer("de", 1.0), Answer("la", 1.0)


def test_the_beginning_is_overruled_only_where_the_second_identifier_agrees():
    assert mixed({"a": EN, "b": DE}, {"b": DE}, "en de").language == "de"
    doc = mixed({"a": EN, "b": DE}, {"b": EN}, "en de")
    assert (doc.language, doc.language_signals["main_share"]) == ("en", 0.2)


def test_on_a_language_it_does_not_know_the_second_can_only_say_that_nothing_has_changed():
    assert mixed({"a": EN, "b": LA}, {"b": DE}, "en de").language == "la"
    assert mixed({"a": EN, "b": LA}, {"b": EN}, "en de").language == "en"


def test_a_sample_that_could_be_anything_has_no_say():
    doc = mixed({"a": EN, "b": Answer("la", 0.4)}, {}, "en de")
    assert (doc.language, doc.language_signals["main_share"]) == ("en", 1.0)


def test_a_twin_that_is_not_sure_of_itself_is_no_other_language():
    unsure, sure = Answer("ms", 0.8), Answer("ms", 0.99)
    assert mixed({"a": Answer("id", 0.99), "b": unsure}, {"a": Answer("id", 0.9)}, "id").language == "id"
    assert mixed({"a": Answer("id", 0.99), "b": sure}, {"a": Answer("id", 0.9), "b": None}, "en").language == "ms"


def test_the_samples_are_spread_over_the_text_and_the_beginning_is_not_read_twice():
    limits = Thresholds()
    for length in (600, 1234, 3000, 50_000):
        text = "".join(chr(0x4E00 + n % 20_000) for n in range(length))
        parts = list(stage()._samples(text))
        width = min(limits.longest_sample_chars, max(limits.shortest_sample_chars, length // 10))
        assert len(parts) == limits.samples - 1 and {len(part) for part in parts} == {width}
        assert parts[-1] == text[-width:] and parts[0] != text[:width]


@pytest.mark.skipif(not (SHARED_DATA / "languages").is_dir(), reason="needs ../shared/data/languages")
def test_nine_in_ten_short_pages_of_two_languages_are_named_by_the_longer_part():
    known = Py3Langid().known & Langdetect().known
    by_code: dict[str, list[str]] = defaultdict(list)
    for line in (SHARED_DATA / "languages" / "sentences.tsv").read_text("utf-8").splitlines():
        code, sentence = line.split("\t", 1)
        if code in known:
            by_code[code].append(sentence)
    rnd, right = random.Random(11), 0
    for _ in range(200):
        first, main = rnd.sample(sorted(by_code), 2)
        length = rnd.randrange(900, 2_900)
        parts = [(" ".join(rnd.sample(by_code[code], 40)) * 3)[: round(length * share)]
                 for code, share in ((first, 0.25), (main, 0.75))]  # fmt: skip
        doc = Document("https://example.org/", text="\n".join(parts))
        stage()(doc)
        right += doc.language == main
    assert right >= 180
