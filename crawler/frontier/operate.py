"""Looking after a running crawl: what the actions of `gristmill frontier` do, and the sentence each answers with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from crawler.frontier.again import retry_failed
from crawler.frontier.client import Frontier
from crawler.frontier.configured import limits_of
from crawler.frontier.model import REOPENED, REOPENED_SECONDS, Mode
from crawler.frontier.overview import Overview, overview
from crawler.frontier.rules import adopt_rules
from crawler.number import number_of
from crawler.server.embedded import EmbeddedServer
from crawler.server.errors import FrontierError
from crawler.server.location import frontier_folder, frontier_url
from crawler.urls.canonicalize import canonicalize, host_of, printable

if TYPE_CHECKING:
    from crawler.config import Config

T = TypeVar("T")

REQUEUE = ("failed", "held", "later", "dead", "parked")
_PATIENCE_SECONDS = 5.0
_MODES = {"pause": Mode.PAUSE, "resume": Mode.RUN, "drain": Mode.DRAIN}
_SAID = {
    Mode.PAUSE: "paused: workers finish what they have and wait",
    Mode.RUN: "running",
    Mode.DRAIN: "draining: workers finish what they have and end",
}


class ActionError(ValueError):
    """The action cannot be done as it was asked for; the message says what to do instead."""


@dataclass(frozen=True, slots=True)
class Order:
    """One action as a person gave it; `crawler/commands` accepts no other combination."""

    action: str  # pause, resume, drain, requeue, purge
    what: str = ""  # of requeue: one of `REQUEUE`
    domain: str = ""
    reason: str = ""
    yes: bool = False


def status(config: Config, domain: str, top: int) -> Overview:
    """How the crawl stands; `top` domains, 0 = all. Raises: ActionError, FrontierError."""

    async def look(frontier: Frontier) -> Overview:
        try:
            return await overview(frontier, domain=scope_named(frontier, domain) if domain else "", top=top)
        except LookupError as error:
            raise ActionError(error.args[0]) from None

    return with_frontier(config, look)


def glance(config: Config) -> Overview | None:
    """What the frontier of a crawl at work says, and None where none answers soon. Starts no server."""

    async def look() -> Overview:
        frontier = Frontier(frontier_url(config), config.crawl.crawl_id, limits_of(config))
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await frontier.open()
                await adopt_rules(frontier)
                return await overview(frontier, top=1)
        finally:
            await frontier.close()

    try:
        return asyncio.run(look())
    except (FrontierError, TimeoutError, OSError):
        return None


async def act(frontier: Frontier, order: Order) -> str:
    """Do everything but `status`; returns the sentence that says what was done. Raises: ActionError, KeyError."""
    scope = scope_named(frontier, order.domain) if order.domain else ""
    if order.action == "requeue":
        if order.what == "failed":
            moved = await retry_failed(frontier, scope, order.reason)
        else:
            moved = await frontier.control.requeue(order.what, scope=scope, reason=order.reason)
        if moved and order.what == "dead":
            await frontier.shared.put_blob(REOPENED, b"1", REOPENED_SECONDS)
        return f"{number_of(moved, 'URL')} went back into {'its queue' if moved == 1 else 'their queues'}"
    if order.action == "purge":
        return await _purge(frontier, scope, order.yes)
    if scope:
        return await _pause_or_resume(frontier, scope, order.action)
    mode = _MODES[order.action]
    await frontier.control.set_mode(mode)
    return _SAID[mode]


def scope_named(frontier: Frontier, name: str) -> str:
    """The politeness scope a person means by a domain or a URL of it.

    Raises: ActionError where the scope is wider than the name, so that nobody stops a whole domain by its subdomain.
    """
    url = canonicalize(name if "://" in name else f"http://{name}/")
    if url is None:
        raise ActionError(f"{printable(name)}: expected a domain such as example.org")
    scope, host = frontier.scope_of(url), host_of(url)
    if host.removeprefix("www.") != scope.removeprefix("www.") and host != scope.removesuffix(":80"):
        raise ActionError(f"{printable(name)} shares one politeness scope with all of {scope}: use --domain {scope}")
    return scope


async def _purge(frontier: Frontier, scope: str, yes: bool) -> str:
    if not yes:
        try:
            (view,) = (await overview(frontier, domain=scope)).scopes
        except LookupError as error:
            raise ActionError(f"{error}; with --yes it is refused from now on") from None
        raise ActionError(
            f"purge removes {number_of(view.queued + view.held, 'URL')} of {scope} for good and refuses new ones: "
            "add --yes"
        )
    gone = await frontier.control.purge(scope)
    return f"{number_of(gone, 'URL')} of {scope} {'was' if gone == 1 else 'were'} removed; new ones are refused"


async def _pause_or_resume(frontier: Frontier, scope: str, action: str) -> str:
    if action == "pause":
        unknown = "" if await _is_known(frontier, scope) else "; the crawl knows no URL of it so far"
        done = "" if await frontier.control.pause(scope) else " already"
        return f"{scope} is paused{done}: nothing is sent to it until it is resumed{unknown}"
    if not await frontier.control.resume(scope):
        raise ActionError(f"{scope} is not paused")
    return f"{scope} is resumed"


async def _is_known(frontier: Frontier, scope: str) -> bool:
    try:
        await overview(frontier, domain=scope)
    except LookupError:
        return False
    return True


def with_frontier(config: Config, work: Callable[[Frontier], Awaitable[T]], *, begins: bool = False) -> T:
    """Run `work` against the crawl's frontier, joining or starting its embedded server where REDIS_URL is unset.

    Raises: FrontierError, also where CORPUS_DIR holds no frontier and `begins` does not ask for a new one.
    """

    async def main(url: str) -> T:
        frontier = Frontier(url, config.crawl.crawl_id, limits_of(config))
        try:
            await frontier.open()
            await adopt_rules(frontier)
            return await work(frontier)
        finally:
            await frontier.close()

    with ExitStack() as stack:
        url = config.crawl.redis_url
        if url is None:
            folder = frontier_folder(config)
            if not (begins or folder.is_dir()):
                raise FrontierError(
                    f"{folder} holds no frontier: set CORPUS_DIR to the folder of a crawl, or REDIS_URL"
                )
            url = stack.enter_context(EmbeddedServer(folder))
        return asyncio.run(main(url))
