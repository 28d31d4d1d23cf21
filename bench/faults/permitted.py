"""What a site permits after it has answered 503: it has asked for less, so less is permitted until it recovers.

The rule is the frontier's own (`docs/frontier.md`, "Overload"): a 503 doubles the delay that holds, every other answer
adds a tenth of the undisturbed rate again (additive increase, multiplicative decrease: Chiu and Jain 1989).
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.web.target import RESET, Visit

STEP = 0.1  # of the undisturbed rate


def permitted_gaps(visits: Sequence[Visit], delay: float) -> list[float]:
    """The distance in seconds that each visit has to keep from the one before, one at a time; one less than visits."""
    slow, gaps = delay, []
    for before in visits[:-1]:
        if before.status == 503:
            slow *= 2
        elif before.status != RESET and before.path != "/robots.txt":  # no page, so it says nothing to the frontier
            slow = max(delay, 1 / (1 / slow + STEP / delay))
        gaps.append(slow)
    return gaps
