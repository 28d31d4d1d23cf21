"""A crawl checks every setting, argument, model, folder and server before its first request, and shows all problems.

`prepare` is what `crawl` calls before the reactor starts; `failure_of` turns a finished crawl into an exit code.
"""

from __future__ import annotations

import asyncio
import difflib
import ipaddress
import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from scrapy.settings import SETTINGS_PRIORITIES, default_settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from crawler.botauth import configured as botauth
from crawler.browser import find
from crawler.config import Config, ConfigError, declared
from crawler.config.budget import SEED, budget_of
from crawler.config.text import PROFILE_NAMES
from crawler.dataset.registry.behind import refusals_of
from crawler.dedup.index import DedupError
from crawler.dedup.make import make_index
from crawler.downloader import named_hosts
from crawler.downloader.proxy_probe import launch_problems
from crawler.frontier.again import after_outage, retry_failed
from crawler.frontier.beside import warn_of_crawls_beside
from crawler.frontier.budget import begin_from
from crawler.frontier.client import Frontier
from crawler.frontier.configured import limits_of
from crawler.frontier.rules import join_rules
from crawler.middlewares.addon import problems_of as compliance_problems
from crawler.number import number_of
from crawler.pipelines import brought
from crawler.policy.signals import registry as signals
from crawler.problems import InputError
from crawler.runtime import apply_environment, load
from crawler.seeds.api import CredentialError
from crawler.seeds.arguments import KNOWN
from crawler.seeds.plan import SeedPlan
from crawler.seeds.scope import Scope
from crawler.server.embedded import EmbeddedServer
from crawler.server.errors import FrontierError
from crawler.server.location import frontier_folder, has_embedded_index
from crawler.spiders.arguments import ReplayPlan
from crawler.spiders.behind import warn_if_behind
from crawler.spiders.rebuild import rebuild_if_lost
from crawler.stages import chain
from crawler.statkeys import FATAL
from crawler.storage.corpus.missing import check_ledgers, warn_of_missing_files
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import shard_format
from crawler.storage.files.place import Place
from crawler.urls.canonicalize import host_of

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_RECORDING = ("crawler.pipelines.sharding.ShardingPipeline", "crawler.pipelines.settlement.Settlement")
"""Pipelines without which nothing is written and no lease is acknowledged."""
ArgumentCheck = Callable[[Mapping[str, Any]], object]


def prepare(
    settings: BaseSettings,
    arguments: Mapping[str, Any],
    check: ArgumentCheck,
    stack: ExitStack,
    *,
    retry: bool = False,
) -> Config:
    """Check everything, and start the embedded server where no `REDIS_URL` is set (`stack` leaves it at the end).

    retry: bring back what failed before (`gristmill frontier requeue failed`).
    Raises: InputError with every problem that could be found at once.
    """
    apply_environment(settings)
    problems = [*misspelt_settings(settings), *compliance_problems(settings), *_pipeline_problems(settings)]
    config = _config_of(settings, problems)
    plan = _collect(problems, lambda: check(arguments))
    if isinstance(plan, ReplayPlan) and not settings.get("WORKER_ID"):
        settings.set("WORKER_ID", plan.worker_id, priority="project")  # a random one would differ in every record
    if config is not None:
        problems += chain.problems(config)
        problems += [p for p in unknown_profiles(config, plan) if p not in problems]
        problems += _withdrawal_problems(config)
        problems += _metrics_problems(config)
        problems += [] if isinstance(plan, ReplayPlan) else _signature_problems(config, problems)  # it asks nobody
        if isinstance(plan, SeedPlan):
            problems += _key_problems(plan)
            problems += _contact_problems(config, plan, problems)
            problems += _network_problems(config, plan, problems)
            problems += _browser_problems(config, plan)
            problems += _egress_problems(config, problems)
    if problems or config is None:
        raise InputError(problems)
    if isinstance(plan, SeedPlan) and not arguments and config.crawl.redis_url is None:
        _collect(problems, lambda: _frontier_to_continue(config))
    if not problems:
        _collect(problems, lambda: _claim(config))
    if not problems and isinstance(plan, SeedPlan):
        _collect(problems, lambda: _reach_server(config, plan.scope, stack, retry=retry))
    if not problems and isinstance(plan, ReplayPlan) and has_embedded_index(config):
        _collect(problems, lambda: stack.enter_context(EmbeddedServer(frontier_folder(config))))
    if problems:
        raise InputError(problems)
    return config


def _config_of(settings: BaseSettings, problems: list[str]) -> Config | None:
    """The configuration, with defaults in the place of what is unusable, so that the rest is checked."""
    try:
        return load(settings)
    except ConfigError as error:
        problems.extend(error.problems)
        return cast("Config | None", error.rest)


