"""The pages in a real Chromium, on a corpus of a real crawl: no error, no request elsewhere, usable by everybody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.explore.app import application
from crawler.explore.catalogue import Catalogue
from crawler.explore.labels import FILE
from crawler.explore.live import Live
from crawler.explore.serve import bound, serving
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from tests.classify.conftest import line_of
from tests.explore.conftest import LIMIT, TOKEN
from tests.support import corpus_crawl
from tests.support.corpus_folder import Folder, document
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.usable import WIDTHS, complaints, serious

HERE = "127.0.0.2"
ELSEWHERE = "127.0.0.3"


def hostile(elsewhere: str) -> str:
    """A page that asks, runs, sends and leads away in every way that it knows."""
    text = "".join(f"<p>{line}</p>" for line in prose("hostile", 300))
    return (
        f"<html lang=en><head><title>Hostile &lt;script&gt;alert(1)&lt;/script&gt;</title>"
        f"<base href='{elsewhere}/base/'>"
        f"<meta http-equiv=refresh content='2;url={elsewhere}/refresh'><link rel=stylesheet href='{elsewhere}/style'>"
        f"<link rel=preconnect href='{elsewhere}'><script src='{elsewhere}/script'></script>"
        f"<style>@import '{elsewhere}/import'; body{{background:url({elsewhere}/background)}}</style></head>"
        f"<body onload=\"fetch('{elsewhere}/onload')\"><article>{text}</article><img src='{elsewhere}/image' "
        f"onerror=\"location='{elsewhere}/onerror'\"><iframe src='{elsewhere}/frame'></iframe>"
        f"<video src='{elsewhere}/video' autoplay></video><object data='{elsewhere}/object'></object>"
        f"<p style=\"background:url('{elsewhere}/inline')\">styled</p><svg><image href='{elsewhere}/svg'/></svg>"
        f"<script>fetch('{elsewhere}/run'); top.location = '{elsewhere}/top'; document.title = 'owned'</script>"
        "</body></html>"
    )


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, PolicyWeb]]:
    """Twelve pages: prose, duplicates, one too short, one with 10^5 lines, one hostile."""
    with PolicyWeb() as web:
        elsewhere = web.site(ELSEWHERE, {})
        pages = {f"/{n}": "".join(f"<p>{line}</p>" for line in prose(n, 300)) for n in range(8)}
        pages |= {"/copy": pages["/1"], "/short": "<p>Too short.</p>"}
        pages["/lines"] = "<pre>" + "\n".join(f"{n} a line" for n in range(100_000)) + "</pre>"
        bodies = {
            path: f"<html lang=en><title>Page {path}</title><article>{body}</article></html>"
            for path, body in pages.items()
        }
        bodies["/hostile"] = hostile(elsewhere)
        here = web.site(HERE, {path: Answer(body=body.encode()) for path, body in bodies.items()})
        folder = tmp_path_factory.mktemp("explore") / "corpus"
        done = corpus_crawl.crawl(
            folder, [f"{here}{path}" for path in bodies], web.port, EXTRACTION_MIN_WORDS=20, JS_MODE="never"
        )
        assert done.returncode == 0, done.log[-2000:]
        assert f"{here}/hostile" in done.kept
        yield folder, web


@pytest.fixture(scope="module")
def base(crawled: tuple[Path, PolicyWeb], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ExitStack() as stack:
        listening = bound("127.0.0.1", 0)
        catalogue = Catalogue(Place(str(crawled[0])), tmp_path_factory.mktemp("catalogue") / "0.duckdb")
        config = from_mapping({"CORPUS_DIR": str(crawled[0])})
        live = Live(config, catalogue.place)
        stack.enter_context(serving(application([catalogue], config, TOKEN, lives=[live]), listening))
        stack.callback(live.close)
        stack.callback(catalogue.close)
        catalogue.start()
        assert catalogue.wait(LIMIT)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


class Watched:
    """A context of the browser with everything that it complained of and asked for."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.page: Page = context.new_page()
        self.base = base
        self.errors: list[str] = []
        self.asked: list[str] = []
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"{base}/?token={TOKEN}")

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def check(self) -> None:
        assert self.errors == []
        assert [url for url in self.asked if not url.startswith(self.base)] == []


@pytest.fixture(params=["light", "dark"])
def watched(chromium: Browser, base: str, request: pytest.FixtureRequest) -> Iterator[Watched]:
    context = chromium.new_context(color_scheme=request.param, viewport={"width": 1200, "height": 900})
    context.set_default_timeout(LIMIT * 1000)
    found = Watched(context, base)
    yield found
    found.check()
    context.close()


PAGES = ["/0/", "/0/?field=domain", "/0/documents", "/0/documents?where=state%3Drejected&text=page&q=a", "/0/what-if",
         "/0/what-if?QUALITY_MIN_SCORE=0.99", "/0/judge", "/0/judge?judge=Ada", "/0/learn",
         "/0/compare", "/0/live", "/0/live/order?action=pause&domain=a.test"]  # fmt: skip


def test_every_page_is_whole_quiet_and_usable_by_everybody_at_any_width(watched: Watched) -> None:
    documents = []
    for state in ("kept", "rejected"):
        watched.page.goto(f"{watched.base}/0/documents?where=state%3D{state}")
        documents.append(watched.page.locator(".documents td a").first.get_attribute("href") or "")
    for path in [*PAGES, *documents]:
        for width in WIDTHS:
            watched.page.set_viewport_size({"width": width, "height": 900})
            watched.page.goto(watched.base + path)
            assert complaints(watched.page) == [], (path, width)


