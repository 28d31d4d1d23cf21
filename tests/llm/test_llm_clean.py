"""`gristmill llm clean`: a model picks a page's main text; a text that the page does not say is refused and counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from crawler.dataset.annotate import Annotations
from crawler.llm.clean import NAME, stands_in
from crawler.operations.llm_clean import WORK
from crawler.storage.files.place import Place
from tests.support.corpus_folder import Folder, exchange
from tests.support.models import Ask, ModelServer, Say, Script
from tests.support.operations import answer_of

Serve = Callable[[Script], ModelServer]
PricesOf = Callable[..., str]
LINES = [
    "The ferry crosses the fjord at seven, and again at nine where the wind allows it.",
    "A crossing takes 40 minutes. Write to the harbour master, not to the crew.",
]
PAGE = (
    "<html><body><nav>Home Timetable</nav><script>var x = 'unseen words';</script>"
    f"<p>{LINES[0]}</p><aside>Buy boots now</aside><p>{LINES[1]}</p>"
    "<footer>kari.nordmann@fjordferry.no</footer></body></html>"
)


def filled(folder: Folder, kept: Any, *confidences: float | None) -> None:
    corpus = folder.opened()
    for number, confidence in enumerate(confidences):
        place = corpus.archive(exchange(number, f"{PAGE}<!-- {number} -->".encode()))
        where = {"warc_file": place.file, "warc_offset": place.offset, "warc_record_id": place.record_id}
        corpus.keep(kept(number, text="Home Timetable\nBuy boots now", extraction_confidence=confidence, **where))
    corpus.close()


def run(folder: Folder, server: ModelServer, prices: str, *more: object) -> Any:
    words = ("--model", server.model(), "--prices", prices, "--budget", "9000EUR", *more)
    return answer_of(WORK, folder.path, *words)


def picking(text: str) -> Script:
    return lambda ask: Say(json.dumps({"text": text}))


def test_a_text_that_the_page_says_is_taken_and_replaces_the_other_on_request(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any
) -> None:
    filled(folder, kept, 0.3)
    server = serve(picking("\n".join(LINES)))
    facts = run(folder, server, prices()).facts
    assert (facts["taken"], facts["refused"], facts["replaced"]) == (1, {}, None)
    (row,) = Annotations(Place(str(folder.path))).read(NAME)
    assert (row["text"], row["refused"]) == ("\n".join(LINES), "")
    assert folder.records()[0]["text"].startswith("Home")
    assert run(folder, server, prices(), "--apply").facts["replaced"] == 1
    (record,) = folder.records()
    assert (record["text"], record["extractor"]) == ("\n".join(LINES), NAME)
    assert (record["word_count"], record["extraction_confidence"]) == (30, None)
    assert len(server.asks) == 1


def test_what_goes_out_is_what_the_page_shows_without_personal_data(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any
) -> None:
    filled(folder, kept, 0.3)
    asks: list[Ask] = []
    server = serve(lambda ask: asks.append(ask) or Say(json.dumps({"text": LINES[0]})))
    run(folder, server, prices())
    (ask,) = asks
    assert LINES[0] in ask.page
    assert "Buy boots now" in ask.page
    assert "unseen" not in ask.page
    assert "nordmann" not in ask.page


def test_only_pages_in_doubt_are_asked_about_and_the_others_are_counted(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any
) -> None:
    filled(folder, kept, 0.3, 0.59, 0.6, 0.9, None)
    server = serve(picking(LINES[0]))
    left_out = run(folder, server, prices()).facts["left_out"]
    assert left_out == {"extraction confidence high enough": 2, "extraction confidence unknown": 1}
    assert len(list(Annotations(Place(str(folder.path))).read(NAME))) == 2


WRONG = {
    "a word more": f"{LINES[0]}\nIt is free.",
    "another number": LINES[1].replace("40", "50"),
    "a word less": LINES[1].replace("not ", ""),
    "another order": f"{LINES[1]}\n{LINES[0]}",
    "part of a word": LINES[0][2:],
    "another case": LINES[0].replace("fjord", "Fjord"),
    "what no reader sees": "unseen words",
    "a line twice": f"{LINES[0]}\n{LINES[0]}",
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_text_that_the_page_does_not_say_is_refused_and_counted(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, fault: str
) -> None:
    filled(folder, kept, 0.3)
    facts = run(folder, serve(picking(WRONG[fault])), prices(), "--apply").facts
    assert (facts["taken"], facts["refused"], facts["replaced"]) == (0, {"not_in_page": 1}, 0)
    assert folder.records()[0]["text"].startswith("Home")


@pytest.mark.parametrize(
    ("text", "page", "holds"),
    [
        ("東京タワーは高い", "案内\n東京タワーは高い。地図", True),
        ("東京タワーは低い", "案内\n東京タワーは高い。地図", False),
        ("क्षेत्र बड़ा है", "घर क्षेत्र बड़ा है अंत", True),
        ("क्षेत्र बड़ी है", "घर क्षेत्र बड़ा है अंत", False),
        ("It was −7 at night", "It was −7 at night", True),
        ("It was 7 at night", "It was −7 at night", False),
        ("“Well,” she said", '"Well", she said', True),
    ],
)
def test_letters_marks_and_signs_have_to_be_the_pages_own_in_any_script(text: str, page: str, holds: bool) -> None:
    assert stands_in(text, page) is holds
