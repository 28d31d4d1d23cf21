"""Which pages of a corpus have these words? The words are kept nowhere, and passages only where somebody asks for them.

Looked for in every record that is there, titles and addresses included, in the files of older versions, in the raw
pages of the archives: there stands what is redacted in the records; and, where that is asked, in the folders that were
made of the corpus. In which forms, `crawler/dataset/words.py` says. In a raw page the words are also found across tags
and behind entities.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from crawler.dataset.pages import page_name
from crawler.dataset.rewrite import read_files
from crawler.dataset.words import Passage, Words, plain
from crawler.stages.text.charset import decode
from crawler.storage.archive.reader import ArchivedResponse, ReadProblem, read_archive
from crawler.storage.files.place import ANNOTATIONS, ARCHIVE, REPLACED, SHARDS, Place
from crawler.storage.files.records import QUOTED, TEXT_FIELDS, Record
from crawler.storage.files.shards import read_records
from crawler.urls.canonicalize import canonicalize

_NO_RECORDS = {ARCHIVE, ANNOTATIONS}
_TAG = re.compile(r"<[^<>]*>")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_JOINTS = re.compile(r"[-_.+/]+")
ADDRESS = "its address"
MOST_PASSAGES = 10
"""Different passages of a page that are kept; the others are counted, each time that they stand somewhere."""


@dataclass(slots=True)
class Having:
    """What one page has of the words. sure: kinds of places where they are no other's; perhaps: the other ones.

    passages: the first different ones, each with the kinds of places that have it; more: how many there are beside.
    """

    sure: set[str] = field(default_factory=set)
    perhaps: set[str] = field(default_factory=set)
    passages: dict[tuple[str, str, str], tuple[Passage, list[str]]] = field(default_factory=dict)
    more: int = 0

    @property
    def kinds(self) -> list[str]:
        """Where, for people; in doubt it says so."""
        return sorted([*self.sure, *(f"{kind} (perhaps)" for kind in self.perhaps - self.sure)])

    def add(self, kind: str, passages: list[Passage], *, keep: bool) -> None:
        """Take note of what one text of the page has."""
        for each in passages:
            (self.sure if each.sure else self.perhaps).add(kind)
            if not keep:
                continue
            if (known := self.passages.get(each.core)) is not None:
                known[1].extend({kind} - set(known[1]))
            elif len(self.passages) < MOST_PASSAGES:
                self.passages[each.core] = each, [kind]
            else:
                self.more += 1


@dataclass(slots=True)
class Found:
    """Pages by canonical URL; what could not be searched. keep: passages, too. beside: folders that have the words."""

    keep: bool = False
    beside: set[str] = field(default_factory=set)
    pages: dict[str, Having] = field(default_factory=lambda: defaultdict(Having))
    problems: list[str] = field(default_factory=list)

    def add(self, name: str, kind: str, passages: list[Passage]) -> None:
        """Take note of what one text of a page has, if anything."""
        if passages:
            self.pages[name].add(kind, passages, keep=self.keep)


def containing(
    place: Place,
    words: str,
    *,
    passages: bool = False,
    beside: Iterable[tuple[str, Record]] = (),
    progress: Callable[[str], object] = lambda _: None,
) -> Found:
    """The pages that have these words. passages: keep them. beside: records of folders that were made of the corpus,
    each with the folder, which is its kind of place.

    Raises: ValueError where there are no words; StorageError.
    """
    wanted, found = Words(words), Found(passages)
    for kind, path in _files(place):
        progress(path)
        for record in read_records(place, path):
            _look(found, wanted, record, kind)
    for folder, record in beside:
        if _look(found, wanted, record, folder):
            found.beside.add(folder)
    for entry in read_files(place, (ARCHIVE,)):
        progress(entry["path"])
        for page in _pages(place.path_of(entry["path"]), found.problems):
            name = canonicalize(page.url, routes=True) or page.url
            for body in _bodies(page):
                found.add(name, "archive", _first(wanted, _readings(body, page)))
    return found


def _look(found: Found, wanted: Words, record: Record, kind: str) -> bool:
    """Whether it has the words."""
    name, texts = page_name(record), {field: _words(record.get(field)) for field in (*TEXT_FIELDS, *QUOTED)}
    has = False
    for field_name, text in texts.items():
        is_title = field_name == "title" and kind == "kept"
        found.add(name, "title" if is_title else kind, passages := wanted.passages(plain(text)))
        has = has or bool(passages)
    if kind != "an older version" and (any(texts.values()) or record.get("warc_file")):
        found.add(name, ADDRESS, wanted.passages(_spelled_out(name)))
    return has


def _words(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _spelled_out(url: str) -> str:
    """An address as words."""
    try:
        return plain(_JOINTS.sub(" ", unquote(urlsplit(url).path)))
    except ValueError:
        return ""


def _first(wanted: Words, readings: Iterator[str]) -> list[Passage]:
    """Of the first reading that has the words for sure, else of the first that has them perhaps."""
    perhaps: list[Passage] = []
    for number, text in enumerate(readings):
        passages = wanted.passages(text, forms=not number)
        if any(each.sure for each in passages):
            return passages
        perhaps = perhaps or passages
    return perhaps


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
    """A body as it may be read: without tags, between words or inside them, and as it is sent; escapes resolved."""
    if not body:
        return
    labels = [value.decode("latin-1") for name, value in page.headers if name.lower() == b"content-type"]
    text = (decode(body, labels[0] if labels else None) or (body.decode("latin-1"), ""))[0]
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\\u" in text else text
    for between in (" ", "", None):
        yield plain(html.unescape(text if between is None else _TAG.sub(between, text)))
