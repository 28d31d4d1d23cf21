"""The walk reads the page as libxml2 writes it out: the same texts, names and links as an element tree has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.stages.extraction.learned import tags
from crawler.stages.extraction.learned.tags import Role, pieces, tag_of, unescaped
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.parse.stage import parse_html

TEXT = st.text(st.sampled_from("ab <>&\"'=/;\n\r\t\u00a0ä日]"), max_size=12)
NAMES = st.sampled_from(["div", "p", "li", "span", "a", "code", "pre", "td", "h2", "br", "svg", "x-card"])


@st.composite
def written(draw, depth: int = 3) -> str:
    """HTML of random elements with hostile attribute values and texts."""
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        name, value, text = draw(NAMES), draw(TEXT), draw(TEXT)
        value = value.replace("&", "&amp;").replace('"', "&quot;")
        text = text.replace("&", "&amp;").replace("<", "&lt;")
        inside = draw(written(depth - 1)) if depth else ""
        parts.append(f'<{name} class="{value}" data-x="{value}" href="{value}">{text}{inside}</{name}>{text}')
    return "".join(parts)


@given(written())
def test_words_names_and_links_are_those_of_the_tree(html):
    tree = parse_html(f"<html><body><div>{html}</div></body></html>")
    page = walk(tree)
    body = tree.find(".//body")
    shown = "".join(body.xpath(".//text()[not(ancestor::svg)]"))
    assert "".join("".join(page.texts).split()) == "".join(shown.split())
    blocks = [
        e
        for e in body.iter()
        if tags.role_of(e.tag) is Role.BLOCK and not any(a.tag == "svg" for a in e.iterancestors())
    ]
    assert page.tags == [e.tag for e in blocks]
    assert [name.strip() for name in page.names] == [(e.get("class") or "").strip() for e in blocks]


def test_scripts_are_left_out_however_they_are_written():
    tree = parse_html(
        "<html><body><p>a</p><script>if (a < b && '<p>no</p>' > c) { '</div>' }</script><p>b</p></body></html>"
    )
    assert walk(tree).texts == ["a", "b"]


def test_references_are_read_once():
    assert unescaped("&amp;lt; &lt;b&gt; &quot;") == '&lt; <b> "'


def test_a_tag_is_read_once_and_one_with_data_is_not_remembered():
    assert tag_of('div class="card"') is tag_of('div class="card"')
    long = f'div data-state="{"x" * tags.LONGEST_REMEMBERED}"'
    assert tag_of(long) is not tag_of(long) and tag_of(long) == tag_of(long)


def test_the_memory_of_tags_has_a_limit(monkeypatch):
    monkeypatch.setattr(tags, "MAX_REMEMBERED", 10)
    for n in range(100):
        tag_of(f'div id="{n}"')
    assert len(tags._known) <= 10


def test_what_is_skipped_ends_where_it_ends():
    tree = parse_html("<body><div>a<svg><g><svg><text>no</text></svg></g><text>no</text></svg>b</div></body>")
    assert walk(tree).texts == ["ab"]


def test_the_outer_code_names_the_language():
    tree = parse_html('<body><pre><code class="language-go"><code class="mono">x := 1</code></code></pre></body>')
    assert list(walk(tree).languages.values()) == ["language-go"]


def test_an_element_written_out_is_text_and_tags_in_turn():
    assert pieces(parse_html("<body><p>a<b>c</b></p></body>").find(".//p")) == [
        "",
        "p",
        "a",
        "b",
        "c",
        "/b",
        "",
        "/p",
        "",
    ]
