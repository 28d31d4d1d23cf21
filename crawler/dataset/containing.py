"""Which pages of a corpus have these words? The words are kept nowhere, and passages only where somebody asks for them.

Looked for in every record that is there, titles and addresses included, in the files of older versions, in the raw
pages of the archives: there stands what is redacted in the records; and, where that is asked, in the folders that were
made of the corpus. In which forms, `crawler/dataset/words.py` says; what a raw page or file says,
`crawler/dataset/raw_text.py`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import unquote_plus, urlsplit

from crawler.dataset.annotations.tables import KEYS, annotation_files, name_of, read_table
from crawler.dataset.pages import page_name, redirect_of
from crawler.dataset.raw_text import readings
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.rewrite import read_files
from crawler.dataset.words import Passage, Words, plain
from crawler.document import DropReason
from crawler.number import number_of
from crawler.storage.archive.reader import ArchivedResponse, ReadProblem, read_archive
from crawler.storage.files.place import ANNOTATIONS, ARCHIVE, REPLACED, SHARDS, Place
from crawler.storage.files.records import QUOTED, TEXT_FIELDS, Record
from crawler.storage.files.shards import read_records
from crawler.urls.canonicalize import canonicalize

_NO_RECORDS = {ARCHIVE, ANNOTATIONS}
_JOINTS = re.compile(r"[-_.+/=&?;:]+")
ADDRESS = "its address"
OLDER = "an older version"
MOST_UNREAD = 20
"""Files that could not be read which are named; the others are counted."""
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
    """Pages by canonical URL; what could not be searched. keep: passages, too. beside: folders that have the words.

    unread: raw files that could not be read, or not whole, by canonical URL with the reason.
    """

    keep: bool = False
    beside: set[str] = field(default_factory=set)
    pages: dict[str, Having] = field(default_factory=lambda: defaultdict(Having))
    problems: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)

    def not_searched(self, is_meant: Callable[[str], bool] = lambda _: True) -> list[str]:
        """A sentence for each damage of an archive, one for all files that could not be read. is_meant: of which."""
        files = [f"{url} ({why})" for url, why in sorted(self.unread.items()) if is_meant(url)]
        if not files:
            return self.problems
        more = f", and {len(files) - MOST_UNREAD:,} more" if len(files) > MOST_UNREAD else ""
        count = number_of(len(files), "file in the archive", "files in the archive")
        return [*self.problems, f"{count} could not be searched: {', '.join(files[:MOST_UNREAD])}{more}"]

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
    refused = refusals_of([place])
    for kind, path in _files(place):
        progress(path)
        for record in read_records(place, path):
            _look(found, wanted, record, kind)
            if kind != OLDER and refused.refusal(record["url"], canonical_url=page_name(record)) is None:
                found.add(page_name(record), ADDRESS, _in_addresses(wanted, record))
    for folder, record in beside:
        found.add(page_name(record), folder, in_address := _in_addresses(wanted, record))
        if _look(found, wanted, record, folder) or in_address:
            found.beside.add(folder)
    _look_into_archives(found, wanted, place, progress)
    for entry in annotation_files(place.manifest()["files"]):
        progress(entry["path"])
        for row in read_table(place, entry["path"]):
            _look_into_row(found, wanted, row, f"annotation {name_of(entry['path'])}")
    return found


def _look(found: Found, wanted: Words, record: Record, kind: str) -> bool:
    """Whether it has the words."""
    name, texts = page_name(record), {field: _words(record.get(field)) for field in (*TEXT_FIELDS, *QUOTED)}
    has = False
    for field_name, text in texts.items():
        is_title = field_name == "title" and kind == "kept"
        found.add(name, "title" if is_title else kind, passages := wanted.passages(plain(text)))
        has = has or bool(passages)
    return has


def _look_into_archives(found: Found, wanted: Words, place: Place, progress: Callable[[str], object]) -> None:
    for entry in read_files(place, (ARCHIVE,)):
        progress(entry["path"])
        for page in _pages(place.path_of(entry["path"]), found.problems):
            name = canonicalize(page.url, routes=True) or page.url
            for body, declared in _bodies(page):
                unread = partial(found.unread.setdefault, name)
                found.add(name, "archive", _first(wanted, readings(body, declared, unread)))


def _look_into_row(found: Found, wanted: Words, row: Record, kind: str) -> None:
    """A row of an annotation: a judgement, or the text of a scan, which has been read then."""
    texts = [_words(value) for name, value in row.items() if name not in KEYS and isinstance(value, str | list)]
    found.add(row["canonical_url"], kind, wanted.passages(plain("\n".join(texts))))
    if row.get("text") and found.unread.get(row["canonical_url"], "").startswith(DropReason.NEEDS_OCR):
        del found.unread[row["canonical_url"]]


def _in_addresses(wanted: Words, record: Record) -> list[Passage]:
    """Of its page, and of the one to which it leads."""
    urls = dict.fromkeys(filter(None, (page_name(record), redirect_of(record))))
    return [passage for url in urls for passage in wanted.passages(_spelled_out(url))]


def _words(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _spelled_out(url: str) -> str:
    """An address as words; its parts stand apart."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return plain(" | ".join(_JOINTS.sub(" ", unquote_plus(part)) for part in (parts.path, parts.query, parts.fragment)))


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
        yield from ((OLDER, f"{REPLACED}/{folder}/{name}") for name in there)


def _pages(path: str, problems: list[str]) -> Iterator[ArchivedResponse]:
    def say(problem: ReadProblem) -> None:
        problems.append(f"{problem.file}: byte {problem.offset} could not be searched: {problem.what}")

    yield from read_archive(path, on_problem=say)


def _bodies(page: ArchivedResponse) -> Iterator[tuple[bytes, str]]:
    """Each with its Content-Type."""
    declared = (value.decode("latin-1") for name, value in page.headers if name.lower() == b"content-type")
    yield page.body, next(declared, "")
    yield page.drawn, "text/html"
    for capture in page.captures:
        yield from _bodies(capture)
