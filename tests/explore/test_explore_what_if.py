"""What other thresholds would do is what a replay with them does."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.document import DropReason
from crawler.explore.what_if import SLIDERS, WhatIf, now
from tests.explore.conftest import Desk
from tests.support import corpus_crawl
from tests.support.corpus_folder import Folder

BEFORE = {"QUALITY_MIN_SCORE": 0.75, "LANGUAGE_MIN_SCORE": 0.5, "EXTRACTION_MIN_WORDS": 150}


def page_of(n: int) -> bytes:
    """Prose of its own that is shorter or rougher than that of other pages."""
    lines = prose(f"what if {n}", 40 + 60 * (n % 5))
    rough = [f"{n * 7919 + k * 104729} / {n * 31 + k * 37:05d} {k * n:04d}" for k in range(12 * (n % 4))]
    body = "".join(f"<p>{line}</p>" for line in lines + rough)
    return f"<html lang=en><title>Page {n}</title><body><article>{body}</article></body></html>".encode()


@pytest.fixture
def judged(folder: Folder, exchange, tmp_path: Path) -> tuple[Path, corpus_crawl.CorpusCrawl]:
    """Forty archived pages, and the corpus that a replay with `BEFORE` makes of them."""
    corpus = folder.opened()
    for n in range(40):
        corpus.archive(exchange(n, page_of(n)))
    corpus.close()
    archive = folder.path / "archive"
    return archive, corpus_crawl.replay(archive, tmp_path / "judged", **BEFORE)


@pytest.mark.parametrize(
    "changes",
    [
        {"QUALITY_MIN_SCORE": 0.9},
        {"QUALITY_MIN_SCORE": 0.4},
        {"EXTRACTION_MIN_WORDS": 250, "LANGUAGE_MIN_SCORE": 0.9},
        {"EXTRACTION_MIN_WORDS": 0},
    ],
    ids=str,
)
def test_a_replay_with_the_settings_of_the_snippet_gives_what_was_said(
    judged, serve: Callable[..., Desk], tmp_path: Path, changes: dict[str, float]
) -> None:
    archive, before = judged
    desk = serve(before.folder, **BEFORE)
    asked = WhatIf(desk.catalogues[0], from_mapping(BEFORE))
    values = {**BEFORE, **changes}
    said = asked.outcome(values)
    shown = unescape(desk.page("/0/what-if", *((name, str(value)) for name, value in values.items())))
    snippet = re.search(r"<pre[^>]*>(.*?)</pre>", shown, re.DOTALL)
    assert snippet
    settings = dict(line.split(" = ") for line in snippet[1].splitlines())
    assert settings == {name: f"{value:g}" for name, value in changes.items()}
    after = corpus_crawl.replay(archive, tmp_path / "after", **BEFORE | settings)
    lost, gained = set(before.kept) - set(after.kept), set(after.kept) - set(before.kept)
    assert {row["canonical_url"] for row in asked.changing(values, "lost", 99)} == lost
    assert {row["canonical_url"] for row in asked.changing(values, "gained", 99)} <= gained
    assert said.least <= len(after.kept) <= said.most
    if not said.further:
        assert said.least + said.gained == len(after.kept)
    assert lost | gained, "these thresholds decide nothing here: choose others"


def test_with_the_thresholds_of_now_nothing_changes(judged, serve: Callable[..., Desk]) -> None:
    _, before = judged
    desk = serve(before.folder, **BEFORE)
    said = WhatIf(desk.catalogues[0], from_mapping(BEFORE)).outcome(BEFORE)
    assert (said.lost, said.gained, said.further, said.freed) == (0, 0, 0, 0)
    shown = desk.page("/0/what-if")
    assert "As settings" not in shown
    assert "judged with other settings" in shown  # the replay had more settings than these


def test_a_duplicate_of_what_is_lost_may_take_its_place(
    folder: Folder, kept, rejected, serve: Callable[..., Desk]
) -> None:
    corpus = folder.opened()
    values = {"language_score": 0.9, "word_count": 200}
    corpus.keep(kept(1, quality_score=0.5, **values))
    corpus.keep(kept(2, quality_score=0.9, **values))
    for n, score, owner in ((3, 0.8, 1), (4, 0.3, 1), (5, 0.8, 2)):
        dup_of = f"https://example.org/{owner}"
        corpus.reject(
            rejected(n, DropReason.NEAR_DUPLICATE, stage="near", quality_score=score, dup_of=dup_of, **values)
        )
    corpus.close()
    said = WhatIf(serve(folder.path).catalogues[0], from_mapping()).outcome(
        now(from_mapping()) | {"QUALITY_MIN_SCORE": 0.6}
    )
    assert (said.lost, said.freed, said.least, said.most) == (1, 1, 1, 2)


def test_a_language_with_a_limit_of_its_own_keeps_it(folder: Folder, kept, serve: Callable[..., Desk]) -> None:
    corpus = folder.opened()
    for n, (language, score) in enumerate((("en", 0.7), ("de", 0.7), ("de", 0.4))):
        corpus.keep(kept(n, language=language, language_score=score, word_count=500, quality_score=0.9))
    corpus.close()
    config = from_mapping({"LANGUAGE_MIN_SCORES": "de:0.5"})
    asked = WhatIf(serve(folder.path).catalogues[0], config)
    gone = asked.changing(now(config) | {"LANGUAGE_MIN_SCORE": 0.9}, "lost", 9)
    assert sorted(row["canonical_url"][-1] for row in gone) == ["0", "2"]


@pytest.mark.parametrize("slider", SLIDERS, ids=lambda slider: slider.setting)
@pytest.mark.parametrize("value", ["x", "-1", "nan", "1e9", "inf"])
def test_a_threshold_that_is_none_is_told(desk: Desk, slider, value: str) -> None:
    answer = desk.ask(f"/0/what-if?{slider.setting}={value}")
    assert (answer.status, f"{slider.setting}={value}: expected a number" in answer.body) == (400, True)
