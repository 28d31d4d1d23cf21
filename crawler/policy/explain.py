"""Explains a decision to people: what was read, what it said, which rule decided, in plain words.

Nothing is decided here. What the crawl's own functions returned is named and put into sentences;
`gristmill optout` shows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from crawler.document import Drop, DropReason, Signal
from crawler.number import number_of
from crawler.policy.robots import parse as robots
from crawler.policy.robots.answer import Reading, RobotsRecord
from crawler.policy.robots.parse import RobotsDecision
from crawler.policy.signals import ai_bots
from crawler.policy.signals.base import ALLOW, DISALLOW
from crawler.policy.signals.registry import refusals
from crawler.times import rfc3339


class Answer(StrEnum):
    """May it be fetched and kept? `HOLD`: nobody knows now, so it is not fetched, and a later run asks again."""

    YES = "yes"
    NO = "no"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class FileRead:
    """One control file as it was read. Times are RFC 3339, UTC.

    `says`: "rules", "no_rules" (absent, or some other file: it says nothing), "denied", "hold" (cannot be read now).
    `stale`: the rules are those of an earlier fetch. `status` is None where nobody answered.
    """

    name: str
    url: str
    status: int | None
    says: str
    detail: str
    size: int
    sha256: str | None
    fetched_at: str
    believed_until: str
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer for one URL. `because` are sentences, the one that decided first; `reason` is that of `rejected/`."""

    url: str
    answer: Answer
    because: list[str]
    reason: str = ""
    files: list[FileRead] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    redirects: list[str] = field(default_factory=list)


def file_read(name: str, url: str, record: RobotsRecord) -> FileRead:
    """How a control file was read, from the record that all workers share."""
    return FileRead(
        name=name,
        url=url,
        status=record.status,
        says=record.reading.value,
        detail=record.detail,
        size=len(record.body),
        sha256=record.sha256,
        fetched_at=moment(record.body_fetched_at if record.stale else record.fetched_at),
        believed_until=moment(record.expires_at),
        stale=record.stale,
    )


def robots_sentence(record: RobotsRecord | None, path: str, product_token: str) -> str:
    """What robots.txt says to us about this path; asks the engine that decided."""
    if record is None:
        return "robots.txt was not requested"
    if record.reading is Reading.NO_RULES:
        return f"there is no robots.txt (it answered {record.status}), so it forbids nothing"
    if record.reading is Reading.DENIED:
        return f"the server denies access to robots.txt ({record.status}), which is read as a no to everything"
    if record.reading is Reading.HOLD:
        return f"robots.txt cannot be read: {record.detail}"
    return decision_sentence(robots.parse(record.body).decide(product_token, path))


def decision_sentence(decision: RobotsDecision) -> str:
    """One decision of robots.txt in words."""
    verb = "allows" if decision.allowed else "disallows"
    if not decision.line:
        return f"robots.txt {verb} it: {decision.rule or 'no rule in it matches this path'}"
    whom = "every crawler" if decision.group == "*" else decision.group
    return f"robots.txt {verb} it: line {decision.line} says “{decision.rule}” to {whom}"


def answer_of(drop: Drop | None, *, passing: bool = False) -> Answer:
    """Yes where nothing refused. `passing`: a failure that may pass, so that it counts as on hold."""
    if drop is None:
        return Answer.YES
    return Answer.HOLD if passing or drop.reason.is_hold else Answer.NO


def because(drop: Drop | None, signals: Iterable[Signal], robots_says: str, profile: str) -> list[str]:
    """The sentences behind an answer, the deciding one first."""
    if drop is None:
        return [robots_says, f"{_on_training(signals)} (profile {profile})"]
    if drop.reason is DropReason.ROBOTS_DISALLOWED:
        return [robots_says]
    if drop.reason is DropReason.OPTOUT:
        return [_refusal(drop, signals), robots_says]
    words = drop.reason.clause or f"it would be rejected as {drop.reason.value}"
    return [f"{words}: {drop.detail}" if drop.detail else words]


def _on_training(signals: Iterable[Signal]) -> str:
    """What was said of AI training where nothing refused; what other bots are allowed is no permission for us."""
    found = list(signals)
    if any(s.verdict == ALLOW and s.protocol != ai_bots.NAME for s in found):
        return "and training is allowed expressly"
    if any(s.protocol == ai_bots.NAME and ai_bots.refuses(s) for s in found):
        return "robots.txt disallows bots that collect training data, which does not count here"
    return "nothing that was read refuses AI training"


def _refusal(drop: Drop, signals: Iterable[Signal]) -> str:
    """The statement that decided: the Drop's detail is "protocol in carrier: value"."""
    protocol, _, rest = drop.detail.partition(" in ")
    carrier, _, value = rest.partition(": ")
    others = sum(1 for s in signals if s.verdict == DISALLOW) - 1
    more = f", and {number_of(others, 'more statement')} like it" if others > 0 else ""
    return f"{refusals().get(protocol, protocol)}: “{value}” ({WHERE.get(carrier, carrier)}){more}"


WHERE = {
    "robots.txt": "in robots.txt",
    "header": "in the response headers",
    "meta": "in the head of the page",
    "well-known": "in a file of the host",
}
"""Carriers in words."""


def moment(seconds: float) -> str:
    """Seconds since the epoch as RFC 3339 in UTC, to the second."""
    return rfc3339(seconds, timespec="seconds")
