"""Pages of the demo web that a script draws: their text is in no paragraph that the server sends, and known."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from crawler.config.browser import BrowserConfig
from crawler.seeds.allowlist import read_allowlist
from demo.expectations import NOT_DRAWN, Fate, outcome_of
from demo.outputs import CorpusRecords
from demo.pages import SCRIPTS, PageError, load_page, load_web
from demo.render import Web, page_html
from demo.run import CORPUS, Served, crawl_command, draws_pages, resume_command, tally, without_browser
from demo.scripted import CAPTURED, SELECTOR, VUE, paragraphs, script_files
from tests.support.places import PROJECT

SITES = load_web()
WEB = Web(SITES, {name: f"http://127.0.0.{site.number}:8080" for name, site in SITES.items()})
SCRIPTED = [page for page in WEB.pages() if page.script]


def test_every_kind_of_script_has_a_page() -> None:
    assert {page.script for page in SCRIPTED} == SCRIPTS - {""}


def test_a_kind_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("---\ntitle: A\nexpect: kept\nscript: dances\n---\ntext\n")
    with pytest.raises(PageError, match=r"script: expected one of captures, draws, late, scrolls, state, got 'dances'"):
        load_page(tmp_path, file)


@pytest.mark.parametrize("page", SCRIPTED, ids=lambda page: page.script)
def test_what_the_server_sends_shows_no_word_of_the_text(page) -> None:
    html = re.sub(r"<script.*?</script>", "", page_html(WEB, page), flags=re.DOTALL)
    assert '<div id="app"></div>' in html
    assert "<p>" not in html
    assert not [part for part in paragraphs(page) if part[:30] in html]


def test_what_their_scripts_fetch_is_served_and_holds_the_text() -> None:
    files = script_files(SITES["studio"])
    assert files["/vue.js"] == ("text/javascript", VUE.read_bytes())
    ladder, train = (SITES["studio"].pages[path] for path in ("/ladder", "/night-train"))
    parts = [json.loads(files[f"/parts/ladder/{n}.json"][1])["text"] for n in range(len(paragraphs(ladder)))]
    assert parts == paragraphs(ladder)
    assert json.loads(files["/api/night-train.json"][1])["parts"] == paragraphs(train)
    assert all(script_files(site) == {} for name, site in SITES.items() if name != "studio")


def test_the_endless_page_has_more_parts_than_a_crawl_scrolls_to() -> None:
    ladder = SITES["studio"].pages["/ladder"]
    beyond = paragraphs(ladder)[BrowserConfig().max_scrolls + 2 :]
    assert any(ladder.lacks[0] in part for part in beyond)


def test_the_licence_of_vue_stands_beside_it() -> None:
    assert "MIT License" in VUE.with_name("LICENSE").read_text()
    assert b"vue v3.5.45" in VUE.read_bytes()[:200]


def test_without_a_browser_they_are_expected_to_have_no_text() -> None:
    without = Web(WEB.sites, WEB.bases, draws=False)
    changed = {page.path for page in WEB.pages() if outcome_of(WEB, page) != outcome_of(without, page)}
    assert changed == {page.path for page in SCRIPTED if page.script != "state"}
    for path in changed:
        found = outcome_of(without, SITES["studio"].pages[path])
        assert (found.fate, found.reasons) == (Fate.REJECTED, NOT_DRAWN)
    assert f"No browser draws the {len(changed)} pages that need one" in without_browser(without)


def test_a_crawl_that_is_told_to_draw_nothing_is_one_without_a_browser() -> None:
    assert not draws_pages(["-s", "JS_MODE=never"])
    assert not draws_pages(["-s", "BROWSER_PATH=/nonexistent/chromium"])
    assert draws_pages(["-s", "BROWSER_PATH=/bin/true"])  # a program is one


def test_the_allowlist_of_the_demo_names_the_sites_of_these_pages_only(tmp_path: Path) -> None:
    command = crawl_command(Served(WEB, tmp_path, 0, lambda: WEB), tmp_path / "seeds.txt", tmp_path / "corpus", [])
    (given,) = (word.removeprefix("allowlist=") for word in command if word.startswith("allowlist="))
    (entry,) = read_allowlist(Path(given))
    assert (entry.domain, entry.licence, entry.discovery) == ("127.0.0.10:8080", "CC0-1.0", "links")
    assert (entry.js_wait_selector, entry.js_capture) == (SELECTOR, (CAPTURED,))


def test_the_last_line_adds_up_all_pages_with_those_that_have_no_record() -> None:
    urls = [WEB.url(page.path, page.site) for page in WEB.pages()]
    rejected = [{"canonical_url": urls[2], "reason": "gone"}, {"canonical_url": urls[3], "reason": "hold_queued"}]
    records = CorpusRecords([{"canonical_url": url} for url in urls[:2]], [*rejected, rejected[0]])
    assert tally(WEB, records).endswith(
        f"declare: 2 kept, 1 rejected, 1 on hold, and {len(urls) - 4} that a crawler must not even ask for."
    )


def test_the_command_to_go_on_names_the_folder_where_it_is_not_the_usual_one() -> None:
    assert resume_command(CORPUS.resolve()) == "make demo ARGS=--resume"
    assert resume_command(PROJECT / "other").startswith("make demo ARGS='--resume --corpus ")


def test_the_page_about_the_demo_web_counts_its_sites_and_pages() -> None:
    words = {9: "nine"}
    assert f"{words[len(SITES)]} sites, {len(WEB.pages())} pages" in (PROJECT / "demo" / "README.md").read_text()
