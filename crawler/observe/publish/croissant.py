"""The corpus as machine-readable metadata: Croissant 1.0 (docs.mlcommons.org/croissant), one JSON-LD object.

Files carry path, size and SHA-256 from the manifest; together they are the file set in which the record set finds every
field of the record.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from crawler.document import RECORD_FIELDS, SPAN_FIELDS, Document
from crawler.number import number_of
from crawler.observe.publish.behaviour import dataset_sentence
from crawler.observe.publish.dataset_card import Files, shards_of
from crawler.observe.publish.provenance import Provenance
from crawler.storage.files.formats import format_of

_CONTEXT = resources.files("crawler").joinpath("observe", "publish", "croissant_context.json")
CONTEXT: dict[str, Any] = json.loads(_CONTEXT.read_text("utf-8"))
_TYPES = {str: "sc:Text", int: "sc:Integer", float: "sc:Float", bool: "sc:Boolean"}


def metadata(found: Provenance, files: Files | None = None) -> dict[str, Any]:
    """The JSON-LD object; equal documents give equal objects. files: of a derived folder; None: the shards."""
    files = files or shards_of(found)
    tally = found.kept.tally
    contacts = [contact for contact in found.facts("contact") if contact.startswith("http")]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": found.name,
        "description": (
            f"Main text of {number_of(found.pages, 'web page')} of {number_of(len(found.domains), 'domain')}, about "
            f"{number_of(tally.tokens, 'token')}, with the provenance and the opt-out statements of every page."
        ),
        **({"url": contacts[0]} if contacts else {}),
        "license": list(_licences(found)),
        "version": f"{found.version}.0.0",
        "datePublished": found.updated[:10] or "1970-01-01",
        "dateModified": found.updated[:10] or "1970-01-01",
        "inLanguage": list(found.kept.by("languages")),
        "isLiveDataset": False,
        "citeAs": f"{found.name}, version {found.version}",
        "rai:dataCollection": ". ".join(_collection(found)),
        "rai:dataCollectionType": _kinds(found),
        "rai:dataCollectionTimeframe": [t for t in (tally.first, tally.last) if t],
        "rai:personalSensitiveInformation": f"replaced by placeholders in {number_of(found.kept.redacted, 'document')}",
        "distribution": [*(_file(each, files) for each in found.files), *_file_sets(found, files)],
        "recordSet": [_record_set(_folder(found))] if found.files and files.is_records else [],
    }


def _licences(found: Provenance) -> Iterator[str]:
    """What records say, and of how many nothing is known: a name that stands alone would speak for all of them."""
    licences = found.kept.by("licences")
    yield from licences
    if found.unlicensed or not licences:
        of = number_of(found.count, "document")
        yield f"none recorded for {found.unlicensed:,} of {of}; see license_tag of each record"


def _collection(found: Provenance) -> Iterator[str]:
    """By whom the pages were fetched, as far as that is known."""
    sources = found.sources
    if sources.has_crawled:
        agents = ", ".join(found.facts("user_agent")) or "a crawler whose name is not recorded"
        yield f"{number_of(sources.crawled.documents, 'document')} crawled by {agents}"
    for dataset in sources.datasets:
        yield f"{number_of(dataset.part.documents, 'document')} from archives and files: {dataset_sentence(dataset)}"


def _kinds(found: Provenance) -> list[str]:
    kinds = {"Web Scraping": found.sources.has_crawled, "Secondary Data Analysis": bool(found.sources.datasets)}
    return [kind for kind, applies in kinds.items() if applies]


def _file(entry: Mapping[str, Any], files: Files) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": entry["path"],
        "name": entry["path"],
        "description": number_of(entry["documents"], "document"),
        "contentUrl": entry["path"],
        "contentSize": f"{entry['bytes']} B",
        "encodingFormat": files.media_types[0] if len(files.media_types) == 1 else format_of(entry["path"]).media_type,
        "sha256": entry["sha256"],
    }


def _folder(found: Provenance) -> str:
    return str(found.files[0]["path"]).partition("/")[0]


def _file_sets(found: Provenance, files: Files) -> Iterator[dict[str, Any]]:
    """All files, each by its path: a pattern would also take what a crash has left beside them."""
    if found.files:
        count, encodings = len(found.files), list(files.media_types)
        yield {
            "@type": "cr:FileSet",
            "@id": _folder(found),
            "name": _folder(found),
            "description": "the file with documents"
            if count == 1
            else f"all {number_of(count, 'file')} with documents",
            "encodingFormat": encodings[0] if len(encodings) == 1 else encodings,
            "includes": [entry["path"] for entry in found.files],
        }


def _record_set(folder: str) -> dict[str, Any]:
    """One record set; its fields point into the set of all files, which have the same columns."""
    return {
        "@type": "cr:RecordSet",
        "@id": "documents",
        "name": "documents",
        "description": "One record a page; docs/record.md says what each field means.",
        "key": {"@id": "documents/url"},
        "field": [_field(name, folder) for name in RECORD_FIELDS],
    }


def _field(name: str, folder: str) -> dict[str, Any]:
    field = {
        "@type": "cr:Field",
        "@id": f"documents/{name}",
        "name": name,
        "description": f"{name} of the page",
        "dataType": _type_of(name),
        "source": {"fileSet": {"@id": folder}, "extract": {"column": name}},
    }
    is_list = typing.get_origin(typing.get_type_hints(Document)[name]) is list and name not in SPAN_FIELDS
    return field | ({"repeated": True} if is_list else {})


def _type_of(name: str) -> str:
    hint = typing.get_type_hints(Document)[name]
    kinds = [kind for kind in (typing.get_args(hint) or (hint,)) if kind is not type(None)]
    return _TYPES.get(kinds[0], "sc:Text") if len(kinds) == 1 else "sc:Text"
