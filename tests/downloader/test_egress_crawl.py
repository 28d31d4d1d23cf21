"""Whole crawls through real proxies: nothing leaves but through them, and what they do is never a site's failure."""

from __future__ import annotations

import base64
import json
import signal
import socket
import time
from collections import defaultdict
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from crawler.observe.report.summary import summarise
from tests.middlewares.wire.policy_cases import to
from tests.middlewares.wire.test_wire_guard import SPELLINGS, listening_on_ipv6
from tests.support.corpus_crawl import CorpusCrawl, crawl, finished, start_crawl
from tests.support.forward_proxies import KINDS, PASSWORD, USER, ForwardProxy
from tests.support.loopback_web import FORBIDDEN, Answer, PolicyWeb
from tests.support.ports import free_port
from tests.support.process import scrapy
from tests.support.serving import DEADLINE, Gate, Handler, LoopbackServer, article

FIRST, SECOND, DIRECT = "127.99.0.1", "127.99.0.2", "127.0.0.1"
LOGIN = base64.b64encode(f"{USER}:{PASSWORD}".encode())


class GuardedWeb(PolicyWeb):
    def __init__(self) -> None:
        super().__init__()
        self.sources: set[str] = set()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        self.sources.add(client_address[0])
        return super().verify_request(request, client_address)


class Sites(LoopbackServer):
    """Every address is a site of pages `/0`, `/1`, …; the log has who asked when. Pages wait at the gate, where there
    is one; `status` of a page is what stands in front of its number, as in /403-1."""

    def __init__(self, gate: Gate | None = None) -> None:
        self.log: defaultdict[str, list[tuple[float, str, str]]] = defaultdict(list)  # site → time, source, path

        class Answers(Handler):
            def respond(self) -> None:
                web.log[self.address].append((time.monotonic(), self.client_address[0], self.path))
                word = self.path.strip("/")
                if not word.replace("-", "").isdigit():
                    self.send(404)
                    return
                if gate is not None:
                    gate.pass_through()
                status = int(word.partition("-")[0]) if "-" in word else 200
                self.send(status, article(f"{self.address}{self.path}"))

        web = self
        super().__init__(Answers)

    @property
    def sources(self) -> set[str]:
        return {source for asked in self.log.values() for _, source, _ in asked}

    def urls(self, sites: int, pages: int, prefix: str = "") -> list[str]:
        return [f"http://127.0.6.{n + 1}:{self.port}/{prefix}{page}" for n in range(sites) for page in range(pages)]


