"""The summary for a browser: `templates/report.html` and what it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from crawler.number import duration, number_of, size
from crawler.observe.html import render
from crawler.observe.report import charts, quarantine
from crawler.observe.report.accounts import Account, Books
from crawler.observe.report.audit import Audit
from crawler.observe.report.balance import Balance
from crawler.observe.report.browser import drawn_per_cent
from crawler.observe.report.charts import Chart
from crawler.observe.report.duplicates import KINDS, Duplicates, curve_of
from crawler.observe.report.figures import FIGURES
from crawler.observe.report.requests import Brought, Domain, by_domain, sampled
from crawler.observe.report.samples import Sample
from crawler.observe.report.summary import PARKED, UNCOVERED, WITHHELD, Summary

_TOP = 30
_ROWS = 8
"""Domains, and reasons, that are not folded."""
_HISTOGRAM_TITLES = {
    "quality_score": "Quality score",
    "language_score": "Language score",
    "extraction_confidence": "Expected extraction quality (F1)",
    "extraction_yield": "Extraction yield (characters out per byte in)",
}
_LENGTH_TITLES = {
    "word_count": "Words a document",
    "char_count": "Characters a document",
    "token_estimate": "Tokens a document, estimated",
}
_DOMAIN_COLUMNS = ("requests", "kept", "tokens", "tokens_per_request", "uniqueness", "extraction_yield")
_WHOLE = (
    "uniqueness",
    "tokens_per_request",
    "all_requests",
    "cpu_seconds",
    "tokens_per_cpu_second",
    "cost",
    "tokens_per_cost",
    "pii_rate",
    "licence_pass_rate",
    "licence_conflict_rate",
    "extraction_yield",
    "escalation_rate",
)


@dataclass(frozen=True, slots=True)
class Accounting:
    """What the page says of the accounts."""

    books: Books
    balance: Balance
    audit: Audit


@dataclass(frozen=True, slots=True)
class _Grid:
    """Rows of names and figures."""

    title: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class _Table:
    """Names with their counts; colour: a class of the style sheet."""

    title: str
    rows: Sequence[tuple[str, float]]
    most: float
    colour: str


def page(
    summary: Summary,
    samples: Iterable[Sample] = (),
    duplicates: Duplicates | None = None,
    asked: Iterable[Brought] = (),
    accounting: Accounting | None = None,
) -> str:
    """The report as a complete HTML document."""
    chosen, brought = list(samples), list(asked)
    seen = duplicates or Duplicates({})
    return render(
        "report.html",
        title=summary.where,
        subtitle=_subtitle(summary),
        share=(("kept", summary.kept), ("not", summary.rejected), ("hold", summary.held)),
        legend=_legend(summary),
        figures=list(_figures(summary)),
        footer=f"{number_of(summary.runs, 'run')}, {number_of(summary.workers, 'worker')}: software and configuration",
        software=_software(summary),
        summary=summary,
        quarantine_meaning=quarantine.MEANING,
        histograms=list(_histograms(summary, accounting.books.lengths if accounting else {})),
        over_time=list(_over_time(accounting.books.series)) if accounting else [],
        accounting=accounting,
        whole=_whole(accounting.books.whole) if accounting else [],
        currency=accounting.books.currency if accounting else "",
        domains=_domains(accounting.books, by_domain(brought)) if accounting else None,
        most_rows=_ROWS,
        shown_reasons=_ROWS,
        concentration=_concentration(accounting.balance) if accounting else [],
        tables=list(_tables(summary)),
        shapes=_shapes(brought, accounting),
        seen=seen,
        kinds=KINDS,
        curve=curve_of(seen.bands) if seen.bands else None,
        samples=[
            ("Kept", [sample for sample in chosen if sample.kept]),
            ("Rejected", [sample for sample in chosen if not sample.kept]),
        ],
    )


def heights_of(counts: list[int], most: int) -> list[tuple[int, str]]:
    """Each count with the height of its bar, in per cent of the highest."""
    return [(count, f"{100 * count / most:.1f}") for count in counts]


def _subtitle(summary: Summary) -> str:
    first, last = (str(at)[:16].replace("T", " ") for at in (summary.first_crawled_at, summary.last_crawled_at))
    span = f"fetched {first} to {last} UTC" if summary.first_crawled_at else "nothing yet"
    crawls = (
        f"{'crawl' if len(summary.crawls) == 1 else 'crawls'} {', '.join(f'“{name}”' for name in summary.crawls)}"
        if summary.crawls
        else ""
    )
    return " · ".join(filter(None, (crawls, span, summary.standing)))


def _legend(summary: Summary) -> str:
    held = f", {_n(summary.held)} on hold" if summary.held else ""
    withheld = f", {_n(summary.withheld)} held for review" if summary.withheld else ""
    unchanged = f", {_n(summary.unchanged)} unchanged" if summary.unchanged else ""
    return f"{_n(summary.kept)} kept, {_n(summary.rejected)} rejected{withheld}{held}{unchanged}"


def _figures(summary: Summary) -> Iterator[tuple[str, str]]:
    yield _n(summary.kept), "documents kept"
    yield _n(summary.words), "words"
    yield _n(summary.tokens), "tokens, estimated"
    yield _n(len(summary.domains)), "domains"
    yield _n(len(summary.languages)), "languages"
    if summary.pages_per_second is not None:
        yield f"{summary.pages_per_second:.1f}", f"pages/s over {duration(summary.seconds)}"
    if summary.fetched_bytes is not None or summary.uncounted:
        yield size(summary.fetched_bytes or 0), ", ".join(filter(None, ("fetched", summary.cut_off)))


def _tables(summary: Summary) -> Iterator[_Table]:
    types = summary.page_types
    for title, counts, colour in (
        (f"Not kept, by domain: {summary.not_kept}", summary.rejected_domains, "not"),
        ("Kept, by language", summary.languages, "kept"),
        ("Kept, by licence", summary.licences, "kept"),
        ("Personal data, redacted (documents)", summary.pii_types, "kept"),
        (WITHHELD, summary.withheld_languages, "not"),
        (UNCOVERED, summary.names_uncovered, "not"),
        ("Pages drawn in a browser, per cent", drawn_per_cent(summary.drawn), "kept"),
        (f"Page types, as the extractor classifies them{summary.unread_by_model(types)}", types, "kept"),
        (summary.annotated, summary.annotations, "kept"),
        ("Requests, by proxy", summary.proxies, "kept"),
        ("Times that a proxy did not serve", summary.proxy_failures, "not"),
        ("Links left out, counted on every page", summary.left_out, "not"),
        (PARKED, summary.parked, "not"),
    ):
        if counts:
            more = f" ({_TOP} of {_n(len(counts))})" if len(counts) > _TOP else ""
            yield _Table(title + more, list(counts.items())[:_TOP], max(counts.values()), colour)


def _shapes(asked: list[Brought], accounting: Accounting | None) -> _Table | None:
    if not asked:
        return None
    rows = [
        (f"{b.shape}: {b.kept:,} kept, {b.tokens_a_request:,.0f} tokens a request", b.requests) for b in asked[:_TOP]
    ]
    part = sampled(asked, accounting.books.whole.counts.get("requests", 0)) if accounting else ""
    more = f" ({_TOP} of {_n(len(asked))})" if len(asked) > _TOP else ""
    return _Table(f"Requests by shape of the URL{more}{part}", rows, rows[0][1], "kept")


def _histograms(summary: Summary, lengths: Mapping[str, Mapping[str, int]]) -> Iterator[Chart]:
    for name, title in _LENGTH_TITLES.items():
        if bins := {int(key): count for key, count in lengths.get(name, {}).items()}:
            yield charts.lengths(title, bins)
    for name, title in _HISTOGRAM_TITLES.items():
        if bins := {int(key): count for key, count in summary.histograms.get(name, {}).items()}:
            yield charts.scores(title, bins)
    if not lengths and (words := summary.histograms.get("word_count")):
        yield charts.octaves(_LENGTH_TITLES["word_count"], {int(key): count for key, count in words.items()})


def _over_time(series: Sequence[Account]) -> Iterator[Chart]:
    tokens = list(accumulate(account.counts.get("tokens", 0) for account in series))
    if len(series) > 1 and tokens[-1]:
        yield charts.over_time("Tokens kept, added up", [(a.name, n) for a, n in zip(series, tokens, strict=True)])
    for name, title in (("extraction_yield", "Extraction yield"), ("escalation_rate", "Pages drawn in a browser")):
        found = [(account.name, value) for account in series if (value := account.figures()[name]) is not None]
        if len(found) > 1 and any(value for _, value in found):
            share = name == "escalation_rate"
            points = [(moment, 100 * value if share else value) for moment, value in found]
            yield charts.over_time(title, points, most=100 if share else None, unit=" %" if share else "")


def _whole(account: Account) -> list[tuple[str, str]]:
    figures = account.figures()
    return [(FIGURES[name].label, FIGURES[name].show(figures[name])) for name in _WHOLE if figures[name] is not None]


def _domains(books: Books, asked: list[Domain]) -> _Grid:
    """Of all records; where a kind of URL brought nothing, with the paths to leave out."""
    excludes = {domain.domain: ", ".join(domain.excludes) for domain in asked if domain.excludes}
    rows = [
        [account.name, *(FIGURES[name].show(account.figures()[name]) for name in _DOMAIN_COLUMNS)]
        + ([excludes.get(account.name, "")] if excludes else [])
        for account in books.groups["domain"][:_TOP]
    ]
    count = len(books.groups["domain"])
    more = f" ({_TOP} of {_n(count)})" if count > _TOP else ""
    columns = ["domain", *(FIGURES[name].label for name in _DOMAIN_COLUMNS)]
    return _Grid(f"Requests by domain{more}", columns + (["exclude in the allowlist"] if excludes else []), rows)


def _concentration(balance: Balance) -> list[list[str]]:
    rows = []
    for of, found in (("documents", balance.documents), ("tokens", balance.tokens)):
        if found is not None:
            shares = [f"{100 * share:.1f} %" for share in found.shares.values()]
            rows.append([of, *shares, f"{found.hhi:.3f}", f"{found.gini:.3f}"])
    return rows


def _software(summary: Summary) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in summary.versions.items())
    return f"{versions} · {' '.join(summary.config_digests)}"


def _n(number: int) -> str:
    return f"{number:,}"
