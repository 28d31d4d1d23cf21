"""The corpus as a page for people: a dataset card as data-set hubs show it, YAML front matter first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from crawler.number import number_of
from crawler.observe.publish.behaviour import NOT_IN_SUBSET, NOT_RECORDED, dataset_sentence, measures
from crawler.observe.publish.eu_summary import TO_COMPLETE
from crawler.observe.publish.provenance import Provenance, most_first
from crawler.storage.files.formats import format_of
from crawler.storage.files.place import SHARDS

_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))
_MORE_SIZES = ((10**8, "10M<n<100M"), (10**9, "100M<n<1B"), (10**10, "1B<n<10B"), (10**11, "10B<n<100B"))
MOST = 20
"""Rows of each table."""


@dataclass(frozen=True, slots=True)
class Files:
    """Where the documents of a data set are, for its readers. data_files: globs; features: None = by reader.

    media_type: of the files. is_records: their columns are the fields of the record.
    """

    data_files: list[str]
    features: list[dict[str, Any]] | None
    media_types: tuple[str, ...] = ()
    is_records: bool = True


def shards_of(found: Provenance) -> Files:
    """The shards of the corpus itself, whatever formats they have."""
    used = {form.suffix: form for form in (format_of(entry["path"]) for entry in found.files)}
    features = [form.features for form in used.values()]
    same = features and all(each == features[0] for each in features)
    patterns = [f"{SHARDS}/*.{suffix}" for suffix in sorted(used)]
    return Files(patterns, features[0] if same else None, tuple(sorted({form.media_type for form in used.values()})))


def card(found: Provenance, files: Files | None = None, more: Iterable[str] = ()) -> str:
    """The card as Markdown; equal documents give equal text.

    files: of a derived folder; None: the shards of the corpus. more: lines after the first section.
    """
    files = files or shards_of(found)
    front = yaml.safe_dump(front_matter(found, files), sort_keys=False, allow_unicode=True, default_flow_style=False)
    return f"---\n{front}---\n\n" + "\n".join(_body(found, more)).rstrip("\n") + "\n"


def front_matter(found: Provenance, files: Files) -> dict[str, Any]:
    """What hubs index. Licences are per record: the card names one only where every document has that one."""
    licences = list(found.kept.by("licences"))
    same = len(licences) == 1 and not found.unlicensed
    return {
        "pretty_name": found.name,
        "language": list(found.kept.by("languages")),
        "license": "other",
        "license_name": licences[0] if same else "per-record",
        "size_categories": [_size(found.count)],
        "task_categories": ["text-generation"],
        "tags": [
            *(["web-crawl"] if found.sources.has_crawled else []),
            "provenance",
            "opt-out",
            *(["synthetic"] if found.kept.synthetic else []),
        ],
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": files.data_files}]}],
        **({"dataset_info": {"features": files.features}} if files.features else {}),
    }


def _size(count: int) -> str:
    return next((name for limit, name in (*_SIZES, *_MORE_SIZES) if count < limit), "n>100B")


def _body(found: Provenance, more: Iterable[str]) -> Iterator[str]:
    tally = found.kept.tally
    yield f"# {found.name}"
    yield ""
    pages, domains = number_of(found.pages, "web page"), number_of(len(found.domains), "domain")
    yield f"Main text of {pages} of {domains}: {number_of(tally.words, 'word')}, about"
    yield f"{number_of(tally.tokens, 'token')}. {_period(found)}{_version(found)}last changed {found.updated}."
    yield from _left_out(found)
    yield ""
    yield from more
    yield from _section("Languages", _table(("language", "documents"), found.kept.by("languages")))
    licences = _table(("licence", "documents"), found.kept.by("licences"))
    yield from _section("Licences", [*_licence_note(found), *licences])
    sizes, what = {name: size.documents for name, size in found.domains.items()}, "domain"
    if not sizes and found.kept.synthetic:
        sizes, what = found.kept.by("domains"), "domain of the page that it rests on"
    if found.kept.synthetic:
        yield from _section("Synthetic texts", _synthetic(found))
    yield from _section("Largest domains", _table((what, "documents"), sizes))
    yield from _section("How it was collected", _collection(found))
    yield from _section("What was left out, and why", _rejected(found))
    yield from _section("Personal data", _personal(found))
    if found.origins.sent_to:
        sent = _table(("annotation (language model)", "documents"), dict(sorted(found.origins.sent_to.items())))
        yield from _section("Texts sent to language models", sent)
    yield from _section("Withdrawal", _withdrawal(found))
    yield from _section("Uses, limits and biases", [TO_COMPLETE])


def _synthetic(found: Provenance) -> list[str]:
    tokens = found.kept.tally.tokens
    share = f" ({found.kept.synthetic_tokens / tokens:.1%})" if tokens else ""
    said = f"Language models wrote {found.kept.synthetic_tokens:,} of these tokens{share}; `synthetic` is true in these"
    head = ("kind and model", "documents")
    return [f"{said} records.", "", *_table(head, most_first(found.kept.synthetic))]


def _version(found: Provenance) -> str:
    return "Its sources were " if found.kind == "mixture" else f"Version {found.version} of the corpus, "


def _rejected(found: Provenance) -> list[str]:
    if not found.rejections and found.sources.subset_of:
        return [f"{NOT_IN_SUBSET}; the corpus whose manifest has SHA-256 {found.sources.subset_of} says it."]
    return _table(("stage/reason", "pages"), found.rejections)


def _left_out(found: Provenance) -> Iterator[str]:
    if found.kind != "corpus":
        yield "Of each page the latest document is there, and none that was withdrawn when this was made"
        yield f"({number_of(found.withdrawn, 'withdrawn document')} left out)."


def _section(title: str, lines: list[str]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield from lines or ["nothing recorded"]
    yield ""


def _table(head: tuple[str, str], counts: dict[str, int]) -> list[str]:
    if not counts:
        return []
    rows = [f"| {name} | {count:,} |" for name, count in list(counts.items())[:MOST]]
    more = [f"| … and {len(counts) - MOST:,} more | |"] if len(counts) > MOST else []
    return [f"| {head[0]} | {head[1]} |", "|---|---:|", *rows, *more]


def _licence_note(found: Provenance) -> list[str]:
    """Who says so: the allowlist's tags have a tier, those that a page gives itself have none."""
    own = found.kept.own_tags
    listed = sum(found.kept.by("licences").values()) - own
    said = f"{number_of(listed, 'document')} with the tag of the allowlist, {own:,} whose only tag is the page's"
    notes = [f"{said}, {found.unlicensed:,} with none.", ""]
    return [*notes, *_table(("reviewed by, on", "documents"), found.kept.by("reviews")), ""] if listed else notes


