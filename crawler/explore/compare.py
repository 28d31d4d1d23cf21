"""The compare page: what was gained, lost and changed between two corpora, or two versions, with the texts' lines.

Sides are chosen from the corpora that the command was given and their versions, by number; `dataset/diff.py` compares
them in a thread, one comparison at a time, and the page comes by itself once it is done.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from crawler.dataset.diff import Change, Difference, compare, side_of
from crawler.dataset.records.filters import FilterError
from crawler.explore.html import render
from crawler.number import number_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import PAGES, Place

MOST_RECORDS = 300_000
"""Records of both sides together that are compared here: each URL stays in memory, some 500 bytes."""
SAMPLES = 20
"""Changed texts whose lines are shown."""
PAGE = 50
"""URLs of each kind that one page shows."""
VERSIONS = 50
"""The latest versions of a corpus that are offered."""
KEPT_RESULTS = 4
PATIENCE_SECONDS = 1.0
KINDS = {
    "gained": "Gained: documents that only the second has",
    "lost": "Lost: documents that only the first has",
    "texts": "Another text: documents that both keep",
    "reasons": "Another verdict: pages that neither keeps; rejected for another reason, or seen by one only",
}
_SIDE = re.compile(r"(\d{1,3})@(\d{1,6})")
_Key = tuple[str, str, int]
"""Both sides, and how many records their corpora had: a crawl that seals more makes it another comparison."""
Frame = Callable[[int], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Choice:
    """A side that may be compared. value: CORPUS@VERSION, both numbers."""

    value: str
    name: str
    latest: bool


class Comparisons:
    """Compares sides of these corpora, and keeps the last results."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._results: OrderedDict[_Key, Difference | StorageError] = OrderedDict()
        self._wanted: _Key | None = None
        self._done = threading.Condition()

    def choices(self) -> list[Choice]:
        """Every corpus with its versions, the latest first. Raises: StorageError."""
        found = []
        for number, place in enumerate(self._places):
            latest = place.manifest().get("version", 1)
            there = (n for n in range(latest - 1, 0, -1) if place.load_json(f"manifest.{n:04d}.json") is not None)
            versions = [latest, *islice(there, VERSIONS)]
            found += [Choice(f"{number}@{n}", f"{place.url}, version {n}", n == latest) for n in versions]
        return found

    def difference(self, before: str, after: str) -> Difference | None:
        """What differs, None while it is being found. Raises: FilterError, StorageError."""
        key = (before, after, self._check(before, after))
        with self._done:
            if key not in self._results and self._wanted is None:
                self._wanted = key
                threading.Thread(target=self._compare, args=key, name="compare", daemon=True).start()
            self._done.wait_for(lambda: key in self._results, PATIENCE_SECONDS)
            found = self._results.get(key)
        if isinstance(found, StorageError):
            raise found
        return found

    def _check(self, *sides: str) -> int:
        """How many records the corpora of both sides have now."""
        records = 0
        for side in sides:
            found = _SIDE.fullmatch(side)
            if found is None or int(found[1]) >= len(self._places):
                raise FilterError(f"{side[:40]}: expected one of the sides that are offered")
            place = self._places[int(found[1])]
            records += sum(entry["documents"] for entry in place.manifest()["files"] if entry["kind"] in PAGES)
        if records > MOST_RECORDS:
            raise FilterError(
                f"{number_of(records, 'record')}; up to {MOST_RECORDS:,} are "
                "compared here: run `gristmill dataset diff` instead"
            )
        return records

    def _compare(self, before: str, after: str, records: int) -> None:
        result: Difference | StorageError
        try:
            result = compare(self._side(before), self._side(after), samples=SAMPLES)
        except StorageError as error:
            result = error
        except Exception as error:  # told on the page; the thread of a comparison has nobody else to tell
            result = StorageError(f"the sides cannot be compared: {error}")
        with self._done:
            self._results[before, after, records] = result
            while len(self._results) > KEPT_RESULTS:
                self._results.popitem(last=False)
            self._wanted = None
            self._done.notify_all()

    def _side(self, text: str) -> Any:
        number, _, version = text.partition("@")
        return side_of(f"{self._places[int(number)].url}@{int(version)}")


def routes(comparisons: Comparisons, frame: Frame) -> list[Route]:
    """The address of the page; it is the same for all corpora."""

    def page(request: Request) -> Response:
        given = dict(request.query_params.multi_items())
        around, choices = frame(request.path_params["number"]), comparisons.choices()
        before, after = given.get("before", ""), given.get("after", "")
        found = comparisons.difference(before, after) if before and after else None
        if before and after and found is None:
            waits = render("problem.html", **around, sentence="Comparing, URL by URL", busy=(0, 1))
            return HTMLResponse(waits, 503, {"Refresh": "1"})
        values = {"choices": choices, "before": before, "after": after, "found": found, "start": _start(given)}
        return HTMLResponse(render("compare.html", **around, **values, kinds=KINDS, rows=rows, step=PAGE))

    return [Route("/{number:int}/compare", page)]


def rows(found: Difference, kind: str, start: int) -> list[Change]:
    """The changes of one kind that a page shows."""
    changes: list[Change] = getattr(found, kind)
    return changes[start : start + PAGE]


def _start(given: dict[str, str]) -> int:
    text = given.get("start", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise FilterError(f"start={text[:40]}: expected a number")
    return int(text)
