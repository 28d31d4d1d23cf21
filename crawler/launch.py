"""Before the first request: every setting, argument, model, folder and server is checked, and all problems are shown.

`prepare` is what `scrapy crawl` calls before the reactor starts; `verdict_of` turns a finished crawl into an exit code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.config import Config, ConfigError, load
from crawler.frontier.client import FrontierUnavailable, check_server
from crawler.frontier.seeds import SeedError
from crawler.frontier.server import EmbeddedServer, ServerError
from crawler.stages.pii import check_models
from crawler.storage.corpus import check_folder
from crawler.storage.errors import StorageError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

ArgumentCheck = Callable[[Mapping[str, Any]], object]


class LaunchError(Exception):
    """The crawl cannot start. `problems` holds one sentence each: what, where, what to do."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


def prepare(settings: BaseSettings, arguments: Mapping[str, Any], check: ArgumentCheck, stack: ExitStack) -> Config:
    """Check everything and start the embedded server where no `REDIS_URL` is set (stopped by `stack`).

    Raises: LaunchError with every problem that could be found at once.
    """
    problems: list[str] = []
    config = _collect(problems, lambda: load(settings.get))
    _collect(problems, lambda: check(arguments))
    if config is not None:
        problems += check_models(config.pii)
        _collect(problems, lambda: check_folder(config))
    if problems or config is None:
        raise LaunchError(problems)
    _collect(problems, lambda: _reach_server(settings, config, stack))
    if problems:
        raise LaunchError(problems)
    return config


def _reach_server(settings: BaseSettings, config: Config, stack: ExitStack) -> None:
    url = config.crawl.redis_url
    if url is None:
        server = EmbeddedServer(Path(config.storage.spool_dir or config.crawl.corpus_dir))
        url = server.start()
        stack.callback(server.stop)
        settings.set("REDIS_URL", url, priority="cmdline")
    check_server(url)
    if config.dedup.redis_url:
        check_server(config.dedup.redis_url)


def _collect(problems: list[str], step: Callable[[], Any]) -> Any:
    try:
        return step()
    except (ConfigError, SeedError) as error:
        problems.extend(error.problems)
    except (StorageError, ServerError, FrontierUnavailable) as error:
        problems.append(str(error))
    return None


def failure_of(stats: Mapping[str, Any], bootstrap_failed: bool) -> str | None:
    """Why a crawl that has ended did not do what was asked; None where it did.

    A graceful stop (SIGTERM, Ctrl-C once) is a success: everything is recorded and the same command continues.
    """
    if bootstrap_failed or "finish_reason" not in stats:
        return (
            "the crawl did not start or was cut off; what was acknowledged is on the disk, the same command continues"
        )
    if error := stats.get("outcome/storage_error"):
        return str(error)
    if stats["finish_reason"] not in {"finished", "shutdown"}:
        return f"the crawl ended early: {stats['finish_reason']}; the same command continues"
    if stats.get("frontier/seeds") and not stats.get("response_received_count") and stats.get("outcome/unreached"):
        return "no seed could be fetched; the reasons are above and in rejected/"
    return None
