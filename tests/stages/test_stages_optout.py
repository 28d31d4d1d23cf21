"""The opt-out stage on documents as ParseStage hands them over."""

from __future__ import annotations

import pytest

from crawler.config import PolicyConfig
from crawler.document import Document, Drop, DropReason, Signal
from crawler.stages.optout import OptOutStage
from crawler.stages.parse.stage import ParseStage


def page(**fields) -> Document:
    return Document(url="https://a.example/", crawled_at="2026-01-01T00:00:00Z", **fields)


def stage(profile: str = "strict") -> OptOutStage:
    return OptOutStage(PolicyConfig(optout_profile=profile), "CorpusBot", clock=lambda: 0.0)


def test_a_page_that_says_nothing_passes_and_is_marked_as_checked():
    doc = page(metas=[("description", "about us")])
    assert stage()(doc) is doc
    assert doc.noai_checked
    assert doc.text_allowed
    assert doc.optout_signals == []


def test_a_page_that_refuses_is_dropped_and_its_text_stays_forbidden():
    doc = page(metas=[("robots", "noai")])
    assert stage()(doc) == Drop("optout", DropReason.OPTOUT, "meta-robots in meta: robots: noai")
    assert doc.noai_checked
    assert not doc.text_allowed
    assert [s.value for s in doc.optout_signals] == ["robots: noai"]


def test_a_reservation_in_an_earlier_header_counts_unless_the_page_overrules_it():
    reserved = Signal("tdmrep", "header", "1", "disallow")
    assert isinstance(stage()(page(optout_signals=[reserved])), Drop)
    open_page = page(optout_signals=[reserved], metas=[("tdm-reservation", "0")])
    assert stage()(open_page) is open_page


def test_dates_are_compared_with_the_time_of_the_fetch_not_with_today():
    metas = [("robots", "unavailable_after: 2026-06-01")]
    assert isinstance(stage()(page(metas=metas)), Document)
    late = page(metas=metas)
    late.crawled_at = "2027-01-01T00:00:00Z"
    verdict = stage()(late)
    assert isinstance(verdict, Drop)
    assert verdict.reason is DropReason.GONE


@pytest.mark.parametrize("content, nofollow", [("nofollow", True), ("none", True), ("index", False)])
def test_nofollow_is_honoured_for_discovery(content, nofollow):
    doc = page(metas=[("robots", content)], links=["https://a.example/next"])
    stage("balanced")(doc)
    assert doc.nofollow is nofollow
    assert doc.links == ([] if nofollow else ["https://a.example/next"])


def test_nofollow_in_a_header_counts_for_everybody_and_for_us_by_name_and_one_for_another_bot_does_not():
    ours = [
        (value, True) for value in ("nofollow", "none", "corpusbot: nofollow", "corpusbot: none", "robots: nofollow")
    ]
    for value, nofollow in (*ours, ("googlebot: nofollow", False), ("corpusbot: index", False)):
        doc = page(optout_signals=[Signal("x-robots-tag", "header", value)])
        stage()(doc)
        assert doc.nofollow is nofollow


@pytest.mark.parametrize(
    ("meta", "refuses"),
    [
        ("<meta property=robots content=noai>", True),
        ("<META HTTP-EQUIV='X-Robots-Tag' content='noindex, noai'>", True),
        ("<meta http-equiv=tdm-reservation content=1>", True),
        ("<meta property='tdm-reservation' content='1'>", True),
        ("<meta name=author property=robots content=noai>", False),  # the author is called so
        ("<meta property=og:robots content=noai>", False),
        ("<meta http-equiv=refresh content='noai'>", False),
    ],
)
def test_a_refusal_counts_also_as_a_property_or_as_the_header_it_stands_for(meta, refuses):
    html = f"<html><head>{meta}</head><body><p>Some text.</p></body></html>".encode()
    doc = ParseStage()(page(html=html, content_type="text/html"))
    assert isinstance(doc, Document)
    assert isinstance(stage()(doc), Drop) is refuses