def figures(done: CorpusCrawl) -> dict[str, dict[str, int]]:
    """What the manifest says of each proxy."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for name, count in json.loads((done.folder / "manifest.json").read_text())["runs"][-1]["counters"].items():
        if name.startswith("egress/"):
            _, proxy, what = name.split("/")
            found[proxy][what] = count
    return found


def wait_for(file: Path, words: str) -> None:
    until = time.monotonic() + DEADLINE
    while words not in (file.read_text() if file.exists() else ""):
        assert time.monotonic() < until, f"nobody said {words!r}"
        time.sleep(0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_no_spelling_of_a_closed_address_passes_through_a_proxy_and_no_login_is_told(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("PORTER", f"{USER}:{PASSWORD}")
    source = "" if kind == "proxy.py" else FIRST
    with (
        GuardedWeb() as web,
        listening_on_ipv6(web.port) as arrived,
        ForwardProxy(kind, tmp_path, source, login=True) as proxy,
    ):
        urls = [f"http://{host}:{web.port}/page" for host in SPELLINGS]
        lines = "".join(f"Sitemap: http://{host}:{web.port}/sitemap.xml\n" for host in SPELLINGS)
        links = "".join(f'<a href="{url}?linked">here</a>' for url in urls)
        redirects = {f"/to/{n}": to(f"{url}?redirected") for n, url in enumerate(urls) if url.isascii()}
        body = article("guard") + links.encode()
        robots = Answer(body=lines.encode(), content_type="text/plain")
        web.site("127.4.0.1", {"/robots.txt": robots, "/page": Answer(body=body)} | redirects)
        web.site("127.4.0.2", {"/robots.txt": to("@forbidden@/robots.txt"), "/page": Answer(body=body)})
        here = f"http://127.4.0.1:{web.port}"
        seeds = [*urls, f"{here}/page", *(here + path for path in redirects), f"http://127.4.0.2:{web.port}/page"]
        done = crawl(
            tmp_path / "corpus",
            seeds,
            web.port,
            CRAWLER_CONTACT="https://example.org/bot",
            EGRESS_PROXIES=proxy.url,
        )
    assert done.returncode == 0, done.log[-3000:]
    assert set(web.connected) == {"127.4.0.1", "127.4.0.2"}
    assert web.sources == {source or DIRECT}
    assert arrived == []
    assert set(done.kept) == {f"{here}/page"}
    forbidden = {url for url, record in done.rejected.items() if record["reason"] == "network_forbidden"}
    closed = f"http://{FORBIDDEN}:{web.port}/page"
    assert {closed, f"{closed}?linked", f"{closed}?redirected"} <= forbidden
    assert figures(done)[proxy.name]["requests"] > 2
    assert b"WARC-IP-Address: 127.4.0.1" in done.everything
    assert b"WARC-IP-Address: 127.0.0.1" not in done.everything
    assert PASSWORD.encode() not in done.everything
    assert LOGIN not in done.everything


def test_a_proxy_that_is_killed_costs_no_page_no_try_and_no_direct_connection(tmp_path):
    gate = Gate(6)
    with (
        Sites(gate) as web,
        ForwardProxy("tinyproxy", tmp_path, FIRST) as first,
        ForwardProxy("microsocks", tmp_path, SECOND) as second,
    ):
        urls = web.urls(8, 4)
        running = start_crawl(
            tmp_path / "corpus",
            urls,
            web.port,
            EGRESS_PROXIES=f"{first.url},{second.url}",
            RETRY_TIMES=0,
            OPTOUT_PROFILE="minimal",
            CONCURRENT_REQUESTS_PER_DOMAIN=1,
            METRICS_PORT=(port := free_port()),
        )
        gate.wait(8)
        metrics = urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
        status = scrapy("frontier", "status", settings={"CORPUS_DIR": tmp_path / "corpus"}).stdout
        first.kill()
        gate.open()
        done = finished(tmp_path / "corpus", running)
    assert done.returncode == 0, done.log[-3000:]
    assert set(done.kept) == set(urls), done.rejected
    assert web.sources == {FIRST, SECOND}
    found = figures(done)
    assert found[first.name]["failures"] >= 1
    assert found[first.name]["broken_off"] >= 1
    assert "failures" not in found[second.name]
    for proxy in (first, second):
        assert f'corpus_egress_total{{event="requests",proxy="{proxy.name}"}}' in metrics
        assert f"proxy {proxy.name}  " in status
    summary = summarise(str(tmp_path / "corpus"))
    assert summary.proxies == {name: figure["requests"] for name, figure in found.items()}
    assert summary.proxy_failures == {first.name: found[first.name]["failures"]}
    assert first.name in (tmp_path / "corpus" / "report.html").read_text()


def test_with_all_proxies_away_the_crawl_waits_says_so_and_goes_on_when_one_is_back(tmp_path):
    gate, log = Gate(2), tmp_path / "log"
    with Sites(gate) as web, ForwardProxy("microsocks", tmp_path, FIRST) as proxy:
        urls = web.urls(3, 4)
        running = start_crawl(
            tmp_path / "corpus",
            urls,
            web.port,
            EGRESS_PROXIES=proxy.url,
            RETRY_TIMES=0,
            OPTOUT_PROFILE="minimal",
            CONCURRENT_REQUESTS_PER_DOMAIN=1,
            LOG_FILE=log,
            LOG_LEVEL="WARNING",
        )
        gate.wait(3)
        proxy.kill()
        gate.open()
        wait_for(log, f"EGRESS_PROXIES: {proxy.name} is not reached (Connection refused)")
        asked = sum(map(len, web.log.values()))
        wait_for(log, "no request is sent until one serves again")
        assert sum(map(len, web.log.values())) == asked
        proxy.start()
        done = finished(tmp_path / "corpus", running)
    assert done.returncode == 0, done.log[-3000:]
    assert set(done.kept) == set(urls), done.rejected
    assert web.sources == {FIRST}
    assert f"{proxy.name} serves again" in log.read_text()


def test_a_proxy_that_is_away_until_the_crawl_stops_spends_no_budget_and_counts_no_request(tmp_path):
    gate, folder = Gate(1), tmp_path / "corpus"
    with Sites(gate) as web, ForwardProxy("microsocks", tmp_path, FIRST) as proxy:
        urls = web.urls(3, 4)
        settings = {
            "EGRESS_PROXIES": proxy.url,
            "OPTOUT_PROFILE": "minimal",
            "COST_REQUEST": 1,
            "FRONTIER_BUDGET": "fetched:13,money:40",
            "LOG_FILE": tmp_path / "log",
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        }
        running = start_crawl(folder, urls, web.port, **settings)
        gate.wait(3)  # every site has one request in hand, and no other one is under way
        proxy.kill()
        gate.open()
        away = finished(folder, running)
        log = (tmp_path / "log").read_text()
        assert away.returncode == 1, log[-3000:]
        assert "is reached" not in log.replace("is not reached", "")
        counters = json.loads((folder / "manifest.json").read_text())["runs"][-1]["counters"]
        assert counters.get("downloader/request_count", 0) <= figures(away)[proxy.name]["requests"]
        proxy.start()
        back = crawl(folder, urls, web.port, **settings)
    assert back.returncode == 0, (tmp_path / "log").read_text()[-3000:]
    assert set(back.kept) == set(urls), back.rejected


def test_a_proxy_that_stands_still_is_told_from_a_site_that_does(tmp_path):
    gate, log = Gate(1), tmp_path / "log"
    with (
        Sites(gate) as web,
        ForwardProxy("tinyproxy", tmp_path, FIRST) as proxy,
        socket.create_server(("127.0.7.1", 0)) as silent,
    ):
        urls, port = web.urls(1, 4), silent.getsockname()[1]
        running = start_crawl(
            tmp_path / "corpus",
            [*urls, f"http://127.0.7.1:{port}/0"],
            f"{web.port},{port}",  # type: ignore[arg-type]
            EGRESS_PROXIES=proxy.url,
            RETRY_TIMES=0,
            OPTOUT_PROFILE="minimal",
            DOWNLOAD_TIMEOUT=4,
            CONCURRENT_REQUESTS_PER_DOMAIN=1,
            LOG_FILE=log,
            LOG_LEVEL="WARNING",
        )
        gate.wait(1)
        proxy.kill(signal.SIGSTOP)
        wait_for(log, f"EGRESS_PROXIES: {proxy.name} does not answer")
        gate.open()
        proxy.kill(signal.SIGCONT)
        done = finished(tmp_path / "corpus", running)
    assert done.returncode == 0, log.read_text()[-3000:]
    assert set(done.kept) == set(urls), done.rejected
    assert [record["reason"] for record in done.rejected.values()] == ["hold_robots_unreachable"]
    assert web.sources == {FIRST}


def test_a_no_of_a_site_never_changes_its_proxy_nor_does_a_dead_site_retire_one(tmp_path):
    with (
        Sites() as web,
        ForwardProxy("tinyproxy", tmp_path, FIRST) as first,
        ForwardProxy("microsocks", tmp_path, SECOND) as second,
        Sites() as closed,
    ):
        closed.stop()
        urls = [*web.urls(8, 2), *web.urls(8, 1, "403-"), *web.urls(8, 1, "429-"), *web.urls(8, 2, "503-")]
        dead = [f"http://127.0.7.{n}:{web.port + 1}/0" for n in range(2)]
        done = crawl(
            tmp_path / "corpus",
            [*urls, *dead],
            f"{web.port},{web.port + 1}",  # type: ignore[arg-type]
            EGRESS_PROXIES=f"{first.url},{second.url}",
            RETRY_TIMES=1,
            FRONTIER_SLOWDOWN_MAX_SECONDS=0.2,
            FRONTIER_BREAKER_FAILURES=0,
        )
    assert done.returncode == 0, done.log[-3000:]
    assert {len({source for _, source, _ in asked}) for asked in web.log.values()} == {1}
    assert web.sources == {FIRST, SECOND}
    assert set(done.kept) == set(web.urls(8, 2))
    assert {done.rejected[url]["reason"] for url in dead} <= {"download_failed", "hold_robots_unreachable"}
    assert not any("failures" in found for found in figures(done).values())


def test_three_proxies_ask_a_site_no_faster_than_none(tmp_path):
    delay, logs = 0.25, {}
    for proxies in (0, 3):
        running = [ForwardProxy("microsocks", tmp_path / str(proxies), f"127.99.0.{n + 1}") for n in range(proxies)]
        with Sites() as web:
            for one in running:
                one.start()
            try:
                done = crawl(
                    tmp_path / f"corpus{proxies}",
                    web.urls(4, 5),
                    web.port,
                    EGRESS_PROXIES=",".join(one.url for one in running),
                    DOWNLOAD_DELAY=delay,
                    ADDRESS_DELAY=0,
                    CONCURRENT_REQUESTS_PER_DOMAIN=1,
                )
            finally:
                for one in running:
                    one.kill()
            logs[proxies] = web.log
            assert len(done.kept) == 20, done.log[-3000:]
            assert web.sources <= {one.source for one in running} if proxies else web.sources == {DIRECT}
    for log in logs.values():
        for asked in log.values():
            took = asked[-1][0] - asked[0][0]
            assert took > 0.75 * delay * (len(asked) - 1), "a little is lost between here and the site's log"
    without, through = ({site: len(asked) for site, asked in log.items()} for log in logs.values())
    assert through == without


def test_a_proxy_that_does_not_allow_a_port_or_a_login_is_named_before_the_first_request(tmp_path, monkeypatch):
    monkeypatch.setenv("PORTER", f"{USER}:wrong-{PASSWORD}")
    with (
        Sites() as web,
        ForwardProxy("tinyproxy", tmp_path, FIRST, ports=(443,)) as closed,
        ForwardProxy("microsocks", tmp_path, FIRST, login=True) as locked,
    ):
        done = crawl(tmp_path / "corpus", web.urls(1, 1), web.port, EGRESS_PROXIES=f"{closed.url},{locked.url}")
        both = crawl(tmp_path / "corpus", web.urls(1, 1), web.port, EGRESS_PROXIES=locked.url)
    assert done.returncode == both.returncode == 1
    assert f"{closed.name} refuses CONNECT to port {web.port}: allow it there" in done.log
    assert f"{locked.name} does not accept this login" in both.log
    assert PASSWORD not in done.log + both.log
    assert web.log == {}
