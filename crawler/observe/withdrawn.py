"""A withdrawal in words: what would go, and what has gone."""

from __future__ import annotations

from collections import Counter

from crawler.dataset.exclude import WITHDRAWALS, Concerned, Withdrawn
from crawler.number import number_of

_MOST = 20


def announce(found: Concerned, where: str) -> str:
    """What a withdrawal concerns, before it is done."""
    lines = [f"concerned in {where}:"]
    kept, rejected = number_of(found.kept, "kept document"), number_of(found.rejected, "rejected document")
    lines.append(f"  {kept} ({number_of(found.words, 'word')}): the records go")
    lines.append(f"  {rejected}: the records stay, text in {found.with_text:,} of them goes")
    lines.append(f"  {number_of(found.raw, 'raw page')} in the archive: their bytes go")
    for title, counts in (("domain", found.domains), ("licence", found.licences)):
        lines += [f"  {title} {name}: {count:,} kept" for name, count in _top(counts)]
    return "\n".join(lines) + "\n"


def summary(done: Withdrawn, notes: list[str]) -> str:
    """What a withdrawal did."""
    rewritten, found = done.rewritten, done.found
    gone = f"{number_of(found.kept, 'document')} and {number_of(rewritten.erased, 'raw page')} are gone"
    lines = [f"corpus version {rewritten.version}: {gone}"]
    if done.refused:
        lines.append(f"{', '.join(sorted(done.refused))}: never requested again for this corpus")
    lines += [f"removed {name}, which described the older version" for name in done.removed_files if "/" not in name]
    lines += notes
    lines.append(f"the URLs are in {WITHDRAWALS}, without text; requested by: {done.by}")
    return "\n".join(lines) + "\n"


def _top(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
