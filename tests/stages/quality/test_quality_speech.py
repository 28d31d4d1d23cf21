"""Speech that is written down is judged without its times and speakers; what only looks like it is judged as it is.

The texts are our own.
"""

from __future__ import annotations

import pytest

from crawler.config import QualityConfig
from crawler.document import Document, Drop
from crawler.stages.quality.rules.base import Page
from crawler.stages.quality.speech import speech_in
from crawler.stages.quality.stage import QualityStage

SAID = {
    "en": "The bridge was closed before anybody knew that the river had risen|We carried the lamps up to the school "
    "and waited for the morning|Nobody slept, and the teacher read to the children from an old atlas|At six th"
    "e first boat came round the bend with bread and dry blankets|My father rowed it with the miller, who had "
    "lost his wheel|They asked for the doctor, and she went with them at once|Later the newspaper wrote that a"
    "ll of us had been very brave|To be honest, most of us were only cold and a little bored",
    "de": "Die Brücke war gesperrt, bevor jemand wusste, dass der Fluss gestiegen war|Wir trugen die Lampen in die S"
    "chule und warteten auf den Morgen|Niemand schlief, und die Lehrerin las den Kindern aus einem alten Atlas"
    " vor|Um sechs kam das erste Boot um die Biegung, mit Brot und trockenen Decken|Mein Vater ruderte es mit "
    "dem Müller, der sein Rad verloren hatte|Sie fragten nach der Ärztin, und die ging sofort mit|Später schri"
    "eb die Zeitung, wir alle seien sehr tapfer gewesen|Ehrlich gesagt war den meisten von uns nur kalt und ei"
    "n wenig langweilig",
    "fr": "Le pont était fermé avant que personne ne sache que la rivière avait monté|Nous avons porté les lampes à "
    "l'école et attendu le matin|Personne n'a dormi, et la maîtresse a lu aux enfants un vieil atlas|À six heu"
    "res la première barque est arrivée avec du pain et des couvertures sèches|Mon père ramait avec le meunier"
    ", qui avait perdu sa roue|Ils ont demandé le médecin, et elle est partie avec eux aussitôt|Plus tard le j"
    "ournal a écrit que nous avions tous été très courageux|Pour être honnête, la plupart d'entre nous avaient"
    " seulement froid et s'ennuyaient un peu",
    "zh": "桥在人们知道河水上涨之前就已经封闭了|我们把灯搬到学校，在那里等待天亮的到来|没有人睡觉，老师给孩子们读"
    "一本旧地图集里的故事|六点钟第一条船绕过河湾，带来了面包和干毯子|我父亲和磨坊主一起划船，他的水车已经被"
    "冲走了|他们来找医生，她马上就跟着他们走了|后来报纸上说我们所有人都非常勇敢|老实说，我们大多数人只是觉"
    "得又冷又有一点无聊",
}  # fmt: skip


def subtitles(language: str) -> str:
    """Two lines a cue, with numbers and times."""
    lines = []
    for n, sentence in enumerate(SAID[language].split("|"), 1):
        half = len(sentence) // 2
        start = f"00:{n:02}:0{n % 10},500"
        lines += [str(n), f"{start} --> 00:{n:02}:5{n % 10},000", sentence[:half], sentence[half:] + "."]
    return "\n".join(lines)


def play(language: str) -> str:
    """Names in capitals on lines of their own."""
    names = {"zh": ("船夫：", "磨坊主：")}.get(language, ("ANNA", "MÜLLER"))
    return "\n".join(f"{names[n % 2]}\n{sentence}." for n, sentence in enumerate(SAID[language].split("|")))


def judged(text: str, language: str) -> tuple[Document | Drop, Document]:
    doc = Document("https://example.org/", text=text, language=language)
    return QualityStage(QualityConfig())(doc), doc


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("form", [subtitles, play])
def test_what_is_said_is_kept_in_every_language(form, language):
    found, doc = judged(form(language), language)
    assert not isinstance(found, Drop), found
    assert doc.text == form(language)  # judged without its times, and kept with them


@pytest.mark.parametrize("language", SAID)
def test_the_times_and_speakers_are_taken_out_and_nothing_else(language):
    sentences = [f"{sentence}." for sentence in SAID[language].split("|")]
    found = speech_in(play(language), language)
    assert found is not None and (found.form, found.text.split("\n")) == ("dialogue", sentences)
    assert speech_in(subtitles(language), language).form == "transcript"


def test_an_interview_with_names_before_a_colon_is_a_dialogue():
    text = "\n".join(f"{'Q' if n % 2 else 'Mara Lind'}: {s}." for n, s in enumerate(SAID["en"].split("|")))
    assert speech_in(text).text == SAID["en"].replace("|", ".\n") + "."


MENU = "\n".join(["HOME", "NEWS", "SPORT", "WEATHER", "HOME", "NEWS", "SPORT", "WEATHER"] * 12)
INDEX = "\n".join(f"{n // 60:02}:{n % 60:02} Track {n}" for n in range(120))
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
HOURS = "\n".join(
    f"{day}\n7:00AM - 5:00PM\nThe office of branch {n} is open, please call." for n in range(4) for day in DAYS
)
OFFERS = "\n".join(f"Price: {n} EUR\nColour: red\nSize: {n}" for n in range(60))


@pytest.mark.parametrize("junk", [MENU, INDEX, OFFERS, HOURS, "Read more\n" * 80])
def test_a_menu_a_list_of_tracks_hours_and_offers_are_still_dropped(junk):
    assert isinstance(judged(junk, "en")[0], Drop)


@pytest.mark.parametrize("text", ["", "One line.", SAID["en"].replace("|", ".\n"), "Note: a\nNote: b\nNote: c\n" * 4])
def test_a_text_without_two_speakers_is_no_speech(text):
    assert speech_in(text) is None


def test_quotations_and_names_of_users_do_not_condemn_a_thread():
    posts = [f"{sentence}." for sentence in SAID["en"].split("|")]
    text, parts = "", []
    for n, post in enumerate(posts):
        for label, passage in (
            ("user", f"river_fan_{n % 2}"),
            ("quotation", posts[n - 1] if n else ""),
            ("paragraph", post),
        ):
            if passage:
                parts.append((len(text), len(text) + len(passage), label))
                text += passage + "\n"
    doc = Document("https://example.org/", text=text, language="en", parts=parts)
    assert not isinstance(QualityStage(QualityConfig())(doc), Drop)
    without = Document("https://example.org/", text=text, language="en")
    assert isinstance(QualityStage(QualityConfig())(without), Drop)


def test_the_views_of_a_page_need_enough_that_is_left():
    assert not list(Page("word " * 40, parts=((0, 100, "code"),)).views())
