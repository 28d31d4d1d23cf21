"""Is this page refused? The one place where that is answered, for all that fetches, judges, keeps or hands on a page.

A withdrawal refuses domains, licences, the addresses of its pages whatever their spelling, and texts wherever they
stand. `withdrawals.jsonl` says which: no server is asked, so the answer is the same without the frontier.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.dataset.text_prints import TextPrint, TextPrints, decoded, is_comparable, printed
from crawler.dataset.withdrawals import (
    LIFETIMES,
    WITHDRAWALS,
    Line,
    PageLine,
    TextLine,
    WishLine,
    covering,
    log_lines,
    reach_of,
    undone,
    until,
)
from crawler.document import Drop, DropReason
from crawler.stages.fingerprint import OLDER_VERSION
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import TEXT_FIELDS, is_held
from crawler.urls.canonicalize import canonicalize

if TYPE_CHECKING:
    from crawler.config import DedupConfig
    from crawler.document import Document
    from crawler.storage.files.place import Place
    from crawler.storage.files.records import Record


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a page is refused. what: "domain", "address", "licence" or "text"; number: of the withdrawal in `log`."""

    what: str
    number: int
    log: str = ""

    def __str__(self) -> str:
        """Which entry it is, where an entry says so."""
        return f"entry {self.number} of {self.log}" if self.number else "the end of its time, or an opt-out"

    @property
    def drop(self) -> Drop:
        """The verdict against the page."""
        said = f"its {self.what} was withdrawn from this corpus ({_ENTRY}{self.number})"
        return Drop("policy", DropReason.WITHDRAWN, said)


_ENTRY = f"{WITHDRAWALS}, entry "


def entry_of(record: Record) -> int | None:
    """The number of the entry by which a crawl or a replay refused the page of this record; None where none did."""
    said = str(record.get("detail")).partition(_ENTRY)[2].rstrip(")")
    return int(said) if record.get("reason") == DropReason.WITHDRAWN and said.isdecimal() else None


_OF_PAGE = (*TEXT_FIELDS, "warc_file")
PASSED = Refusal("address", 0)
"""Of a record that went because its time was over: a later one of the same page may stay."""


def address_of(url: str) -> str:
    """What all spellings of an address have in common: the canonical URL without its scheme."""
    return (canonicalize(url, routes=True) or url).partition("://")[2] or url


def addresses_of(record: Record) -> frozenset[str]:
    """The addresses of the page of a record; none for a record of others that has no URL."""
    return frozenset(address_of(url) for name in ("url", "canonical_url") if (url := record.get(name)))


def _is_printed(doc: Document, dedup: DedupConfig) -> bool:
    """True where the crawl has made the very fingerprints of the page's text that are compared here."""
    return "fingerprint" in doc.done and bool(doc.signature) and is_comparable(dedup)


MANY = 10_000
"""Texts from which a look at all of them is too long for the event loop."""


