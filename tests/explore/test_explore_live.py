"""A running crawl is seen as the frontier and the journals have it, and does what it is told from the page."""

from __future__ import annotations

import asyncio
import http.client
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.document import DropReason
from crawler.explore import journals as journals_module
from crawler.explore.journals import Journals
from crawler.explore.live import EVERY_SECONDS, Live, Look
from crawler.explore.live_page import event, flow
from crawler.frontier.operate import status
from crawler.storage.files.place import Place
from tests.explore.conftest import LIMIT, TOKEN, Desk
from tests.explore.test_explore_browser import Watched
from tests.support import corpus_crawl
from tests.support.corpus_folder import Folder
from tests.support.loopback_web import PolicyWeb
from tests.support.serving import Gate
from tests.support.usable import WIDTHS, complaints

SITE = "127.0.0.5"
PAGES = 30
FREE = 8
"""Pages that the site answers before its gate is shut."""


def eventually(what: Callable[[], bool]) -> None:
    until = time.monotonic() + LIMIT
    while not what():
        assert time.monotonic() < until, "this did not happen in time"
        time.sleep(0.05)


@dataclass
class Crawling:
    folder: Path
    gate: Gate
    web: PolicyWeb
    process: object

    def status(self) -> dict[str, object]:
        return status(from_mapping({"CORPUS_DIR": str(self.folder)}), "", 0).as_json()


@pytest.fixture
def crawling(tmp_path: Path) -> Iterator[Crawling]:
    """A crawl in the middle of a site that lets it wait; it ends once the gate is open."""
    gate = Gate(FREE)

    def page(n: int) -> Callable[..., None]:
        body = "".join(f"<p>{line}</p>" for line in prose(f"live {n}", 300 if n % 3 else 5))
        content = f"<html lang=en><title>Page {n}</title><article>{body}</article></html>".encode()

        def answer(handler) -> None:
            gate.pass_through()
            handler.send(200, content)

        return answer

    with PolicyWeb() as web:
        base = web.site(SITE, {f"/{n}": page(n) for n in range(PAGES)})
        folder = tmp_path / "corpus"
        settings = {"JS_MODE": "never", "STAGE_WORKERS": 0, "DOWNLOAD_DELAY": 0.05}
        process = corpus_crawl.start_crawl(folder, [f"{base}/{n}" for n in range(PAGES)], web.port, **settings)
        try:
            gate.wait()
            yield Crawling(folder, gate, web, process)
        finally:
            gate.open()
            process.kill()
            process.communicate()


def figures(page: str) -> dict[str, str]:
    return dict(re.findall(r"<div><dt>([^<]+)</dt><dd>([^<]+)</dd></div>", page))


def test_the_page_says_what_frontier_status_says(crawling: Crawling, serve: Callable[..., Desk]) -> None:
    desk = serve(crawling.folder, crawling=True)
    eventually(lambda: crawling.status()["counts"]["done"] == FREE)  # it stands still before the gate
    time.sleep(EVERY_SECONDS)
    page, counts = desk.page("/0/live"), crawling.status()["counts"]
    names = {"queued": "queued", "leased": "leased", "done": "done", "failed": "dead", "on hold": "held"}
    assert {name: figures(page)[name] for name in names} == {name: str(counts[of]) for name, of in names.items()}
    (scope,) = crawling.status()["scopes"]
    assert f"<td>{scope['scope']}" in page
    assert "The crawl runs: 1 worker is at work." in page
    assert "no sealed file yet" in desk.ask("/0/").body


