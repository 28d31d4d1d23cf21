"""A web in which each address of 127.0.4.0/24 is a site that says something else about AI training."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm
from tests.support.places import PROJECT
from tests.support.serving import Handler, LoopbackServer

# Our own text, plain and long enough for every quality rule.
PAGE = "<html lang=en><head><title>A page</title>{meta}</head><body><main>{text}</main></body></html>"
RSL = """<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license><prohibits type="usage">ai-train</prohibits>
</license></content></rsl>"""


@dataclass
class Reply:
    body: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def text_of(number: int) -> str:
    sentences = [
        f"In garden number {number} the old wall keeps the warmth of the day, and the beans that climb along it ripen "
        f"two weeks before those in the open bed.",
        "We water in the morning because wet leaves at night invite mildew, which is hard to be rid of in a cool year.",
        "The compost is turned when it no longer steams; after that it rests until the worms have left it.",
        "Whoever has little room can grow herbs on a step in front of the door, as long as no pot stands in water.",
        "A hedge needs cutting twice, once after the birds have gone and once before the frost makes the wood brittle.",
    ]
    return "".join(f"<p>{' '.join(sentences[i:] + sentences[:i])}</p>" for i in range(3))


def page(number: int, meta: str = "", **headers: str) -> Reply:
    return Reply(PAGE.format(meta=meta, text=text_of(number)), headers={"Content-Type": "text/html", **headers})


ALL = "User-agent: *\nDisallow:\n"
SITES: dict[str, dict[str, Reply]] = {
    "open": {"/robots.txt": Reply("User-agent: *\nAllow: /\nDisallow: /private\nSitemap: /s.xml\nCrawl-delay: 0.2\n")},
    "private": {"/robots.txt": Reply("User-agent: CorpusBot\nDisallow: /p\n")},
    "gptbot": {"/robots.txt": Reply("User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /admin\n")},
    "down": {"/robots.txt": Reply(status=503)},
    "locked": {"/robots.txt": Reply(status=401)},
    "tdmrep": {"/.well-known/tdmrep.json": Reply('[{"location": "/p", "tdm-reservation": 1}]')},
    "tdmrep-overruled": {
        "/.well-known/tdmrep.json": Reply('[{"location": "/", "tdm-reservation": 1}]'),
        "/p": page(1, '<meta name="tdm-reservation" content="0">'),
    },
    "broken-tdmrep": {"/.well-known/tdmrep.json": Reply('[{"location": "/p", ')},
    "header": {"/p": page(2, **{"X-Robots-Tag": "noai"})},
    "meta": {"/p": page(3, '<meta name="robots" content="noai, follow">')},
    "ai-txt": {"/ai.txt": Reply("User-Agent: *\nDisallow: /\n")},
    "trust-txt": {"/trust.txt": Reply("datatrainingallowed=no\n")},
    "rsl": {"/robots.txt": Reply(f"License: /licence.xml\n{ALL}"), "/licence.xml": Reply(RSL)},
    "content-signal": {"/robots.txt": Reply("User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n")},
    "content-usage": {"/robots.txt": Reply("User-agent: *\nContent-Usage: train-ai=n\nAllow: /\n")},
    "denied": {"/p": Reply("pay first", 402)},
    "gone": {"/p": Reply("", 410)},
    "moved": {"/p": Reply("", 301, {"Location": "http://{open}/p"})},
}
NUMBERS = {name: number for number, name in enumerate(SITES, start=1)}


class SiteHandler(Handler):
    server: Web

    def respond(self) -> None:
        self.server.log.append((self.address, self.path, self.headers["User-Agent"]))
        number = int(self.address.rpartition(".")[2])
        site = dict(zip(NUMBERS.values(), SITES.values(), strict=True)).get(number, {})
        usual = page(100 + number) if self.path == "/p" else Reply(status=404)
        reply = site.get(self.path, usual)
        named = {name: value.replace("{open}", self.server.host("open")) for name, value in reply.headers.items()}
        self.send(reply.status, reply.body.encode(), "text/plain", named)


class Web(LoopbackServer):
    def __init__(self) -> None:
        super().__init__(SiteHandler)
        self.log: list[tuple[str, str, str]] = []

    def host(self, name: str) -> str:
        return f"127.0.4.{NUMBERS[name]}:{self.server_address[1]}"

    def url(self, name: str, path: str = "/p") -> str:
        return f"http://{self.host(name)}{path}"

    def asked(self, name: str) -> list[str]:
        return [path for address, path, _ in self.log if address == self.host(name).partition(":")[0]]


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with Web() as server:
        yield server


@pytest.fixture(scope="module")
def scrapy(web: Web) -> Callable[..., Done]:
    """Runs `scrapy` with the network opened to the test web."""

    def run(command: str, *arguments: str, cwd: Path = PROJECT, **settings: Any) -> Done:
        usual = {"NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": web.server_address[1], "DOWNLOAD_DELAY": 0}
        options = [item for name, value in (usual | settings).items() for item in ("-s", f"{name}={value}")]
        clean = {name: value for name, value in os.environ.items() if name not in {"REDIS_URL", "CORPUS_DIR"}}
        tmp = cwd if cwd != PROJECT else Path(tempfile.gettempdir())
        clean |= {"PYTHONPATH": str(PROJECT), "SCRAPY_SETTINGS_MODULE": "crawler.settings", "TMPDIR": str(tmp)}
        done = warm.run(
            [sys.executable, "-m", "scrapy", command, *options, *arguments],
            cwd=cwd,
            env=clean,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run