def _collection(found: Provenance) -> list[str]:
    seen = ", ".join(f"{name} {count:,}" for name, count in sorted(found.kept.signals.items())) or "none"
    return [
        *_crawler(found),
        *(line for d in found.sources.datasets for line in (f"Archives and files: {dataset_sentence(d)}.", "")),
        *(line for text in measures(found) for line in (f"Reservations of rights: {text}.", "")),
        f"Statements about use and licences seen on kept pages (documents by protocol): {seen}. Each record has "
        "them in `optout_signals`, with `robots_status`, `robots_sha256` and `robots_fetched_at` beside them.",
        "",
        f"Configuration: {', '.join(found.origins.config_digests) or 'not recorded'}.",
    ]


def _crawler(found: Provenance) -> list[str]:
    if not found.sources.has_crawled:
        return ["No crawler fetched pages for this corpus.", ""]
    agents, profiles = ", ".join(found.facts("user_agent")), ", ".join(found.facts("optout_profile"))
    return [f"Crawler: {agents or NOT_RECORDED}. Opt-out profile: {profiles or NOT_RECORDED}.", ""]


def _period(found: Provenance) -> str:
    tally = found.kept.tally
    return f"Fetched {tally.first} to {tally.last}. " if tally.first else ""


def _personal(found: Provenance) -> list[str]:
    kinds = _table(("kind", "documents"), found.kept.by("pii_types"))
    head = f"Replaced by typed placeholders in {number_of(found.kept.redacted, 'document')}; `pii_spans` says where."
    return [head, "", *kinds] if kinds else [head]


def _withdrawal(found: Provenance) -> list[str]:
    contacts = ", ".join(found.facts("contact")) or TO_COMPLETE
    return [f"Site owners reach the operator here: {contacts}. Requests carried out so far: {len(found.requests):,}."]
