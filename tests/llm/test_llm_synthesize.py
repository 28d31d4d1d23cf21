"""`gristmill llm synthesize`: new texts in the style of pages; what copies a page is refused and counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawler.operations.declared import WrongCall
from crawler.operations.llm_synthesize import WORK
from crawler.stages.fingerprint import exact_id
from tests.llm.test_llm_questions import filled, texts
from tests.support.corpus_folder import Folder
from tests.support.models import Ask, ModelServer, Say, Script
from tests.support.operations import answer_of

Serve = Callable[[Script], ModelServer]
PricesOf = Callable[..., str]
PAGES = {
    "en": "The miller opens the sluice before dawn so that the wheel turns slowly while the stones are still cold, and "
    "he listens for the knock of a loose peg. By noon the flour is warm to the hand and smells of nuts.",
    "th": "ช่างสีข้าวเปิดประตูน้ำก่อนรุ่งสางเพื่อให้กังหันหมุนช้าๆขณะที่หินยังเย็นอยู่และเขาฟังเสียงเคาะของหมุดที่หลวม",
}
FRESH = {
    "en": "A cooper chooses oak that has stood three winters in the open yard, and he splits it along the grain, never "
    "across. Each stave is bent over a small fire until the barrel closes without a drop of glue.",
    "th": "ช่างทำถังไม้เลือกไม้โอ๊กที่ตากแดดตากฝนมาสามฤดูหนาวแล้วผ่าตามแนวเสี้ยนไม่เคยขวางแล้วจึงดัดด้วยไฟอ่อนจนถังปิดสนิท",
}


def run(folder: Folder, server: ModelServer, prices: str, out: Path, *more: object, **settings: object) -> Any:
    words = ("--model", server.model(), "--prices", prices, "--budget", "9000EUR", "--out", out, *more)
    return answer_of(WORK, folder.path, *words, **settings)


def saying(text: str | Callable[[Ask], str]) -> Script:
    return lambda ask: Say(json.dumps({"subject": "a craft", "text": text if isinstance(text, str) else text(ask)}))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "texts"


@pytest.mark.parametrize("language", PAGES)
def test_a_new_text_is_taken_and_marked(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path, language: str
) -> None:
    filled(folder, kept, PAGES[language], language=language)
    answer = run(folder, serve(saying(FRESH[language])), prices(), out)
    assert (answer.facts["texts"], answer.facts["refused"]) == (1, {})
    (one,) = texts(out)
    assert (one["text"], one["language"], one["synthetic"]) == (FRESH[language], language, True)
    assert (one["synthetic_kind"], one["synthetic_sources"]) == ("text", ["https://example.org/0"])


@pytest.mark.parametrize("language", PAGES)
@pytest.mark.parametrize("of", ["its own sample", "another page"])
def test_a_text_with_a_long_run_of_words_of_a_page_is_refused(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path, language: str, of: str
) -> None:
    page, fresh = PAGES[language], FRESH[language]
    filled(folder, kept, *([page] if of == "its own sample" else [f"{fresh}", page]), language=language)
    piece = page[3:-3]
    copying = fresh[: len(fresh) // 3][::-1] + " " + piece.upper()
    answer = run(folder, serve(saying(copying)), prices(), out)
    assert answer.facts["refused"] == {"copies_a_page": 1 if of == "its own sample" else 2}
    assert (answer.code, out.exists()) == (1, False)


def test_a_text_that_comes_twice_is_taken_once_and_one_word_is_none(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    filled(folder, kept, PAGES["en"], f"{PAGES['en']} Another one.")
    said = {0: FRESH["en"], 1: f"{FRESH['en']}", 2: "Barrels."}
    answer = run(folder, serve(saying(lambda ask: said[ask.number % 3])), prices(), out, "--texts", 3)
    assert answer.facts["refused"] == {"duplicate": 3, "too_short": 2}
    assert len(texts(out)) == 1


def test_each_text_after_a_page_is_a_request_of_its_own_that_names_the_field(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    filled(folder, kept, PAGES["en"])
    server = serve(saying(FRESH["en"]))
    with pytest.raises(WrongCall, match="--reviewed-by"):
        run(folder, server, prices(), out, "--domain", "Legal")
    run(folder, server, prices(), out, "--texts", 2, "--domain", "old crafts")
    assert [ask.system.count("The field is: old crafts") for ask in server.asks] == [1, 1]
    assert len({ask.system for ask in server.asks}) == 2


MAIL = "ada.smith@bakers.example"


def test_personal_data_goes_from_a_text_and_its_subject_before_it_is_written(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    filled(folder, kept, PAGES["en"])
    said = {"subject": f"the cooper {MAIL}", "text": f"{FRESH['en']} Each cask has a mark. Write to {MAIL} before "
            "the first frost, for the yard is closed from then on until the ice has gone from the river and the boats "
            "with the long oak planks come down again from the hills, as they have done for as long as anybody in the "
            "town remembers, and the masters choose among them on the quay, each by his own rule and in his own "
            "time, tapping here and there and listening."}  # fmt: skip
    answer = run(folder, serve(lambda _: Say(json.dumps(said))), prices(), out)
    assert (answer.facts["texts"], answer.facts["refused"]) == (1, {})
    (one,) = texts(out)
    assert MAIL not in json.dumps(one)
    assert one["synthetic_subject"] == "the cooper [EMAIL_ADDRESS]"
    assert (one["pii_flag"], one["pii_entity_types"]) == (True, ["EMAIL_ADDRESS"])
    (begin,), (end,) = one["pii_spans"]["start"], one["pii_spans"]["end"]
    assert one["text"][begin:end] == "[EMAIL_ADDRESS]"
    assert one["doc_id"] == exact_id(one["text"])


@pytest.mark.parametrize(
    ("text", "settings", "why"),
    [(f"{FRESH['en']} {MAIL}", {}, "personal_data"),
     (FRESH["en"], {"PII_PERSON": "all", "PII_MODELS": ["de:de_core_news_sm"], "PII_UNCOVERED": "hold"}, "held_pii")],
)  # fmt: skip
def test_what_the_stage_of_personal_data_would_drop_or_hold_is_refused_and_counted(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path, text: str, settings: Any, why: str
) -> None:
    filled(folder, kept, PAGES["en"])
    answer = run(folder, serve(saying(text)), prices(), out, **settings)
    assert (answer.facts["refused"], out.exists()) == ({why: 1}, False)
