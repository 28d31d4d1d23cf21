"""The report and `docs/reasons.md` name reasons by the sentences that the reasons carry."""

from __future__ import annotations

from crawler.document import Reason


def order(reason: str) -> int:
    """Position of a reason on the way of a page; one that nobody here declares comes last."""
    known = Reason.known()
    return next((position for position, one in enumerate(known) if one == reason), len(known))


def meaning(reason: str) -> str:
    """The sentence for a reason as it stands in a record; empty for one that nobody here declares."""
    return Reason.of(reason).meaning


def markdown() -> str:
    """The table of `docs/reasons.md`."""
    rows = [f"| `{reason}` | {reason.meaning} |" for reason in (*Reason.known(), Reason.custom("<name>"))]
    return "\n".join(["| reason | meaning |", "|---|---|", *rows]) + "\n"
