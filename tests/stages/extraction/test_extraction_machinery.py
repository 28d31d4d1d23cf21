# ruff: noqa: E501 (markup as the programs write it)
"""What works a page, and the marks of its editing, are no text; the sentences are our own."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.common import correct
from crawler.stages.extraction.escaped import unescape
from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html
from tests.support.places import SHARED_DATA

EXTRACTORS = ("learned", "trafilatura", "resiliparse")
SAMPLES = SHARED_DATA / "third-look" / "text"


def text_of(body: str, language: str = "en") -> str:
    html = f"<html lang={language}><body>{body}</body></html>"
    tree = parse_html(html)
    unescape(tree, html.encode())
    correct(tree, html.encode())
    page = walk(tree)
    return write(page, [True] * len(page.texts)).text


def run(html: bytes, extractor: str, text_format: str = "text") -> Document:
    doc = Document(url="https://example.org/", html=html, content_type="text/html")
    assert isinstance(ParseStage()(doc), Document)
    ExtractionStage(ExtractionConfig(min_words=0, extractor=extractor, text_format=text_format))(doc)
    return doc


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('<h2>Geschichte<span class="mw-editsection">[<a>Bearbeiten</a> | <a>Quelltext bearbeiten</a>]</span></h2>', "Geschichte"),
        ('<p>A note. <a href="#fnref1" class="footnote-backref">↩︎</a></p>', "A note."),
        ('<p>A note. <a href="/page#fnref1">↩</a> <a href="#fnref1-2">↩<sup>2</sup></a></p>', "A note."),
        ('<p>A note. <a href="#r" role="doc-backlink">zurück zum Text</a></p>', "A note."),
        ('<ul><li><b><a href="#cite_ref-1">^</a></b> A book.</li></ul>', "- A book."),
        ('<ul><li>^ <a href="#c0"><sup><i><b>a</b></i></sup></a> <a href="#c1"><sup>b</sup></a> A book.</li></ul>', "- A book."),
        ('<ul><li><a href="#c">↑</a> <a href="#c1">1,0</a> <a href="#c2">1,1</a> Ein Buch.</li></ul>', "- Ein Buch."),
        ('<p>It rained.<sup class="Template-Fact Inline-Template">[<i><a href="/w">citation needed</a></i>]</sup> So.</p>', "It rained. So."),
        ('<p>Es regnete.<sup>[wann?]</sup> Ja.<sup>[<a href="/w">Quelle fehlt</a>]</sup></p>', "Es regnete. Ja."),
        ("<p>It is so.<sup>[sic]</sup> See<sup>[a]</sup> and<sup>[note 2]</sup> and<sup>[3]</sup>.</p>",
         "It is so.[sic] See[a] and[note 2] and[3]."),
        ('<p>Siehe <a href="/x" target="_blank">dort<span class="sr-only">(öffnet in neuem Tab)</span></a>.</p>', "Siehe dort."),
        ('<p>Voir <a href="/x" target="_blank">ici <span class="visually-hidden">nouvelle fenêtre</span></a>.</p>', "Voir ici."),
        ('<p>See <a href="/x">this<span class="screen-reader-text"> (opens in a new tab)</span></a>.</p>', "See this."),
        ('<p><a href="/x" target="_blank"><span class="sr-only">All about mills</span></a> here.</p>', "All about mills here."),
        ("<p>See <a href='#top'>^</a> x^2 and <a href='#n1'>2</a>.</p>", "See ^ x^2 and 2."),
    ],
)  # fmt: skip
def test_machinery_goes_and_what_it_stands_at_stays(body, text):
    assert text_of(body) == text


@pytest.mark.parametrize(
    ("body", "language", "text"),
    [
        ("<p>He said <q>no</q>.</p>", "en-GB", "He said “no”."),
        ("<p>Er sagte <q>ich <q>komme</q> bald</q>.</p>", "de", "Er sagte „ich ‚komme‘ bald“."),
        ("<p>Il dit <q>non</q>. <span lang=de>Er: <q>nein</q>.</span></p>", "fr", "Il dit «non». Er: „nein“."),
        ("<p>彼は<q>いいえ</q>と言った。</p>", "ja", "彼は「いいえ」と言った。"),
        ('<p>He said "<q>no</q>" and <q>“yes”</q>.</p>', "en", 'He said "no" and “yes”.'),
        ("<p>It costs <del>20</del><ins>15</ins> crowns, a colo<del>u</del>r.</p>", "en", "It costs 15 crowns, a color."),
        ("<p>The <del>old </del>mill and a<del> b </del>c.</p>", "en", "The mill and a c."),
        ("<p>The <s>old</s> mill.</p>", "en", "The old mill."),
        ("<p>A word<label for=s></label><span class='sidenote'>A note.</span> goes on.</p><p>Next.</p>", "en",
         "A word goes on.\nA note.\nNext."),
        ("<p>One<small class='marginnote'>A.</small> two<span class='sidenote'>B.</span>.</p>", "en", "One two.\nA.\nB."),
    ],
)  # fmt: skip
def test_an_edited_text_is_the_text_that_holds(body, language, text):
    assert text_of(body, language) == text


def test_a_deletion_without_its_end_does_not_take_the_page():
    assert "words of the page" in text_of(f"<p>One <del>two.</p>{'<p>The words of the page.</p>' * 200}")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "<p>Tom &amp;amp; Ada&amp;#8217;s mill in Z&amp;uuml;rich, 5&amp;nbsp;km&amp;hellip;</p>",
            "Tom & Ada’s mill in Zürich, 5 km…",
        ),
        ("<p>Tom &amp;amp;amp; Ada</p>", "Tom & Ada"),
        ("<p>Write <code>&amp;amp;</code> for it. Tom &amp;amp; Ada.</p>", "Write &amp; for it. Tom &amp; Ada."),
        ("<p>The entity “&amp;nbsp;” is a blank, 5&amp;nbsp;km.</p>", "The entity “&nbsp;” is a blank, 5&nbsp;km."),
        ("<p>Write &amp;lt;b&amp;gt; and Tom &amp;amp; Ada.</p>", "Write &lt;b&gt; and Tom &amp; Ada."),
        ("<p>AT&amp;T; R&amp;D and x &lt; y; z</p>", "AT&T; R&D and x < y; z"),
    ],
)
def test_what_was_escaped_twice_is_written_out_unless_the_page_speaks_of_it(body, text):
    assert text_of(body) == text


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_a_title_that_was_escaped_twice_is_written_out(extractor):
    html = b"<title>Tom &amp;amp; Ada&amp;#8217;s mill</title><meta property='og:title' content='Tom &amp;amp; Ada&amp;#8217;s mill'><p>Z&amp;uuml;rich"
    assert run(html, extractor).title == "Tom & Ada’s mill"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>[vc_row full_width=”x”][vc_column]The text.[/vc_column][/vc_row]</p>", "The text."),
        ('<p>[et_pb_section fb_built="1" _builder_version="4.9"]</p><p>The text.</p>', "The text."),
        ('<p>[caption id="attachment_1" width="3"]The bridge[/caption]</p><p>[gallery ids="1,2"]</p>', "The bridge"),
        ('<p>[my_box color="red"]In it.[/my_box]</p>', "In it."),
        ("<p>[1] and [my_note] and [sic] and [a_b](x)</p>", "[1] and [my_note] and [sic] and [a_b](x)"),
        ("<p>Write <code>[vc_row]</code>: [vc_row]</p>", "Write [vc_row]: [vc_row]"),
    ],
)
def test_shortcodes_go_and_their_content_stays(body, text):
    assert text_of(body) == text


ICONS = (
    "<table><tr><th>Can<th>Free<th>Paid</tr>"
    "<tr><td>Sync<td><img src=x alt=No><td><i class='fa fa-check'></i></tr>"
    "<tr><td>Share<td><svg aria-label='Not included'><path/></svg><td><span title=Included></span></tr>"
    "<tr><td>Send<td><i class=material-icons>close</i><td><input type=checkbox checked disabled></tr>"
    "<tr><td>Print<td><i class='bi bi-x-lg'></i><td><svg><title>Yes</title></svg></tr></table>"
)


def test_a_cell_says_what_its_picture_says():
    assert text_of(ICONS).split("\n")[1:] == [
        "Sync | No | ✓", "Share | Not included | Included", "Send | ✗ | ☑", "Print | ✗ | Yes",
    ]  # fmt: skip
    layout = "<table><tr><td><img alt='The mill in May'><td>The mill<tr><td><img alt='The weir'><td>The weir</table>"
    assert "May" not in text_of(layout)


WIKI = SAMPLES / "15-mediawiki.html"


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_a_page_of_a_wiki_is_left_with_its_article(extractor):
    navigation = '<div class="navbox"><table><tr><th>Weirs</th><td>Oak Weir</td></tr></table></div>'
    article = "".join(
        f"<p>The weir number {n} was built of grey stone, and it has stood there ever since.</p>" for n in range(6)
    )
    html = (
        f'<html><body class="mediawiki"><div id="content"><div id="siteSub">From a wiki</div><h1>Alder Weir</h1>'
        f'<div id="mw-content-text"><div class="mw-parser-output"><table class="ambox"><tr><td>This article needs help.</td></tr></table>'
        f'<table class="infobox"><tr><th>Opened</th><td>1874<span class="noprint">; long ago</span></td></tr>'
        f"<tr><th>Length</th><td>120 m</td></tr></table>"
        f'{article}<figure typeof="mw:File/Thumb"><a href="/f"><img src=a></a><figcaption>The weir in winter</figcaption></figure>{article}'
        f'<h2>References</h2><ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink">^</span> Miller, Ada. On weirs.'
        f'</li></ol>{navigation}</div></div><div id="catlinks" class="catlinks">Hidden categories: <a>Unsourced</a></div></div></body></html>'
    ).replace("number 3", 'number 3<sup class="reference"><a href="#cite_note-1">[1]</a></sup>')
    text = run(html.encode(), extractor).text
    for gone in ("needs help", "Oak Weir", "Unsourced", "From a wiki", "long ago", "^"):
        assert gone not in text
    assert "Opened" in text and "1874" in text and "number 3[1] was built" in text and "Miller, Ada. On weirs." in text
    assert extractor == "resiliparse" or "The weir in winter" in text  # it leaves pictures out with their captions


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no ../shared/data/third-look/text beside this checkout")
@pytest.mark.parametrize("extractor", EXTRACTORS)
@pytest.mark.parametrize(
    ("name", "there", "gone"),
    [
        ("08-subscripts.html", ("log₂8", "10^(1.5)", "y^(1/2)", "xₙ²", "5¹⁄₂"), ("log28", "101.5", "y1/2")),
        ("09-code-nbsp.html", ("\n  if x:\n    print(x)", "\tgcc"), ()),
        ("15-mediawiki.html", ("chose the grey stone", "Miller, Ada (1901)", "Carver, Bo (1923)", "12 m³/s.[2]"),
         ("[edit]", "citation needed", "additional citations", "Articles needing", "(Redirected from", "↩", "^ a b")),
        ("17-double-escaped.html", ("Tom & Ada’s mill", "“no” – twice… Zürich"), ("&amp;", "&#8211;", "&ldquo;")),
    ],
)  # fmt: skip
def test_the_samples_of_the_third_look_read_as_they_should(name, there, gone, extractor):
    text = run((SAMPLES / name).read_bytes(), extractor).text.replace("\xa0", " ")
    assert [one for one in there if one not in text] == [] == [one for one in gone if one in text]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no ../shared/data/third-look/text beside this checkout")
@pytest.mark.parametrize("extractor", ["learned", "trafilatura"])
def test_the_tables_of_the_third_look_keep_their_columns(extractor):
    text = run((SAMPLES / "07-empty-cells.html").read_bytes(), extractor).text
    assert "1 May | | 500 | 500\n2 May | 120 | | 380\n" in text
    assert "Mon | Maths | | Art\nTue | | Music |" in text
    assert "The weir in winter" in run(WIKI.read_bytes(), extractor).text