def test_pause_stops_the_requests_at_the_site_and_resume_lets_them_go_on(
    crawling: Crawling, serve: Callable[..., Desk]
) -> None:
    desk = serve(crawling.folder, crawling=True)
    asked = desk.page("/0/live/order", ("action", "pause"))
    assert "Pause the whole crawl?" in asked
    assert crawling.status()["counts"]["mode"] == "run"
    said = desk.post("/0/live/order", action="pause")
    assert (said.status, "paused: workers finish what they have and wait" in said.body) == (200, True)
    assert 'class="state">paused' in said.body
    crawling.gate.open()
    eventually(lambda: crawling.status()["counts"]["leased"] == 0)
    done, asked_for = crawling.status()["counts"]["done"], len(crawling.web.asked[SITE])
    assert done < PAGES
    time.sleep(1.5)  # thirty times the delay of the site: what would have been sent is sent
    assert (crawling.status()["counts"]["done"], len(crawling.web.asked[SITE])) == (done, asked_for)
    assert desk.post("/0/live/order", action="resume").status == 200
    finished = corpus_crawl.finished(crawling.folder, crawling.process)
    assert finished.returncode == 0, finished.log[-2000:]
    assert len(finished.kept) + len(finished.rejected) == PAGES
    page = desk.page("/0/live")
    eventually(lambda: f"What became of {PAGES} pages" in desk.page("/0/live"))
    assert "The crawl runs" not in page or desk.lives[0].watching == 0


@pytest.mark.parametrize(
    ("order", "status_", "sentence"),
    [
        ({"action": "resume", "domain": "nobody.example"}, 409, "is not paused"),
        ({"action": "pause", "domain": "a b"}, 409, "expected a domain"),
        ({"action": "purge", "domain": SITE}, 400, "an order is"),
        ({"action": "drain", "domain": SITE}, 400, "an order is"),
        ({}, 400, "an order is"),
    ],
    ids=str,
)
def test_an_order_that_cannot_be_given_is_told_and_changes_nothing(
    crawling: Crawling, serve: Callable[..., Desk], order: dict[str, str], status_: int, sentence: str
) -> None:
    before = crawling.status()["counts"]["mode"]
    answer = serve(crawling.folder, crawling=True).post("/0/live/order", **order)
    assert (answer.status, sentence in answer.body) == (status_, True)
    assert crawling.status()["counts"]["mode"] == before


def test_an_order_needs_the_token_of_its_form_and_the_origin_of_its_page(desk: Desk) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Origin": desk.base}):
        assert desk.ask("/0/live/order", "POST", "action=drain", **headers).status == 403


def test_a_corpus_without_a_crawl_says_so_and_shows_what_was_written(desk: Desk) -> None:
    page = desk.page("/0/live")
    assert "No crawl is running here" in page
    assert "What became of 18 pages" in page
    assert desk.post("/0/live/order", action="pause").status == 409
    assert desk.ask("/1/live").status == 404


def test_a_stream_is_left_when_its_reader_goes_and_ends_with_the_server(desk: Desk) -> None:
    connections = []
    for _ in range(3):
        connection = http.client.HTTPConnection("127.0.0.1", desk.port, timeout=LIMIT)
        connection.request("GET", "/0/live/stream", headers={"Cookie": desk.cookie})
        answer = connection.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.readline().startswith(b"data: ")
        connections.append((connection, answer))
    live = desk.lives[0]
    assert live.watching == 3
    for connection, answer in connections[:2]:
        answer.close()
        connection.close()
    eventually(lambda: live.watching == 1)
    live.close()
    connection, answer = connections[2]
    assert answer.read().endswith(b"\n\n")
    connection.close()
    eventually(lambda: live.watching == 0)


def test_all_who_watch_share_one_look_and_a_dear_one_is_taken_seldom(tmp_path: Path, folder: Folder) -> None:
    folder.opened().close()
    now = [0.0]

    def clock() -> float:
        now[0] += 0.05
        return now[0]

    async def looks() -> list[Look]:
        live = Live(from_mapping({"CORPUS_DIR": str(folder.path)}), Place(str(folder.path)), clock)
        first, second = await live.look(), await live.look()
        now[0] += 4.0  # a look takes 0.05 s on this clock, a hundredth of five seconds
        third = await live.look()
        now[0] += 1.0
        return [first, second, third, await live.look()]

    first, second, third, fourth = asyncio.run(looks())
    assert first is second is third
    assert fourth.number == first.number + 1


