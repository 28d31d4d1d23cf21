"""The summary for a browser: `templates/report.html` and what it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crawler.observe.html import render
from crawler.observe.report import parameters, quarantine
from crawler.observe.report.duplicates import KINDS, Duplicates, curve_of
from crawler.observe.report.requests import Brought, Domain, by_domain
from crawler.observe.report.samples import Sample
from crawler.observe.report.summary import Summary
from crawler.observe.report.terminal import duration, size
from crawler.storage.files.tally import SCORE_BINS

_TOP = 30
_HISTOGRAM_TITLES = {
    "quality_score": "Quality score",
    "language_score": "Language score",
    "extraction_confidence": "F1 that the extractor expects of the texts",
    "extraction_yield": "Extraction yield (characters out per byte in)",
    "word_count": "Words per document",
}


@dataclass(frozen=True, slots=True)
class _Table:
    """Names with their counts; colour: a class of the style sheet."""

    title: str
    rows: list[tuple[str, int]]
    most: int
    colour: str


@dataclass(frozen=True, slots=True)
class _Histogram:
    """heights: each count with the height of its bar in per cent."""

    title: str
    heights: list[tuple[int, str]]
    ends: tuple[str, str]


def page(
    summary: Summary,
    samples: Iterable[Sample] = (),
    duplicates: Duplicates | None = None,
    asked: Iterable[Brought] = (),
) -> str:
    """The report as a complete HTML document."""
    chosen = list(samples)
    seen = duplicates or Duplicates({})
    return render(
        "report.html",
        title=", ".join(summary.crawls) or "corpus",
        subtitle=_subtitle(summary),
        share=(("kept", summary.kept), ("not", summary.rejected), ("hold", summary.held)),
        legend=_legend(summary),
        figures=list(_figures(summary)),
        footer=_footer(summary),
        summary=summary,
        quarantine_meaning=quarantine.MEANING,
        histograms=list(_histograms(summary)),
        tables=[*_tables(summary), *_requests(list(asked))],
        seen=seen,
        kinds=KINDS,
        curve=curve_of(seen.bands) if seen.bands else None,
        samples=[
            ("Samples: kept", [sample for sample in chosen if sample.kept]),
            ("Samples: rejected", [sample for sample in chosen if not sample.kept]),
        ],
    )


def heights_of(counts: list[int], most: int) -> list[tuple[int, str]]:
    """Each count with the height of its bar, in per cent of the highest."""
    return [(count, f"{100 * count / most:.1f}") for count in counts]


def _subtitle(summary: Summary) -> str:
    span = f"{summary.first_crawled_at} – {summary.last_crawled_at}" if summary.first_crawled_at else "nothing yet"
    return f"{summary.where} · {span}"


def _legend(summary: Summary) -> str:
    held = f", {_n(summary.held)} on hold" if summary.held else ""
    return f"{_n(summary.kept)} kept, {_n(summary.rejected)} rejected{held}"


def _figures(summary: Summary) -> Iterator[tuple[str, str]]:
    yield _n(summary.kept), "documents kept"
    yield _n(summary.words), "words"
    yield _n(summary.tokens), "tokens, estimated"
    yield _n(len(summary.domains)), "domains"
    yield _n(len(summary.languages)), "languages"
    if summary.pages_per_second is not None:
        yield f"{summary.pages_per_second:.1f}", f"pages/s over {duration(summary.seconds)}"
    if summary.fetched_bytes is not None:
        yield size(summary.fetched_bytes), "fetched"


def _tables(summary: Summary) -> Iterator[_Table]:
    for title, counts, colour in (
        ("Domains", summary.domains, "kept"),
        ("Rejected, by domain", summary.rejected_domains, "not"),
        ("Languages", summary.languages, "kept"),
        ("Licences", summary.licences, "kept"),
        ("Personal data, redacted (documents)", summary.pii_types, "kept"),
        ("Kept, names not looked for: no model in PII_MODELS", summary.names_uncovered, "not"),
        ("Pages drawn in a browser, per cent", {name: round(100 * s) for name, s in summary.drawn.items()}, "kept"),
        ("Page types, as the extractor reads the pages", summary.page_types, "kept"),
        ("Links left out, counted on every page", summary.left_out, "not"),
        (parameters.TITLE, summary.parameters, "kept"),
    ):
        if counts:
            more = f" ({_TOP} of {_n(len(counts))})" if len(counts) > _TOP else ""
            yield _Table(title + more, list(counts.items())[:_TOP], max(counts.values()), colour)


def _requests(asked: list[Brought]) -> Iterator[_Table]:
    rows = [
        (f"{b.shape}: {b.kept:,} kept, {b.tokens_a_request:,.0f} tokens a request", b.requests) for b in asked[:_TOP]
    ]
    if rows:
        domains = [(_domain_line(d), d.requests) for d in by_domain(asked)[:_TOP]]
        yield _Table("Requests by domain, most fruitless first", domains, max(n for _, n in domains), "not")
        more = f" ({_TOP} of {_n(len(asked))})" if len(asked) > _TOP else ""
        yield _Table(f"Where the requests went, by shape of the URL{more}", rows, rows[0][1], "kept")


def _domain_line(domain: Domain) -> str:
    said = f"{domain.domain}: {domain.fruitless:,} fruitless, {domain.tokens / domain.requests:,.0f} tokens a request"
    return said + (f"; exclude in the allowlist: {', '.join(domain.excludes)}" if domain.excludes else "")


def _histograms(summary: Summary) -> Iterator[_Histogram]:
    for name, title in _HISTOGRAM_TITLES.items():
        if bins := {int(key): count for key, count in summary.histograms.get(name, {}).items()}:
            scores = name != "word_count"
            keys = range(SCORE_BINS) if scores else range(min(bins), max(bins) + 1)
            ends = ("0", "1") if scores else (_n(2 ** keys[0]), _n(2 ** (keys[-1] + 1)))
            counts = [bins.get(key, 0) for key in keys]
            yield _Histogram(title, heights_of(counts, max(counts)), ends)


def _footer(summary: Summary) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in summary.versions.items())
    return f"{summary.runs} run(s), {summary.workers} worker(s) · {versions} · {' '.join(summary.config_digests)}"


def _n(number: int) -> str:
    return f"{number:,}"
