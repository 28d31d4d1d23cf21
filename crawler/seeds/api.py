"""A source of JSON: which addresses list its records, which address each record has, and where its fields stand.

Lists are read like sitemaps (`read_list`): each names the records' addresses and the next list. A record is then a page
of its own, with its own lease, robots.txt, opt-outs and place in the archive; `fields` says how it is read. The file
that describes a source is read by `crawler/seeds/api_file.py`; format: `docs/seeds.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

import orjson

from crawler.seeds.sitemaps import MAX_ENTRIES, MAX_PROBLEMS, Sitemap, SitemapEntry
from crawler.urls.canonicalize import Address, address, canonicalize, host_and_path, printable

WAYS = ("none", "page", "offset", "cursor", "link")
"""How a list leads to the next one: not at all, by its number, by the number of its first record, by what it says."""
FIELDS = ("title", "text", "html", "url", "date", "author", "licence")
"""What is read of a record; one of text and html is needed."""
MAX_LISTS = 1_000
"""Lists of one source that are read, where the file names no other number."""
MAX_PATH_PARTS = 20
_PLACE = re.compile(r"\{([^{}]{0,200})\}")
_MARK = "zq0place"
"""Stands in an address for what is filled in, so that the rest can be brought into canonical form."""


@dataclass(frozen=True)
class ApiSource:
    """One source. `lists` and `record` are URL templates; `items`, `at` and the values of `fields` are paths.

    by: one of WAYS. first: number of the first list or record, or the first cursor. step: records of a list (offset).
    most: lists read. at: where a list names the next cursor or link.
    """

    lists: str
    record: str
    fields: tuple[tuple[str, str], ...]
    items: str = ""
    by: str = "none"
    first: str = ""
    step: int = 1
    most: int = MAX_LISTS
    at: str = ""

    @property
    def first_list(self) -> Address | None:
        """The address with which reading begins; None where the template gives none."""
        return address(_filled(self.lists, {self.by: self._start(0)}))

    @property
    def hosts(self) -> set[str]:
        """Hosts of the lists and of the records."""
        return {self._list_ends[0], self._record_ends[0]}

    def is_list(self, url: str) -> bool:
        """True where this canonical URL is one of the source's lists."""
        if self.by in {"none", "link"}:  # a link may have any query
            begin = self.first_list
            first, whole = begin.name if begin else "", self.by == "none"
            return url == first if whole else url.partition("?")[0] == first.partition("?")[0]
        return _fits(url, self._list_ends)

    def is_record(self, url: str) -> bool:
        """True where this canonical URL is one of the source's records."""
        return _fits(url, self._record_ends) and not self.is_list(url)

    def list_after(self, url: str, depth: int, data: Any) -> str | None:
        """The list that follows the one at `url`, the `depth`-th from 0; None where there is none, or `most` are read.

        On the host of the list only.
        """
        if depth + 1 >= self.most or self.by == "none":
            return None
        if self.by in {"page", "offset"}:
            found: str | None = _filled(self.lists, {self.by: self._start(depth + 1)})
        elif not isinstance(said := value_at(data, self.at), str | int) or said == "" or isinstance(said, bool):
            found = None
        else:
            found = str(said) if self.by == "link" else _filled(self.lists, {"cursor": said})
        onward = address(found, url) if found else None
        return onward.asked if onward and self.is_list(onward.name) else None

    def address_of(self, item: Any) -> Address | None:
        """The address of a record that a list names; None where its parts are missing or lead elsewhere."""
        parts = {name: value_at(item, name) for name in _PLACE.findall(self.record)}
        if any(isinstance(part, bool) or not isinstance(part, str | int) or part == "" for part in parts.values()):
            return None
        found = address(_filled(self.record, parts))
        return found if found and self.is_record(found.name) else None

    def _start(self, depth: int) -> str:
        """What stands for `{page}`, `{offset}` or `{cursor}` in the `depth`-th list."""
        if self.by == "cursor":
            return self.first
        return str(
            int(self.first or (1 if self.by == "page" else 0)) + depth * (self.step if self.by == "offset" else 1)
        )

    @cached_property
    def _list_ends(self) -> tuple[str, str, str]:
        return _ends_of(self.lists)

    @cached_property
    def _record_ends(self) -> tuple[str, str, str]:
        return _ends_of(self.record)


def read_list(body: bytes, url: str, depth: int, source: ApiSource) -> Sitemap:
    """What one list says: the addresses of its records, and the next list. Never raises on any bytes."""
    found = Sitemap("api")
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        found.problems.append(f"broken JSON: {str(error)[:200]}")
        return found
    items = value_at(data, source.items)
    if not isinstance(items, list):
        place = f"at {printable(source.items)}" if source.items else "as the whole answer"
        found.problems.append(f"expected a list of records {place}")
        return found
    records = {entry.name: entry.found for entry in _records(items, source, found.problems)}
    found.entries = [SitemapEntry(name, found=spelled) for name, spelled in records.items()]
    onward = source.list_after(url, depth, data) if items else None
    found.nested = [onward] if onward else []
    return found


def value_at(data: Any, path: str) -> Any:
    """The value at a path of names and positions, such as `results.0.title`; None where there is none."""
    for part in path.split(".")[:MAX_PATH_PARTS] if path else ():
        if isinstance(data, dict):
            data = data.get(part)
        elif isinstance(data, list) and part.isascii() and part.isdigit() and int(part) < len(data):
            data = data[int(part)]
        else:
            return None
    return data


def places(template: str) -> list[str]:
    """What is filled into a URL template: the names between braces."""
    return _PLACE.findall(template)


def _records(items: list[Any], source: ApiSource, problems: list[str]) -> Iterator[Address]:
    if len(items) > MAX_ENTRIES:
        problems.append(f"more than {MAX_ENTRIES} records: the rest is ignored")
    for number, item in enumerate(items[:MAX_ENTRIES], 1):
        if found := source.address_of(item):
            yield found
        elif len(problems) < MAX_PROBLEMS:
            problems.append(f"record {number}: gives no address for {printable(source.record)}")


def _filled(template: str, values: dict[str, Any]) -> str:
    return _PLACE.sub(lambda found: quote(str(values.get(found[1], "")), safe="/*"), template)


def _fits(url: str, ends: tuple[str, str, str]) -> bool:
    """Is this URL on the host, with these first and last characters of its path and query?"""
    host, start, end = ends
    try:
        found, path = host_and_path(url)
    except ValueError:
        return False
    return found == host and path.startswith(start) and path.endswith(end) and len(path) >= len(start) + len(end)


def _ends_of(template: str) -> tuple[str, str, str]:
    """Host, and what stands before the first and behind the last place of a template, in canonical form."""
    host, path = host_and_path(canonicalize(_PLACE.sub(_MARK, template)) or "http://invalid/")
    return host, path.partition(_MARK)[0], path.rpartition(_MARK)[2]
