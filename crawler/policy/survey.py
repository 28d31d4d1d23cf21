"""A survey says what a host's control files state, and to whom, before any page is fetched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from crawler.document import Drop, Signal
from crawler.policy.explain import Answer, FileRead, answer_of, because, robots_sentence
from crawler.policy.robots.answer import RobotsRecord
from crawler.policy.robots.group import EVERYBODY, Group
from crawler.policy.robots.parse import RobotsFile
from crawler.policy.signals.ai_bots import is_ai_bot


@dataclass(frozen=True, slots=True)
class GroupView:
    """One group of robots.txt. `home` is whether its first bot may fetch "/"; `training` where it names an AI bot."""

    agents: list[str]
    rules: int
    home: bool
    training: bool


@dataclass(frozen=True, slots=True)
class Survey:
    """One host. `answer` and `because` are about its front page, "/", as far as files can tell."""

    authority: str
    answer: Answer
    because: list[str]
    reason: str = ""
    group: str = ""  # which group of robots.txt speaks to us: our token, "*", or none
    delay_seconds: float | None = None
    files: list[FileRead] = field(default_factory=list)
    groups: list[GroupView] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    licences: list[str] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)


def survey(
    authority: str,
    record: RobotsRecord | None,
    parsed: RobotsFile | None,
    *,
    drop: Drop | None,
    signals: Iterable[Signal],
    files: list[FileRead],
    product_token: str,
    profile: str,
) -> Survey:
    """Put together what was read. `drop` is what the crawl would say to "/" before asking for it."""
    seen = list(signals)
    says = robots_sentence(record, "/", product_token)
    known = parsed or RobotsFile()
    return Survey(
        authority=authority,
        answer=answer_of(drop),
        because=because(drop, seen, says, profile),
        reason=drop.reason.value if drop else "",
        group=known.decide(product_token, "/").group,
        delay_seconds=known.crawl_delay(product_token),
        files=files,
        groups=[_view(known, group) for group in known.groups],
        sitemaps=list(dict.fromkeys(known.sitemaps)),
        licences=list(dict.fromkeys(r.value for r in known.records_for(product_token, "license"))),
        signals=seen,
    )


def _view(robots: RobotsFile, group: Group) -> GroupView:
    everybody = [EVERYBODY] if EVERYBODY in group.agents else []
    agents = list(dict.fromkeys([*everybody, *group.names, *group.meant]))
    first = agents[0] if agents else EVERYBODY
    named = None if first == EVERYBODY else robots.decide_named(first, "/")
    decision = named or robots.decide(first, "/")
    return GroupView(agents, len(group.rules), decision.allowed, any(is_ai_bot(name) for name in agents))
