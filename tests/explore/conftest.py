"""A corpus that is served as `gristmill explore` serves it, and a client that speaks plain HTTP."""

from __future__ import annotations

import http.client
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser

from crawler.config import from_mapping
from crawler.explore.app import application
from crawler.explore.catalogue import Catalogue
from crawler.explore.guard import Guard
from crawler.explore.live import Live
from crawler.explore.serve import bound, serving
from crawler.storage.files.place import Place
from tests.support import three_domains
from tests.support.usable import chromium

TOKEN = "a-token-for-the-tests"
LIMIT = 60  # seconds for what must happen sooner or later


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str


@dataclass
class Desk:
    """A running server. `cookie`: what a browser has after it opened the printed address."""

    port: int
    catalogues: list[Catalogue] = field(default_factory=list)
    cookie: str = ""
    lives: list[Live] = field(default_factory=list)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> Answer:
        """One request, exactly as it is given; `Host`, `Cookie`, … may be overruled."""
        sent = {"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie, **headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        try:
            connection.request(method, path, body, {name: value for name, value in sent.items() if value})
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode())
        finally:
            connection.close()

    def page(self, path: str, *pairs: tuple[str, str]) -> str:
        """A page that is there."""
        answer = self.ask(path + (f"?{urlencode(pairs)}" if pairs else ""))
        assert answer.status == 200, answer.body
        return answer.body

    def post(self, path: str, **values: str) -> Answer:
        """A form as a page of this server sends it."""
        body = urlencode({"csrf": Guard.csrf_of(TOKEN), **values})
        kind = "application/x-www-form-urlencoded"
        return self.ask(path, "POST", body, **{"Origin": self.base, "Content-Type": kind})

    def enter(self) -> None:
        self.cookie = self.ask(f"/?token={TOKEN}").headers["set-cookie"].partition(";")[0]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """Serves corpora until the test ends; waits until they are read."""
    with ExitStack() as stack:

        def start(
            *folders: Path | str,
            enter: bool = True,
            crawling: bool = False,
            held_out: Sequence[str] = (),
            **settings: object,
        ) -> Desk:
            scratch = Path(tempfile.mkdtemp(dir=tmp_path))
            catalogues = [
                Catalogue(Place(str(f)), scratch / f"{n}.duckdb", crawling=crawling) for n, f in enumerate(folders)
            ]
            config = from_mapping(settings)
            crawls = [replace(config, crawl=replace(config.crawl, corpus_dir=str(f))) for f in folders]
            lives = [Live(crawl, Place(str(f))) for crawl, f in zip(crawls, folders, strict=True)]
            listening = bound("127.0.0.1", 0)
            desk = Desk(listening.getsockname()[1], catalogues, lives=lives)
            app = application(catalogues, config, TOKEN, lives=lives, held_out=held_out)
            stack.enter_context(serving(app, listening))
            for live in lives:
                stack.callback(live.close)
            for catalogue in catalogues:
                stack.callback(catalogue.close)
                catalogue.start()
                assert catalogue.wait(LIMIT)
            if enter:
                desk.enter()
            return desk

        yield start


@pytest.fixture(scope="module", name="chromium")
def running_chromium() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def desk(serve: Callable[..., Desk], tmp_path: Path) -> Desk:
    """Three domains: twelve kept pages, six rejected ones."""
    three_domains.fill(tmp_path / "corpus")
    return serve(tmp_path / "corpus")


def links(page: str, inside: str = "") -> list[str]:
    """Addresses of the links of a page, as they are written, with entities resolved."""
    return [m.replace("&amp;", "&") for m in re.findall(r'href="([^"]+)"', page) if inside in m]
