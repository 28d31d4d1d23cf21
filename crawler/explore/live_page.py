"""The live page: a running crawl as one picture that renews itself, and the orders that a person may give it.

An order is asked for first and given by a form; it does what `gristmill frontier` does, with the same checks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from crawler.dataset.records.filters import FilterError
from crawler.explore.guard import FORM
from crawler.explore.html import render
from crawler.explore.live import Live, Look
from crawler.frontier.operate import ActionError, Order, act, with_frontier
from crawler.frontier.status_table import humane, ordered
from crawler.observe.outcomes import is_held_name, outcomes
from crawler.server.errors import FrontierError
from crawler.stages.chain import STAGES

ORDERS = {
    "pause": "Workers finish what they have and wait.",
    "resume": "It is no longer paused.",
    "drain": "Workers finish what they have and end.",
}
"""What may be ordered from here, with what it does."""
MAX_DOMAIN = 300
REASONS = 3
"""Reasons of each step that are shown."""
_TITLES = {"pii": "Personal data"}
_STEPS = (
    ("Frontier", ("frontier", "scope", "seeds")),
    ("Policy", ("robots", "policy", "guard", "optout")),
    ("Fetching", ("fetch", "recrawl", "archive", "browser")),
    *((_TITLES.get(name, name.capitalize()), (name,)) for name in STAGES if name not in ("optout", "fingerprint")),
    ("Duplicates", ("exact", "near", "dedup")),
)
"""Steps of the picture, in the order of the flow, with the names under which records say who rejected them."""
Frame = Callable[[int], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the flow: pages that came so far, and how many ended here for which reasons."""

    name: str
    came: int
    ended: int
    reasons: tuple[tuple[str, int], ...]

    @property
    def passed(self) -> int:
        """Pages that went on."""
        return self.came - self.ended


def flow(kept: int, rejected: dict[str, int]) -> list[Step]:
    """The steps that pages with a verdict have gone through; one that nobody names stands before the last."""
    known = {stage for _, stages in _STEPS for stage in stages}
    others = tuple(sorted({name.partition("/")[0] for name in rejected} - known))
    steps, left = [], kept + sum(rejected.values())
    for name, stages in (*_STEPS[:-1], ("Other", others), _STEPS[-1]):
        here = [(what, count) for what, count in rejected.items() if what.partition("/")[0] in stages]
        ended = sum(count for _, count in here)
        if name != "Other" or here:
            reasons = tuple(
                (what.partition("/")[2], n) for what, n in sorted(here, key=lambda item: -item[1])[:REASONS]
            )
            steps.append(Step(name, left, ended, reasons))
        left -= ended
    return steps


def routes(lives: Sequence[Live], frame: Frame) -> list[Route]:
    """Addresses of the live page, of its stream, and of the orders."""

    def live_of(request: Request) -> tuple[Live, dict[str, Any]]:
        number = request.path_params["number"]
        if number >= len(lives):
            raise HTTPException(404)
        return lives[number], frame(number)

    async def page(request: Request) -> Response:
        live, around = live_of(request)
        return HTMLResponse(render("live.html", **around, **shown(await live.look()), said="", problem=""))

    async def stream(request: Request) -> Response:
        live, around = live_of(request)
        return StreamingResponse(_events(live, around), media_type="text/event-stream")

    async def ask(request: Request) -> Response:
        _, around = live_of(request)
        order = _order(request.query_params.multi_items())
        return HTMLResponse(render("order.html", **around, order=order, does=ORDERS[order.action]))

    async def give(request: Request) -> Response:
        live, around = live_of(request)
        said, problem = await _given(live, _order(request.scope[FORM]))
        content = render("live.html", **around, **shown(await live.look()), said=said, problem=problem)
        return HTMLResponse(content, 409 if problem else 200)

    return [
        Route("/{number:int}/live", page),
        Route("/{number:int}/live/stream", stream),
        Route("/{number:int}/live/order", ask),
        Route("/{number:int}/live/order", give, methods=["POST"]),
    ]


async def _events(live: Live, around: dict[str, Any]) -> AsyncIterator[str]:
    """Server-sent events (HTML Living Standard, 9.2): each holds the part of the page that changes."""
    async with aclosing(live.watch()) as looks:
        async for look in looks:
            yield event(render("live_now.html", **around, **shown(look)))


def event(content: str) -> str:
    """One event; its data may have many lines, ended by any of the line ends that the format knows."""
    return "".join(f"data: {line}\n" for line in content.splitlines()) + "\n"


def shown(look: Look) -> dict[str, Any]:
    """What the templates draw of a look."""
    written, told = look.written, outcomes(look.written.rejected)
    waits = ((told.unchanged, "unchanged since the visit before"), (told.on_hold, "on hold for a later run"))
    ended = {name: n for name, n in written.rejected.items() if name in told.rejected or is_held_name(name)}
    return {
        "look": look,
        "mode": ordered(look.view) if look.view else "",
        "steps": flow(written.kept, ended),
        "judged": written.kept + sum(ended.values()),
        "beside": ", ".join(f"{n:,} {what}" for n, what in waits if n),
        "humane": humane,
    }


def _order(pairs: Sequence[tuple[str, str]]) -> Order:
    """Raises: FilterError where it is no order."""
    given = dict(pairs)
    action, domain = given.get("action", ""), given.get("domain", "").strip()
    if action not in ORDERS or (action == "drain" and domain) or len(domain) > MAX_DOMAIN:
        raise FilterError("an order is pause or resume, of the crawl or of one domain, or drain, of the crawl")
    return Order(action, domain=domain)


async def _given(live: Live, order: Order) -> tuple[str, str]:
    """What was said to the order, and what was wrong with it."""
    try:
        said = await asyncio.to_thread(with_frontier, live.config, lambda frontier: act(frontier, order))
    except (ActionError, FrontierError) as error:
        return "", str(error)
    live.soon()
    return said, ""