def test_a_click_on_a_bar_lists_its_documents_and_a_click_on_one_shows_it_beside_its_page(watched: Watched) -> None:
    page = watched.page
    page.goto(f"{watched.base}/0/")
    page.get_by_role("region", name="Quality score").locator("svg a").last.click()
    expect(page).to_have_url(re.compile(r"/0/documents\?where="))
    page.locator(".documents tbody a").first.click()
    expect(page.locator(".text")).to_be_visible()
    frame = page.frame_locator("iframe")
    expect(frame.locator("[data-kept]").first).to_be_visible()
    assert serious(page) == []


def test_a_hostile_page_is_shown_and_nothing_of_it_happens(watched: Watched, crawled: tuple[Path, PolicyWeb]) -> None:
    page = watched.page
    page.goto(f"{watched.base}/0/documents?q=Hostile")
    page.locator(".documents tbody a").first.click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("[data-kept]").first).to_be_visible()
    assert page.evaluate("[...document.querySelectorAll('h1')].map(e => e.textContent)") == [
        "Hostile <script>alert(1)</script>"
    ]
    (inner,) = [frame for frame in page.frames if frame != page.main_frame]
    assert inner.url.startswith(watched.base)
    assert "owned" not in page.title()
    page.goto(inner.url)  # also where somebody opens the frame alone
    assert page.evaluate("self.origin") == "null"


def test_a_text_of_many_lines_is_shown(watched: Watched) -> None:
    page = watched.page
    page.goto(f"{watched.base}/0/documents?q=/lines")
    page.locator(".documents tbody a").first.click()
    expect(page.locator(".text, .soft").first).to_be_visible()
    expect(page.frame_locator("iframe").locator("body")).to_be_visible()


def test_a_filter_is_set_by_hand_and_taken_away(watched: Watched) -> None:
    page = watched.page
    page.goto(f"{watched.base}/0/documents")
    everything = page.locator("[role=status]").inner_text()
    page.get_by_label("Where").select_option("reason")
    page.get_by_label("Value").fill("too_short")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("[role=status]")).to_contain_text("1 document ")
    page.get_by_role("link", name="Remove reason=too_short").click()
    assert page.locator("[role=status]").inner_text() == everything


def test_a_slider_moves_the_counts_at_once(watched: Watched) -> None:
    page = watched.page
    page.goto(f"{watched.base}/0/what-if")
    page.locator("#QUALITY_MIN_SCORE").fill("1")
    expect(page.locator("#outcome pre")).to_have_text("QUALITY_MIN_SCORE = 1")
    assert "QUALITY_MIN_SCORE=1" in page.url
    assert page.locator("output").first.inner_text() == "1"


def test_keys_judge(watched: Watched, crawled: tuple[Path, PolicyWeb], request: pytest.FixtureRequest) -> None:
    name = f"Judge {request.node.callspec.id}"
    page = watched.page
    page.goto(f"{watched.base}/0/judge?judge={name}&each=3")
    for key, done in (("k", "1 of"), ("r", "2 of")):
        page.keyboard.press(key)
        expect(page.locator("[role=status]")).to_contain_text(done)
        page.wait_for_load_state("load")  # the script that hears the next key is there
    lines = [json.loads(line) for line in (crawled[0] / FILE).read_text().splitlines()]
    assert [line["answer"] for line in lines if line["judge"] == name] == ["keep", "reject"]


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a corpus of sixty kept documents of two kinds, all of them judged."""
    folder = Folder(tmp_path_factory.mktemp("learn") / "corpus")
    corpus, lines = folder.opened(), []
    for number in range(60):
        line = line_of(number % 2 == 0, number)
        site, doc_id = line["url"].split("/")[2], line["doc_id"]
        made = document(number, url=line["url"], canonical_url=line["url"], domain=site, text=line["text"])
        corpus.keep(record_of(made) | {"doc_id": doc_id})
        lines.append(json.dumps(line | {"text": "", "config_digest": ""}) + "\n")
    corpus.close()
    (folder.path / FILE).write_text("".join(lines))
    listening = bound("127.0.0.1", 0)
    catalogue = Catalogue(Place(str(folder.path)), folder.path.parent / "0.duckdb")
    with serving(application([catalogue], from_mapping(), TOKEN), listening):
        catalogue.start()
        assert catalogue.wait(LIMIT)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    catalogue.close()


def test_a_model_is_learned_and_its_slider_moves_what_would_go(chromium: Browser, labelled: str) -> None:
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(LIMIT * 1000)
    watched = Watched(context, labelled)
    page = watched.page
    page.goto(f"{labelled}/0/learn")
    page.get_by_role("button", name="Learn from 60 labels").click()
    would_go = page.get_by_role("heading", name="Would go")  # the page asks again by itself until it is there
    expect(would_go).to_contain_text("Would go: 30")
    page.locator("#threshold").fill("0.99")
    expect(would_go).not_to_contain_text("Would go: 30")
    assert "threshold=0.99" in page.url
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert complaints(page) == [], width
    page.locator("#outcome table a").first.click()
    expect(page.locator(".text")).to_be_visible()
    watched.check()
    context.close()


def test_without_scripts_everything_works(chromium: Browser, base: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{base}/?token={TOKEN}")
    page.goto(f"{base}/0/what-if?QUALITY_MIN_SCORE=1")
    assert "QUALITY_MIN_SCORE = 1" in page.locator("#outcome").inner_text()
    page.goto(f"{base}/0/judge?judge=Nobody&each=3")
    page.get_by_role("button", name="Keep").click()
    assert "1 of" in page.locator("[role=status]").inner_text()
    context.close()
