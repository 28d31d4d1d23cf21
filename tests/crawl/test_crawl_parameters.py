"""A site that hands out session ids, sort orders and campaign links: they are found out, proposed, taken off links."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from crawler.observe.report.summary import summarise
from tests.support import warm
from tests.support.places import PROJECT
from tests.support.serving import Handler, article
from tests.support.site import Served

TOPICS = 24


@dataclass
class Forum(Served):
    """Topics behind pages of a list; every page hands out a new session, every topic stands in two orders.

    `/list?from=N` needs its parameter, and has no text; `?ad=` stands on one link in three.
    """

    asked: list[str] = field(default_factory=list)
    sessions: int = 0

    def serve(self, request: Handler) -> None:
        self.asked.append(request.path)
        request.send(*self.answer(request.path))

    def answer(self, path: str) -> tuple[int, bytes]:
        self.sessions += 1
        sid = f"s{self.sessions}"
        if found := re.match(r"/topic/(\d+)", path):
            n = int(found[1])
            links = [f"/topic/{n}?order={order}&amp;sid={sid}" for order in ("old", "new")]
            links += [f"/topic/{(n + 7) % TOPICS}?ad=x{n}", f"/list?from=0&amp;sid={sid}"]
            anchors = "".join(f'<li><a href="{link}">{link.partition("=")[0]}</a></li>' for link in links)
            body = article(f"forum topic {n}", title=f"Topic {n}")
            return 200, body.replace(b"</body>", f"<nav><ul>{anchors}</ul></nav></body>".encode())
        if found := re.match(r"/list\?from=(\d+)", path):
            start = int(found[1])
            links = [f"/topic/{n}" for n in range(start, min(start + 6, TOPICS))]
            links += [f"/list?from={start + 6}&amp;sid={sid}"] if start + 6 < TOPICS else []
            return 200, ("<html><body>" + "".join(f'<a href="{link}">{link}</a> ' for link in links)).encode()
        return 404, b""

    def topics_asked(self) -> int:
        return sum(path.startswith("/topic/") for path in self.asked)


@pytest.fixture
def forum() -> Iterator[Forum]:
    site = Forum().start()
    yield site
    site.stop()


def crawl_forum(crawl, forum, **settings):
    crawl.settings = {"NETWORK_PORTS": forum.port, "FRONTIER_BARREN_PAGES": 120, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    done = crawl.run({"url": f"{forum.base}/list?from=0"}, timeout=280, **settings)
    assert done.returncode == 0, done.stderr
    return {re.search(r"/topic/(\d+)", str(record["url"]))[1] for record in crawl.records()}


def frontier(crawl, *words: str) -> str:
    command = [sys.executable, "-m", "scrapy", "frontier", "-s", f"CORPUS_DIR={crawl.folder}", *words]
    done = warm.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def params(crawl, forum) -> dict[str, dict[str, object]]:
    rows = json.loads(frontier(crawl, "params", "--domain", f"127.0.0.1:{forum.port}", "--json"))["parameters"]
    return {row["name"]: row for row in rows}


def test_the_crawl_proposes_what_changes_no_page(crawl, forum):
    kept = crawl_forum(crawl, forum)
    assert kept == {str(n) for n in range(TOPICS)}
    found = params(crawl, forum)
    learned = {name for name, row in found.items() if row["learned"]}  # as far as the evidence goes when all is kept
    assert {"sid"} <= learned <= {"sid", "order", "ad"}
    assert learned & {"order", "ad"}
    assert found["from"]["same"] == 0
    said = frontier(crawl, "params")
    assert re.search(r"sid: changes no page \(\d+ pairs on \d+ pages are the same, \d+ of them", said)
    assert f"-s FRONTIER_TRACKING_PARAMS=127.0.0.1:{forum.port}:" in said
    proposed = summarise(str(crawl.folder)).parameters
    assert proposed == {f"127.0.0.1:{forum.port}:{name}": row["same"] for name, row in found.items() if row["learned"]}


def test_a_crawl_that_may_takes_them_off_and_keeps_every_topic(crawl, forum):
    kept = crawl_forum(crawl, forum, FRONTIER_LEARN_PARAMS=1)
    assert kept == {str(n) for n in range(TOPICS)}
    same = [record for record in crawl.records("rejected") if record["reason"] == "same_page"]
    for record in same:
        assert re.search(r"changes? no page here: http://127.0.0.1:\d+/(topic/\d+|list\?from=\d+)", record["detail"])
        assert str(record["url"]).removeprefix(forum.base) not in forum.asked
    assert "links lose " in frontier(crawl, "params")
