"""One page of a corpus, by its URL or doc_id: the record that stands, and the bytes the archive has of it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from crawler.dataset.entries import Wanted, entries_about, entries_in
from crawler.dataset.expire import expired_note
from crawler.dataset.growing import unsealed_note
from crawler.dataset.refused import Refusal, Refusals, entry_of
from crawler.dataset.rewrite import read_files
from crawler.dataset.verify import is_final
from crawler.dataset.withdrawals import WITHDRAWALS
from crawler.storage.archive.reader import Archive, ArchivedResponse, ReadProblem
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE, PAGES, Place
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_records
from crawler.urls.canonicalize import canonicalize, host_of

_MOST_ALIKE = 2_000
"""URLs of the same host that are looked at for one that was meant."""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The record that stands, where it is (`line` from 1), and how many older records the page has."""

    record: Record
    file: str
    line: int
    older: int

    @property
    def kept(self) -> bool:
        """False for a page that was rejected, is held, or waits."""
        return "reason" not in self.record


def find_page(place: Place, name: str, refused: Refusals) -> FoundPage:
    """The page whose URL, canonical URL or doc_id is `name`, unless it is refused. Reads every record.

    Raises: StorageError where there is none, naming URLs much alike, or the entry of the log that withdrew it, or a
    file is damaged.
    """
    hidden: list[Refusal] = []
    url = canonicalize(name, routes=True)
    wanted, host = {name, url} - {None}, host_of(url) if url else ""
    best: tuple[tuple[bool, str, bool], FoundPage] | None = None
    older = -1
    alike: list[str] = []
    for entry in read_files(place, PAGES):
        for number, record in enumerate(read_records(place, entry["path"]), start=1):
            if wanted & {record["url"], record.get("canonical_url"), record.get("doc_id")}:
                if refused.hides(record) and (why := refused.of_record(record)):
                    hidden.append(why)
                    continue
                older += 1
                if best is None or rank_of(record) > best[0]:
                    best = rank_of(record), FoundPage(record, entry["path"], number, 0)
            elif host and len(alike) < _MOST_ALIKE and _host(record["url"]) == host and not refused.hides(record):
                alike.append(record["url"])
    if best is None:
        why = refused.refusal(url) if url else None
        withdrawn = _withdrawn(refused, name, url, [*hidden, *([why] if why else [])])
        left = f"; what is left of it goes with `gristmill dataset exclude --again {place.url}`" if hidden else ""
        raise StorageError(f"{place.url}: {withdrawn}{left}" if withdrawn else _not_there(place, name, url, alike))
    found = best[1]
    return FoundPage(found.record, found.file, found.line, older)


def rank_of(record: Record) -> tuple[bool, str, bool]:
    """Of several records of a page the one with the highest rank stands."""
    return is_final(record.get("reason")), record.get("crawled_at") or "", "reason" not in record


def archived_bytes(place: Place, record: Record) -> bytes:
    """The body of the page as it was fetched, free of transfer and content encoding.

    Raises: StorageError where the archive has none, or has it no more.
    """
    return archived_page(place, record).body


def archived_page(place: Place, record: Record) -> ArchivedResponse:
    """The page as the archive has it, with the evidence beside it.

    Raises: StorageError where the archive has none, or has it no more.
    """
    file, offset = record.get("warc_file"), record.get("warc_offset")
    if not file or offset is None:
        reason = f" ({record['reason']})" if "reason" in record else ""
        raise StorageError(
            f"{record['url']}: nothing of it is in an archive{reason}: refused, withdrawn or not fetched"
        )
    path = place.path_of(file) if str(file).startswith(f"{ARCHIVE}/") else str(file)
    if note := expired_note(path):
        raise StorageError(note)
    if path != str(file):
        place.open_listed(file).close()
    wanted = record.get("warc_record_id")
    for found in Archive(path, start=offset):
        if isinstance(found, ReadProblem):
            raise StorageError(f"{path}: byte {found.offset}: {found.what}; restore the file from a copy")
        if wanted in (None, found.record_id) and _host(found.url) == _host(record["url"]):
            return found  # the archive may spell the URL in another way
        break
    raise StorageError(f"{path}: there is another page at byte {offset}; restore the file from a copy")


def _host(url: str) -> str:
    """The host of a URL; empty for a record without an address, which goes by its place in an archive."""
    try:
        return host_of(url)
    except ValueError:
        return ""


def refused_by(record: Record, refused: Refusals) -> str:
    """Which entry refuses the page of a record that is there, for people; empty where none does.

    Raises: StorageError where a log cannot be read.
    """
    why, place = refused.of_record(record), refused.logs[0] if refused.logs else ""
    if why is None and (number := entry_of(record)) is not None:  # by its text, or the entry was taken back
        entry = entries_in([Place(place)]).get((Place(place).path_of(WITHDRAWALS), number))
        taken_back = ", which was taken back since" if entry and entry.taken_back else ""
        return f"{record['url']} was withdrawn by {entry}{taken_back}" if entry else ""
    return _withdrawn(refused, record["url"], record.get("canonical_url"), [why]) if why else ""


def _withdrawn(refused: Refusals, name: str, url: str | None, refusals: list[Refusal]) -> str:
    """What the logs that were read say of a page; empty where they say nothing."""
    known = {(each.log, each.number) for each in refusals}
    logs, wanted = map(Place, refused.logs), Wanted(frozenset({name, url or name}))
    about = [each for each in entries_about(logs, wanted, known) if each.pages or (each.log, each.number) in known]
    if not (about or refusals):
        return ""
    if about and all(each.taken_back for each in about):
        return f"{name} went by {' and '.join(map(str, about))}, which was taken back; no record of it is here"
    by = " and ".join(str(each) for each in about if not each.taken_back)
    return f"{name} was withdrawn{f' by {by}' if by else ', or opted out, or its time was over'}"


def _not_there(place: Place, name: str, url: str | None, alike: list[str]) -> str:
    near = difflib.get_close_matches(url or name, alike, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    growing = f"; {note}" if (note := unsealed_note(place)) else ""
    return f"{place.url}: no record of {name}; expected the URL or the doc_id of a page of this corpus{hint}{growing}"
