"""Puts the detectors together: one verdict on robots.txt, one on the response headers, one on the body.

Each protocol is resolved by its own precedence; then any disallow wins, whatever another protocol allows. Unknown means
fetch. Every statement that was seen is returned, so that the record can show what the decision rests on.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from crawler.document import Drop, DropReason, Signal
from crawler.policy.headers import Headers
from crawler.policy.robots.answer import Reading, RobotsRecord
from crawler.policy.robots.parse import RobotsFile
from crawler.policy.signals import meta_robots, rsl, x_robots_tag
from crawler.policy.signals.base import DISALLOW, Context, Links, Metas
from crawler.policy.signals.registry import detectors


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision with its evidence. `drop` is None where the page may go on; `signals` are all that were seen.

    `robots_status` is only set by `decide_robots`: "allowed", "no_rules", "stale", "disallowed", "denied",
    "unreachable".
    """

    drop: Drop | None = None
    signals: tuple[Signal, ...] = ()
    robots_status: str = ""
    robots_rule: str = ""

    @property
    def ok(self) -> bool:
        """True where nothing said no."""
        return self.drop is None


def decide_robots(
    record: RobotsRecord, robots: RobotsFile | None, path: str, *, product_token: str, profile: str, now: float
) -> Verdict:
    """Before the request. `robots` is the parsed body of `record`, None where its reading is not "rules"."""
    if record.reading is Reading.NO_RULES:
        return Verdict(robots_status="no_rules")
    if record.reading is Reading.DENIED:
        return Verdict(Drop("robots", DropReason.ROBOTS_DISALLOWED, record.detail), robots_status="denied")
    if record.reading is Reading.HOLD or robots is None:
        reason = DropReason.HOLD_CERTIFICATE if record.is_certificate else DropReason.HOLD_ROBOTS_UNREACHABLE
        drop = Drop("robots", reason, record.detail)
        return Verdict(drop, robots_status="unreachable")
    decision = robots.decide(product_token, path)
    rule = f"line {decision.line}: {decision.rule}" if decision.line else decision.rule
    if not decision.allowed:
        drop = Drop("robots", DropReason.ROBOTS_DISALLOWED, f"group {decision.group or '-'}, {rule}"[:512])
        return Verdict(drop, robots_status="disallowed", robots_rule=rule)
    context = Context(product_token, profile, now)
    signals = tuple(s for d in detectors() if d.robots for s in d.robots(robots, path, context))
    status = "stale" if record.stale else "allowed"
    return Verdict(_refusal(signals), signals, robots_status=status, robots_rule=rule)


def decide_headers(headers: Headers, product_token: str, profile: str, now: float) -> Verdict:
    """On the response headers, before the body, on which a protocol with `resolve` is decided."""
    lines, context = list(headers), Context(product_token, profile, now)
    signals = tuple(s for d in detectors() if d.headers for s in d.headers(lines, context))
    if since := x_robots_tag.unavailable_since(lines, context):
        return Verdict(Drop("optout", DropReason.GONE, f"X-Robots-Tag unavailable_after {since}"[:512]), signals)
    return Verdict(_refusal(_early(signals)), signals)


def decide_body(
    metas: Metas,
    rel_links: Links,
    *,
    product_token: str,
    profile: str,
    now: float | None = None,
    earlier: Iterable[Signal] = (),
    url: str = "",
) -> Verdict:
    """On the parsed page, before anything of it is kept. `earlier` are the signals of robots.txt, files and headers.

    `url` is the page's, for relative links. The returned signals are those of the body only.
    """
    metas, links, before = list(metas), list(rel_links), list(earlier)
    context = Context(product_token, profile, time.time() if now is None else now)
    signals = [s for d in detectors() if d.metas for s in d.metas(metas, context)]
    signals += [s for d in detectors() if d.links for s in d.links(links, context)]
    if since := meta_robots.unavailable_since(metas, context):
        return Verdict(Drop("optout", DropReason.GONE, f"meta unavailable_after {since}"[:512]), tuple(signals))
    counted = [*_early(signals), *_late([*before, *signals], profile, url)]
    return Verdict(_refusal(counted), tuple(signals))


def decide_unread(signals: Iterable[Signal], profile: str, url: str = "") -> Drop | None:
    """What a protocol with `resolve` says while nobody has read the body, which could lift it; None = no refusal."""
    return _refusal(_late(list(signals), profile, url))


def decide_files(signals: Iterable[Signal], profile: str) -> Verdict:
    """Before the request, on what the host's opt-out files say. A protocol with `resolve` is decided on the body.

    RSL is decided there only where a page names its licence: one that robots.txt names has been read.
    """
    found = tuple(signals)
    return Verdict(_refusal(_early(found, read=() if profile == "minimal" else (rsl.NAME,))), found)


def protocol_of(drop: Drop) -> str:
    """The protocol behind an opt-out Drop of this module; "unavailable-after" for a page past its date."""
    return "unavailable-after" if drop.reason is DropReason.GONE else drop.detail.partition(" in ")[0]


def _late(signals: list[Signal], profile: str, url: str) -> list[Signal]:
    """The statement of each protocol with `resolve` that counts among these."""
    obeyed = [d.resolve for d in detectors() if d.resolve and (d.in_minimal or profile != "minimal")]
    found = [resolve(signals, url) for resolve in obeyed]
    return [statement for statement in found if statement is not None]


def _early(signals: Iterable[Signal], read: Collection[str] = ()) -> list[Signal]:
    """The statements that count where they are read; read: protocols with `resolve` of which nothing is open."""
    late = {d.name for d in detectors() if d.resolve and d.name not in read}
    return [s for s in signals if s.protocol not in late]


def _refusal(signals: Iterable[Signal]) -> Drop | None:
    """The Drop for the first statement that refuses training; None where there is none."""
    no = next((s for s in signals if s.verdict == DISALLOW), None)
    return Drop("optout", DropReason.OPTOUT, f"{no.protocol} in {no.carrier}: {no.value}"[:512]) if no else None
