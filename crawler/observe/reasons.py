"""The report and `docs/reasons.md` name reasons by the sentences that the reasons carry."""

from __future__ import annotations

from crawler.config.stages import stages
from crawler.document import Reason


def _known() -> tuple[Reason, ...]:
    stages()  # those of other packages are known once their stages are loaded
    return Reason.known()


def order(reason: str) -> int:
    """Position of a reason on the way of a page; one that nobody here declares comes last."""
    known = _known()
    return next((position for position, one in enumerate(known) if one == reason), len(known))


def meaning(reason: str) -> str:
    """The sentence for a reason as it stands in a record; empty for one that nobody here declares."""
    return Reason.of(reason).meaning


def markdown() -> str:
    """The table of `docs/reasons.md`."""
    rows = [f"| `{reason}` | {reason.meaning} |" for reason in (*_known(), Reason.custom("<name>"))]
    return "\n".join(["| reason | meaning |", "|---|---|", *rows]) + "\n"
