"""A source of JSON: which addresses list its records, which address each record has, and where its fields stand.

Lists are read like sitemaps (`ApiReader`): each names the records' addresses and the next list. A record is then a page
of its own, with its own lease, robots.txt, opt-outs and place in the archive; `fields` says how it is read, and where
there are none it is a page like any other. The file that describes a source is read by `crawler/seeds/api_file.py`;
format: `docs/seeds.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from crawler.config.secret import secret_at
from crawler.policy.headers import shown_url
from crawler.seeds.sitemaps import MAX_ENTRIES, MAX_PROBLEMS, Sitemap, SitemapEntry
from crawler.stages.text.json_data import value_at
from crawler.urls.canonicalize import Address, address, canonicalize, host_and_path, host_of, printable

WAYS = ("none", "page", "offset", "cursor", "link", "header")
"""How a list leads to the next one: not at all, by its number, by the number of its first record, by what it says, or
by the Link header of the answer (RFC 8288, rel=next)."""
FIELDS = ("title", "text", "html", "markdown", "url", "date", "author", "licence")
"""What is read of a record."""
TEXTS = ("html", "markdown", "text")
"""Of these one is needed; the first that a record has is read."""
MAX_LISTS = 1_000
"""Lists of one source that are read, where the file names no other number."""
JSON = "application/json"
MIN_KEY, MAX_KEY = 8, 4_096
"""Signs of a key. A shorter one is none, and could not be told from the words of a text that repeats it."""
_KEY = re.compile(rf"[\x21-\x7e]{{{MIN_KEY},{MAX_KEY}}}")
_PLACE = re.compile(r"\{([^{}]{0,200})\}")
_MARK = "zq0place"
"""Stands in an address for what is filled in, so that the rest can be brought into canonical form."""


class CredentialError(ValueError):
    """A key cannot be read; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Credential:
    """Where the key of a source is, never the key itself. place: `env:NAME` or `file:PATH` of the worker's machine.

    header: in which it is sent (RFC 9110, section 11.6.2). scheme: what stands before it, such as Bearer (RFC 6750).
    """

    place: str
    header: str = "Authorization"
    scheme: str = ""

    def value(self) -> str:
        """What the header says, read anew each time: a key may change while a crawl runs. Raises: CredentialError."""
        try:
            key, name = secret_at(self.place, "the key")
        except ValueError as error:
            raise CredentialError(str(error)) from None
        if not _KEY.fullmatch(key):
            raise CredentialError(f"{name} has to hold the key: one word of {MIN_KEY} to {MAX_KEY:,} signs of ASCII")
        return f"{self.scheme} {key}" if self.scheme else key


