"""Repositories that tell of their records by OAI-PMH 2.0: which pages they name, list by list.

A repository is asked for `Identify` first, which is the file that the frontier knows and comes back to (RECRAWL); from
there a harvest goes from list to list by resumption tokens. What a harvest has to know of itself (`Harvest`) stands in
the fragment of each list's address, which no server is sent: so two harvests never share a list, and the frontier needs
no memory of its own for it. The day on which a harvest began becomes `from` of the next one once its last list is read.
Source: https://www.openarchives.org/OAI/openarchivesprotocol.html (version 2.0 of 2002-06-14)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from lxml import etree

from crawler.seeds.markup import decoded, repaired
from crawler.seeds.sitemaps import MAX_BYTES, MAX_ENTRIES, MAX_PROBLEMS, Sitemap, SitemapEntry
from crawler.seeds.timestamps import parse_day, parse_timestamp
from crawler.urls.canonicalize import address, canonicalize, host_and_path, host_of, printable
from crawler.urls.link import SITEMAP_PRIORITY, Link

SELECTS = ("metadataPrefix", "set", "from", "until")
"""What the address of `-a oai=` may ask for; the other arguments of the protocol are ours to give."""
_PROTOCOL = frozenset({*SELECTS, "verb", "identifier", "resumptionToken"})
MAX_LISTS = 100_000
"""Lists of one harvest: with 25 records each, a repository of 2.5 million."""
MAX_RESTARTS = 3
"""Times that a harvest begins anew because its token has expired."""
MAX_RIGHTS = 300
"""Characters of a statement on a licence."""
_LAST_SECOND = 86_399.0
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DOI = re.compile(r"(?:doi:\s*)?(10\.[0-9]{4,9}/\S+)", re.IGNORECASE)
_STATE = re.compile(r"oai-([0-9a-f]{16})-([0-9]{1,12})-([0-9]{4}-[0-9]{2}-[0-9]{2})?-([0-9])")


class Harvest(NamedTuple):
    """What a list belongs to. name: of its `Repository`. restarts: how often it began anew.

    stamp: when it began by the crawl's own clock (whole seconds since the epoch), so that no two are the same.
    begun: day of the first answer (ISO 8601), empty where it said none, and behind a list that was broken: what a later
    harvest may begin with is then not known.
    """

    name: str
    stamp: int
    begun: str
    restarts: int = 0

    def mark(self, url: str) -> str:
        """The address of a list with the harvest in its fragment."""
        return f"{url}#oai-{self.name}-{self.stamp}-{self.begun}-{self.restarts}"

    @classmethod
    def of(cls, link: Link) -> Harvest | None:
        """The harvest of a list, also where redirects led to it; None for what is none."""
        for url in (link.asked, *link.redirects):
            if found := _STATE.fullmatch(url.partition("#")[2]):
                return cls(found[1], int(found[2]), found[3] or "", int(found[4]))
        return None


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository and what is wanted of it.

    base: its address without arguments of the protocol. select: pairs of `SELECTS`. page: template of the address of a
    record's page, with `{id}` for what stands behind `oai:…:` in its identifier; empty where the record names it.
    """

    base: str
    select: tuple[tuple[str, str], ...] = ()
    page: str = ""

    @property
    def name(self) -> str:
        """What tells it from others, and one selection of it from another."""
        return hashlib.sha256(repr((self.base, self.select, self.page)).encode()).hexdigest()[:16]

    @property
    def host(self) -> str:
        """As in `urls.host_of`."""
        return host_of(self.base)

    @property
    def first_list(self) -> str:
        """What is asked first, as it is to be requested."""
        return self._asked(verb="Identify")

    def is_list(self, url: str) -> bool:
        """True where this URL asks the repository for something."""
        try:
            return _place(url) == _place(self.base)
        except ValueError:
            return False

    def begin(self, since: str, harvest: Harvest) -> str | None:
        """The address of the first list of a harvest. since: a day; only what changed then or later, empty = all.

        None where the wish ends before that day.
        """
        wish = {"metadataPrefix": "oai_dc", **dict(self.select)}
        if newest := max(since, wish.get("from", "")):
            wish["from"] = newest
        if newest and newest > wish.get("until", "9"):
            return None
        return harvest.mark(self._asked(verb=self._verb, **wish))

    def after(self, token: str, harvest: Harvest) -> str:
        """The address of the list behind a resumption token."""
        return harvest.mark(self._asked(verb=self._verb, resumptionToken=token))

    def pages(self, identifier: str, named: list[str]) -> list[str]:
        """The addresses of a record's pages. named: its `dc:identifier`; a DOI counts where no address is there."""
        if self.page:
            local = identifier.split(":", 2)[-1] if identifier.startswith("oai:") else identifier
            return [self.page.replace("{id}", quote(local, safe="/"))] if local else []
        urls = [one for one in named if one.startswith(("http://", "https://"))]
        dois = [found[1] for one in named if (found := _DOI.fullmatch(one))]
        return urls or [f"https://doi.org/{quote(doi, safe='/()')}" for doi in dois[:1]]

    @property
    def _verb(self) -> str:
        return "ListIdentifiers" if self.page else "ListRecords"

    def _asked(self, **arguments: str) -> str:
        return f"{self.base}{'&' if '?' in self.base else '?'}{urlencode(arguments, quote_via=quote)}"


