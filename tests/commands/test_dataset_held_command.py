"""`gristmill dataset held`: whoever decides on held pages sees and names the very ones that are meant."""

from __future__ import annotations

import orjson
import pytest

from crawler.document import Drop, DropReason
from crawler.storage.files.records import holding_of
from tests.support.corpus_folder import document

HOLDS = {
    "pii": Drop("pii", DropReason.HELD_PII, "no model of PII_MODELS for 'de'; words on pay"),
    "classifier": Drop("classifier", DropReason.HELD_CLASSIFIER, "score 0.4"),
}
REASON = ("--reason", "read by the board")


@pytest.fixture
def waiting(corpus):
    """A German page held for personal data, an English and a French one of another domain for a classifier."""
    made = corpus.opened("w2")
    for number, kind, language in ((51, "pii", "de"), (52, "classifier", "en"), (53, "classifier", "fr")):
        domain = "example.org" if kind == "pii" else "example.net"
        url = f"https://{domain}/{number}"
        page = document(number, url=url, canonical_url=url, domain=domain, language=language)
        made.hold(holding_of(page, HOLDS[kind]), kind)
    made.close()
    return corpus


def shown(done):
    return {int(page["url"].rpartition("/")[2]) for page in orjson.loads(done.out)["pages"]}


@pytest.mark.parametrize(
    ("choice", "pages"),
    [
        ((), {51, 52, 53}),
        (("--kind", "pii"), {51}),
        (("--kind", "classifier"), {52, 53}),
        (("--url", "https://example.net/53", "--url", "https://example.org/51"), {51, 53}),
        (("--domain", "example.net"), {52, 53}),
        (("--language", "de,fr"), {51, 53}),
        (("--domain", "example.net", "--language", "fr,de"), {53}),
    ],
)
def test_the_pages_that_are_named_are_listed(scrapy, waiting, choice, pages):
    done = scrapy("dataset", "held", "list", "corpus", *choice, "--json")
    assert (done.code, done.err) == (0, "") and shown(done) == pages


def test_a_row_says_what_is_decided_on(scrapy, waiting):
    done = scrapy("dataset", "held", "list", "corpus", "--kind", "pii")
    assert done.out.splitlines() == [
        "https://example.org/51  de  30 words  no model of PII_MODELS for 'de'; words on pay",
        "1 page held",
    ]
    (page,) = orjson.loads(scrapy("dataset", "held", "list", "corpus", "--kind", "pii", "--json").out)["pages"]
    assert page == {
        "url": "https://example.org/51",
        "canonical_url": "https://example.org/51",
        "kind": "pii",
        "detail": "no model of PII_MODELS for 'de'; words on pay",
        "language": "de",
        "word_count": 30,
        "title": "Page 51",
        "crawled_at": "2026-01-01T00:00:51Z",
    }


def test_a_decision_takes_the_named_pages_and_no_other(scrapy, waiting):
    done = scrapy("dataset", "held", "release", "corpus", "--url", "https://example.net/52", *REASON, "--json")
    assert (done.code, shown(done)) == (0, {52}), done.err
    assert "https://example.net/52" in {record["url"] for record in waiting.records()}
    done = scrapy("dataset", "held", "confirm", "corpus", "--all", *REASON)
    assert done.code == 0 and "2 pages confirmed and rejected, version " in done.out
    assert shown(scrapy("dataset", "held", "list", "corpus", "--json")) == set()


@pytest.mark.parametrize(
    "wrong", [REASON, ("--all",), ("--all", "--language", "de", *REASON), ("--url", "https://example.org/51")]
)
@pytest.mark.parametrize("what", ["release", "confirm"])
def test_a_decision_without_a_choice_or_a_reason_changes_nothing(scrapy, waiting, what, wrong):
    done = scrapy("dataset", "held", what, "corpus", *wrong)
    assert done.code == 2 and f"{what}: name the pages with --url, --domain or --language, or all" in done.err
    assert shown(scrapy("dataset", "held", "list", "corpus", "--json")) == {51, 52, 53}


def test_a_url_that_is_not_held_is_told(scrapy, waiting):
    done = scrapy("dataset", "held", "list", "corpus", "--url", "https://example.org/1")
    assert done.code == 1 and "https://example.org/1: no held page has this URL" in done.err
