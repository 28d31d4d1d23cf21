"""The corpus as machine-readable metadata: Croissant 1.0 (docs.mlcommons.org/croissant), one JSON-LD object.

Files carry path, size and SHA-256 from the manifest; together they are the file set in which the record set finds every
field of the record.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from importlib import resources
from typing import Any

from crawler.document import RECORD_FIELDS, Document
from crawler.number import number_of
from crawler.observe.publish.behaviour import dataset_sentence
from crawler.observe.publish.provenance import Provenance
from crawler.storage.files.formats import format_of
from crawler.storage.files.place import SHARDS
from crawler.storage.types import Entry

_CONTEXT = resources.files("crawler").joinpath("observe", "publish", "croissant_context.json")
CONTEXT: dict[str, Any] = json.loads(_CONTEXT.read_text("utf-8"))
_TYPES = {str: "sc:Text", int: "sc:Integer", float: "sc:Float", bool: "sc:Boolean"}


def metadata(found: Provenance) -> dict[str, Any]:
    """The JSON-LD object; equal corpora give equal objects."""
    files = [entry for entry in found.manifest["files"] if entry["kind"] == SHARDS]
    summary = found.summary
    contacts = [contact for contact in found.facts("contact") if contact.startswith("http")]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": found.name,
        "description": (
            f"Main text of {number_of(summary.kept, 'web page')} of {number_of(len(found.domains), 'domain')}, about "
            f"{number_of(summary.tokens, 'token')}, with the provenance and the opt-out statements of every page."
        ),
        **({"url": contacts[0]} if contacts else {}),
        "license": list(_licences(found)),
        "version": f"{found.version}.0.0",
        "datePublished": found.updated[:10] or "1970-01-01",
        "dateModified": found.updated[:10] or "1970-01-01",
        "inLanguage": list(summary.languages),
        "isLiveDataset": False,
        "citeAs": f"{found.name}, version {found.version}",
        "rai:dataCollection": ". ".join(_collection(found)),
        "rai:dataCollectionType": _kinds(found),
        "rai:dataCollectionTimeframe": [t for t in (summary.first_crawled_at, summary.last_crawled_at) if t],
        "rai:personalSensitiveInformation": f"replaced by placeholders in {number_of(found.redacted, 'document')}",
        "distribution": [*map(_file, files), *_file_sets(files)],
        "recordSet": [_record_set()] if files else [],
    }


def _licences(found: Provenance) -> Iterator[str]:
    """What records say, and of how many nothing is known: a name that stands alone would speak for all of them."""
    yield from found.summary.licences
    if found.unlicensed or not found.summary.licences:
        kept = found.summary.kept
        yield f"none recorded for {found.unlicensed:,} of {number_of(kept, 'document')}; see license_tag of each record"


def _collection(found: Provenance) -> Iterator[str]:
    """By whom the pages were fetched, as far as that is known."""
    sources = found.sources
    if sources.has_crawled:
        agents = ", ".join(found.facts("user_agent")) or "a crawler whose name is not recorded"
        yield f"{number_of(sources.crawled.documents, 'document')} crawled by {agents}"
    for dataset in sources.datasets:
        yield f"{number_of(dataset.part.documents, 'document')} from archives of others: {dataset_sentence(dataset)}"


def _kinds(found: Provenance) -> list[str]:
    kinds = {"Web Scraping": found.sources.has_crawled, "Secondary Data Analysis": bool(found.sources.datasets)}
    return [kind for kind, applies in kinds.items() if applies]


def _file(entry: Entry) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": entry["path"],
        "name": entry["path"],
        "description": number_of(entry["documents"], "document"),
        "contentUrl": entry["path"],
        "contentSize": f"{entry['bytes']} B",
        "encodingFormat": _encoding(entry),
        "sha256": entry["sha256"],
    }


def _encoding(entry: Entry) -> str:
    return format_of(entry["path"]).media_type


def _file_sets(files: list[Entry]) -> Iterator[dict[str, Any]]:
    """All shards, each by its path: a pattern would also take what a crash has left beside them."""
    if files:
        encodings = sorted(set(map(_encoding, files)))
        yield {
            "@type": "cr:FileSet",
            "@id": SHARDS,
            "name": SHARDS,
            "description": "the file with documents" if len(files) == 1 else f"all {len(files):,} files with documents",
            "encodingFormat": encodings[0] if len(encodings) == 1 else encodings,
            "includes": [entry["path"] for entry in files],
        }


def _record_set() -> dict[str, Any]:
    """One record set; its fields point into the set of all files, which have the same columns."""
    return {
        "@type": "cr:RecordSet",
        "@id": "documents",
        "name": "documents",
        "description": "One record a page; docs/record.md says what each field means.",
        "key": {"@id": "documents/url"},
        "field": [_field(name) for name in RECORD_FIELDS],
    }


def _field(name: str) -> dict[str, Any]:
    field = {
        "@type": "cr:Field",
        "@id": f"documents/{name}",
        "name": name,
        "description": f"{name} of the page",
        "dataType": _type_of(name),
        "source": {"fileSet": {"@id": SHARDS}, "extract": {"column": name}},
    }
    return field | ({"repeated": True} if typing.get_origin(typing.get_type_hints(Document)[name]) is list else {})


def _type_of(name: str) -> str:
    hint = typing.get_type_hints(Document)[name]
    kinds = [kind for kind in (typing.get_args(hint) or (hint,)) if kind is not type(None)]
    return _TYPES.get(kinds[0], "sc:Text") if len(kinds) == 1 else "sc:Text"
