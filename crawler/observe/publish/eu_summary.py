"""The crawl's part of a public summary of training content (Regulation (EU) 2024/1689, Article 53(1)(d)).

Sections and order follow the Commission's template (AI Office, 24 July 2025). What the crawl knows is filled in from
the manifest and the records; what only the provider of a model can know says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from crawler.number import number_of
from crawler.observe.html import render
from crawler.observe.publish.behaviour import (
    NOT_IN_SUBSET,
    NOT_RECORDED,
    behaviour,
    dataset_sentence,
    denials,
    how_crawled,
    measures,
)
from crawler.observe.publish.provenance import Provenance, most_first

TO_COMPLETE = "[to be completed by the model provider]"
TITLE = (
    "Public summary of training content for general-purpose AI models, Article 53(1)(d) of Regulation (EU) 2024/1689 "
    "(AI Act)"
)
TEMPLATE = "template of the AI Office, 24 July 2025"
MADE_BY = {
    "corpus": "The corpus's part, made by `gristmill report --eu` from manifest and records.",
    "export": "The part of this export of a corpus, made by `gristmill dataset export` from manifest and records.",
    "synthetic": "The part of these synthetic texts, made by `gristmill llm` from their records and their source.",
    "mixture": "The part of this mixture, made by `gristmill dataset mix` from its records and its sources' manifests.",
}
MOST_LISTED = 1_000
"""Domains that the text lists; eu_summary.json lists all that the template asks for."""
DOMAINS_IN = "2.3"
"""The section with the table of domains."""
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
        "title": TITLE,
        "template": TEMPLATE,
        "of": found.kind,
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
    lines = [f"# {TITLE}", "", *preface(found), ""]
    for section in sections(found):
        lines += [f"{'#' * (1 + len(section.number.split('.')))} {section.number}. {section.title}", ""]
        for item in section.fields:
            lines += [f"**{item.label}:** {item.value}", ""]
        if section.number == DOMAINS_IN and found.sources.crawled.documents:
            lines += [*_domain_table(found), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def preface(found: Provenance) -> list[str]:
    """Whose part of a provider's summary this is, and of when."""
    marked = f"What only the provider of a model can say is marked {TO_COMPLETE}."
    stand = [f"Last update: {found.updated}"]
    if found.kind != "mixture":
        stand.insert(0, f"Version of the corpus: {found.version}  ")
    return [f"By the {TEMPLATE}. {MADE_BY[found.kind]}", marked, "", *stand]


def _unknown(*labels: str) -> list[Field]:
    return [Field(label, TO_COMPLETE, known=False) for label in labels]