def _pipeline_problems(settings: BaseSettings) -> list[str]:
    """A table of pipelines without ours would fetch pages and record none; one that cannot be loaded, likewise."""
    paths = build_component_list(settings.getwithbase("ITEM_PIPELINES"))
    names = [path if isinstance(path, str) else global_object_name(path) for path in paths]
    problems = []
    for name in names:
        try:
            if not name.startswith("crawler."):
                load_object(name)
        except Exception as error:  # whatever a foreign module raises while it is imported
            problems.append(f"ITEM_PIPELINES: {name} cannot be loaded ({type(error).__name__}: {error})")
    if lacking := [name for name in _RECORDING if name not in names]:
        problems.append(
            f"ITEM_PIPELINES lacks {' and '.join(lacking)}, so no page would be recorded: add your pipelines to the "
            'table of crawler.settings, as in {**ITEM_PIPELINES, "mine.MyPipeline": 350}'
        )
    return problems


def _withdrawal_problems(config: Config) -> list[str]:
    """A list of withdrawals that cannot be read stops the crawl: doubt means no."""
    problems: list[str] = []
    place = _collect(problems, lambda: Place(config.crawl.corpus_dir, config.storage.spool_dir))
    if place is not None:
        _collect(problems, lambda: refusals_of([place]))
    return problems


def _key_problems(plan: SeedPlan) -> list[str]:
    """A source of JSON whose key this worker cannot read is told before the first request."""
    problems: list[str] = []
    for source in plan.scope.sources:
        try:
            _ = source.credential and source.credential.value()
        except CredentialError as error:
            problems.append(f"api: {error}")
    return problems


def _metrics_problems(config: Config) -> list[str]:
    """Metrics that nobody could read are no metrics: a port that is taken is told before the first request."""
    if not config.metrics.port:
        return []
    from crawler.observe.metrics.endpoint import EndpointError, check_address

    try:
        check_address(config.metrics.host, config.metrics.port)
    except EndpointError as error:
        return [str(error)]
    return []


def check_identity(settings: BaseSettings, urls: list[str]) -> Config:
    """What has to be right before a few canonical URLs are asked for, without a corpus and without a frontier.

    Raises: InputError with every problem that could be found at once.
    """
    problems = [*misspelt_settings(settings), *compliance_problems(settings), *signals.problems()]
    config = _config_of(settings, problems)
    if config is not None:
        problems += _withdrawal_problems(config)
        problems += _signature_problems(config, problems)
        problems += _egress_problems(config, problems)
    scope = Scope(link_hosts=frozenset(map(host_of, urls)))
    if config is not None:
        problems += _contact_problems(config, SeedPlan(scope), problems)
    if problems or config is None:
        raise InputError(problems)
    return config


def _claim(config: Config) -> None:
    """Raises: StorageError where the folder is somebody else's, or cannot be written."""
    shard_format(config.storage.shard_format)
    place = Place(config.crawl.corpus_dir, config.storage.spool_dir)
    place.claim()
    if config.frontier.budget:
        check_ledgers(place)  # it says what was spent
    warn_of_missing_files(place)


def _frontier_to_continue(config: Config) -> None:
    """Raises: InputError where there is nothing to crawl; asked before anything is made on the disk."""
    if not frontier_folder(config).exists():
        raise InputError([f"nothing to crawl: give {KNOWN}"])


def _reach_server(config: Config, scope: Scope, stack: ExitStack, *, retry: bool) -> None:
    """Raises: FrontierError where no usable server answers."""
    url = config.crawl.redis_url
    if url is None:
        url = stack.enter_context(EmbeddedServer(frontier_folder(config)))
    loop = asyncio.new_event_loop()  # asyncio.run() would leave the thread without the loop that the reactor looks for
    try:
        loop.run_until_complete(_knock(config, url, scope, retry=retry))
    finally:
        loop.close()


async def _knock(config: Config, url: str, scope: Scope, *, retry: bool) -> None:
    frontier = Frontier(url, config.crawl.crawl_id, limits_of(config))
    try:
        await frontier.open()
        if config.dedup.redis_url is not None:
            await _knock_at_index(config)  # before a wrong address becomes one of the rules of the crawl
        await join_rules(frontier, config, tells=False)  # the worker itself does
        await warn_of_crawls_beside(frontier)
        if await rebuild_if_lost(frontier, config, url, scope) is None:
            place = Place(config.crawl.corpus_dir, config.storage.spool_dir)
            warn_if_behind(await frontier.counts(), config, place)
        if config.frontier.budget:
            from crawler.plan.spent import spent_before  # late: few crawls have a budget

            spent, of_scopes = await asyncio.to_thread(spent_before, config)
            limits, _ = budget_of(config.frontier.budget)
            await begin_from(frontier, spent, of_scopes if SEED in limits else {})
        await _try_again(frontier, config, everything=retry)
    finally:
        await frontier.close()


async def _try_again(frontier: Frontier, config: Config, *, everything: bool) -> None:
    """What failed, or what an outage stopped. A worker of `gristmill work` leaves that to who started it."""
    retried = 0
    if everything:
        logger.warning("%s went back to be tried again", number_of(await retry_failed(frontier), "URL"))
    elif config.frontier.idle_seconds and config.crawl.progress_fd < 0:
        retried = await after_outage(frontier)
    if config.crawl.progress_fd < 0:
        await brought.note_retried(frontier.shared, retried)