@dataclass(frozen=True)
class ApiSource:
    """One source. `lists` and `record` are URL templates; `items`, `at` and the values of `fields` are paths.

    by: one of WAYS. first: number of the first list or record, or the first cursor. step: records of a list (offset).
    most: lists read. at: where a list names the next cursor or link. accept: media types that are asked for.
    credential: goes to the host of the lists and to no other.
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
    accept: str = JSON
    credential: Credential | None = None

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
        if (
            self.by == "header"
            and "?" in url
            and host_of(url) == self._list_ends[0]
            and not _fits(url, self._record_ends)
        ):
            return True  # GitHub leads from /repos/NAME/issues to /repositories/NUMBER/issues
        if self.by in {"none", "link", "header"}:  # a link may have any query
            begin = self.first_list
            first, whole = begin.name if begin else "", self.by == "none"
            return url == first if whole else url.partition("?")[0] == first.partition("?")[0]
        return _fits(url, self._list_ends)

    def is_record(self, url: str) -> bool:
        """True where this canonical URL is one of the source's records."""
        return _fits(url, self._record_ends) and not self.is_list(url)

    def takes_key(self, url: str) -> bool:
        """True where the key may go with a request for this URL: to the host of the lists, unseen on its way."""
        if self.credential is None or host_of(url) != self._list_ends[0]:
            return False
        return url.startswith("https://") or is_loopback(url)

    def list_after(self, url: str, depth: int, data: Any, said: str = "") -> str | None:
        """The list that follows the one at `url`, the `depth`-th from 0; None where there is none, or `most` are read.

        On the host of the list only. said: the target of the answer's Link header.
        """
        found = self._named_after(depth, data, said) if depth + 1 < self.most else None
        onward = address(found, url) if found else None
        return onward.asked if onward and self.is_list(onward.name) else None

    def _named_after(self, depth: int, data: Any, said: str) -> str | None:
        if self.by in {"page", "offset"}:
            return _filled(self.lists, {self.by: self._start(depth + 1)})
        if self.by in {"none", "header"}:
            return said if self.by == "header" and said else None
        named = value_at(data, self.at)
        if not isinstance(named, str | int) or named == "" or isinstance(named, bool):
            return None
        return str(named) if self.by == "link" else _filled(self.lists, {"cursor": named})

    def ends_at(self, depth: int, data: Any, said: str) -> str:
        """Why no list follows the `depth`-th although one is named; empty where none is."""
        if (named := self._named_after(depth, data, said)) is None:
            return ""
        if depth + 1 >= self.most:
            return f"pages.most: {self.most:,} lists are read; what follows is not"
        return f"the next list is none of this source: {printable(shown_url(named))}"

    def address_of(self, item: Any) -> Address | None:
        """The address of a record that a list names; None where its parts are missing or lead elsewhere."""
        parts = {place: _part_of(item, place) for place in _PLACE.findall(self.record)}
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


@dataclass(frozen=True, slots=True)
class ApiReader:
    """Reads the lists of a source. said: what the Link header of the answer names as the next one."""

    source: ApiSource
    said: str = ""

    def read(self, body: bytes, url: str, depth: int, content_type: str = "") -> Sitemap:  # noqa: ARG002  # it is JSON
        """What one list says: the addresses of its records, and the next list. Never raises on any bytes."""
        return _read_list(body, url, depth, self.source, self.said)


def _read_list(body: bytes, url: str, depth: int, source: ApiSource, said: str) -> Sitemap:
    found = Sitemap("api")
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        found.problems.append(f"broken JSON: {str(error)[:200]}")
        return found
    items = _rows(value_at(data, source.items))
    if not isinstance(items, list):
        place = f"at {printable(source.items)}" if source.items else "as the whole answer"
        found.problems.append(f"expected a list of records {place}")
        return found
    records = {entry.name: entry.found for entry in _records(items, source, found.problems)}
    found.entries = [SitemapEntry(name, found=spelled) for name, spelled in records.items()]
    if items or source.by == "header":
        onward = source.list_after(url, depth, data, said)
        itself = onward is not None and canonicalize(onward) == canonicalize(url)
        found.nested = [onward] if onward and not itself else []
        if itself:
            found.stopped = "the list names itself as the next one"
            found.problems.append(found.stopped)
        elif onward is None and (why := source.ends_at(depth, data, said)):
            found.problems.append(why)
            found.stopped = why if depth + 1 < source.most else ""  # a limit of the file is no fault
    return found


def _rows(items: Any) -> Any:
    """Records that are told column by column, as EDGAR does, as a list of them; all else as it is."""
    columns = list(items.values()) if isinstance(items, dict) else []
    if not all(isinstance(column, list) for column in columns) or len({len(column) for column in columns}) != 1:
        return items
    return [dict(zip(items, row, strict=True)) for row in zip(*columns, strict=True)]


def _part_of(item: Any, place: str) -> Any:
    """What is filled in at `{path}`; at `{path!-}` without the signs behind the exclamation mark."""
    path, _, signs = place.partition("!")
    found = value_at(item, path)
    return "".join(sign for sign in found if sign not in signs) if signs and isinstance(found, str) else found


def is_loopback(url: str) -> bool:
    """True where a URL, or a template of one, names this machine by its address."""
    try:
        return ip_address(urlsplit(url.partition("{")[0]).hostname or "").is_loopback
    except ValueError:
        return False


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