def test_journals_are_counted_before_and_after_they_are_sealed(folder: Folder, kept, rejected) -> None:
    journals = Journals(Place(str(folder.path)))
    corpus = folder.opened()
    for n in range(3):
        corpus.keep(kept(n, title=f"Title {n}"))
    corpus.reject(rejected(7, DropReason.TOO_SHORT, stage="quality"))
    corpus.commit()
    seen = journals.read()
    assert (seen.kept, seen.rejected, seen.unread) == (3, {"quality/too_short": 1}, 0)
    assert [latest.title for latest in seen.last_kept] == ["Title 2", "Title 1", "Title 0"]
    assert [latest.verdict for latest in seen.last_rejected] == ["quality/too_short"]
    assert len(seen.workers) == 1
    corpus.keep(kept(9))
    corpus.commit()
    assert journals.read().kept == 4
    corpus.close()
    after = journals.read()
    assert (after.kept, after.rejected, after.workers) == (4, {"quality/too_short": 1}, ())
    assert Journals(Place(str(folder.path))).read().kept == 4


def test_a_journal_is_read_in_bounded_steps_and_torn_frames_wait(
    folder: Folder, kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals_module, "MOST", 700)
    monkeypatch.setattr(journals_module._Journal, "__init__", _small_steps(journals_module._Journal.__init__))
    corpus = folder.opened()
    for n in range(40):
        corpus.keep(kept(n))
        corpus.commit()
    journals = Journals(Place(str(folder.path)))
    first = journals.read()
    assert first.kept + first.unread > 0
    assert first.kept < 40
    eventually(lambda: journals.read().kept == 40)
    (part,) = (folder.path / "shards").glob("*.part")
    whole = part.read_bytes()
    part.write_bytes(whole + whole[:50])
    assert journals.read().kept == 40
    part.write_bytes(whole[: len(whole) // 2])  # somebody has cut it
    assert journals.read().kept < 40
    part.write_bytes(whole)
    corpus.close()


def _small_steps(begin: Callable[..., None]) -> Callable[..., None]:
    def smaller(self: object) -> None:
        begin(self, at_once=700)

    return smaller


def test_the_picture_loses_at_each_step_what_ended_there_and_ends_with_what_was_kept() -> None:
    rejected = {
        "robots/denied": 2,
        "extraction/no_text": 1,
        "quality/low_quality": 4,
        "near/near_duplicate": 3,
        "new/x": 1,
    }
    steps = flow(10, rejected)
    assert steps[0].came == 21
    assert [step.came for step in steps[1:]] == [step.passed for step in steps[:-1]]
    assert steps[-1].passed == 10
    assert {step.name: step.ended for step in steps if step.ended} == {
        "Policy": 2, "Extraction": 1, "Quality": 4, "Other": 1, "Duplicates": 3
    }  # fmt: skip


def test_an_event_keeps_its_lines_whatever_stands_in_them() -> None:
    assert event("a\nb\r\nc\u2028d") == "data: a\ndata: b\ndata: c\ndata: d\n\n"


def test_a_browser_sees_the_crawl_move_and_pauses_it(
    crawling: Crawling,
    serve: Callable[..., Desk],
    chromium: Browser,
) -> None:
    desk = serve(crawling.folder, crawling=True)
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(LIMIT * 1000)
    watched = Watched(context, desk.base)
    watched.errors.clear()  # nothing is sealed yet: the first page is an answer 500
    page = watched.page
    page.goto(f"{desk.base}/0/live")
    assert TOKEN not in page.url
    expect(page.locator("h1 .state")).to_have_count(0)
    before = page.locator("dl.figures").inner_text()
    for width, scheme in product(WIDTHS, ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert complaints(page) == [], (width, scheme)
    page.get_by_role("button", name="Pause").click()
    assert complaints(page) == []
    page.get_by_role("button", name="Yes, pause").click()
    expect(page.locator("h1 .state")).to_have_text("paused")
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Yes, resume").click()
    expect(page.locator("h1 .state")).to_have_count(0)
    crawling.gate.open()
    expect(page.locator("dl.figures")).not_to_have_text(before)
    expect(page.locator(".flow h2")).to_have_text(f"What became of {PAGES} pages")
    watched.check()
    context.close()
