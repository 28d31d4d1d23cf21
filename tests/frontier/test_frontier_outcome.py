"""What an outcome says of a shape: what counts for it, what against it, and what says nothing."""

from __future__ import annotations

import pytest

from crawler.document import Document, Drop, DropReason, Reason
from crawler.frontier.model import Lease
from crawler.frontier.outcome import DUPLICATE, KEPT, NEUTRAL, OTHER, SHORT, kind_of, outcome_entry
from crawler.urls.link import Link, source_id
from crawler.urls.shape import shape_id_of

URL = "https://a.example/post/1"


def lease(**values) -> Lease:
    return Lease(link=Link(URL, depth=2, **values), token="0.1.x", scope="a.example")


def dropped(reason: Reason, status: int = 200) -> Document:
    return Document(URL, http_status=status, verdict=Drop("x", reason))


@pytest.mark.parametrize(
    ("reason", "status", "kind"),
    [
        (DropReason.TOO_SHORT, 200, SHORT),
        (DropReason.NEAR_DUPLICATE, 200, DUPLICATE),
        (DropReason.LOW_QUALITY, 200, OTHER),
        (DropReason.GONE, 404, OTHER),
        (DropReason.HTTP_ERROR, 400, OTHER),
        (DropReason.HTTP_ERROR, 503, NEUTRAL),
        (DropReason.HTTP_ERROR, 429, NEUTRAL),
        (DropReason.DOWNLOAD_FAILED, 0, NEUTRAL),
        (DropReason.REDIRECTED, 301, NEUTRAL),
        (DropReason.UNCHANGED, 304, NEUTRAL),
        (DropReason.STAGE_ERROR, 200, NEUTRAL),
    ],
)
def test_a_verdict_counts_against_a_shape_or_says_nothing_of_it(reason, status, kind):
    assert kind_of(dropped(reason, status)) == kind


@pytest.mark.parametrize(("weight", "tokens"), [(0.0, 1000), (0.5, 700), (1.0, 400)])
def test_tokens_are_weighted_by_quality(weight, tokens):
    kept = Document(URL, token_estimate=1000, quality_score=0.4)
    shape = shape_id_of(URL)
    entry = f"{shape}abc{KEPT}2- {tokens} - wxyz{source_id(URL)} {URL}"
    assert outcome_entry(lease(parent="abc", source="wxyz"), kept, weight) == entry.encode()


def test_what_a_classifier_says_of_a_text_counts_before_its_quality():
    kept = Document(URL, token_estimate=1000, quality_score=0.4, classifier_scores={"taste": 0.9, "style": 0.1})
    assert outcome_entry(lease(), kept, 1.0).split()[1:3] == [b"900", b"0.9000"]
    kept.unwanted = ["taste"]  # a high score of what is not wanted is no worth
    assert outcome_entry(lease(), kept, 1.0).split()[1:3] == [b"100", b"0.1000"]
    kept.unwanted = ["taste", "style"]
    assert outcome_entry(lease(), kept, 1.0).split()[1:3] == [b"400", b"-"]


def test_sitemaps_pages_without_a_document_and_unchanged_pages_say_nothing():
    assert outcome_entry(lease(), dropped(DropReason.UNCHANGED, 304), 0.5) == b""
    assert outcome_entry(lease(kind="sitemap"), Document(URL), 0.5) == b""
    assert outcome_entry(lease(), None, 0.5) == b""
