"""Every sentence of docs/report.md is printed, with the number that the records give."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from html import unescape
from types import SimpleNamespace

import pytest
from rich.console import Console

from crawler.config import from_mapping
from crawler.observe import write as report
from crawler.observe.reasons import meaning
from crawler.observe.report import balance, duplicates, requests, terminal
from crawler.observe.report.recrawl import recrawl_of
from tests.observe.report.conftest import COUNTERS
from tests.support.places import PROJECT


class Told:
    """What terminal and page say of the corpus, as words with single spaces, and the records behind it."""

    def __init__(self, folder):
        config = from_mapping({"CONCENTRATION_WARN": "0.25"}).report
        found = report.read(str(folder.path), config=config)
        console = Console(file=io.StringIO(), width=240, color_system=None)
        parts = [*balance.sections(found.balance), *duplicates.sections(found.duplicates)]
        terminal.show(found.summary, console, [*parts, *requests.sections(found.requests)])
        report.write(found)
        self.terminal = " ".join(console.file.getvalue().split())
        html = (folder.path / "report.html").read_text()
        labels = re.findall(r'(?:aria-label="|<title>)([^"<]+)', html)
        self.page = " ".join(re.sub(r"<style>.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL).split() + labels)
        self.page = unescape(self.page)
        self.kept, self.rejected = folder.records("shards"), folder.records("rejected")
        self.runs = folder.manifest()["runs"]

    def reasons(self):
        return Counter(record["reason"] for record in self.rejected)

    def tokens(self):
        found = Counter()
        for record in self.kept:
            found[record["domain"]] += record["token_estimate"]
        return found


@pytest.fixture(scope="module")
def told(books_folder):
    return Told(books_folder)


def judged(t):
    return len(t.kept) + sum(n for reason, n in t.reasons().items() if not re.match("hold_|unchanged", reason))


def standing(t):
    """No run of these has said what it left."""
    assert not any("frontier/left_on_hold" in run["counters"] for run in t.runs)
    for text in (t.terminal, t.page):
        yield text, "The latest run has ended and did not say what waits: the same crawl command continues."


def headline(t):
    reasons = t.reasons()
    held = sum(n for reason, n in reasons.items() if reason.startswith("hold_"))
    rest = len(t.rejected) - held - reasons["unchanged"]
    yield t.terminal, f"{len(t.kept)} kept {rest} rejected {held} on hold {reasons['unchanged']} unchanged"
    yield t.page, f"{len(t.kept)} kept, {rest} rejected, {held} on hold"


def words(t):
    total, tokens = (sum(record[name] for record in t.kept) for name in ("word_count", "token_estimate"))
    yield t.terminal, f"{total:,} words · about {tokens:,} tokens"
    yield t.page, f"{total:,} words {tokens:,} tokens, estimated"


def pace(t):
    seconds = sum(int(run["ended"][17:19]) - int(run["started"][17:19]) for run in t.runs)  # one after the other
    seconds += 60 * sum(int(run["ended"][14:16]) - int(run["started"][14:16]) for run in t.runs)
    yield t.terminal, f"{judged(t) / seconds:.1f} pages/s over "


def verdicts(t):
    for reason, count in t.reasons().items():
        if reason != "unchanged":
            yield t.terminal, f"{reason} {count} "
            yield t.page, " ".join([reason, *meaning(reason).split(), f"{count} "])  # no sentence: of another version


def names(t):
    rejected = Counter(record["domain"] for record in t.rejected)
    for domain, count in Counter(record["domain"] for record in t.kept).items():
        yield t.terminal, f"{domain} {count} {rejected[domain]} "
    for name in ("language", "license_tag"):
        for value, count in Counter(record[name] for record in t.kept if record[name]).items():
            yield t.terminal, f"{value} {count} "
            yield t.page, f"{value} {count} "


def fetched(t):
    yield t.page, f"{sum(c['downloader/response_bytes'] for c in COUNTERS.values()) / 1e6:.1f} MB fetched"


def over_time(t):
    first = min(record["crawled_at"][:13] for record in (*t.kept, *t.rejected))
    yield t.page, f"Tokens kept, added up {t.tokens().total():,}"
    early = sum(record["token_estimate"] for record in t.kept if record["crawled_at"].startswith(first))
    assert re.search(rf"Tokens kept, added up: {early:,}\S* at {first}, {t.tokens().total():,} at ", t.page)


def rates(t):
    everything = [*t.kept, *t.rejected]
    hours = sorted({record["crawled_at"][:13] for record in everything if record["extraction_yield"] is not None})
    for hour in (hours[0], hours[-1]):
        own = [r["extraction_yield"] for r in everything if r["crawled_at"].startswith(hour)]
        own = [value for value in own if value is not None]
        share = sum(own) / len(own)
        yield t.page, f"{share:,.0f} at {hour}" if share == int(share) else f"{share:,.2g} at {hour}"
    yield t.page, "Pages drawn in a browser: "


def lengths(t):
    for title, name in (("Words", "word_count"), ("Characters", "char_count"), ("Tokens", "token_estimate")):
        assert re.search(rf"{title} a document(, estimated)?: {len(t.kept)} documents, ", t.page)
        longest = max(record[name] for record in t.kept)
        low = 2 ** (int(4 * math.log2(longest)) / 4)
        count = sum(record[name] >= low for record in t.kept)
        yield t.page, f"{low:,.0f} to {low * 2**0.25:,.0f}: {count}"


def score(t):
    best = sum(record["quality_score"] >= 0.95 for record in t.kept)
    yield t.page, f"0.95 to 1: {best}"


def by_domain(t):
    unasked = ("robots_disallowed", "hold_rate_limited")
    kept = Counter(record["domain"] for record in t.kept)
    asked = kept + Counter(record["domain"] for record in t.rejected if record["reason"] not in unasked)
    for domain, tokens in t.tokens().items():
        yield t.page, f"{domain} {asked[domain]} {kept[domain]} {tokens:,} {tokens / asked[domain]:,.0f} "


def shapes(t):
    yield t.terminal, "Requests by shape of the URL"
    yield t.page, "Requests by shape of the URL"


def proxied(t):
    """These runs had no proxy; tests/downloader/test_egress_crawl.py has those with some."""
    assert "proxy" not in t.page + t.terminal
    yield from ()


def whole(t):
    duplicates_found = t.reasons()["exact_duplicate"] + t.reasons()["near_duplicate"]
    yield t.page, f"unique {100 * len(t.kept) / (len(t.kept) + duplicates_found):.1f} %"


def warning(t):
    (domain, most), *_ = t.tokens().most_common()
    sentence = f"{100 * most / t.tokens().total():.1f} % of the tokens are of one domain, {domain}: above "
    yield t.terminal, sentence + "CONCENTRATION_WARN (25 %)"
    yield t.page, sentence + "CONCENTRATION_WARN (25 %)"


def other_licences(t):
    """By the last signal of a record: each has one at most."""
    stating = [
        record["domain"]
        for record in t.kept
        for signal in record["optout_signals"]
        if signal["protocol"] == "creative-commons" and record["license_tier"] and signal["value"] != "CC0-1.0"
    ]
    yield t.terminal, f"{len(stating)} documents state another licence than the allowlist gives them: "
    yield t.page, f"{len(stating)} documents state another licence than the allowlist gives them: "


def concentration(t):
    share = max(t.tokens().values()) / t.tokens().total()
    yield t.terminal, f"Share of the tokens, by domains the largest has {100 * share:.1f} %"
    yield t.page, f"tokens {100 * share:.1f} % 100.0 % 100.0 % "


def audited(t):
    yield t.page, f"Personal data found and redacted, in {len(t.kept)} of {len(t.kept)} documents"
    share = sum("PERSON" in record["pii_entity_types"] for record in t.kept) / len(t.kept)
    yield t.page, f"PERSON {100 * share:.1f} % "


def personal(t):
    for kind in ("PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER"):
        yield t.page, f"{kind} {sum(kind in record['pii_entity_types'] for record in t.kept)} "


def seen(t):
    yield t.terminal, f"exact_duplicate {t.reasons()['exact_duplicate']} the same text at another URL"
    yield t.page, f"near_duplicate {t.reasons()['near_duplicate']} nearly the same text at another URL"


ROWS = (
    *(
        standing,
        headline,
        words,
        pace,
        verdicts,
        names,
        proxied,
        fetched,
        over_time,
        rates,
        lengths,
        score,
        by_domain,
        shapes,
        whole,
    ),
    *(warning, other_licences, concentration, audited, personal, seen),
)


def documented():
    text = (PROJECT / "docs" / "report.md").read_text("utf-8")
    table = text.partition("| sentence or title | from |\n|---|---|\n")[2]
    return [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines() if line.startswith("|")]


def test_each_row_of_the_page_has_its_check_in_the_same_order():
    assert len(documented()) == len(ROWS)


@pytest.mark.parametrize(
    ("row", "says"), list(zip(documented(), ROWS, strict=True)), ids=lambda x: getattr(x, "__name__", "")
)
def test_the_sentence_is_there_with_the_number_of_the_records(told, row, says):
    for text, sentence in says(told):
        assert sentence in text, (row, sentence)


def test_a_second_run_says_what_stays_of_pages_that_their_site_refuses_by_now_and_who_may_have_the_others():
    def said(**counters):
        run = {"counters": {f"recrawl/{name}": count for name, count in {"due": 4, **counters}.items()}}
        summary = SimpleNamespace(where="a corpus", recrawl=recrawl_of([run]), folders=[SimpleNamespace(documents=1)])
        console = Console(file=io.StringIO(), width=240, color_system=None)
        console.print(terminal._recrawl(summary.recrawl))
        terminal._show_next_steps(SimpleNamespace(**vars(summary), withheld=0, held=0, parked={}, on_hold={}), console)
        return " ".join(console.file.getvalue().split())

    refused, opted_out = said(refused=2), said(opted_out=1)
    assert "2 refused by the site; older texts and raw pages of those refused by the site stay until" in refused
    assert "lineage" not in refused
    assert "1 opted out" in opted_out and "older texts" not in opted_out
    assert "dataset lineage --withdrawn 'a corpus'" in opted_out