async def _knock_at_index(config: Config) -> None:
    index = make_index(config)
    try:
        await index.open()
    finally:
        await index.close()


def _collect(problems: list[str], step: Callable[[], Any]) -> Any:
    try:
        return step()
    except InputError as error:
        problems.extend(error.problems)
    except (StorageError, FrontierError, DedupError) as error:
        problems.append(str(error))
    return None


_SUCCESSES = frozenset(
    {"finished", "shutdown"} | {f"closespider_{what}" for what in ("pagecount", "itemcount", "timeout")}
)
"""Ends that were asked for; Scrapy's other CLOSESPIDER_ limits watch for trouble."""


def failure_of(stats: Mapping[str, Any], bootstrap_failed: bool) -> str | None:
    """Why a crawl that has ended did not do what was asked; None where it did.

    A graceful stop (SIGTERM, Ctrl-C once) is a success, and so is a limit that was asked for (CLOSESPIDER_PAGECOUNT,
    _ITEMCOUNT, _TIMEOUT): everything is recorded and the same command continues.
    """
    if bootstrap_failed:
        return "the crawl did not start; see the messages above"
    if error := stats.get(FATAL):
        return str(error)
    if "finish_reason" not in stats and "start_time" not in stats:
        return "the crawl had not begun; the same command begins it"
    if "finish_reason" not in stats:
        return "the crawl was cut off; acknowledged pages are on the disk, the same command continues"
    if stats["finish_reason"] not in _SUCCESSES:
        return f"the crawl ended early: {stats['finish_reason']}; the same command continues"
    return brought.failure(stats)


def misspelt_settings(settings: BaseSettings) -> list[str]:
    """Settings of the command line that nobody reads, where one of ours is spelt almost alike."""
    ours = declared()
    given = [name for name in settings if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]]
    unknown = [name for name in given if name not in ours and not hasattr(default_settings, name)]
    near = {name: difflib.get_close_matches(name, ours, n=1, cutoff=0.85) for name in unknown}
    return [f"unknown setting {name}; did you mean {match[0]}?" for name, match in near.items() if match]


def unknown_profiles(config: Config, plan: object) -> list[str]:
    """Profiles that the allowlist asks for and nobody has defined: such pages would be judged by other thresholds."""
    entries = plan.scope.entries if isinstance(plan, SeedPlan) else ()
    wanted = {
        e.profile: f"allowlist, line {e.line}, {e.domain}" for e in entries if e.profile not in (*PROFILE_NAMES, "auto")
    }
    if not wanted:
        return []
    from crawler.stages.quality.stage import check_profiles  # late: no other crawl needs the stage's libraries here

    return check_profiles(config.quality, wanted)


def _browser_problems(config: Config, plan: SeedPlan) -> list[str]:
    """Pages that have to be rendered would be missing without notice where there is no browser."""
    always = [f"allowlist, line {e.line}, {e.domain}" for e in plan.scope.entries if e.js == "always"]
    return find.problems(config.browser, always)


def _signature_problems(config: Config, problems: list[str]) -> list[str]:
    """What keeps requests from being signed, unless what is wrong with that setting has been said."""
    said = {problem.partition("=")[0] for problem in problems}
    return [problem for problem in botauth.problems(config.signature) if problem.partition(" ")[0] not in said]


def _egress_problems(config: Config, problems: list[str]) -> list[str]:
    """Without a proxy that serves nothing would leave. Proxies are asked last, where all else is right."""
    if problems or not config.policy.egress_proxies:
        return []
    found, noted = launch_problems(config)
    for sentence in noted:
        logger.warning("%s", sentence)
    return found


def _contact_problems(config: Config, plan: SeedPlan, problems: list[str]) -> list[str]:
    """`contact_problem`, unless what is wrong with the contact has been said."""
    said = any(problem.startswith("CRAWLER_CONTACT=") for problem in problems)
    problem = None if said else contact_problem(config, plan)
    return [problem] if problem else []


def _network_problems(config: Config, plan: SeedPlan, problems: list[str]) -> list[str]:
    """A crawl none of whose hosts may be asked would make a corpus of nothing but refusals, which stay."""
    if any(problem.startswith("NETWORK_") for problem in problems):
        return []
    problem = named_hosts.problem_of(config, _hosts_of(plan))
    return [problem] if problem else []


def _hosts_of(plan: SeedPlan) -> set[str]:
    scope = plan.scope
    return {*scope.link_hosts, *scope.listed_hosts, *(entry.domain for entry in scope.entries)}


def contact_problem(config: Config, plan: SeedPlan) -> str | None:
    """Off loopback the crawler says who it is: a site owner must be able to reach a person."""
    strangers = [host for host in sorted(_hosts_of(plan)) if not _on_this_machine(host)]
    if config.crawl.contact or not strangers:
        return None
    return (
        f"CRAWLER_CONTACT is not set and {strangers[0]} is not on this machine: set it to a URL or an e-mail address "
        "at which the owner of a site can reach you, such as -s CRAWLER_CONTACT=https://example.org/bot"
    )


def _on_this_machine(host: str) -> bool:
    name = (urlsplit(f"//{host}").hostname or "").lower()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
