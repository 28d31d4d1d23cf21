"""Compares two corpora, or two versions of one, URL by URL (`gristmill dataset diff`).

Each side is read once, file by file; what stays in memory is one entry a URL. Texts are read a second time, and only
those that are shown. Of a URL that a side has several times the record that stands counts (`verify.py` ranks alike).
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, cast

from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.registry.derived import standing_hash, version_hash
from crawler.dataset.registry.find import named
from crawler.dataset.verify import is_final
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import MANIFEST, PAGES, REPLACED, Place
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_records
from crawler.storage.types import Manifest

ABSENT = "absent"
"""Stands for a URL that a side does not have."""
_VERSION = re.compile(r"(.+)@(\d{1,6}|[A-Za-z0-9][A-Za-z0-9._-]{0,63})")
_LINES = 16  # of one unified sample
_WIDTH = 200  # characters of one of its lines
_BEFORE = 60  # of them stand in front of the first that differs


@dataclass(frozen=True, slots=True)
class Side:
    """One version of one corpus. `paths` are its files of records, where they are now.

    noted: of an earlier version that a tag or its hash named, its hash; else empty.
    """

    name: str
    place: Place
    paths: list[str]
    version: int
    noted: str = ""

    @property
    def sha256(self) -> str:
        """The hash of the version, as far as the manifest says it."""
        return self.noted or version_hash(self.place, self.version)


class Change(NamedTuple):
    """One URL that differs; `before` and `after` are a doc_id, "stage/reason" or "absent"."""

    url: str
    before: str
    after: str


@dataclass(slots=True)
class Difference:
    """What B makes of the URLs of A, by URL. `same` counts kept documents with equal text."""

    same: int = 0
    gained: list[Change] = field(default_factory=list)  # documents that only B has
    lost: list[Change] = field(default_factory=list)  # documents that only A has
    texts: list[Change] = field(default_factory=list)  # documents with another text
    reasons: list[Change] = field(default_factory=list)  # rejected by both, for other reasons, or seen by one only
    samples: dict[str, list[str]] = field(default_factory=dict)  # some of `texts`: URL -> unified diff

    def as_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        lists = {name: [c._asdict() for c in getattr(self, name)] for name in ("gained", "lost", "texts", "reasons")}
        return {"same": self.same, **lists, "samples": self.samples}

    def kinds(self, name: str) -> Counter[str]:
        """How often each pair of reasons stands behind a list: "near/near_duplicate", "absent -> policy/optout"."""
        of: dict[str, Callable[[Change], str]] = {
            "gained": lambda c: c.before,
            "lost": lambda c: c.after,
            "reasons": lambda c: f"{c.before} -> {c.after}",
        }
        return Counter(map(of[name], getattr(self, name)))


class _Found(NamedTuple):
    rank: tuple[bool, str, bool]
    what: str
    kept: bool
    line: tuple[int, int]  # number of the file, number of the line


def side_of(text: str) -> Side:
    """A corpus, its version N (`DIR@N`), or the one that a tag or a hash names (`DIR@release-1`). Raises: StorageError
    where there is none.
    """
    found = _VERSION.fullmatch(text)
    if found and not found[2].isdecimal():
        if Place(text).load_json(MANIFEST) is None:
            return _noted(text, Place(found[1]), found[2])
        found = None
    place = Place(found[1] if found else text)
    manifest = place.manifest()
    current = manifest.get("version", 1)
    version = int(found[2]) if found else current
    if version != current:
        old = place.load_json(f"manifest.{version:04d}.json")
        if not isinstance(old, dict):
            raise StorageError(f"{place.url}: no version {version}; expected 1 to {current}")
        manifest = cast("Manifest", old)
    return Side(text, place, _where(place, (entry["path"] for entry in manifest["files"])), version)


def _noted(text: str, place: Place, name: str) -> Side:
    version = named(place, name)
    paths = _where(place, (each["path"] for each in version["files"]))
    stands = version["sha256"] == standing_hash(place)
    return Side(text, place, paths, version.get("number", 1), "" if stands else version["sha256"])


def _where(place: Place, paths: Iterable[str]) -> list[str]:
    """Where files of records are now: a later version may have set them aside, or withdrawn what they held."""
    names, found = dict[str, set[str]](), []
    for path in paths:
        if path.partition("/")[0] not in PAGES:
            continue
        for folder in (path.rpartition("/")[0], f"{REPLACED}/{path.rpartition('/')[0]}"):
            if path.rpartition("/")[2] in names.setdefault(folder, set(place.listing(folder))):
                found.append(f"{folder}/{path.rpartition('/')[2]}")
                break
        else:
            raise StorageError(
                f"{place.url}: {path} is not there any more; a later withdrawal removed that version; give a later one"
            )
    return found


def compare(before: Side, after: Side, *, samples: int = 5) -> Difference:
    """Every URL of both sides that neither refuses. samples: how many changed texts to show. Raises: StorageError."""
    refused = refusals_of([before.place, after.place])
    old, new = _read(before, refused), _read(after, refused)
    found = Difference()
    for url in sorted(old.keys() | new.keys()):
        _judge(found, url, old.get(url), new.get(url))
    shown = [change.url for change in found.texts[:samples]]
    texts = [_texts(side, [known[url].line for url in shown]) for side, known in ((before, old), (after, new))]
    for url in shown:
        found.samples[url] = _unified(texts[0][old[url].line], texts[1][new[url].line])
    return found


def _judge(found: Difference, url: str, old: _Found | None, new: _Found | None) -> None:
    change = Change(url, old.what if old else ABSENT, new.what if new else ABSENT)
    kept = (old is not None and old.kept, new is not None and new.kept)
    if kept == (True, True):
        if change.before == change.after:
            found.same += 1
        else:
            found.texts.append(change)
    elif any(kept):
        (found.lost if kept[0] else found.gained).append(change)
    elif change.before != change.after:
        found.reasons.append(change)


def _read(side: Side, refused: Refusals) -> dict[str, _Found]:
    best: dict[str, _Found] = {}
    for number, path in enumerate(side.paths):
        for line, record in enumerate(read_records(side.place, path)):
            claim = _claim(record, (number, line))
            current = best.get(record["url"])
            if (current is None or claim.rank > current.rank) and not refused.hides(record):
                best[record["url"]] = claim
    return best


def _claim(record: Record, line: tuple[int, int]) -> _Found:
    reason = record.get("reason")
    kept = reason is None
    what = str(record.get("doc_id")) if kept else f"{record.get('stage')}/{reason}"
    return _Found((is_final(reason), record.get("crawled_at") or "", kept), what, kept, line)


def _texts(side: Side, lines: list[tuple[int, int]]) -> dict[tuple[int, int], list[str]]:
    """The texts on these lines; each file that holds one is read once more, as far as it takes."""
    found: dict[tuple[int, int], list[str]] = {}
    for number in sorted({number for number, _ in lines}):
        wanted = {line for file, line in lines if file == number}
        for line, record in enumerate(read_records(side.place, side.paths[number])):
            if line in wanted:
                found[number, line] = str(record.get("text") or "").splitlines()
            if line >= max(wanted):
                break
    return found


def _unified(old: list[str], new: list[str]) -> list[str]:
    """The first lines of a unified diff, without its head."""
    lines = [line.rstrip("\n") for line in difflib.unified_diff(old, new, n=0, lineterm="")][2:]
    heads = [number for number, line in enumerate(lines) if line.startswith("@@")]
    shown: list[str] = []
    for begin, end in pairwise([*heads, len(lines)]):
        shown += [lines[begin], *_narrowed(lines[begin + 1 : end])]
    return shown if len(shown) <= _LINES else [*shown[:_LINES], f"… {len(shown) - _LINES} more lines"]


def _narrowed(hunk: list[str]) -> list[str]:
    """What went and what came, each line cut to where it differs from the line in its place on the other side."""
    gone, come = ([line for line in hunk if line.startswith(sign)] for sign in "-+")
    differ = [_first_difference(a[1:], b[1:]) for a, b in zip(gone, come, strict=False)]
    return [_cut(line, differ[n] if n < len(differ) else 0) for side in (gone, come) for n, line in enumerate(side)]


def _first_difference(a: str, b: str) -> int:
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _cut(line: str, at: int) -> str:
    """Sign and at most `_WIDTH` - 1 characters of a line, with `at` (counted behind the sign) among them."""
    text, room = line[1:], _WIDTH - 1
    if len(text) <= room:
        return line
    begin = max(0, min(at - _BEFORE, len(text) - room))
    begin += begin > 0  # its place is taken by the sign that something was left out
    end = begin + room - (begin > 0)
    return line[0] + "…" * (begin > 0) + (text[begin:end] if end >= len(text) else f"{text[begin : end - 1]}…")
