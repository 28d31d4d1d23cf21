"""Which pages of a corpus have these words? Answers addresses alone; the words are kept nowhere.

Looked for in every record that is there, titles included, in the files of older versions, and in the raw pages of the
archives: there stands what is redacted in the records. Letters are compared as `~` compares them in a search, white
space, soft hyphens and the form of a composed letter aside; in a raw page also across tags and behind entities.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from crawler.dataset.records.filters import folded
from crawler.dataset.rewrite import read_files
from crawler.stages.text.charset import decode
from crawler.storage.archive.reader import ArchivedResponse, ReadProblem, read_archive
from crawler.storage.files.place import ANNOTATIONS, ARCHIVE, REPLACED, SHARDS, Place
from crawler.storage.files.records import QUOTED, TEXT_FIELDS, Record
from crawler.storage.files.shards import read_records
from crawler.urls.canonicalize import canonicalize

_NO_RECORDS = {ARCHIVE, ANNOTATIONS}
_TAG = re.compile(r"<[^<>]*>")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


@dataclass(slots=True)
class Found:
    """Pages by canonical URL, each with the kinds of places that have the words; what could not be searched."""

    pages: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    problems: list[str] = field(default_factory=list)


def containing(place: Place, words: str, *, progress: Callable[[str], object] = lambda _: None) -> Found:
    """The pages that have these words, one behind the other. Raises: ValueError where they are none; StorageError."""
    wanted, found = _folded(words), Found()
    if not wanted:
        raise ValueError("expected words")
    for kind, path in _files(place):
        progress(path)
        for record in read_records(place, path):
            where = [name for name in (*TEXT_FIELDS, *QUOTED) if wanted in _folded(_words(record.get(name)))]
            if where:
                found.pages[_name(record)].add("title" if where == ["title"] and kind == "kept" else kind)
    for entry in read_files(place, (ARCHIVE,)):
        progress(entry["path"])
        for page in _pages(place.path_of(entry["path"]), found.problems):
            if any(wanted in text for body in _bodies(page) for text in _readings(body, page)):
                found.pages[canonicalize(page.url, routes=True) or page.url].add("archive")
    return found


def _files(place: Place) -> Iterator[tuple[str, str]]:
    """Files of records, each with what its records are called."""
    manifest = place.manifest()
    for entry in manifest["files"]:
        if entry["kind"] not in _NO_RECORDS:
            yield ("kept" if entry["kind"] == SHARDS else entry["kind"]), entry["path"]
    steps = [step["old"] for version in manifest.get("lineage", []) for step in version["files"]]
    for folder in sorted({path.partition("/")[0] for path in steps} - _NO_RECORDS):
        there = place.listing(f"{REPLACED}/{folder}")
        yield from (("an older version", f"{REPLACED}/{folder}/{name}") for name in there)


def _pages(path: str, problems: list[str]) -> Iterator[ArchivedResponse]:
    def say(problem: ReadProblem) -> None:
        problems.append(f"{problem.file}: byte {problem.offset} could not be searched: {problem.what}")

    yield from read_archive(path, on_problem=say)


def _bodies(page: ArchivedResponse) -> Iterable[bytes]:
    return (page.body, page.drawn, *(body for capture in page.captures for body in _bodies(capture)))


def _readings(body: bytes, page: ArchivedResponse) -> Iterator[str]:
    """A body as it may be read: as it is sent, escapes resolved, and without tags, inside words or not."""
    if not body:
        return
    labels = [value.decode("latin-1") for name, value in page.headers if name.lower() == b"content-type"]
    text = (decode(body, labels[0] if labels else None) or (body.decode("latin-1"), ""))[0]
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\\u" in text else text
    for between in (None, "", " "):
        yield _folded(html.unescape(text if between is None else _TAG.sub(between, text)))


def _words(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _folded(text: str) -> str:
    return " ".join(folded(unicodedata.normalize("NFC", text).translate(_UNSEEN)).split())


def _name(record: Record) -> str:
    return str(record.get("canonical_url") or record["url"])
