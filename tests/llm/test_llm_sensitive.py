"""Pages about medicine or law are told by what the corpus knows of them, and doubt counts as medical."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawler.llm.sensitive import LEGAL, MEDICAL, UNKNOWN, field_of
from tests.llm.test_llm_questions import HOLDS, KETTLE, model, run, texts
from tests.support.corpus_folder import Folder
from tests.support.models import ModelServer, Script

ILL = "She was diagnosed in May. The cancer had spread to the liver by then, and the kettle was cold.\n"
SAMPLES: dict[str, tuple[dict[str, Any], str]] = {
    "a kettle": ({"text": KETTLE, "language": "en"}, ""),
    "an illness": ({"text": ILL, "language": "en"}, MEDICAL),
    "one word of illness in many": ({"text": f"The depression of 1929. {KETTLE * 9}", "language": "en"}, ""),
    "one word of illness in few": ({"text": "What to do about diabetes", "language": "en"}, MEDICAL),
    "German": ({"text": "Die Diagnose war Krebs, und der Kessel war kalt.", "language": "de"}, MEDICAL),
    "German about kettles": ({"text": "Der Kessel war kalt.", "language": "de"}, ""),
    "Norwegian": ({"text": "Diagnosen var kreft, og kjelen var kald.", "language": "no"}, MEDICAL),
    "Japanese": ({"text": "彼は癌と診断され、うつ病にもなった。", "language": "ja"}, MEDICAL),
    "a language without words": ({"text": "Kuba nje kuri dite.", "language": "xh"}, UNKNOWN),
    "no language": ({"text": KETTLE, "language": None}, UNKNOWN),
    "a domain that the allowlist gives to medicine": (
        {"text": KETTLE, "language": "en", "quality_signals": {"profile": "our-medical"}}, MEDICAL
    ),
    "a legal profile of one's own": (
        {"text": KETTLE, "language": "en", "quality_signals": {"profile": "Legal_fr"}}, LEGAL
    ),
    "a judgement": ({"text": ILL, "language": "en", "legal_document_type": "opinion"}, LEGAL),
    "a lawn": ({"text": KETTLE, "language": "en", "quality_signals": {"profile": "lawn"}}, ""),
}  # fmt: skip


@pytest.mark.parametrize("what", SAMPLES)
def test_what_a_page_is_about_follows_from_profile_kind_and_words_of_its_language(what: str) -> None:
    record, field = SAMPLES[what]
    assert field_of({"word_count": len(record["text"].split()), **record}) == field


@pytest.mark.parametrize(
    ("language", "more", "read"),
    [("en", (), {"medical": 1}), ("xh", (), {"unknown": 2}), ("xh", ("--domain", "kettles"), {})],
)
def test_such_pages_are_left_out_counted_and_named_until_an_expert_is(
    folder: Folder,
    serve: Callable[[Script], ModelServer],
    prices: Callable[..., str],
    kept: Any,
    tmp_path: Path,
    language: str,
    more: tuple[str, ...],
    read: dict[str, int],
) -> None:
    corpus = folder.opened()
    for number, text in enumerate((KETTLE, KETTLE + ILL)):
        corpus.keep(kept(number, text=text, language=language))
    corpus.close()
    server = serve(model(HOLDS))
    found = run(folder, server, prices(), tmp_path / "pairs", *more)
    assert [why.partition(",")[0] for why in found.facts["left_out"]] == [
        {"medical": "read as medical", "unknown": "in a language without words of illness here"}[each] for each in read
    ]
    assert list(found.facts["left_out"].values()) == list(read.values())
    assert len({ask.page for ask in server.asks if "QUESTION" not in ask.user}) == 2 - sum(read.values())
    run(folder, server, prices(), tmp_path / "more", "--reviewed-by", "Dr Jo")
    assert {one["synthetic_reviewer"] for one in texts(tmp_path / "more")} == {"Dr Jo"}
