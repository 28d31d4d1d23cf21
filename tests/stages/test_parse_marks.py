"""Where a link stands is known before it is fetched: main text before menus, menus before footers."""

from __future__ import annotations

from crawler.document import Document
from crawler.pool import worker
from crawler.stages.parse.stage import ParseStage

LONG = "An article about the harbour of amber island"


def marks(body: str) -> dict[str, int]:
    doc = Document("https://a.example/", html=f"<html><body>{body}</body></html>".encode(), content_type="text/html")
    ParseStage()(doc)
    return {url.rpartition("/")[2]: mark for url, mark in zip(doc.links, doc.link_marks, strict=True)}


def test_the_main_text_is_worth_more_than_a_menu_and_a_menu_more_than_a_footer():
    found = marks(
        f'<nav><a href="/menu">{LONG}</a></nav><main><a href="/text">{LONG}</a><a href="/short">next</a></main>'
        f'<div role="contentinfo"><a href="/foot">{LONG}</a></div><aside><a href="/aside">{LONG}</a></aside>'
    )
    assert found["text"] == 0 < found["short"] < found["aside"] < found["menu"] < found["foot"] <= 9


def test_the_best_place_of_a_link_counts():
    assert marks(f'<footer><a href="/x">{LONG}</a></footer><p><a href="/x#part">{LONG}</a>') == {"x": 0}


def test_a_menu_in_a_footer_is_the_footer_and_a_footer_in_a_menu_no_better():
    menu, link = "<nav>{}</nav>", f'<a href="/x">{LONG}</a>'
    foot = marks(f"<footer>{link}</footer>")["x"]
    assert (
        marks(f"<footer>{menu.format(link)}</footer>") == marks(menu.format(f"<footer>{link}</footer>")) == {"x": foot}
    )


def test_a_tag_is_a_label():
    found = marks(f'<a href="/tag" rel="tag">{LONG}</a><a href="/post">{LONG}</a>')
    assert found["tag"] > found["post"] == 0


def test_marks_follow_their_links_through_canonical_form(monkeypatch):
    class Reads:
        def run(self, doc, names):
            doc.links = ["https://a.example/x?utm_source=1", "https://a.example/y", "https://a.example/x", "mailto:a@b"]
            doc.link_marks = bytes([5, 2, 3, 0])
            return doc

    monkeypatch.setattr(worker, "_chain", Reads())
    doc = worker.run_stages(Document("https://a.example/"), ())
    assert (doc.links, list(doc.link_marks)) == (["https://a.example/x", "https://a.example/y"], [3, 2])
