"""`report.html` and `stats.json` beside the corpus they describe."""

from __future__ import annotations

from dataclasses import dataclass, field

import orjson

from crawler.observe.publish import croissant, dataset_card, eu_summary
from crawler.observe.publish.provenance import gather
from crawler.observe.report import duplicates, requests
from crawler.observe.report.duplicates import Bands, Duplicates
from crawler.observe.report.requests import Brought
from crawler.observe.report.samples import Sample, pick
from crawler.observe.report.summary import Summary, summarise
from crawler.observe.report.webpage import page
from crawler.storage.files.place import Place


@dataclass(frozen=True, slots=True)
class Report:
    """A summary with the samples that go with it."""

    summary: Summary
    samples: list[Sample]
    duplicates: Duplicates
    requests: list[Brought] = field(default_factory=list)


def read(corpus_dir: str, *, samples: int = 0, bands: Bands | None = None, most_records: int | None = None) -> Report:
    """The report of a corpus. most_records: bounds what is read of its records (`samples.pick`, `duplicates.read`).

    Raises: StorageError where there is none or a file is damaged.
    """
    summary = summarise(corpus_dir)
    chosen = pick(corpus_dir, samples, most_records) if samples else []
    asked = requests.read(corpus_dir, most_records)
    return Report(summary, chosen, duplicates.read(summary, bands, most_records), asked)


def write(report: Report) -> list[str]:
    """Write `stats.json` and `report.html` into the corpus; returns where they are. Raises: StorageError."""
    place = Place(report.summary.where)
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    numbers = report.summary.as_dict() | {
        "duplicates": report.duplicates.as_dict(),
        "requests": [row.as_dict() for row in report.requests[: requests.TOP]],
        "requests_by_domain": [row.as_dict() for row in requests.by_domain(report.requests)[: requests.TOP]],
    }
    place.put("stats.json", orjson.dumps(numbers, option=options))
    place.put("report.html", page(report.summary, report.samples, report.duplicates, report.requests).encode())
    return [place.path_of(name) for name in ("report.html", "stats.json")]


def write_provenance(corpus_dir: str) -> list[str]:
    """Write EU summary, Croissant file and dataset card into the corpus; returns where they are.

    Raises: StorageError where there is no corpus, or a file is damaged.
    """
    found, place = gather(corpus_dir), Place(corpus_dir)
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    contents = {
        "eu_summary.md": eu_summary.as_markdown(found).encode(),
        "eu_summary.json": orjson.dumps(eu_summary.as_json(found), option=options),
        "croissant.json": orjson.dumps(croissant.metadata(found), option=options),
        "README.md": dataset_card.card(found).encode(),
    }
    for name, content in contents.items():
        place.put(name, content)
    return [place.path_of(name) for name in contents]