def repository_of(url: str, page: str = "") -> Repository:
    """The repository that `-a oai=` names, with `set`, `from`, … in its query. Raises: ValueError for what is wrong."""
    found = address(url)
    if found is None:
        raise ValueError("expected the http(s) base URL of a repository")
    base, _, query = found.asked.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    if refused := [name for name, _ in pairs if name in _PROTOCOL and name not in SELECTS]:
        raise ValueError(f"{refused[0]} is asked by the crawl itself: leave it out")
    select = tuple((name, value) for name, value in pairs if name in SELECTS)
    for name, value in select:
        if not value or (name in {"from", "until"} and not _is_day(value)):
            raise ValueError(
                f"{name}={printable(value)}: expected {'a day, such as 2026-01-31' if value else 'a value'}"
            )
    if len(dict(select)) != len(select):
        raise ValueError("an argument is given twice; for several sets give the URL several times, with commas")
    if page and (page.count("{id}") != 1 or canonicalize(page.replace("{id}", "x")) is None):
        raise ValueError(f"oai_page={printable(page)}: expected an http(s) URL with {{id}} in it")
    kept = urlencode([pair for pair in pairs if pair[0] not in SELECTS], quote_via=quote)
    return Repository(f"{base}?{kept}" if kept else base, select, page)


def repository_from_json(base: Any, select: Any, page: Any) -> Repository:
    """What a stored scope says, checked as an argument is: whoever reaches Redis may have written it.

    Raises: ValueError, TypeError.
    """
    wish = urlencode([(str(name), str(value)) for name, value in select], quote_via=quote)
    return repository_of(f"{base}{'&' if '?' in str(base) else '?'}{wish}" if wish else str(base), str(page))


def list_link(url: str, depth: int) -> Link:
    """A list of a harvest for the frontier: it is asked again in every harvest, whatever its token."""
    asked = url.partition("#")[0]
    return Link(
        canonicalize(asked) or asked, found=url, priority=SITEMAP_PRIORITY, depth=depth, kind="sitemap", again=True
    )


@dataclass(frozen=True, slots=True)
class OaiReader:
    """Reads what repositories answer. since: by name of a repository, from which day on records are wanted.

    harvest: what the list belongs to, None for Identify. now: seconds since the epoch, by the crawl's clock.
    """

    repositories: tuple[Repository, ...]
    harvest: Harvest | None = None
    since: Mapping[str, str] = field(default_factory=dict)
    now: float = 0.0

    def read(self, body: bytes, url: str, depth: int, content_type: str = "") -> Sitemap:
        """The pages that one answer names, and the next list. Never raises on any bytes."""
        found = Sitemap("oai")
        root, broken = _parsed(body[:MAX_BYTES], content_type)
        if root is None or _local(root) != "oai-pmh":
            found.stopped = f"expected an answer of OAI-PMH{f' ({broken})' if broken else ''}"
        elif (error := next((one for one in root if _local(one) == "error"), None)) is not None:
            self._on_error(error, found)
        elif self.harvest is None:
            self._begin(root, found)
        else:
            self._read_list(root, url, depth, broken, found)
        if found.stopped:
            found.problems.append(found.stopped)
        return found

    def _repository(self) -> Repository | None:
        return next((one for one in self.repositories if self.harvest and one.name == self.harvest.name), None)

    def _begin(self, root: Any, found: Sitemap) -> None:
        if not any(_local(one) == "identify" for one in root):
            found.stopped = "expected an answer to Identify"
            return
        begun = _day_of(_said(root, "responsedate"))
        both = ((one, Harvest(one.name, int(self.now), begun)) for one in self.repositories)
        lists = (one.begin(self.since.get(one.name, ""), harvest) for one, harvest in both)
        found.nested = [url for url in lists if url]

    def _on_error(self, error: Any, found: Sitemap) -> None:
        code, repository, harvest = str(error.get("code", "")), self._repository(), self.harvest
        if code == "noRecordsMatch" and harvest is not None:
            found.harvested = harvest.name, harvest.begun
        elif code == "badResumptionToken" and repository and harvest and harvest.restarts < MAX_RESTARTS:
            anew = harvest._replace(restarts=harvest.restarts + 1)
            begin = repository.begin(self.since.get(repository.name, ""), anew)
            found.problems.append("the token of the list has expired: the harvest begins anew")
            found.nested = [begin] if begin else []
        else:
            said = " ".join("".join(error.itertext()).split())
            found.stopped = f"the repository says {printable(code)}: {printable(said)}"

    def _read_list(self, root: Any, url: str, depth: int, broken: str, found: Sitemap) -> None:
        repository, harvest = self._repository(), self.harvest
        lists = next((one for one in root if _local(one) in {"listrecords", "listidentifiers"}), None)
        if repository is None or harvest is None or lists is None:
            found.stopped = "expected a list of records" if repository else "a list of a repository that is not known"
            return
        items = [one for one in (*lists, *root) if _local(one) in {"record", "header"}]
        if broken:  # the last one may have been cut in the middle of an address
            found.problems.append(f"broken XML, read as far as it goes: {broken}")
            items, harvest = items[:-1], harvest._replace(begun="")
        for number, item in enumerate(items[:MAX_ENTRIES], 1):
            _add(item, number, repository, found)
        self._go_on(root, url, depth, harvest, found)
        if broken and found.harvested:  # whether more follows stood behind the break
            found.harvested, found.stopped = None, "the list is broken, and says nothing of the next one"
        elif len(items) > MAX_ENTRIES:
            found.stopped = f"more than {MAX_ENTRIES:,} records in one list: the rest is ignored"

    def _go_on(self, root: Any, url: str, depth: int, harvest: Harvest, found: Sitemap) -> None:
        token = next(((one.text or "").strip() for one in root.iter() if _local(one) == "resumptiontoken"), "")
        repository = self._repository()
        onward = repository.after(token, harvest) if repository and token else ""
        if not onward:
            found.harvested = harvest.name, harvest.begun
        elif canonicalize(onward) == canonicalize(url):
            found.stopped = "the list names itself as the next one"
        elif depth >= MAX_LISTS:
            found.stopped = f"more than {MAX_LISTS:,} lists"
        else:
            found.nested = [onward]