def _general(found: Provenance) -> Iterator[Section]:
    yield Section("1", "General information", [])
    names = ("Provider name and contact details", "Authorised representative name and contact details")
    yield Section("1.1", "Provider identification", _unknown(*names))
    labels = ("Versioned model name(s)", "Model dependencies", "Date of placement of the model on the Union market")
    yield Section("1.2", "Model identification", _unknown(*labels))
    tally = found.kept.tally
    size = (
        f"{number_of(tally.tokens, 'token')} (estimated), {number_of(tally.words, 'word')} in "
        f"{number_of(found.count, 'document')}"
    )
    repeats = f"; {number_of(found.uses, 'record')}, since some are there several times" if found.uses else ""
    fields = [
        Field("Modality", "text"),
        Field(f"Training data size: text of this {found.noun}", f"{_range(tally.tokens)}: {size}{repeats}"),
        *_unknown("Training data size: overall"),
        Field("Types of content", _content(found)),
        Field("Latest date of data acquisition/collection in this text", _month(tally.last)),
        *_unknown("Latest date of data acquisition/collection for model training"),
        Field("Linguistic characteristics", _counts(found.kept.by("languages"), "language", "documents")),
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
    yield Section("2.5", "Synthetic data", [*_synthetic(found), *_unknown("Has synthetic data been created otherwise")])
    yield Section("2.6", "Other sources of data", _unknown("Have other sources of data been used"))


def _synthetic(found: Provenance) -> Iterator[Field]:
    kept, tokens = found.kept, found.kept.tally.tokens
    what = f"Synthetic data in this {found.noun}"
    if not kept.synthetic:
        yield Field(what, "none that is marked so")
        return
    share = f"{kept.synthetic_tokens / tokens:.1%}" if tokens else "all"
    amount = f"{number_of(kept.synthetic_tokens, 'token')} (estimated), {share} of the text"
    yield Field(what, f"yes: {number_of(kept.synthetic.total(), 'document')}, {amount}")
    yield Field("Models that wrote it, and what", _counts(most_first(kept.synthetic), "model", "documents"))
    yield Field("What it rests on", "pages of the crawl, which each record names in `synthetic_sources`")


def _datasets(found: Provenance) -> Iterator[Field]:
    sources = found.sources
    text = f"{sources.taken:,} of {number_of(found.count, 'document')} from {_others(found)}"
    yield Field(f"Archives and files that this {found.noun} was made from", text if sources.datasets else "none")
    for dataset in sources.datasets:
        yield Field("What these say of themselves", dataset_sentence(dataset))
    yield from _unknown("Have publicly available datasets been used")


def _others(found: Provenance) -> str:
    return "archives of others, judged again" if found.kind == "corpus" else "archives of others and given files"


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
        f"{found.kept.scripts_run:,} of {number_of(found.count, 'kept document')}, in a browser whose requests are "
        f"the crawler's own; the text is what scripts drew in {found.kept.methods['js']:,} and JSON that scripts "
        f"fetched in {found.kept.methods['captured']:,}"
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
    tiers = _counts(dict(sorted(found.kept.tiers.items())), "tier", "")
    reviews = _counts(found.kept.by("reviews"), "review", "")
    words = f"documents by tier of review in the allowlist: {tiers}; by who reviewed the licence and when: {reviews}"
    illegal = [Field("Measures in this crawl", words), *_unknown("Measures taken before training")]
    yield Section("3.2", "Removal of illegal content", illegal)
    other = [Field("Personal data", _personal(found)), Field("Texts sent to language models", _sent(found))]
    yield Section("3.3", "Other information", other)


def _stopped(found: Provenance) -> str:
    """Pages whose latest visit was refused; each counts once."""
    sources, said = found.sources, []
    if sources.subset_of:
        return f"{NOT_IN_SUBSET}; the corpus whose manifest has SHA-256 {sources.subset_of} says it"
    if sources.has_fetched:
        said.append(_refusals(found, "crawl"))
    if sources.judged:
        judged = _refusals(found, "replay")
        said.append(f"while archives were judged: {judged}")
    if sources.replayed:
        said.append(f"what the crawls stopped whose archives were replayed is {NOT_RECORDED} in these archives")
    return "; ".join(said) or "nothing: no page was fetched and no archive was judged"


def _refusals(found: Provenance, kind: Literal["crawl", "replay"]) -> str:
    counts = {
        "by robots.txt": found.stopped(kind, "robots_disallowed"),
        "by an opt-out": found.stopped(kind, "optout"),
        f"by a denial ({denials()})": found.stopped(kind, "access_denied"),
    }
    if kind == "crawl":
        held = found.held("hold_robots_unreachable", "hold_certificate", "hold_control_file")
        counts["on hold because a control file could not be read"] = held
    return ", ".join(f"{number_of(count, 'page')} {how}" for how, count in counts.items())


def _withdrawals(found: Provenance) -> str:
    elsewhere = "; those of the corpus that it was selected from are listed there" if found.sources.subset_of else ""
    if found.sources.replayed:
        elsewhere += f"; those from crawls whose archives were replayed are {NOT_RECORDED} in these archives"
    if found.origins.undone:
        elsewhere += f"; {number_of(found.origins.undone, 'withdrawal')} taken back"
    if found.withdrawn:
        elsewhere += f"; {number_of(found.withdrawn, 'withdrawn document')} left out of this {found.noun}"
    if not found.origins.withdrawals:
        return f"none so far{elsewhere}"
    asked, by_rule = found.requests, found.by_rule
    refused = len({domain for wish, _ in found.origins.withdrawals for domain in wish["refused"]})
    never = f"; {number_of(refused, 'domain')} not requested again" if refused else ""
    rules = (
        f"; {number_of(len(by_rule), 'time')} by a rule (no longer granted, refused by now, or its time is over), "
        f"{number_of(sum(gone for _, gone in by_rule), 'document')} removed"
    )
    gone = number_of(sum(gone for _, gone in asked), "document")
    said = f"{number_of(len(asked), 'request')}, {gone} removed"
    return f"{said}{never}{rules if by_rule else ''}{elsewhere}"


def _personal(found: Provenance) -> str:
    kinds = _counts(found.kept.by("pii_types"), "kind", "documents")
    redacted = found.kept.redacted
    return f"replaced by placeholders in {redacted:,} of {number_of(found.count, 'kept document')} ({kinds})"


def _sent(found: Provenance) -> str:
    sent = found.origins.sent_to
    return _counts(dict(sorted(sent.items())), "annotation", "documents") if sent else "none"


def _content(found: Provenance) -> str:
    said = f"main text of {number_of(found.pages, 'web page')} of {number_of(len(found.domains), 'domain')}"
    written = found.kept.synthetic.total()
    return f"{said}, and {number_of(written, 'text')} that language models wrote" if written else said


def _licences(found: Provenance) -> str:
    """Labelled: a bare list of codes says nothing to who reads it."""
    licences = found.kept.by("licences")
    if not licences:
        return "licence of each document: none recorded"
    rest = f"; {found.unlicensed:,} without a recorded licence" if found.unlicensed else ""
    return f"licence of each document: {_counts(licences, 'licence', 'documents')}{rest}"


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


def as_html(found: Provenance) -> str:
    """The summary as a page for a browser and for paper: nothing is loaded, nothing can be folded away."""
    listed = found.largest(SHARE, MOST_LISTED) if found.sources.crawled.documents else []
    return render(
        "summary.html",
        title=TITLE,
        preface=[line.strip() for line in preface(found) if line],
        sections=sections(found),
        domains_in=DOMAINS_IN,
        domains=listed,
        to_complete=TO_COMPLETE,
    )
