"""What the summary says of a run that judged nothing."""

from __future__ import annotations

import pytest
from rich.text import Text

from crawler.observe.live.idle import sections


def said(**counters: int) -> str:
    found = {name.replace("__", "/"): count for name, count in counters.items()}
    return " ".join(body.plain for _, body in sections(found) if isinstance(body, Text))


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (1, "the sitemap that was read lists no page that this crawl may fetch"),
        (2, "the 2 sitemaps that were read list no page that this crawl may fetch"),
    ],
)
def test_a_run_over_sitemaps_that_list_nothing_says_so(files: int, sentence: str) -> None:
    assert said(sitemap__files=files, frontier__put__queued=files) == sentence


def test_nothing_is_said_of_sitemaps_whose_pages_came_or_are_known() -> None:
    assert said(sitemap__files=1, frontier__put__queued=1, frontier__put__seen=3) == ""
    assert said(sitemap__files=1, frontier__put__queued=4) == ""
    assert said(sitemap__files=1, frontier__put__queued=1, outcome__kept=1) == ""


def test_one_known_seed_is_one_seed() -> None:
    assert said(frontier__seeds=1, frontier__seeds_known=1).startswith(
        "1 of 1 seed was known before this run and keeps"
    )
    assert said(frontier__seeds=3, frontier__seeds_known=2).startswith(
        "2 of 3 seeds were known before this run and keep"
    )
