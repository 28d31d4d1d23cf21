"""The pages that the bench of the browser draws: what the pipeline does not take whole is no loss of the browser."""

from __future__ import annotations

import pytest

from bench.speed.browser import _is_kept_whole, _lines
from bench.web.prose import prose


@pytest.mark.parametrize("number", [18, 74])
def test_a_draft_that_the_pipeline_redacts_or_refuses_is_left_out(number: int) -> None:
    """Of the drafts that begin these pages one has a specimen of a card number, the other the words of lorem ipsum."""
    path = f"/data/page-{number}"
    first = next(draft for n in range(9) if "lorem" not in " ".join(draft := prose(f"{path}?{n}")).lower())
    assert not _is_kept_whole(path, first)
    assert _lines(path) != first
    assert _is_kept_whole(path, _lines(path))


def test_two_pages_have_texts_of_their_own_and_the_same_ones_again() -> None:
    assert _lines("/data/page-1") != _lines("/data/page-2")
    _lines.cache_clear()
    again = _lines("/data/page-1")
    _lines.cache_clear()
    assert _lines("/data/page-1") == again
