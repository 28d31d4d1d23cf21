"""What a job reads, a file a task: archives, shards of our corpora, and other people's files of documents.

A document of our own corpora has passed extraction and the redaction of personal data; it is judged again by what comes
behind, of its text as it stands. One of others is text that somebody else extracted, as in a WET file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler.config import Config
from crawler.config.stages import columns
from crawler.dataset.combined import Archives
from crawler.dataset.mix.sources import as_ours, records_of, synthetic_of
from crawler.dataset.mix.spec import Source
from crawler.dataset.registry.derived import folders_around, is_corpus
from crawler.dataset.rewrite import read_files
from crawler.dataset.supersede import is_pending, way_out
from crawler.dedup.loading import files_of
from crawler.document import RECORD_FIELDS, SPAN_FIELDS, CodeBlock, ControlFile, Document, Signal
from crawler.documents.begin import begin
from crawler.documents.from_archive import document_from_archive
from crawler.storage.archive.places import find
from crawler.storage.archive.reader import ArchivedResponse, ReadProblem
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import MANIFEST, Place
from crawler.storage.files.records import Record, spans_in

ARCHIVED, OURS, THEIRS = "archived", "ours", "theirs"
DONE = ("parse", "optout", "extraction", "pii")
"""Stages that a document of ours has behind it for good: they need the page, or the text as it was."""
_OF_RUN = frozenset({
    "url", "canonical_url", "domain", "crawl_id", "worker_id", "pipeline_version", "config_digest",
    "doc_id", "quality_score", "classifier_scores", "dup_of", "dup_similarity",
})  # fmt: skip
"""Fields of a record that this run says anew."""
_OF_RULES = frozenset({"skipped_rules", "judged_chars"})
"""Quality signals that the rules leave only where they have something to say."""
_OBJECTS = {"optout_signals": Signal, "control_files": ControlFile, "code_blocks": CodeBlock}


@dataclass(frozen=True, slots=True)
class Input:
    """A file to read. kind: `ARCHIVED`, `OURS`, `THEIRS`; name: its path or URL.

    corpus: of ours, where it lies. renamed: archives whose name another corpus has taken, and what they are called.
    """

    kind: str
    name: str
    corpus: str = ""
    renamed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A document as a file has it, under our names. number: of the record in the file, from 1."""

    file: Input
    number: int
    record: Record


Page = ArchivedResponse | Given
"""What a document is made of."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that a job reads, in its order. others: files beside archives that are none by their names.

    corpora: those whose documents are read; derived: folders of ours, such as exports, that files of documents lie in.
    archives: SHA-256 of those that the documents of corpora come from. fields: of documents of others, our name →
    theirs.
    """

    files: tuple[Input, ...]
    others: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    archives: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)


def inputs_of(archives: Sequence[str], documents: Sequence[str], fields: Mapping[str, str]) -> Inputs:
    """The files behind paths, globs, folders, corpora and fsspec URLs; local ones by their absolute paths.

    Raises: StorageError, LoadError where there is nothing to read, or a corpus is not at rest.
    """
    found = [find(place) for place in archives]
    files = [Input(ARCHIVED, name) for each in found for name in each.archives]
    corpora: dict[str, Place] = {}
    strange: list[str] = []
    for path in map(absolute, documents):
        place = Place(path)
        if place.load_json(MANIFEST) is None:
            strange += files_of([path])
        else:
            corpora[path] = place
    known = Archives()
    for path, place in corpora.items():
        _check_at_rest(place)
        renamed = tuple(known.renamed(place.manifest(), place).items())
        files += [Input(OURS, place.path_of(entry["path"]), path, renamed) for entry in read_files(place)]
    around = list(folders_around(strange).values())
    if inner := next((folder for folder in around if is_corpus(Place(folder))), None):
        raise StorageError(f"{strange[0]}: lies in the corpus {inner}; give the corpus, which knows what was withdrawn")
    files += [Input(THEIRS, name) for name in strange]
    if not files:
        raise StorageError("there is nothing to read: name archives with --archive, or documents with --documents")
    others = tuple(name for each in found for name in each.others)
    return Inputs(tuple(dict.fromkeys(files)), others, tuple(corpora), tuple(around), known.known, fields)


def absolute(path: str) -> str:
    """A local path as every process of this machine, or of one with the same mounts, understands it."""
    return path if "://" in path else str(Path(path).absolute())


def _check_at_rest(place: Place) -> None:
    manifest = place.manifest()
    if any(run["ended"] is None for run in manifest["runs"]):
        raise StorageError(f"{place.url}: a worker is at work in this corpus; run the job when it has ended")
    if is_pending(manifest):
        raise StorageError(f"{place.url}: later visits have replaced records that are still there: {way_out(place)}")


def read_given(file: Input, fields: Mapping[str, str]) -> Iterator[Given | ReadProblem]:
    """The documents of a file; a record that is none costs itself. fields: our name → theirs.

    Raises: StorageError where the file cannot be read to its end.
    """
    source = Source(file.name, None, (file.name,), fields, {}, 1.0, is_named=False)
    for number, record in enumerate(records_of(file.name), 1):
        try:
            mapped = record if file.kind == OURS else as_ours(source, record, f"{file.name}:{number}")
        except StorageError as error:
            yield ReadProblem(file.name, number, f"broken record: {error}")
        else:
            yield Given(file, number, mapped)


def document_of(page: Page, config: Config) -> Document:
    """A document before its first stage, or before the first that is still to come."""
    if isinstance(page, ArchivedResponse):
        return document_from_archive(page, config)
    return _again(page, config) if page.file.kind == OURS else _of_others(page, config)


def _again(page: Given, config: Config) -> Document:
    record = page.record
    doc = begin(record["url"], record["canonical_url"], config)
    for name in RECORD_FIELDS:
        if name not in _OF_RUN and record.get(name) is not None:
            setattr(doc, name, _value(record, name))
    doc.warc_file = dict(page.file.renamed).get(doc.warc_file or "", doc.warc_file)
    signals = doc.quality_signals = {n: v for n, v in doc.quality_signals.items() if n not in _OF_RULES}
    doc.profile = str(signals["profile"]) if signals.get("profile_by") == "allowlist" else ""
    doc.extra = {name: record[name] for name in columns() if name in record} | synthetic_of(record)
    doc.done, doc.text_allowed = list(DONE), True
    return doc


def _value(record: Record, name: str) -> Any:
    if name in SPAN_FIELDS:
        return spans_in(record, name)
    if made := _OBJECTS.get(name):
        return [made(**each) for each in record[name]]
    return record[name]


def _of_others(page: Given, config: Config) -> Document:
    record, name = page.record, page.file.name
    body = (record.get("text") or "").encode("utf-8", "replace")
    response = ArchivedResponse(
        record.get("url") or "", "conversion", 200, [], body, 0.0, name, "", page.number,
        license_tag=record.get("license_tag"), license_tier=record.get("license_tier"),
        license_reviewer=record.get("license_reviewer"), license_reviewed=record.get("license_reviewed"),
    )  # fmt: skip
    doc = document_from_archive(response, config)
    doc.crawled_at = doc.first_seen = doc.last_changed = record.get("crawled_at") or ""
    doc.warc_record_id = doc.warc_offset = None
    for said in ("title", "description", "author", "pub_date"):
        setattr(doc, said, record.get(said))
    doc.extra = synthetic_of(record)
    return doc
