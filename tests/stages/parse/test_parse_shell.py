"""A page whose text a script has yet to draw is told by named features; ordinary pages are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.shell import looks_like_shell
from crawler.stages.parse.stage import ParseStage
from crawler.storage.files.shards import read_lines
from demo.expectations import needs_browser
from demo.pages import load_web
from demo.render import Web, page_html


def parsed(html: str) -> Document:
    doc = Document(url="https://example.org/a", html=html.encode(), content_type="text/html; charset=utf-8")
    ParseStage()(doc)
    return doc


def features(html: str) -> dict[str, object]:
    return parsed(html).render_signals.get("shell", {})


def test_text_in_a_declarative_shadow_root_is_text_that_the_page_shows() -> None:
    said, script = "A short notice about the opening hours of the library. " * 3, "<script src=/a.js></script>"
    shadow = f"<x-page><template shadowrootmode=open><p>{said}</p></template></x-page>"
    assert features(shadow + script)["visible_words"] == features(f"<p>{said}</p>{script}")["visible_words"] == 30
    assert not looks_like_shell(features(shadow + script), 30), "no script has anything to add"
    assert features(f"<x-page><template>{said}</template></x-page>{script}")["bare"], "a script shows it"
    assert features(shadow.replace(said, said * 10) + script) == {}


@pytest.mark.parametrize(
    ("html", "mark", "value"),
    [
        ("<body><div id=root></div><script src=/a.js></script>", "empty_root", "root"),
        ("<body><div id=app>Loading…</div><script src=/a.js></script>", "empty_root", "app"),
        ("<body><script src=/a.js></script>", "bare", True),
        ("<p>Hello</p><noscript>Please enable JavaScript.</noscript><script src=/a.js></script>", "noscript", True),
        ("<p>Hello</p><script src=/_next/static/main.js></script>", "framework", "next"),
        ("<div data-reactroot><p>Hello</p></div><script src=/a.js></script>", "framework", "react"),
        ("<p>Hi</p><script>window.__INITIAL_STATE__={}</script>", "state", "__INITIAL_STATE__"),
        ('<p>Hi</p><script id=__NEXT_DATA__ type="application/json">{}</script><script src=/a.js></script>',
         "state", "__NEXT_DATA__"),
    ],
)  # fmt: skip
def test_each_mark_of_a_shell_is_a_feature_with_its_name(html: str, mark: str, value: object) -> None:
    assert features(html)[mark] == value


def test_a_page_that_shows_enough_words_has_no_features_whatever_its_scripts() -> None:
    shell = "<div id=root></div><noscript>enable JavaScript</noscript><script src=/react.js></script>"
    assert features(f"<body>{shell}<p>{'word ' * 149}</p>")
    assert features(f"<body>{shell}<p>{'word ' * 150}</p>") == {}


def test_a_search_page_is_no_shell_although_its_results_are_drawn_by_a_script() -> None:
    page = "<p>Look for</p><div id={}></div><noscript>enable JavaScript</noscript><script src=/s.js></script>"
    assert looks_like_shell(features(page.format("content")), 5)
    assert not looks_like_shell(features(page.format("search-results")), 5)
    found = features("<div id=search-results></div><div id=root></div><script src=/a.js></script>")
    assert found["empty_root"] == "root"


def test_a_page_without_scripts_is_no_shell_however_short() -> None:
    assert features("<body><div id=root></div><noscript>enable JavaScript</noscript>") == {}
    assert features('<body><div id=root></div><script type="application/ld+json">{}</script>') == {}


@pytest.mark.parametrize(
    ("found", "words", "expected"),
    [
        ({"empty_root": "root"}, 0, True),
        ({"bare": True}, 0, True),
        ({"state": "__NUXT__"}, 49, True),
        ({"state": "__NUXT__"}, 50, False),  # the text is there
        ({"empty_root": "results"}, 0, False),  # any page may have an empty box
        ({"empty_root": "results", "noscript": True}, 0, True),
        ({"empty_root": "results", "framework": "vue"}, 0, True),
        ({"noscript": True, "framework": "vue"}, 0, False),
        ({}, 0, False),
    ],
)
def test_what_makes_a_page_a_shell(found: dict[str, object], words: int, expected: bool) -> None:
    assert looks_like_shell(found, words) is expected


def test_the_pages_of_the_demo_web_that_a_script_draws_look_like_shells_and_no_other_page_does() -> None:
    extract, shells, embedded = ExtractionStage(ExtractionConfig()), set(), set()
    sites = load_web()
    web = Web(sites, {name: f"http://127.0.0.{site.number}" for name, site in sites.items()})
    for page in web.pages():
        doc = parsed(page_html(web, page))
        extract(doc)
        if looks_like_shell(doc.render_signals.get("shell", {}), doc.word_count):
            shells.add(page)
        if doc.method_used == "embedded":
            embedded.add(page)
    scripted = {page for page in web.pages() if page.script}
    assert shells == {page for page in scripted if needs_browser(page)}
    assert embedded == scripted - shells
    assert (len(web.pages()) - len(scripted) > 100, len(shells), len(embedded)) == (True, 4, 1)


# --- text in the page's own data ----------------------------------------------------------------------------------


def extracted(html: str) -> Document:
    doc = parsed(html)
    ExtractionStage(ExtractionConfig())(doc)
    return doc


TEXT = " ".join(f"Sentence {n} of the article has a few words of its own." for n in range(20))


def test_the_article_body_of_json_ld_is_read_where_the_page_shows_nothing() -> None:
    doc = extracted(
        '<body><div id=root></div><script src=/a.js></script><script type="application/ld+json">'
        f'{{"@graph": [{{"@type": "Article", "articleBody": "<p>{TEXT}</p><p>The end of it.</p>"}}]}}</script>'
    )
    assert doc.text == f"{TEXT}\nThe end of it."
    assert (doc.method_used, doc.extractor) == ("embedded", "embedded-json-ld")


def test_the_state_of_next_is_read_for_running_text_and_not_for_labels() -> None:
    doc = extracted(
        '<body><div id=__next></div><script src=/_next/a.js></script><script id=__NEXT_DATA__ type="application/json">'
        f'{{"props": {{"nav": ["Home", "About us"], "post": {{"html": "<p>{TEXT}</p>"}}, "again": "{TEXT}"}}}}</script>'
    )
    assert doc.text == TEXT
    assert (doc.method_used, doc.extractor) == ("embedded", "embedded-state")


def test_a_page_that_shows_its_text_is_not_read_from_its_data() -> None:
    shown = " ".join(f"Line {n} of the page itself is on the screen already." for n in range(10))
    doc = extracted(
        f"<body><main><p>{shown}</p></main><script src=/a.js></script>"
        f'<script type="application/ld+json">{{"articleBody": "{TEXT}"}}</script>'
    )
    assert doc.method_used == "fast"
    assert doc.text == shown


@pytest.mark.parametrize("data", ["{", "[" * 100_000, '"' + "a" * 5_000_000 + '"', '{"articleBody": 7}', ""])
def test_data_that_cannot_be_read_are_passed_over(data: str) -> None:
    doc = parsed(
        f'<body><div id=app></div><script src=/a.js></script><script type="application/ld+json">{data}</script>'
    )
    assert doc.embedded is None
    assert doc.render_signals["shell"]["empty_root"] == "app"


def test_data_that_say_less_than_the_page_without_scripts_are_no_text_of_it() -> None:
    """A forum's page: all posts for browsers without scripts, the first one as JSON-LD."""
    first, all_of_them = (
        "The first post has these nine words in it.",
        "Every post of the thread has its own say here. " * 30,
    )
    data = json.dumps({"@type": "DiscussionForumPosting", "text": first})
    doc = parsed(
        f"<body><div id=app></div><noscript><main><p>{all_of_them}</p></main></noscript><script src=/a.js></script>"
        f'<script type="application/ld+json">{data}</script></body>'
    )
    assert doc.embedded == (first, "json-ld")
    ExtractionStage(ExtractionConfig())(doc)
    assert (doc.method_used, doc.text) == ("fast", all_of_them.strip())


# --- real pages ---------------------------------------------------------------------------------------------------

DRAWN = {
    "https://www.express.com/clothing/women/clearance/cat1920001",
    "https://ruggable.com/products/beatrice-tan-tufted-rug",
}
"""The two pages of the development set that show no word without their scripts, looked at one by one."""


def test_of_real_pages_only_those_without_a_visible_word_look_like_a_shell(shared_data: Path) -> None:
    extract, shells, seen = ExtractionStage(ExtractionConfig()), set(), 0
    for page in read_lines(shared_data / "wcxb-dev.jsonl.zst"):
        record = json.loads(page)
        doc = parsed(record["html"])
        seen += 1
        if found := doc.render_signals.get("shell", {}):
            doc.embedded = None  # as if the data were not there
            extract(doc)
            if looks_like_shell(found, doc.word_count):
                shells.add(record["url"])
    assert seen == 1497
    assert shells == DRAWN
