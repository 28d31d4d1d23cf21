"""A refresh is read as Chromium reads it (the forms of `tests/wire/links.jsonl`); here: on any text, and in time."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.config import from_mapping
from crawler.document import Document, DropReason, Refresh
from crawler.stages.chain import Chain
from crawler.urls.refresh import AT_ONCE, MAX_DELAY, is_redirect, moves_a_notice, read_header, read_refresh
from tests.support.syllables import prose

PAGE = "https://h.example/dir/page"
TEXTS = st.text(
    st.one_of(st.sampled_from("0123456789.;,= '\"urlURL/:?#\t\n"), st.characters(codec="utf-8")), max_size=40
)


@given(TEXTS)
@example("0;url=//[")
@example("9" * 400 + ";x")
def test_any_text_gives_nothing_or_an_absolute_url_after_a_time(text: str) -> None:
    found = read_refresh(text, PAGE)
    if found is not None:
        assert found.url == "" or found.url.startswith(("http://", "https://"))
        assert "#" not in found.url
        assert found.url != PAGE
        assert 0 <= found.seconds < 1e9 + 1


@pytest.mark.parametrize("text", ["0" * 500_000, " " * 500_000, "0;url='" + "'" * 500_000, "0" + ";" * 500_000])
def test_a_hostile_text_is_read_in_linear_time(text: str) -> None:
    begin = time.process_time()
    read_refresh(text, PAGE)
    assert time.process_time() - begin < 1


@pytest.mark.parametrize(
    ("said", "redirect", "notice"),
    [
        (None, False, False),
        (Refresh(0.0, ""), False, False),
        (Refresh(0.0, "https://h.example/to"), True, True),
        (Refresh(0.0, "https://h.example/to", for_all=False), False, True),
        (Refresh(AT_ONCE, "https://h.example/to"), False, True),
        (Refresh(MAX_DELAY, "https://h.example/to"), False, True),
        (Refresh(MAX_DELAY + 1, "https://h.example/to"), False, False),
    ],
)
def test_who_could_see_the_page_decides_whether_it_is_one(said: Refresh | None, redirect: bool, notice: bool) -> None:
    assert (is_redirect(said), moves_a_notice(said)) == (redirect, notice)


@pytest.mark.parametrize(
    ("words", "content", "reason"),
    [
        (200, "0; url=/to", DropReason.REDIRECTED),
        (10, "5; url=/to", DropReason.REDIRECTED),
        (0, "5; url=/to", DropReason.REDIRECTED),
        (10, "5", DropReason.TOO_SHORT),
        (10, "60; url=/to", DropReason.TOO_SHORT),
        (200, "5; url=/to", None),
    ],
)
@pytest.mark.parametrize("carrier", ["meta", "header"])
def test_the_stages_give_the_verdict_so_that_replay_and_spark_give_it_too(
    words: int, content: str, reason: DropReason | None, carrier: str
) -> None:
    meta = f'<meta http-equiv=refresh content="{content}">' if carrier == "meta" else ""
    text = prose(words, 7)
    doc = Document(PAGE, PAGE, "h.example", html=f"<html><head>{meta}</head><body><p>{text}.</p></body>".encode())
    doc.content_type = "text/html"
    if carrier == "header":
        doc.refresh = read_header([(b"Refresh", content.encode())], PAGE)
    done = Chain(from_mapping({"CORPUS_DIR": "x"}), ("parse", "optout", "extraction")).run(doc)
    assert (done.verdict and done.verdict.reason) == reason
    if reason is DropReason.REDIRECTED:
        assert done.verdict is not None
        assert (done.verdict.detail, done.text) == ("https://h.example/to", "")
