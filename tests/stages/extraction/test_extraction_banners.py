"""The learned extractor leaves out what a consent manager put on top of a page."""

from __future__ import annotations

import numpy as np
import pytest

from crawler.stages.extraction.learned.banners import without_banners
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.parse.stage import parse_html

ASKS, TEXT = "We store cookies on your device.", "The ferry leaves at noon and comes back with the tide."


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (f"<div class=cookie-banner><p>{ASKS}</p></div><p>{TEXT}</p>", [TEXT]),
        (f"<div><div id=onetrust-consent-sdk><p>{ASKS}</p></div></div><p>{TEXT}</p>", [TEXT]),
        (f"<div><div><div class=cookie-banner><p>{ASKS}</p></div></div></div><p>{TEXT}</p>", [ASKS, TEXT]),  # too deep
        (f"<div class=cookie-banner><h1>{ASKS}</h1></div><p>{TEXT}</p>", [ASKS, TEXT]),  # holds the page
        (f"<div class=cookie-banner><p>{TEXT}</p></div><p>{ASKS}</p>", [TEXT, ASKS]),  # more than half of it
        (f"<div class=banner><p>{ASKS}</p></div><p>{TEXT}</p>", [ASKS, TEXT]),
    ],
)
def test_a_small_container_of_a_consent_manager_is_no_text(body: str, left: list[str]) -> None:
    page = walk(parse_html(f"<html><body>{body}</body></html>"))
    sums = without_banners(page, np.zeros(len(page.texts), np.int64))
    assert [text for text, odds in zip(page.texts, sums.tolist(), strict=True) if odds == 0] == left
