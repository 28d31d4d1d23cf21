"""A browser without work is closed; what a domain needs is known to every worker; names that move reach nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from crawler.browser.memory import DomainMemory
from crawler.frontier.client import Frontier
from tests.browser.conftest import crawl, drawn, page, prose, script
from tests.browser.test_browser_kills import browsers_below, until
from tests.support.clock import FakeClock
from tests.support.corpus_crawl import finished, start_crawl
from tests.support.loopback_web import FORBIDDEN, Answer, PolicyWeb
from tests.support.places import PROJECT

WAIT = 100.0


def test_a_browser_that_no_page_needs_is_closed_and_the_next_page_starts_it_again(
    tmp_path: Path, web: PolicyWeb
) -> None:
    gate = threading.Event()

    def late(handler: Any) -> None:
        """Answers when the browser has gone."""
        assert gate.wait(WAIT)
        body = drawn(prose("ferry")).body
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    here = web.site("127.0.0.2", {"/first": drawn(prose("orchard")), "/late": late})
    seeds = [f"{here}/first", f"{here}/late"]
    worker = start_crawl(tmp_path / "corpus", seeds, web.port, BROWSER_IDLE_SECONDS=0.5, DOWNLOAD_TIMEOUT=WAIT)
    watched = psutil.Process(worker.pid)
    try:
        until(lambda: bool(browsers_below(watched)))
        until(lambda: not browsers_below(watched))
        assert worker.poll() is None
    finally:
        gate.set()
    done = finished(tmp_path / "corpus", worker)
    assert done.returncode == 0, done.log[-3000:]
    assert {url: record["method_used"] for url, record in done.kept.items()} == dict.fromkeys(seeds, "js")
    assert "Task was destroyed" not in done.log


def test_what_one_worker_learned_of_a_domain_another_one_reads_from_the_server(
    frontier_run: Callable[..., None], valkey_url: str, crawl_name: str, clock: FakeClock
) -> None:
    async def body(mine: Frontier) -> None:
        other = Frontier(valkey_url, crawl_name, now=clock)
        await other.open()
        try:
            first = DomainMemory(lambda: mine.shared, 2, 50.0, clock)
            second = DomainMemory(lambda: other.shared, 2, 50.0, clock)
            for _ in range(2):
                await second.recall("a.org")
                assert not second.is_direct("a.org")
                await first.learn("a.org", needed=True)
            await second.recall("a.org")
            await second.recall("b.org")
            assert (second.is_direct("a.org"), second.is_direct("b.org")) == (True, False)
            clock.advance(51.0)
            assert not second.is_direct("a.org")
            third = DomainMemory(lambda: other.shared, 2, 50.0, clock)
            await third.recall("a.org")
            assert not third.is_direct("a.org")
        finally:
            await other.close()

    frontier_run(body)


MOVING = """import socket
real, answers = socket.getaddrinfo, ["127.0.0.9", "@forbidden@"]
def getaddrinfo(host, port, *args, **kwargs):
    if host not in ("rebind.example", b"rebind.example"):
        return real(host, port, *args, **kwargs)
    address = answers.pop(0) if len(answers) > 1 else answers[0]
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port or 0))]
socket.getaddrinfo = getaddrinfo
"""


def test_a_name_that_moves_to_a_forbidden_address_between_two_requests_of_a_page_reaches_nothing(
    tmp_path: Path, web: PolicyWeb
) -> None:
    """The name service is replaced in the crawl's own process, the one that looks names up for the browser."""
    (tmp_path / "sitecustomize.py").write_text(MOVING.replace("@forbidden@", FORBIDDEN))
    code = f"""const ask = n => fetch('http://rebind.example:{web.port}/data?' + n, {{cache: 'no-store'}})
        .then(a => a.json()).then(d => document.getElementById('root').insertAdjacentHTML('beforeend',
        '<p>' + d.text + '</p>')); ask(1).then(() => ask(2)).catch(() => {{}})"""
    open_to_all = (("Access-Control-Allow-Origin", "*"), ("Connection", "close"))
    data = Answer(body=f'{{"text": "{prose("ferry")}"}}'.encode(), content_type="application/json", headers=open_to_all)
    secret = Answer(body=b'{"text": "the secret of the forbidden place"}', headers=open_to_all)
    here = web.site("127.0.0.2", {"/": page(f"<div id=root></div><script>{code}</script>")})
    web.site("127.0.0.9", {f"/data?{n}": data for n in (1, 2)})
    web.site(FORBIDDEN, {f"/data?{n}": secret for n in (1, 2)})
    path = {"PYTHONPATH": f"{tmp_path}:{PROJECT}"}
    done = crawl(tmp_path / "corpus", web, [f"{here}/"], environment=path)
    assert done.returncode == 0, done.log[-3000:]
    assert web.asked["127.0.0.9"].count("/data?1") == 1
    assert FORBIDDEN not in web.connected
    assert prose("ferry") in done.kept[f"{here}/"]["text"]
    assert b"secret of the forbidden" not in done.everything


TOPICS = ("orchard", "ferry", "lighthouse", "quarry", "windmill", "harbour", "vineyard", "foundry", "bakery", "tannery")
REMEMBERING = """
const notes = [];
const root = document.getElementById('root');
function show() {
  root.innerHTML = '<main><p>' + TEXT + '</p><p>Found here: ' + (notes.join(' ') || 'nothing') + '.</p></main>';
}
if (document.cookie) notes.push('cookie');
if (localStorage.length) notes.push('local');
if (sessionStorage.length) notes.push('session');
if (window.name) notes.push('name');
document.cookie = 'seen=1; path=/; max-age=9999';
localStorage.setItem('seen', '1'); sessionStorage.setItem('seen', '1'); window.name = 'seen';
const opened = indexedDB.open('seen', 1);
opened.onupgradeneeded = e => { if (e.oldVersion === 0) opened.result.createObjectStore('fresh'); };
opened.onsuccess = () => {
  const all = opened.result.transaction('fresh', 'readwrite').objectStore('fresh');
  const there = all.count();
  there.onsuccess = () => { if (there.result) notes.push('database'); all.put('1', 'seen'); caches.keys().then(keys => {
    if (keys.length) notes.push('cache'); return caches.open('seen'); }).then(show, show); };
};
opened.onerror = show;
"""


def test_no_page_finds_what_another_page_of_its_site_has_left_in_the_browser(tmp_path: Path, web: PolicyWeb) -> None:
    pages: dict[str, Any] = {"/remember.js": script(REMEMBERING)}
    for topic in TOPICS:
        text = f"const TEXT = {json.dumps(prose(topic))};"
        pages[f"/{topic}"] = page(f"<div id=root></div><script>{text}</script><script src=/remember.js></script>")
    here = web.site("127.0.0.2", pages)
    seeds = [f"{here}/{topic}" for topic in TOPICS]
    done = crawl(tmp_path / "corpus", web, seeds, BROWSER_CONCURRENCY=1, LOG_LEVEL="DEBUG")
    assert len(done.kept) == len(TOPICS), done.log[-3000:]
    for record in done.kept.values():
        assert record["method_used"] == "js"
        assert "Found here: nothing." in record["text"]
    assert done.log.count("Browser context started") == 1
