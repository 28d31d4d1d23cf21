"""Report, diagnosis, dossier and EU summary in a real Chromium: at a glance, for everybody, and on paper."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import pypdfium2
import pytest
from playwright.sync_api import Browser, Page

from crawler.config import from_mapping
from crawler.observe import write as report
from crawler.observe.diagnose import webpage as diagnosis
from crawler.observe.diagnose.diagnosis import diagnose
from crawler.observe.dossier import webpage as dossier
from crawler.observe.dossier.gather import Question, gather
from crawler.observe.publish import provenance
from crawler.observe.publish.documents import documents
from crawler.observe.report.duplicates import Bands
from crawler.storage.files.place import Place
from tests.support.corpus_folder import Folder
from tests.support.usable import WIDTHS, chromium, complaints

SCREEN = 900


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def pages(books_folder: Folder) -> dict[str, str]:
    """The pages of one corpus, as HTML, by name."""
    folder = str(books_folder.path)
    found = report.read(folder, samples=5, bands=Bands(14, 8, 0.8))
    records = [*books_folder.records("shards"), *books_folder.records("rejected")]
    dossiers = gather(Place(folder), Question("a.test", "", ""), progress=lambda _: None)
    return {
        "report": report._page(found),
        "diagnosis": diagnosis.page(diagnose(records, from_mapping(), source=folder)),
        "dossier": dossier.page(dossiers, made_at="2026-01-02T00:00:00Z"),
        "summary": documents(provenance.gather(folder))["eu_summary.html"].decode(),
    }


@pytest.fixture(params=["light", "dark"])
def shown(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[[str, int], Page]]:
    context = browser.new_context(color_scheme=request.param)

    def show(html: str, width: int) -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": SCREEN})
        page.set_content(html)
        return page

    yield show
    context.close()


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")


@pytest.mark.parametrize("name", ["report", "diagnosis", "dossier", "summary"])
def test_a_page_is_usable_by_everybody_at_any_width_folded_and_unfolded(
    pages: dict[str, str], shown: Callable[[str, int], Page], name: str
) -> None:
    for width in WIDTHS:
        page = shown(pages[name], width)
        assert complaints(page) == [], width
        unfold(page)
        assert complaints(page) == [], width


def test_the_report_has_two_screens_and_its_contents_lead_to_what_is_folded(
    pages: dict[str, str], shown: Callable[[str, int], Page]
) -> None:
    page = shown(pages["report"], 1200)
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * SCREEN
    links = page.locator(".contents a")
    names = [links.nth(n).get_attribute("href") or "" for n in range(links.count())]
    assert len(names) == len(set(names)) >= 8
    for name in names:
        page.evaluate("name => { location.hash = name }", name)
        assert page.locator(name).is_visible(), name


def test_the_report_has_no_two_numbers_of_one_name(pages: dict[str, str], shown: Callable[[str, int], Page]) -> None:
    page = shown(pages["report"], 1200)
    unfold(page)
    titles = page.locator("h1, h2, h3, figcaption").all_inner_texts()
    labels = page.locator(".figures span, dt").all_inner_texts()
    assert len({*titles}) == len(titles) and len({*labels}) == len(labels)


def test_on_paper_everything_is_there_unfolded_and_black_on_white(pages: dict[str, str], browser: Browser) -> None:
    page = browser.new_page(color_scheme="dark")
    page.set_content(pages["report"])
    printed = pypdfium2.PdfDocument(io.BytesIO(page.pdf()))
    text = " ".join(sheet.get_textpage().get_text_bounded() for sheet in printed)
    unfold(page)
    for title in page.locator("h2, h3").all_inner_texts():
        assert title[:30] in " ".join(text.split()), title
    assert "Herfindahl index" in " ".join(text.split()), "what stands in a folded part"
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    page.close()
