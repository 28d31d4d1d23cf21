"""Pages of documentation generators keep their headings, lists, terms, tables and code; what leads elsewhere goes."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.prepare import place_text
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html

LONG = "The spoon is made of one piece of wood, and nobody has found a better way to make a spoon in all these years."


def text_of(body: str, charset: str = "utf-8") -> str:
    html = f"<html lang=en><head><title>T</title></head><body>{body}</body></html>".encode(charset)
    doc = Document(url="https://example.org/page", html=html, content_type=f"text/html; charset={charset}")
    assert isinstance(ParseStage()(doc), Document)
    ExtractionStage(ExtractionConfig(extractor="trafilatura", min_words=0))(doc)
    return doc.text


def test_a_docbook_page_reads_like_the_page():
    body = f"""
    <div class="navheader"><table summary="Navigation header"><tr><td><a accesskey="p" href="a.html">Prev</a></td>
    <td><a accesskey="n" href="b.html">Next</a></td></tr></table></div>
    <div class="refentry"><div class="refnamediv"><h2>carve_spoon</h2><p>carve_spoon — carves a spoon, slowly</p></div>
    <div class="refsect1"><h2>Synopsis</h2><pre class="synopsis">carve_spoon(wood, knife)
    returns spoon</pre></div>
    <div class="refsect1"><h2>Description</h2><p>{LONG}</p><p>{LONG} It is true.</p></div>
    <div class="refsect1"><h2>Arguments</h2><div class="variablelist"><dl class="variablelist">
    <dt><span class="term"><em class="parameter"><code>wood</code></em></span></dt><dd><p>Birch is best.</p></dd>
    <dt><span class="term"><em class="parameter"><code>knife</code></em></span></dt><dd><p>Keep it sharp.</p></dd>
    </dl></div>
    <div class="itemizedlist"><ul><li class="listitem"><p>Start at the bowl.</p></li>
    <li class="listitem"><p>End at the handle.</p></li></ul></div></div></div>
    <div class="navfooter"><table><tr><td><a accesskey="p" href="a.html">Prev</a></td>
    <td><a accesskey="n" href="b.html">Next</a></td></tr></table></div>"""
    assert text_of(body) == "\n".join(
        [
            "carve_spoon",
            "carve_spoon — carves a spoon, slowly",
            "Synopsis",
            "carve_spoon(wood, knife)",
            "    returns spoon",
            "Description",
            LONG,
            f"{LONG} It is true.",
            "Arguments",
            "wood",
            "Birch is best.",
            "knife",
            "Keep it sharp.",
            "- Start at the bowl.",
            "- End at the handle.",
        ]
    )


def test_a_texinfo_page_loses_its_steps_and_keeps_its_lists():
    body = f"""
    <div class="section" id="Spoons"><div class="header"><p>
    Next: <a href="b.html" accesskey="n" rel="next">Forks</a>, Previous: <a href="a.html" accesskey="p"
    rel="prev">Knives</a>, Up: <a href="c.html" accesskey="u" rel="up">Cutlery</a>
    [<a href="d.html" title="Index" rel="index">Index</a>]</p></div>
    <hr><h4 class="subsection">4.1.2 Spoons</h4><p>{LONG}</p>
    <ul><li> Take a knife. </li><li> Take your time. </li></ul><p>{LONG} It is true.</p></div>"""
    assert text_of(body) == "\n".join(
        ["4.1.2 Spoons", LONG, "- Take a knife.", "- Take your time.", f"{LONG} It is true."]
    )


@pytest.mark.parametrize("charset", ["utf-8", "utf-16"])
def test_line_numbers_beside_code_are_no_code(charset):
    code = "\n".join(f'<span class="source-line-no">{n:03}</span><span>call({n});</span>' for n in range(1, 4))
    text = text_of(f"<main><p>{LONG}</p><pre>{code}</pre><p>{LONG} It is true.</p></main>", charset)
    assert text.split("\n")[1:4] == ["call(1);", "call(2);", "call(3);"]


def test_numbers_that_are_content_stay():
    text = text_of(f'<main><p>{LONG}</p><p><span class="outline">42</span> is the answer. {LONG}</p></main>')
    assert "42 is the answer." in text


def test_cells_of_a_table_in_a_list_do_not_run_into_each_other():
    table = "<table><tr><td>Wood</td><td>the kind of wood</td></tr><tr><td>Size</td><td>of the spoon</td></tr></table>"
    text = text_of(f"<main><h1>T</h1><p>{LONG}</p><dl><dt>Parameters</dt><dd>{table}</dd></dl><p>{LONG}</p></main>")
    assert text == "\n".join(["T", LONG, "Parameters", "Wood | the kind of wood", "Size | of the spoon", LONG])


def test_a_page_that_names_its_text_is_left_as_it_is():
    for body in (f"<article><p>{LONG}</p></article>", f'<div class="post-content"><p>{LONG * 3}</p></div>'):
        tree = parse_html(f"<html><body>{body}</body></html>")
        place_text(tree)
        assert tree.find(".//*[@itemprop]") is None


def test_the_frame_is_the_innermost_element_around_nearly_all_paragraphs():
    tree = parse_html(
        f"<html><body><div id=a><div id=b><p>{LONG}</p><p>{LONG}</p></div></div>"
        f"<div id=c><a href=/>{LONG}</a></div><footer><p>{LONG}</p></footer></body></html>"
    )
    place_text(tree)
    assert [element.get("id") for element in tree.iter("div") if element.get("itemprop")] == ["b"]


def test_headings_with_named_anchors_are_kept():
    sections = "".join(
        f'<div class="sect2"><div class="titlepage"><div><div><h3 class="title"><a name="s{n}"></a>2.{n}. Spoons</h3>'
        f"</div></div></div><p>{LONG}</p></div>"
        for n in (1, 2)
    )
    assert text_of(f'<div class="chapter">{sections}</div>') == "\n".join(["2.1. Spoons", LONG, "2.2. Spoons", LONG])


def test_the_text_of_layout_tables_stands_there_once():
    inner = f"<table><tr><td>wood</td><td>birch</td></tr></table><p>{LONG}</p>"
    page = f"<table><tr><td><table><tr><td><h2>Spoons</h2><p>{LONG}</p>{inner}</td></tr></table></td></tr></table>"
    text = text_of(page)
    assert (text.count(LONG), text.count("wood | birch"), text.count("birch")) == (2, 1, 1)


def test_blocks_of_a_table_of_one_column_do_not_run_into_each_other():
    rows = "".join(
        f'<tr><td class="entry"><p class="signature"><code>{name}</code> ( <code>wood</code> ) → spoon</p>'
        f"<p>Makes a spoon by {name}.</p><p><code>{name}(birch)</code></p></td></tr>"
        for name in ("carve", "whittle")
    )
    text = text_of(f'<div class="sect1"><h2>Functions</h2><p>{LONG}</p><table><tbody>{rows}</tbody></table></div>')
    for name in ("carve", "whittle"):
        assert f"\n{name} ( wood ) → spoon\nMakes a spoon by {name}.\n{name}(birch)" in text


def test_a_row_of_one_filled_cell_has_no_separators():
    rows = (
        "<tr><th>Wood</th><th>Use</th></tr><tr><td>Hard woods</td><td></td></tr><tr><td>birch</td><td>spoons</td></tr>"
    )
    assert "Wood | Use\nHard woods\nbirch | spoons" in text_of(f"<main><p>{LONG}</p><table>{rows}</table></main>")
