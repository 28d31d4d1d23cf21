"""Accounts of one file: additive counts of what requests brought, by domain, time, language and licence tier.

They are counted while the file is sealed and stand in its manifest entry, so a report adds up entries and reads no
record. `docs/report.md` says what is made of them.
"""

from __future__ import annotations

import math
from collections import Counter
from datetime import date
from functools import lru_cache
from typing import Any

from crawler.document import HELD_PREFIX, STATED_LICENCE, DropReason, Reason
from crawler.stages.extraction.metadata.creative_commons import licence_at, licence_called
from crawler.storage.types import Counts

GROUPINGS = ("domain", "time", "language", "tier")
MAX_DOMAINS = 1_000
"""Domains that an entry lists, those with most requests; the others are counted together."""
MAX_TIMES = 300
"""Seconds that an entry lists; where there are more, it lists minutes, hours, days, months or years."""
OTHER = "(others)"
"""What the domains beyond the listed ones have together."""
_DAY = 10  # characters of an RFC 3339 time
TIMES = (19, 16, 13, _DAY, 7, 4)
"""Second, minute, hour, day, month, year: how many characters of an RFC 3339 time name it."""
YIELD_UNIT = 10_000
"""`yield_sum` counts ten-thousandths, as precise as a record says its yield: sums are exact."""
LENGTHS = ("word_count", "char_count", "token_estimate")
BINS_AN_OCTAVE = 4
"""Bins of a length each time it doubles: bin n begins at 2^(n/4)."""
_DRAWN = frozenset({"js", "captured"})


class Accounts:
    """Counts by group. most: domains that `entry` lists; None = all."""

    def __init__(self, most: int | None = MAX_DOMAINS) -> None:
        self._most = most
        self.groups: dict[str, dict[str, Counter[str]]] = {kind: {} for kind in GROUPINGS}
        self.lengths: dict[str, Counter[int]] = {name: Counter() for name in LENGTHS}

    def add(self, record: dict[str, Any]) -> None:
        """Count one kept or rejected record."""
        counts = counts_of(record)
        moment = str(record.get("crawled_at") or "")
        names = (
            str(record.get("domain") or ""),
            moment[: TIMES[0]],
            str(record.get("language") or "unknown"),
            str(record.get("license_tier") or "none"),
        )
        for groups, name in zip(self.groups.values(), names, strict=True):
            group = groups.get(name)
            if group is None:
                group = groups[name] = Counter()
            for key, count in counts.items():  # Counter.update takes three times as long
                group[key] = group.get(key, 0) + count
        if "reason" not in record:
            for name in LENGTHS:
                if (value := record.get(name) or 0) >= 1:
                    self.lengths[name][length_bin(value)] += 1

    def entry(self) -> dict[str, dict[str, Counts]]:
        """Plain JSON types, sorted; a kind with too many groups has fewer."""
        listed = {kind: dict(groups) for kind, groups in self.groups.items()}
        if self._most is not None:
            listed["domain"] = _largest(listed["domain"], self._most)
        listed["time"] = coarse(listed["time"], MAX_TIMES)
        return {
            kind: {name: dict(sorted(counts.items())) for name, counts in sorted(groups.items())}
            for kind, groups in listed.items()
        }

    def length_entry(self) -> dict[str, Counts]:
        """Kept records by length: the bins that are not empty."""
        return {name: {str(key): bins[key] for key in sorted(bins)} for name, bins in self.lengths.items() if bins}


def counts_of(record: dict[str, Any]) -> Counts:
    """What one record adds to each of its groups; zero counts are left out."""
    counts = _kept(record) if "reason" not in record else dict(_rejected(str(record["reason"])))
    if is_withdrawn_copy(record):
        counts["requests"] = 1
    drawn = record.get("method_used") in _DRAWN or "browser" in (record.get("render_signals") or ())
    share = record.get("extraction_yield")
    if share is not None:
        counts["yields"] = 1
        if part := round(YIELD_UNIT * share):
            counts["yield_sum"] = part
    if drawn or share is not None:
        counts["pages"] = 1
    if drawn:
        counts["drawn"] = 1
    return counts


