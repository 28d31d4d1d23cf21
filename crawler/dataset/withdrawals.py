"""Which records of a corpus has `withdrawals.jsonl` taken out for good? Asked by all that hand records on."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crawler.dataset.exclude import covers, log_lines
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record


def withdrawn(place: Place) -> Callable[[Record], bool]:
    """Tells the records that `withdrawals.jsonl` names: their page was withdrawn after they were fetched, or their
    domain is refused. Needs about 0.2 kB of memory a withdrawn page. Raises: StorageError.
    """
    times: dict[int, str] = {}
    pages: dict[str, str] = {}
    refused: set[str] = set()
    for line in log_lines(place):
        if line["kind"] == "withdrawal":
            times[line["number"]] = line["time"]
            refused |= set(line["refused"])
        else:
            pages[line["url"]] = max(pages.get(line["url"], ""), times.get(line["number"], ""))
    domains = frozenset(refused)

    def is_withdrawn(record: Record) -> bool:
        was_withdrawn = (record.get("crawled_at") or "") <= pages.get(record["url"], "")
        return (record["url"] in pages and was_withdrawn) or (bool(domains) and covers(domains, record["url"]))

    return is_withdrawn


def withdrawn_in(places: Iterable[Place]) -> Callable[[Record], bool]:
    """`withdrawn` of any of these corpora; false for a record of others, which has no URL. Raises: StorageError."""
    tests = [withdrawn(place) for place in places]
    return lambda record: bool(record.get("url")) and any(test(record) for test in tests)
