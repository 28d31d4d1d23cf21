"""The extraction stage: main text that reads like the page."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.quality import eval_text
from crawler.config import ExtractionConfig
from crawler.document import Document, Drop, DropReason
from crawler.stages.extraction.stage import Chain, ExtractionStage, trafilatura_text
from crawler.stages.parse.stage import ParseStage, parse_html
from crawler.stages.text.normal import normalise
from crawler.stages.text.words import count_words
from crawler.storage.files.records import rejection_of
from tests.support.places import SHARED_DATA

SENTENCES = " ".join(
    f"Sentence number {word} tells the reader something that no other sentence of this article says."
    for word in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
)
ARTICLE = f"""<html lang=en><head><title>Site | The article</title>
<meta name=author content="Ada Lovelace"><meta property="article:published_time" content="2024-03-05T10:00:00Z">
<meta property="og:title" content="The article"></head><body>
<nav><ul><li><a href=/>Home</a></li><li><a href=/about>About us and our cookies</a></li></ul></nav>
<article><h1>The article<a class=headerlink href=#top>¶</a></h1>
<p>First   paragraph with
   hard line breaks and <code>inline code</code> inside. {SENTENCES}</p>
<pre>def f(x):
    if x:
        return  {{1: 2}}

    return None
</pre>
<ul><li>first item</li><li>second item<ul><li>nested item</li></ul></li></ul>
<table><tr><th>Name</th><th>Value</th></tr><tr><td>alpha</td><td>1</td></tr></table>
<p>{SENTENCES}</p></article>
<footer>We use cookies. <a rel=license href="https://creativecommons.org/licenses/by-sa/4.0/">Licence</a></footer></body></html>"""


def extract(html: str, content_type: str = "text/html", crawled_at: str = "2025-01-01T00:00:00Z", **config):
    doc = Document(url="https://example.org/x", html=html.encode(), content_type=content_type, crawled_at=crawled_at)
    parsed = ParseStage()(doc)
    assert isinstance(parsed, Document)
    return ExtractionStage(ExtractionConfig(**{"extractor": "trafilatura", **config}))(doc), doc


def text_of(html: str, **kwargs) -> str:
    result, doc = extract(html, **kwargs)
    assert isinstance(result, Document), result
    return doc.text


def test_only_a_page_that_was_read_says_where_its_text_stood():
    unread = Document(url="https://example.org/x")
    assert rejection_of(unread, Drop("robots", DropReason.ROBOTS_DISALLOWED, "line 2"))["method_used"] is None
    result, doc = extract("<p>Too short.")
    assert isinstance(result, Drop)
    assert doc.method_used == "fast"


def test_a_paragraph_is_one_line_without_the_line_breaks_of_its_source():
    assert "First paragraph with hard line breaks and inline code inside. Sentence" in text_of(ARTICLE)


def test_a_code_block_keeps_its_lines_and_indentation():
    assert "def f(x):\n    if x:\n        return  {1: 2}\n\n    return None\n" in text_of(ARTICLE)


def test_list_items_and_table_rows_are_lines_of_their_own():
    text = text_of(ARTICLE)
    assert "\n- first item\n- second item\n  - nested item\n" in text
    assert "\nName | Value\nalpha | 1\n" in text


def test_navigation_cookie_text_and_heading_anchors_are_not_text():
    text = text_of(ARTICLE)
    assert text.startswith("The article\nFirst")
    assert "cookies" not in text
    assert "¶" not in text


def test_metadata_is_read_and_counts_are_those_of_the_text():
    _, doc = extract(ARTICLE)
    assert (doc.title, doc.author, doc.pub_date) == ("The article", "Ada Lovelace", "2024-03-05")
    assert doc.license_tag == "CC-BY-SA-4.0"
    assert doc.extractor == "trafilatura-fast"
    assert doc.char_count == len(doc.text)
    assert doc.word_count == count_words(doc.text)
    assert doc.extraction_yield == round(len(doc.text) / len(ARTICLE.encode()), 4)
    assert doc.token_estimate == -(-len(doc.text.encode()) // 4)
    assert doc.tree is None


def test_a_date_after_the_fetch_is_no_publication_date():
    _, doc = extract(ARTICLE, crawled_at="2024-01-01T00:00:00Z")
    assert doc.pub_date is None


def test_inline_code_stays_in_its_sentence():
    items = "".join(
        f"<li>Fixed <code class=literal><span>Class{n}.get()</span></code> with the <code>Backend{n}</code> backend "
        f'(<a href="https://example.org/ticket/{n}">#2584{n}</a>).</li>'
        for n in range(9)
    )
    section = f"<p>The release fixes bugs.</p><h2>Bugfixes</h2><ul>{items}</ul>"
    html = f"<html><body><div class=section>{section}</div></body></html>"
    text = text_of(html, min_words=10)
    assert "- Fixed Class3.get() with the Backend3 backend (#25843).\n" in text


def test_code_of_several_lines_without_pre_keeps_them():
    code = "<code>first line<br>second line<br>third line</code>"
    html = f"<html><body><article><p>{SENTENCES}</p><div>{code}</div><p>{SENTENCES}</p></article></body></html>"
    assert "first line\nsecond line\nthird line" in text_of(html)


def test_docbook_paragraphs_written_as_div_are_paragraphs():
    body = "".join(f'<div class="para">{SENTENCES} Number {i}.</div>' for i in range(5))
    html = f"<html><body><div class=section><h2>Head</h2><p>{SENTENCES}</p>{body}</div></body></html>"
    text = text_of(html)
    assert [f"Number {i}." in text for i in range(5)] == [True] * 5


@pytest.mark.parametrize("extractor", ["learned", "trafilatura"])
def test_what_a_field_offers_to_choose_from_is_no_text(extractor):
    choices = "".join(f"<option>Kingdom of {name}</option>" for name in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" * 3)
    form = f"<form>Name: <input name=n><br>E-mail: <input name=e><br>Country: <select name=c>{choices}</select></form>"
    body = f"<ul><li><a href=/>Home</a></ul><div>{form}</div>"
    _, doc = extract(f"<html><body>{body}</body></html>", extractor=extractor, min_words=0)
    assert "Kingdom" not in doc.text


def test_resiliparse_is_an_extractor_of_its_own():
    _, doc = extract(ARTICLE, extractor="resiliparse")
    assert doc.extractor == "resiliparse"
    assert "Sentence number twelve" in doc.text


def test_an_article_in_structured_data_is_found():
    article = f'{{"@type":"Article","articleBody":"{SENTENCES}"}}'
    html = f'<html><body><script type="application/ld+json">{article}</script></body></html>'
    result, doc = extract(html)
    assert isinstance(result, Document)
    assert doc.text == SENTENCES


def test_the_full_text_wins_where_the_fast_one_is_a_fraction_of_it(monkeypatch):
    found = {True: "A lead.", False: SENTENCES}
    monkeypatch.setattr("crawler.stages.extraction.stage.trafilatura_text", lambda tree, url, *, fast: found[fast])
    _, doc = extract(f"<html><body><article><p>{SENTENCES}</p></article></body></html>")
    assert (doc.extractor, doc.text) == ("trafilatura", SENTENCES)


def test_resiliparse_has_the_last_word_where_trafilatura_finds_nothing(monkeypatch):
    monkeypatch.setattr("crawler.stages.extraction.stage.trafilatura_text", lambda tree, url, *, fast: "")
    _, doc = extract(f"<html><body><article><p>{SENTENCES}</p></article></body></html>")
    assert doc.extractor == "resiliparse"
    assert "Sentence number twelve" in doc.text


FOUND = "A short lead is all that was found of this article."
ARTICLE_LINES = [f"{SENTENCES} This is paragraph {n}." for n in range(4)]


def chosen(monkeypatch, found: str, estimate: list[str], chain: Chain | None = None) -> str:
    """Which extractor wins where trafilatura finds `found`, fast and full, and resiliparse the lines of `estimate`."""
    monkeypatch.setattr("crawler.stages.extraction.stage.trafilatura_text", lambda tree, url, *, fast: found)
    monkeypatch.setattr("crawler.stages.extraction.stage.resiliparse_text", lambda doc: "\n".join(estimate))
    body = "".join(f"<p>{line}</p>" for line in estimate)
    doc = Document(
        url="https://example.org/x", html=f"<html><body>{body}</body></html>".encode(), content_type="text/html"
    )
    ParseStage()(doc)
    ExtractionStage(ExtractionConfig(extractor="trafilatura", min_words=0), chain)(doc)
    return doc.extractor


def test_a_fragment_gives_way_to_the_estimate(monkeypatch):
    assert chosen(monkeypatch, FOUND, ARTICLE_LINES) == "resiliparse"


def test_short_lines_of_the_estimate_are_menus_and_make_no_fragment(monkeypatch):
    menu = [f"Menu entry number {n} of many" for n in range(200)]
    assert chosen(monkeypatch, FOUND, menu) == "trafilatura-fast"


def test_a_long_text_is_an_article_of_its_own_however_much_stands_beside_it(monkeypatch):
    article = "\n".join([SENTENCES, SENTENCES, SENTENCES, SENTENCES])
    assert len(article) > Chain().longest_fragment
    assert chosen(monkeypatch, article, ARTICLE_LINES * 20) == "trafilatura-fast"
    assert chosen(monkeypatch, article, ARTICLE_LINES * 20, Chain(longest_fragment=10_000)) == "resiliparse"


@pytest.mark.parametrize(("share", "extractor"), [(0.5, "resiliparse"), (0.0, "trafilatura-fast")])
def test_what_a_fragment_is_can_be_chosen(monkeypatch, share, extractor):
    assert chosen(monkeypatch, FOUND, ARTICLE_LINES, Chain(min_share_of_running=share)) == extractor


def test_a_long_text_of_one_line_gives_way_to_one_with_paragraphs(monkeypatch):
    flat = " ".join(ARTICLE_LINES)
    assert chosen(monkeypatch, flat, ARTICLE_LINES) == "resiliparse"
    assert chosen(monkeypatch, "\n".join(ARTICLE_LINES), ARTICLE_LINES) == "trafilatura-fast"
    assert chosen(monkeypatch, flat, [flat]) == "trafilatura-fast"  # it has no lines either
    assert chosen(monkeypatch, flat * 2, ARTICLE_LINES[:3]) == "trafilatura-fast"  # it has lost half of the text
    assert chosen(monkeypatch, flat * 2, ARTICLE_LINES[:3], Chain(min_share_of_flat=0.3)) == "resiliparse"
    assert chosen(monkeypatch, flat, ARTICLE_LINES, Chain(longest_line=len(flat))) == "trafilatura-fast"


def test_a_page_of_very_many_tags_is_left_to_the_extractor_that_is_quick_with_it():
    small, large = (
        f"<html><body><article><p>{SENTENCES}</p>{'<b>x</b>' * n}</article></body></html>" for n in (9, 30_001)
    )
    assert extract(small)[1].extractor == "trafilatura-fast"
    assert extract(large)[1].extractor == "resiliparse"


HOSTILE = {
    "tables": "<table><tr><td>a</td><td>b</td></tr></table>" * 10_000,
    "paragraphs": "<p>word word" * 380_000,
    "links": '<a href="/x">link text</a> ' * 100_000,
    "sections": "<section id=related-x><h2>Related x</h2><p>text of it</p></section>" * 40_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_page_made_to_be_slow_is_done_in_seconds(name):
    started = time.process_time()
    extract(f"<html><body>{HOSTILE[name]}</body></html>")
    assert time.process_time() - started < 8.0


def test_ten_thousand_short_paragraphs_do_not_cost_their_square():
    started = time.process_time()
    rows = "<table><tr><td>a</td><td>b</td></tr></table>" * 6_000
    tree = parse_html(f"<html><body>{rows}</body></html>")
    trafilatura_text(tree, "https://example.org/", fast=False)
    assert time.process_time() - started < 8.0


def test_plain_text_keeps_its_lines():
    result, doc = extract("Title\r\n\r\n\r\n\r\nA line.  \nAnother line.", content_type="text/plain", min_words=3)
    assert isinstance(result, Document)
    assert doc.text == "Title\n\nA line.\nAnother line."
    assert doc.extractor == "plain"


def test_a_page_without_text_is_no_text_and_says_how_large_it_was():
    result, _ = extract("<html><body><img src=x></body></html>")
    assert result == Drop("extraction", DropReason.NO_TEXT, "37 bytes of text/html")


def test_a_thin_page_is_too_short_and_keeps_its_numbers():
    result, doc = extract(f"<html><body><article><p>{SENTENCES[:300]}</p></article></body></html>")
    assert isinstance(result, Drop)
    assert result.reason is DropReason.TOO_SHORT
    assert result.detail == f"{doc.word_count} words, needs 50"
    assert 0 < doc.word_count < 100


def test_chinese_is_measured_by_its_characters():
    paragraph = "人工智能是计算机科学的一个分支，它企图了解智能的实质，并生产出一种新的智能机器。" * 12
    result, doc = extract(f"<html><body><article><p>{paragraph}</p></article></body></html>")
    assert isinstance(result, Document)
    assert doc.word_count > 200


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("e\u0301t\u00e9", "\u00e9t\u00e9"),
        ("soft\u00adhyphen\u200b", "softhyphen"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("Ã¼ber GrÃ¶ÃŸe und fÃ¼r", "über Größe und für"),
        ("não é mojibake: Â", "não é mojibake: Â"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
    ],
)
def test_text_is_kept_in_one_form(raw, kept):
    assert normalise(raw) == kept


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=200))
def test_normal_form_is_stable(text):
    once = normalise(text)
    assert normalise(once) == once


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<pre>",
                "<ul><li>",
                "</ul>",
                "<table><tr><td>",
                "</table>",
                "<div>",
                "word ",
                "\n",
                "<br>",
                "<code>",
                "</code>",
                "<script type='application/ld+json'>[{]</script>",
            ]
        ),
        max_size=40,
    )
)
def test_extraction_never_raises(parts):
    result, _ = extract("<html><body>" + "".join(parts) + "</body></html>")
    assert isinstance(result, Document | Drop)


@pytest.mark.skipif(not (SHARED_DATA / "extraction").is_dir(), reason="needs ../shared/data/extraction")
def test_the_chain_stays_above_its_floor_on_real_pages():
    score, run = eval_text.Score(), eval_text.ours("trafilatura")
    for url, html, entry in eval_text.pages(SHARED_DATA / "extraction"):
        score.add(run(url, html), entry)
    assert score.pages == 106
    assert score.right / (score.right + score.wrong) >= 0.89
    assert score.right / (score.right + score.missed) >= 0.92


@pytest.mark.parametrize(
    ("granted", "tier", "noted"),
    [("GPL-2.0-only", "A", ["CC-BY-SA-4.0"]), ("CC-BY-SA-4.0", "A", []), (None, None, [])],
)
def test_a_licence_that_a_page_states_against_the_allowlist_is_noted_and_changes_no_verdict(granted, tier, noted):
    doc = Document(url="https://example.org/x", html=ARTICLE.encode(), content_type="text/html")
    doc.license_tag, doc.license_tier = granted, tier
    ParseStage()(doc)
    assert isinstance(ExtractionStage(ExtractionConfig())(doc), Document)
    assert doc.license_tag == (granted or "CC-BY-SA-4.0")
    assert [(s.carrier, s.value, s.verdict) for s in doc.optout_signals] == [("page", one, "unknown") for one in noted]