def _kept(record: dict[str, Any]) -> Counts:
    counts = {"kept": 1, "requests": 1}
    if tokens := record.get("token_estimate"):
        counts["tokens"] = tokens
    if record.get("pii_flag"):
        counts["pii"] = 1
    for kind in record.get("pii_entity_types") or ():
        counts[f"pii/{kind}"] = 1
    if passes_licence_audit(record):
        counts["licence_passed"] = 1
    if states_another_licence(record):
        counts["licence_conflicts"] = 1
    return counts


@lru_cache(maxsize=256)  # a reason is a word of ours, but files can come from anybody
def _rejected(name: str) -> Counts:
    reason = Reason.of(name)
    if reason.is_hold:
        return {"held": 1}
    if name.startswith(HELD_PREFIX):
        return {"withheld": 1, "requests": 1}
    counts = {"unchanged" if reason is DropReason.UNCHANGED else "rejected": 1}
    if reason.asked:
        counts["requests"] = 1
    if reason.is_duplicate:
        counts["duplicates"] = 1
    return counts


def is_withdrawn_copy(record: dict[str, Any]) -> bool:
    """True where a page was fetched before its text was known to be withdrawn: such an address is not asked for."""
    return record.get("reason") == DropReason.WITHDRAWN and bool(record.get("http_status"))


def took_request(record: dict[str, Any]) -> bool:
    """False for a record of a page that was not asked for: robots.txt or the network guard forbade it, or it had been
    withdrawn.
    """
    reason = Reason.of(str(record["reason"])) if record.get("reason") else None
    return reason is None or reason.asked or is_withdrawn_copy(record)


def passes_licence_audit(record: dict[str, Any]) -> bool:
    """True where a kept record can show its licence.

    It names tag, tier, reviewer and day of review, the review is no later than the fetch, headers and body were
    checked for opt-outs, and none of the statements that were found says no.
    """
    if not all(record.get(name) for name in ("license_tag", "license_tier", "license_reviewer", "noai_checked")):
        return False
    if any(signal.get("verdict") == "disallow" for signal in record.get("optout_signals") or ()):
        return False
    try:
        reviewed = date.fromisoformat(str(record.get("license_reviewed")))
        return reviewed <= date.fromisoformat(str(record.get("crawled_at"))[:_DAY])
    except ValueError:
        return False


def states_another_licence(record: dict[str, Any]) -> bool:
    """True where the allowlist gives a kept record another licence than its page, which names Creative Commons ones."""
    if not record.get("license_tier"):
        return False
    values = (
        str(signal.get("value")).removeprefix("LicenseRef-")
        for signal in record.get("optout_signals") or ()
        if signal.get("protocol") == STATED_LICENCE
    )
    stated = {licence_at(value) or licence_called(value) for value in values} - {None}
    return bool(stated) and record.get("license_tag") not in stated


def length_bin(value: float) -> int:
    """The bin of a length of at least 1."""
    return int(BINS_AN_OCTAVE * math.log2(value))


def length_from(position: int) -> float:
    """Where a bin of `length_bin` begins."""
    return float(2 ** (position / BINS_AN_OCTAVE))


def _largest(groups: dict[str, Counter[str]], most: int) -> dict[str, Counter[str]]:
    if len(groups) <= most:
        return groups
    ranked = sorted(groups, key=lambda name: (-groups[name]["requests"], name))
    rest: Counter[str] = Counter()
    for name in ranked[most:]:
        rest.update(groups[name])
    return {name: groups[name] for name in ranked[:most]} | {OTHER: rest}


def coarse(groups: dict[str, Counter[str]], most: int) -> dict[str, Counter[str]]:
    """By second, minute, hour, day, month or year: the finest that all groups can be told in and that gives
    at most `most` of them (or the years)."""
    finest = min((len(name) for name in groups if name), default=TIMES[0])
    found = groups
    for characters in (length for length in TIMES if length <= finest):
        found = {}
        for name, counts in groups.items():
            found.setdefault(name[:characters], Counter()).update(counts)
        if len(found) <= most:
            break
    return found
