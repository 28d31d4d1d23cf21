"""A made web of several sites on loopback with a log, and the plan of a crawl of it; for the measurements beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.places import PROJECT
from tests.plan.conftest import SETTINGS
from tests.support.process import clean_environment
from tests.support.serving import Handler, LoopbackServer, article

AHEAD = 40
"""Pages that a page links to."""


class Asked(NamedTuple):
    """One request, as the site saw it. sent: bytes of the body; is_page: of a page, not of a control file."""

    site: str
    path: str
    sent: int
    is_page: bool


class Town(LoopbackServer):
    """Each address is a site of `/` and of `/0` to `/{pages - 1}`; each page links to the next ones.

    thin: each so-manieth page has no text to keep, another one on each site; 0 = none.
    """

    def __init__(self, pages: int, thin: int = 0) -> None:
        self.log: list[Asked] = []

        class Answers(Handler):
            def respond(self) -> None:
                number = self.path.strip("/")
                is_page = self.path == "/" or (number.isdigit() and int(number) < pages)
                site = int(self.address.rpartition(".")[2])
                words = 0 if thin and number.isdigit() and (int(number) + site) % thin == 0 else 160
                first = int(number) if number.isdigit() else 0
                links = tuple(f"/{n}" for n in range(first, min(pages, first + AHEAD)))
                body = article(f"{self.address}{self.path}", words=words, links=links) if is_page else b""
                town.log.append(Asked(self.address, self.path, len(body), is_page))
                self.send(200 if is_page else 404, body)

        town = self
        super().__init__(Answers)

    def home(self, site: int) -> str:
        """The first page of a site, from 0."""
        return f"http://127.0.6.{site + 1}:{self.port}/0"

    def asked_since(self, before: int, site: str = "") -> list[Asked]:
        """What came after the first `before` requests, of one site or of all."""
        return [one for one in self.log[before:] if site in ("", one.site)]


def plan_text(town: Town, where: str, limits: Mapping[str, Any], *, workers: int = 1, **settings: Any) -> str:
    """`crawl.yaml` of a crawl of the town. where: YAML of the keys that say where it begins."""
    given = SETTINGS | {"NETWORK_PORTS": town.port} | settings
    lines = ["name: town", "corpus: corpus", f"workers: {workers}", where, f"limits: {json.dumps(limits)}", "settings:"]
    return "\n".join([*lines, *(f"  {name}: {json.dumps(str(value))}" for name, value in given.items())]) + "\n"


def gristmill(folder: Path, *words: str, timeout: float = 900) -> str:
    """What the command prints. Raises: RuntimeError where it ends with another code than 0."""
    call = [sys.executable, "-m", "crawler.commands.gristmill", *words]
    done = subprocess.run(
        call, cwd=folder, env=clean_environment(PYTHONPATH=str(PROJECT)), capture_output=True, text=True,
        timeout=timeout, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def facts(folder: Path, *words: str) -> dict[str, Any]:
    """The same, of its `--json`."""
    found: dict[str, Any] = json.loads(gristmill(folder, *words, "--json"))
    return found
