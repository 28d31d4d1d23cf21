"""`report.html` and `stats.json` beside the corpus they describe."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from crawler.config.report import ReportConfig
from crawler.frontier.overview import Overview
from crawler.observe.publish.documents import documents
from crawler.observe.publish.provenance import gather
from crawler.observe.report import accounts, audit, duplicates, requests
from crawler.observe.report.accounts import Books
from crawler.observe.report.audit import Audit
from crawler.observe.report.balance import Balance, balance_of
from crawler.observe.report.costs import Prices
from crawler.observe.report.duplicates import Bands, Duplicates
from crawler.observe.report.requests import Brought
from crawler.observe.report.samples import Sample, pick
from crawler.observe.report.summary import Summary, summarise
from crawler.observe.report.webpage import Accounting, page
from crawler.observe.standing import standing
from crawler.storage.files.place import Place


@dataclass(frozen=True, slots=True)
class Report:
    """A summary with the samples that go with it, the accounts, and what is warned of."""

    summary: Summary
    samples: list[Sample]
    duplicates: Duplicates
    books: Books
    balance: Balance
    audit: Audit
    requests: list[Brought] = field(default_factory=list)


def read(
    corpus_dir: str,
    *,
    samples: int = 0,
    bands: Bands | None = None,
    most_records: int | None = None,
    config: ReportConfig | None = None,
) -> Report:
    """The report of a corpus. most_records: bounds what is read of its records (`samples.pick`, `duplicates.read`).

    Accounts are those of the manifest: no record is read for them. Raises: StorageError where there is no corpus or a
    file is damaged.
    """
    config = config or ReportConfig()
    summary = summarise(corpus_dir, growing=True)
    chosen = pick(corpus_dir, samples, most_records) if samples else []
    asked = requests.read(corpus_dir, most_records)
    seen, place = duplicates.read(summary, bands, most_records), Place(corpus_dir)
    books = accounts.read(place, Prices.of(config), accounts.targets_of(config))
    drawn = audit.read(place, config.audit_sample, config.audit_seed, most_records or MOST_AUDITED)
    return Report(summary, chosen, seen, books, balance_of(summary, books, config), drawn, asked)


def standing_by(report: Report, view: Overview | None) -> Report:
    """The report with how the corpus stands by what its frontier says; the same where that says nothing."""
    place = Place(report.summary.where)
    stands = standing(place, place.manifest(), view)
    return replace(report, summary=replace(report.summary, state=stands.state, standing=stands.sentence))


MOST_AUDITED = 200_000
"""Kept records that the sample of the audit is drawn from, the first of each shard alike."""
TOP = 100
"""Groups of each kind that `stats.json` lists."""


def write(report: Report) -> list[str]:
    """Write `stats.json` and `report.html` into the corpus; returns where they are. Raises: StorageError."""
    place = Place(report.summary.where)
    # What lies in the corpus is handed on with it: where it lay is the operator's own affair.
    report = replace(report, summary=replace(report.summary, where=place.url.rstrip("/").rpartition("/")[2]))
    place.put("stats.json", orjson.dumps(numbers(report), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    place.put("report.html", _page(report).encode())
    return [place.path_of(name) for name in ("report.html", "stats.json")]


def numbers(report: Report) -> dict[str, Any]:
    """The content of `stats.json`."""
    return report.summary.as_dict() | {
        "duplicates": report.duplicates.as_dict(),
        "accounts": report.books.as_dict(TOP),
        "concentration": report.balance.as_dict(),
        "audit": report.audit.as_dict(),
        "lengths": report.books.lengths,
        "warnings": report.balance.warnings,
        "requests": [row.as_dict() for row in report.requests[: requests.TOP]],
        "requests_by_domain": [row.as_dict() for row in requests.by_domain(report.requests)[: requests.TOP]],
    }


def _page(report: Report) -> str:
    accounting = Accounting(report.books, report.balance, report.audit)
    return page(report.summary, report.samples, report.duplicates, report.requests, accounting)


def write_provenance(corpus_dir: str) -> list[str]:
    """Write EU summary, Croissant file and dataset card into the corpus; returns where they are.

    Raises: StorageError where there is no corpus, or a file is damaged.
    """
    place = Place(corpus_dir)
    contents = documents(gather(corpus_dir))
    for name, content in contents.items():
        place.put(name, content)
    return [place.path_of(name) for name in contents]
