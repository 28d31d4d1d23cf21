"""The crawl's part of a public summary of training content (Regulation (EU) 2024/1689, Article 53(1)(d)).

Sections and order follow the Commission's template (AI Office, 24 July 2025). What the crawl knows is filled in from
the manifest and the records; what only the provider of a model can know says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crawler.number import number_of
from crawler.observe.publish.behaviour import (
    NOT_RECORDED,
    behaviour,
    dataset_sentence,
    denials,
    how_crawled,
    measures,
)
from crawler.observe.publish.provenance import Provenance

TO_COMPLETE = "[to be completed by the model provider]"
TEMPLATE = (
    "Template for the Public Summary of Training Content for general-purpose AI models required by Article 53(1)(d) of "
    "Regulation (EU) 2024/1689 (AI Act)"
)
MOST_LISTED = 1_000
"""Domains that the text lists; eu_summary.json lists all that the template asks for."""
SHARE, SME_SHARE, SME_MOST = 0.10, 0.05, 1_000
_RANGES = ((10**9, "less than 1 billion tokens"), (10**13, "1 billion to 10 trillion tokens"))


@dataclass(frozen=True, slots=True)
class Field:
    """One question of the template with its answer; `known` is False where only the provider can answer."""

    label: str
    value: str
    known: bool = True


@dataclass(frozen=True, slots=True)
class Section:
    """A numbered part of the template."""

    number: str
    title: str
    fields: list[Field]


def sections(found: Provenance) -> list[Section]:
    """Every section of the template, in its order."""
    return [*_general(found), *_sources(found), *_processing(found)]


def as_json(found: Provenance) -> dict[str, Any]:
    """The summary as plain JSON types, with the complete list of the largest domains."""
    return {
        "template": TEMPLATE,
        "version_of_corpus": found.version,
        "last_update": found.updated,
        "sections": [
            {
                "number": section.number,
                "title": section.title,
                "fields": [{"label": f.label, "value": f.value, "from_the_crawl": f.known} for f in section.fields],
            }
            for section in sections(found)
        ],
        "domains_crawled": {
            "all": len(found.sources.crawled.domains),
            "top_10_percent": _listed(found, SHARE, None),
            "sme_top_5_percent_or_1000": len(found.largest(SME_SHARE, SME_MOST)),
        },
        "archives_of_others": [
            {
                "says_of_itself": dict(dataset.origin),
                "archives": dict(sorted(dataset.part.archives.items())),
                "documents": dataset.part.documents,
                "domains": {name: size.documents for name, size in dataset.part.ranked().items()},
            }
            for dataset in found.sources.datasets
        ],
    }


def as_markdown(found: Provenance) -> str:
    """The summary as a document for people."""
    lines = [f"# {TEMPLATE}", ""]
    lines += [
        "The corpus's part, made by `gristmill report --eu` from manifest and records. What only the provider of a"
    ]
    lines += [f"model can say is marked {TO_COMPLETE}.", ""]
    lines += [f"Version of the corpus: {found.version}  ", f"Last update: {found.updated}", ""]
    for section in sections(found):
        lines += [f"{'#' * (1 + len(section.number.split('.')))} {section.number}. {section.title}", ""]
        for item in section.fields:
            lines += [f"**{item.label}:** {item.value}", ""]
        if section.number == "2.3" and found.sources.crawled.documents:
            lines += [*_domain_table(found), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _unknown(*labels: str) -> list[Field]:
    return [Field(label, TO_COMPLETE, known=False) for label in labels]


def _general(found: Provenance) -> Iterator[Section]:
    yield Section("1", "General information", [])
    names = ("Provider name and contact details", "Authorised representative name and contact details")
    yield Section("1.1", "Provider identification", _unknown(*names))
    labels = ("Versioned model name(s)", "Model dependencies", "Date of placement of the model on the Union market")
    yield Section("1.2", "Model identification", _unknown(*labels))
    summary = found.summary
    size = (
        f"{number_of(summary.tokens, 'token')} (estimated), {number_of(summary.words, 'word')} in "
        f"{number_of(summary.kept, 'document')}"
    )
    fields = [
        Field("Modality", "text"),
        Field("Training data size: text of this corpus", f"{_range(summary.tokens)}: {size}"),
        *_unknown("Training data size: overall"),
        Field("Types of content", _content(found)),
        Field("Latest date of data acquisition/collection in this corpus", _month(summary.last_crawled_at)),
        *_unknown("Latest date of data acquisition/collection for model training"),
        Field("Linguistic characteristics", _counts(summary.languages, "language", "documents")),
        Field("Other relevant characteristics", _licences(found)),
    ]
    yield Section("1.3", "Modalities, overall training data size and other characteristics", fields)


def _sources(found: Provenance) -> Iterator[Section]:
    yield Section("2", "List of data sources", [])
    yield Section("2.1", "Publicly available datasets", list(_datasets(found)))
    yield Section("2.2", "Private non-publicly available datasets obtained from third parties", [])
    question = "Have transactional commercial licensing agreements been concluded"
    yield Section(
        "2.2.1", "Datasets commercially licensed by rightsholders or their representatives", _unknown(question)
    )
    question = "Have private datasets been obtained from other third parties"
    yield Section("2.2.2", "Private datasets obtained from other third parties", _unknown(question))
    yield Section("2.3", "Data crawled and scraped from online sources", list(_crawled(found)))
    yield Section("2.4", "User data", _unknown("Has data from user interactions been used"))
    yield Section("2.5", "Synthetic data", _unknown("Has synthetic data been created"))
    yield Section("2.6", "Other sources of data", _unknown("Have other sources of data been used"))


def _datasets(found: Provenance) -> Iterator[Field]:
    sources = found.sources
    if not sources.datasets:
        yield Field("Archives of others that this corpus was made from", "none")
    else:
        text = f"{sources.taken:,} of {number_of(found.summary.kept, 'document')} from archives of others, judged again"
        yield Field("Archives of others that this corpus was made from", text)
    for dataset in sources.datasets:
        yield Field("As these archives say of themselves", dataset_sentence(dataset))
    yield from _unknown("Have publicly available datasets been used")


def _crawled(found: Provenance) -> Iterator[Field]:
    crawled = found.sources.crawled
    yield Field("Were crawlers used by the provider or on its behalf", how_crawled(found))
    if not found.sources.has_crawled:
        return
    yield Field("Crawler name(s)/identifier(s)", ", ".join(found.facts("user_agent")) or NOT_RECORDED)
    yield from _unknown("Purposes of the crawler(s)")
    yield Field("General description of crawler behaviour", behaviour(found))
    yield Field("Pages whose scripts were run", _scripts(found))
    yield Field("Period of data collection", f"{_month(crawled.first)} to {_month(crawled.last)}")
    what = f"{number_of(crawled.documents, 'kept web page')} of {number_of(len(crawled.domains), 'domain')}"
    yield Field("Comprehensive description of the type of content and online sources crawled", what)
    yield Field("Type of modality covered", "text")
    all_listed = len(found.largest(SHARE))
    shown = min(all_listed, MOST_LISTED)
    where = "below" if shown == all_listed else f"the first {shown:,} below, all in eu_summary.json"
    domains = number_of(len(crawled.domains), "domain")
    listed = f"pages of {domains} were crawled and kept; the top 10 % by characters of kept text: {where}"
    yield Field("Summary of the most relevant domain names crawled", listed if crawled.documents else "none was kept")


def _scripts(found: Provenance) -> str:
    return (
        f"{found.scripts_run:,} of {number_of(found.summary.kept, 'kept document')}, in a browser whose requests are "
        f"the crawler's own; the text is what scripts drew in {found.methods['js']:,} and JSON that scripts fetched in "
        f"{found.methods['captured']:,}"
    )


def _processing(found: Provenance) -> Iterator[Section]:
    yield Section("3", "Data processing aspects", [])
    fields = [
        *_unknown("Signatory to the Code of Practice for general-purpose AI models"),
        *(Field("Measures implemented to respect reservations of rights", text) for text in measures(found)),
        Field("What they stopped", _stopped(found)),
        Field("Withdrawals after the crawl", _withdrawals(found)),
    ]
    title = "Respect of reservation of rights from text and data mining exception or limitation"
    yield Section("3.1", title, fields)
    words = (
        f"documents by tier of review in the allowlist: {_counts(found.tiers, 'tier', '')}; by who reviewed the "
        f"licence and when: {_counts(found.summary.reviews, 'review', '')}"
    )
    illegal = [Field("Measures in this crawl", words), *_unknown("Measures taken before training")]
    yield Section("3.2", "Removal of illegal content", illegal)
    yield Section("3.3", "Other information", [Field("Personal data", _personal(found))])


def _stopped(found: Provenance) -> str:
    if not found.sources.has_crawled:
        return "nothing was fetched, so nothing was stopped before it was fetched"
    if found.sources.subset_of:
        return f"not recorded in a subset; the corpus whose manifest has SHA-256 {found.sources.subset_of} says it"
    elsewhere = f"what crawls stopped whose archives were replayed is {NOT_RECORDED} in these archives"
    if not found.sources.has_fetched:
        return elsewhere
    counts = {
        "by robots.txt": found.rejected("robots_disallowed"),
        "by an opt-out": found.rejected("optout"),
        f"by a denial ({denials()})": found.rejected("access_denied"),
        "on hold because a control file could not be read": found.held("hold_robots_unreachable", "hold_control_file"),
    }
    said = ", ".join(f"{number_of(count, 'page')} {how}" for how, count in counts.items())
    return f"{said}; {elsewhere}" if found.sources.replayed else said


def _withdrawals(found: Provenance) -> str:
    elsewhere = "; those of the corpus that it was selected from are listed there" if found.sources.subset_of else ""
    if found.sources.replayed:
        elsewhere += f"; those from crawls whose archives were replayed are {NOT_RECORDED} in these archives"
    if found.undone:
        elsewhere += f"; {number_of(found.undone, 'withdrawal')} taken back"
    if not found.withdrawals:
        return f"none so far{elsewhere}"
    gone, by_rule = found.removed_with(found.requests), found.by_rule
    refused = len({domain for wish in found.withdrawals for domain in wish["refused"]})
    never = f"; {number_of(refused, 'domain')} not requested again" if refused else ""
    rules = (
        f"; {number_of(len(by_rule), 'time')} by a rule (no longer granted, refused by now, or its time is over), "
        f"{number_of(found.removed_with(by_rule), 'document')} removed"
    )
    asked = f"{number_of(len(found.requests), 'request')}, {number_of(gone, 'document')} removed"
    return f"{asked}{never}{rules if by_rule else ''}{elsewhere}"


def _personal(found: Provenance) -> str:
    kinds = _counts(found.summary.pii_types, "kind", "documents")
    return (
        f"replaced by placeholders in {found.redacted:,} of {number_of(found.summary.kept, 'kept document')} ({kinds})"
    )


def _content(found: Provenance) -> str:
    summary = found.summary
    return (
        f"main text of {number_of(summary.kept, 'web page')} of {number_of(len(found.domains), 'domain')}, "
        f"{_counts(summary.languages, 'language', 'documents')}"
    )


def _licences(found: Provenance) -> str:
    named = _counts(found.summary.licences, "licence", "documents")
    return f"{named}; {found.unlicensed:,} without one" if found.summary.licences and found.unlicensed else named


def _counts(counts: dict[str, int], one: str, unit: str) -> str:
    if not counts:
        return f"no {one} recorded"
    words = unit.removesuffix("s") if list(counts.values()) == [1] else unit
    return (", ".join(f"{name} {count:,}" for name, count in counts.items()) + f" {words}").rstrip()


def _range(tokens: int) -> str:
    return next((words for limit, words in _RANGES if tokens < limit), "more than 10 trillion tokens")


def _month(moment: str | None) -> str:
    return f"{moment[5:7]}/{moment[:4]}" if moment else "nothing collected"


def _listed(found: Provenance, share: float, most: int | None) -> list[dict[str, Any]]:
    return [
        {"domain": name, "documents": size.documents, "words": size.words, "characters": size.characters}
        for name, size in found.largest(share, most)
    ]


def _domain_table(found: Provenance) -> Iterator[str]:
    yield "| domain | documents | characters |"
    yield "|---|---:|---:|"
    for name, size in found.largest(SHARE, MOST_LISTED):
        yield f"| {name} | {size.documents:,} | {size.characters:,} |"
