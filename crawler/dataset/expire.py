"""Retention: archives whose newest record is too old leave the disk; the text stays, and a log says what went.

`expire` is a version of the corpus of its own, so workers may go on while it runs: a sealed archive is nobody's to
write. `expired.jsonl` is written before anything goes; a call that was cut off is finished by the next one.
"""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

import orjson

from crawler.dataset.versions import Cause, check_free, held, new_version, set_old_aside
from crawler.number import number_of
from crawler.storage.archive.cdxj import with_index
from crawler.storage.corpus.manifest import EXPIRY, REWRITER, Ledger, merge
from crawler.storage.corpus.version import register
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE, REPLACED, Place
from crawler.storage.types import Entry, Step
from crawler.times import rfc3339

LOG = "expired.jsonl"
"""One line an archive that went, oldest first: what it was, when it went, why, and who asked."""
_LOGGED = ("path", "sha256", "bytes", "documents", "revisits", "first_crawled_at", "last_crawled_at")


def too_old(place: Place, *, days: float, now: float) -> list[Entry]:
    """The listed archives whose newest record is older than `days` (now: seconds since the epoch).

    Raises: StorageError where there is no corpus.
    """
    limit = datetime.fromtimestamp(now, UTC) - timedelta(days=days)
    archives = [entry for entry in place.manifest()["files"] if entry["kind"] == ARCHIVE]
    return [entry for entry in archives if (newest := entry["last_crawled_at"]) and _moment(newest) < limit]


def expire(place: Place, *, days: float, now: float, by: str, reason: str = "") -> list[Entry]:
    """Remove the archives that are `too_old`; answers their entries. Safe to repeat after a crash at any moment.

    by, reason: who asked and why, for the log. Raises: StorageError while another operation makes a version, or where
    the disk fails.
    """
    with ExitStack() as stack:
        version = merge(place).get("version", 1) + 1
        writer = f"{REWRITER}{version:04d}"
        stack.callback(held(place, writer).release)
        check_free(place, writer)
        found = too_old(place, days=days, now=now)
        if found:
            _log(place, found, {"expired_at": rfc3339(now), "older_than_days": days, "by": by, "reason": reason})
            ledger = Ledger(place, writer)
            ledger.rewrite = new_version(
                place,
                version,
                [_step(entry) for entry in found],
                {"archives": len(found), "erased": sum(entry["documents"] for entry in found)},
                Cause(EXPIRY, reason or f"older than {days:g} days", now, keeps_old=False),
            )
            ledger.save()  # from here on the archives are gone
            set_old_aside(place, ledger.rewrite)
            register(place)
        _finish(place)
    return found


def expired(place: Place) -> list[dict[str, Any]]:
    """Every line of the log, oldest first. Raises: StorageError where it is damaged."""
    try:
        with place.open(LOG) as file:
            return [orjson.loads(line) for line in file]
    except FileNotFoundError:
        return []
    except (OSError, orjson.JSONDecodeError) as error:
        raise StorageError(f"{place.path_of(LOG)}: cannot be read ({error}); restore the file from a copy") from error


def expired_note(pattern: str) -> str:
    """What to tell who asks for archives by a path or pattern that have expired; empty where none has, or at a URL."""
    corpus, found, name = f"./{pattern}".rpartition(f"/{ARCHIVE}/")
    if "://" in pattern or not found:
        return ""
    try:
        lines = expired(Place(corpus if corpus == "." else corpus[2:]))
    except StorageError:
        return ""
    gone = [line for line in lines if fnmatchcase(line["path"], f"{ARCHIVE}/{name}")]
    if not gone:
        return ""
    first, last = gone[0]["expired_at"], gone[-1]["expired_at"]
    when = first if first == last else f"{first} to {last}"
    return (
        f"{pattern}: {number_of(len(gone), 'archive')} expired ({when}); {corpus[2:] or '.'}/{LOG} says which and why"
    )


def _step(entry: Entry) -> Step:
    gone = entry["documents"]
    return {"old": entry["path"], "new": None, "documents": 0, "changed": 0, "rejected": 0, "dropped": gone}


def _log(place: Place, found: list[Entry], why: dict[str, Any]) -> None:
    """Add what goes to the log; what a call that was cut off has written there already is not written again."""
    lines = expired(place)
    known = {(line["path"], line["sha256"]) for line in lines}
    fresh = [{name: entry.get(name) for name in _LOGGED} | why for entry in found]
    lines += [line for line in fresh if (line["path"], line["sha256"]) not in known]
    place.put(LOG, b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))


def _finish(place: Place) -> None:
    """Remove what earlier calls announced and did not come to remove."""
    gone = {step["old"] for v in place.manifest()["lineage"] if v["operation"] == EXPIRY for step in v["files"]}
    for folder in (ARCHIVE, f"{REPLACED}/{ARCHIVE}"):
        present = {f"{ARCHIVE}/{name}" for name in place.listing(folder)}
        for name in present & {name for path in gone for name in with_index(path)}:
            place.remove(f"{folder}/{name.partition('/')[2]}")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