def _add(item: Any, number: int, repository: Repository, found: Sitemap) -> None:
    header = item if _local(item) == "header" else next((one for one in item if _local(one) == "header"), None)
    identifier = "" if header is None else _said(header, "identifier")
    changed = None if header is None else _changed(_said(header, "datestamp"))
    deleted = header is not None and header.get("status") == "deleted"
    named = [] if header is item else _statements(item, "identifier")
    addresses = (address(page, routes=True) for page in repository.pages(identifier, named))
    entries = [SitemapEntry(to.name, changed, found=to.found) for to in addresses if to]
    if deleted:
        found.left_out["deleted"] += 1
        found.deleted += entries
    elif entries:
        found.entries += entries
        if rights := _rights(item):
            found.rights |= {entry.url: rights for entry in entries}
    else:
        found.left_out["no_address"] += 1
        if len(found.problems) < MAX_PROBLEMS:
            found.problems.append(f"record {number} ({printable(identifier)}): gives no address of a page")


def _statements(record: Any, *names: str) -> list[str]:
    """What the metadata of a record says under these names, each once."""
    parts = (one for one in record if _local(one) == "metadata")
    said = (" ".join((each.text or "").split()) for part in parts for each in part.iter() if _local(each) in names)
    return list(dict.fromkeys(filter(None, said)))


def _rights(record: Any) -> str:
    """The statement on a record's licence: an address before words (`dc:rights`, arXiv's `license`)."""
    said = _statements(record, "rights", "license")
    return next((one for one in said if one.startswith(("http://", "https://"))), said[0] if said else "")[:MAX_RIGHTS]


def _parsed(body: bytes, content_type: str) -> tuple[Any, str]:
    """The root, and what is wrong with the XML; a file that declares entities has no root."""
    text, _ = repaired(decoded(body, content_type).lstrip("\ufeff \t\r\n\x00"))
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True,
        encoding="utf-8",
    )  # fmt: skip
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError) as error:
        return None, str(error)[:200]
    if root is None:
        return None, "no XML"
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        return None, "declares entities of its own"
    return root, str(parser.error_log[0].message)[:200] if len(parser.error_log) else ""


def _local(element: Any) -> str:
    """The name of an element without its namespace, in lower case."""
    return str(element.tag).rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def _said(element: Any, name: str) -> str:
    return next(((one.text or "").strip() for one in element if _local(one) == name), "")


def _changed(stamp: str) -> float | None:
    """When a record changed; where that is a day, its last second: a visit of that day may have been too early."""
    found = parse_timestamp(stamp)
    return found + _LAST_SECOND if found is not None and _DAY.fullmatch(stamp) else found


def _day_of(moment: str) -> str:
    found = _DAY.match(moment)
    return found[0] if found and _is_day(found[0]) else ""


def _is_day(text: str) -> bool:
    try:
        return bool(_DAY.fullmatch(text)) and parse_day(text) is not None
    except ValueError:
        return False


def _place(url: str) -> tuple[str, str]:
    host, path = host_and_path(url)
    return host, path.partition("?")[0].partition("#")[0]
