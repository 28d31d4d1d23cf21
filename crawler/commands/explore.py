"""`gristmill explore CORPUS_DIR …`: look at corpora in a browser, on this machine alone."""

from __future__ import annotations

import argparse
import faulthandler
import re
import secrets
import sys
import threading
import webbrowser
from contextlib import ExitStack, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from crawler.commands import options
from crawler.commands.command import ProjectCommand
from crawler.commands.interrupt import Interrupted
from crawler.operations.answer import Answer, Fields
from crawler.operations.numbers import whole
from crawler.server.location import frontier_folder

if TYPE_CHECKING:
    from crawler.config import Config

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")
_NEEDED = ("duckdb", "starlette", "uvicorn")
_END_SECONDS, _MORE_SECONDS = 30.0, 10.0
"""How long the end may take, and how much longer for each corpus; catalogues and server have shorter bounds."""


class Command(ProjectCommand, ScrapyCommand):
    """Serves until it is stopped, which is no error; the corpora are only read."""

    example = "explore corpus"
    usage = "[options] [CORPUS_DIR …]"
    fields: ClassVar[Fields] = {
        "address": ("string", "address of the server with the access token; printed once it answers")
    }

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Where it listens, and who may come."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on; default: this machine only")
        parser.add_argument("--port", type=whole(0), default=0, metavar="N", help="port; 0 = a free one")
        parser.add_argument("--token", metavar="T", help="access token; default: a random one")
        parser.add_argument("--redis-url", metavar="URL", help="server of a crawl on a cluster; default: REDIS_URL")
        parser.add_argument("--crawl-id", metavar="NAME", help="the crawl that is watched; default: CRAWL_ID")
        parser.add_argument("--held-out", action="append", default=[], metavar="PLACE",
                            help="texts that no corpus has, for the trial beside Learn; repeatable")  # fmt: skip
        parser.add_argument("--no-open", action="store_true", help="print the address and open no browser")

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer | None:
        """Check everything, print the address, serve. Raises: InputError."""
        if missing := [name for name in _NEEDED if find_spec(name) is None]:
            problem = f"{', '.join(missing)}: not installed; run pip install 'gristmill[explore]'"
            return Answer(problems=[problem])
        if opts.token is not None and not _TOKEN.fullmatch(opts.token):
            return Answer(
                problems=["--token: expected 16 to 200 characters out of letters, digits, - and _"], exitcode=2
            )
        if opts.held_out:
            from crawler.trial.held_out import places_of

            places_of(opts.held_out)
        asked = {"REDIS_URL": opts.redis_url, "CRAWL_ID": opts.crawl_id}
        given = {name: value for name, value in asked.items() if value is not None}
        for name, value in given.items():
            options.refuse_another(opts, name, f"--{name.lower().replace('_', '-')}", value)
        config = self.load(**given)
        folders = args or [config.crawl.corpus_dir]
        with ExitStack() as stack:
            stack.callback(faulthandler.cancel_dump_traceback_later)
            try:
                return self._serve(folders, config, opts, stack)
            finally:
                _bound_the_end(_END_SECONDS + _MORE_SECONDS * len(folders))

    def _serve(self, folders: list[str], config: Config, opts: argparse.Namespace, stack: ExitStack) -> Answer | None:
        from crawler.explore.app import application
        from crawler.explore.catalogue import Catalogue
        from crawler.explore.live import Live
        from crawler.explore.serve import ServeError, bound, serving
        from crawler.storage.files.place import Place

        token = opts.token or secrets.token_urlsafe(24)
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="explore-")))
        crawls = [_of_corpus(config, name) for name in folders]
        catalogues = [
            Catalogue(Place(name), folder / f"{n}.duckdb", crawling=_may_crawl(crawl))
            for n, (name, crawl) in enumerate(zip(folders, crawls, strict=True))
        ]
        try:
            listening = bound(opts.host, opts.port)
        except ServeError as error:
            return Answer(problems=[str(error)])
        lives = [Live(crawl, Place(name)) for name, crawl in zip(folders, crawls, strict=True)]
        app = application(catalogues, config, token, _hosts(opts.host), lives, held_out=opts.held_out)
        stack.enter_context(serving(app, listening))
        for live in lives:
            stack.callback(live.close)
        for catalogue in catalogues:
            stack.callback(catalogue.close)
            catalogue.start()
        address = f"http://{_shown(opts.host)}:{listening.getsockname()[1]}/?token={token}"
        self.tell(Answer({"address": address}, [address, "Ctrl-C ends it. Anyone with this address may look."]))
        if not opts.no_open:
            webbrowser.open(address)
        with suppress(Interrupted):  # the end that was announced
            while True:
                threading.Event().wait(1.0)  # a signal that another thread of the process was given is seen then
        return None


def _bound_the_end(seconds: float) -> None:
    """End the process in so many seconds, whoever holds it then, and show where each of its threads is."""
    if sys.__stderr__ is not None:  # closed: nobody would see it
        faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__)


def _of_corpus(config: Config, folder: str) -> Config:
    """The settings of a crawl into this corpus: its frontier is found by its folder."""
    return replace(config, crawl=replace(config.crawl, corpus_dir=folder))


def _may_crawl(config: Config) -> bool:
    """True where a frontier is named, or lies in the folder: a crawl may be at work that has sealed nothing yet."""
    return config.crawl.redis_url is not None or frontier_folder(config).is_dir()


def _hosts(host: str) -> list[str]:
    """Names under which the server may be asked for, beside loopback."""
    return ["*"] if host in ("0.0.0.0", "::") else [host]  # noqa: S104  # only where the user asks for it


def _shown(host: str) -> str:
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104
    return f"[{host}]" if ":" in host else host
