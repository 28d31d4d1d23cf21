"""The report and `docs/reasons.md` name reasons by the sentences that `DropReason` carries."""

from __future__ import annotations

from crawler.document import DropReason

ORDER: dict[str, int] = {reason.value: position for position, reason in enumerate(DropReason)}
"""Position of a reason on the way of a page."""


def meaning(reason: str) -> str:
    """The sentence for a reason as it stands in a record; empty for one this version does not know."""
    known = DropReason.of(reason)
    return known.meaning if known else ""


def markdown() -> str:
    """The table of `docs/reasons.md`."""
    rows = [f"| `{reason.value}` | {reason.meaning} |" for reason in DropReason]
    return "\n".join(["| reason | meaning |", "|---|---|", *rows]) + "\n"