@dataclass(slots=True)
class Refusals:
    """What the logs of some corpora refuse. Needs about 0.3 kB of memory a withdrawn page, 1 kB a text.

    Plain data, so that it may go to another process. Of several withdrawals that refuse a page the first is named.
    """

    domains: dict[str, Refusal] = field(default_factory=dict)
    licences: dict[str, Refusal] = field(default_factory=dict)
    addresses: dict[str, Refusal] = field(default_factory=dict)
    texts: TextPrints[Refusal] = field(default_factory=TextPrints)
    images: set[str] = field(default_factory=set)  # SHA-256 of withdrawn images
    looks: set[str] = field(default_factory=set)  # their PDQ
    older: TextPrints[Refusal] = field(default_factory=TextPrints)  # of fingerprints that were made before these
    passed: dict[str, str] = field(default_factory=dict)  # address → until when a record of it is gone, RFC 3339
    expired: dict[str, str] = field(default_factory=dict)  # the same, where only a lifetime of the corpus was over
    logs: list[str] = field(default_factory=list)  # URLs of the folders whose logs were read
    taken_back: set[str] = field(default_factory=set)  # addresses of pages that had gone: nothing of them is there

    @classmethod
    def of(cls, places: Iterable[Place]) -> Refusals:
        """Read the logs. Raises: StorageError where one cannot be read: doubt means no."""
        found = cls()
        for place in places:
            found.add(log_lines(place), place.path_of(WITHDRAWALS))
            found.logs.append(place.url)
        return found

    def __bool__(self) -> bool:
        """False where nothing at all is refused."""
        found = self.domains or self.licences or self.addresses or self.texts or self.older
        return bool(found or self.passed or self.expired or self.images)

    def refusal(
        self,
        url: str,
        *,
        canonical_url: str = "",
        licence: str | None = None,
        text: TextPrint | None = None,
    ) -> Refusal | None:
        """The question: why the page is refused, as far as it is known so far; None where it is not.

        canonical_url, licence, text: of the page, where they are known. The bytes of a page say nothing: those that a
        script draws may all be sent alike.
        """
        for name in dict.fromkeys((url, canonical_url)):
            if name and (found := self._by_address(name)):
                return found
        if licence and (found := self.licences.get(licence)):
            return found
        return self.texts.find(text) if text is not None else None

    def of_document(self, doc: Document, dedup: DedupConfig) -> Refusal | None:
        """The question about a page on its way; dedup: the settings that its fingerprints were made with."""
        if not self:
            return None
        found = self.refusal(
            doc.url,
            canonical_url=doc.canonical_url,
            licence=doc.license_tag,
            text=self._print_of(doc, dedup),
        )
        return found or self._by_older(doc.text)

    def of_record(self, record: Record) -> Refusal | None:
        """The question about a record that is there, of this corpus or another: a licence is no ground any more."""
        if not self:
            return None
        text = record.get("text")
        known = printed(text) if self.texts and isinstance(text, str) and text else None
        urls = str(record.get("url") or ""), str(record.get("canonical_url") or "")
        found = self.refusal(urls[0], canonical_url=urls[1], text=known)
        found = found or (self._by_older(text) if isinstance(text, str) else None)
        return found or (PASSED if self.has_passed(record) else None)

    def hides(self, record: Record) -> bool:
        """True for a record that is refused and still has something of its page, which nobody is to see.

        A rejected one without text and archive is the decision that a withdrawal leaves.
        """
        decision = "reason" in record and not is_held(record) and not any(record.get(name) for name in _OF_PAGE)
        return not decision and self.of_record(record) is not None

    def _by_older(self, text: str) -> Refusal | None:
        return self.older.find(printed(text, OLDER_VERSION)) if self.older and text else None

    def has_passed(self, record: Record) -> bool:
        """True for a record of a page whose time was over, or which opted out, after it was fetched."""
        url = record.get("url")
        if not url or not (self.passed or self.expired):
            return False
        address = address_of(url)
        until = max(self.passed.get(address, ""), self.expired.get(address, ""))
        return bool(until) and (record.get("crawled_at") or "") <= until

    def end(self, record: Record) -> None:
        """Take note of a visit that found the page gone, or a no: what was fetched of it until then has passed."""
        for address in addresses_of(record):
            self.passed[address] = max(self.passed.get(address, ""), record.get("crawled_at") or "")

    def _by_address(self, url: str) -> Refusal | None:
        if self.domains and (name := covering(self.domains, url)):
            return self.domains[name]
        return self.addresses.get(address_of(url)) if self.addresses else None

    def computes(self, doc: Document, dedup: DedupConfig) -> bool:
        """True where `of_document` may take milliseconds: it has to make fingerprints, or to look at very many."""
        if not doc.text:
            return False
        return bool(self.older) or (bool(self.texts) and (len(self.texts) > MANY or not _is_printed(doc, dedup)))

    def _print_of(self, doc: Document, dedup: DedupConfig) -> TextPrint | None:
        if not self.texts or not doc.text:
            return None
        if _is_printed(doc, dedup):
            return TextPrint(doc.doc_id, doc.signature, doc.shingle_count)
        return printed(doc.text)

    # --- reading -----------------------------------------------------------------------------------------------------
    def add(self, log: Iterable[Line], where: str) -> None:
        """Refuse what these lines of one log say, too. where: the log, for messages. Raises: StorageError."""
        lines = list(log)
        gone = undone(lines)
        wishes = {line["number"]: line for line in lines if line["kind"] == "withdrawal" and line["number"] not in gone}
        for wish in wishes.values():
            self._wish(wish, where)
        for line in lines:
            if line["kind"] == "page" and (of := wishes.get(line["number"])) is not None:
                self._page(line, of, where)
            elif line["kind"] == "page":
                self.taken_back.add(address_of(line["url"]))
            elif line["kind"] == "text" and line["number"] in wishes:
                self._text(line, where)
            elif line["kind"] == "image" and line["number"] in wishes:
                self.images.update(line["digests"])
                self.looks.update(filter(None, [line["pdq"]]))

    def _wish(self, wish: WishLine, where: str) -> None:
        number = wish["number"]
        for domain in wish.get("refused", ()):
            self.domains.setdefault(domain, Refusal("domain", number, where))
        for tag in wish.get("licences", ()) if not (wish.get("domains") or wish.get("urls")) else ():
            self.licences.setdefault(tag, Refusal("licence", number, where))
        by_address = Refusal("address", number, where)
        for url in wish.get("urls", ()):
            self.addresses.setdefault(address_of(url), by_address)

    def _page(self, line: PageLine, wish: WishLine, where: str) -> None:
        reach = reach_of(wish)
        for address in {address_of(line["url"]), address_of(line.get("canonical_url") or line["url"])}:
            if reach == "nothing":
                ended = self.expired if wish.get("rule", "").startswith(LIFETIMES) else self.passed
                ended[address] = max(ended.get(address, ""), until(wish))
            else:
                self.addresses.setdefault(address, Refusal("address", wish["number"], where))

    def _text(self, line: TextLine, where: str) -> None:
        try:
            made = decoded(line["scheme"], line["doc_id"], line["signature"], line["shingles"])
            known = self.older if made.version == OLDER_VERSION else self.texts
            known.add(made, Refusal("text", line["number"], where))
        except (KeyError, TypeError, ValueError) as error:
            raise StorageError(
                f"{where}: a text of entry {line['number']} cannot be compared ({error}); use the "
                "version of the program that wrote it, or restore the file from a copy"
            ) from error
