"""reStructuredText, AsciiDoc, JATS and TEI become blocks without markup, in time that grows with their length alone."""

from __future__ import annotations

import time

import pytest

from crawler.document import DropReason
from crawler.stages.documents.asciidoc import read_asciidoc
from crawler.stages.documents.model import UnreadableError
from crawler.stages.documents.papers import read_paper
from crawler.stages.documents.rst import read_rst
from crawler.wire.media import media_kind

RST = """\
:orphan:

.. _mills:

========
On mills
========
:Author: Ada Miller

The *miller* of the **old town** rose ``before_the_sun``, as `told <https://mills.test/told>`_
in :ref:`mills` and :py:class:`~mill.wheel.Wheel`; see `the book`_ [1]_ and |town|.

.. |town| replace:: Riverton
.. _the book: /book.html
.. [1] By those who saw it.

The wheel
---------

- flour with
  bran

  and a second paragraph
- rye

#. first
2. second

.. note:: The frost
   stands in the wheel.

.. code-block:: python
   :linenos:

   x = "**kept**"

.. image:: mill.png
   :alt: gone

.. toctree::

   gone

.. a comment
   of two lines

So it is written::

    literal *text*

It is said:

  Who grinds sleeps little.

+-------+--------+
| grain | weight |
+=======+========+
| rye   | ten    |
| black |        |
+-------+--------+

=====  ======
grain  price
=====  ======
oats   four
=====  ======

| The wheel turns,
| the river burns.

bran
    What is left of the grain.

.. math:: x^2
"""


def said(content):
    return [(b.form, b.text) for b in content.blocks]


def test_restructuredtext_is_left_without_its_markup():
    found = read_rst(RST)
    assert said(found) == [
        ("heading", "On mills"),
        ("paragraph", "The miller of the old town rose before_the_sun, as told in On mills and Wheel; see the book and "
                      "Riverton."),
        ("paragraph", "By those who saw it."),
        ("heading", "The wheel"),
        ("list", "- flour with bran"), ("paragraph", "and a second paragraph"), ("list", "- rye"),
        ("list", "- first"), ("list", "2. second"),
        ("paragraph", "The frost stands in the wheel."),
        ("code", 'x = "**kept**"'),
        ("paragraph", "So it is written:"), ("code", "literal *text*"), ("paragraph", "It is said:"),
        ("paragraph", "Who grinds sleeps little."),
        ("table", "grain | weight"), ("table", "rye black | ten"),
        ("table", "grain | price"), ("table", "oats | four"),
        ("paragraph", "The wheel turns,\nthe river burns."),
        ("paragraph", "bran"), ("paragraph", "What is left of the grain."),
    ]  # fmt: skip
    assert (found.title, found.links) == ("On mills", ["https://mills.test/told", "/book.html"])
    assert found.counts == {"comments": 1, "formulae": 1}
    assert [b.role for b in found.blocks if b.role] == ["footnote", "quotation"]


ADOC = """\
= On mills
Ada Miller <ada@mills.test>
v1.0, 2020-01-01
:town: Riverton

The *miller* of the _old town_ of {town} rose `before_the_sun`,
as https://mills.test/told[told]footnote:[By those who saw it.] in <<wheel,the next part>>.

[[wheel]]
== The wheel

.A list
* flour
+
with bran
** rye
. first

NOTE: The frost stands in the wheel.

[source,python]
----
x = "*kept*" # <1>
----
<1> What is kept.

image::mill.png[gone]
include::gone.adoc[]
// a comment
////
another
////

____
Who grinds sleeps little.
____

|===
|grain |weight

|rye
|ten
|===

bran:: What is left.
"""


def test_asciidoc_is_left_without_its_markup():
    found = read_asciidoc(ADOC)
    assert said(found) == [
        ("heading", "On mills"),
        ("paragraph", "The miller of the old town of Riverton rose before_the_sun, as told in the next part."),
        ("paragraph", "By those who saw it."),
        ("heading", "The wheel"),
        ("paragraph", "A list"),
        ("list", "- flour"), ("paragraph", "with bran"), ("list", "- rye"), ("list", "- first"),
        ("paragraph", "The frost stands in the wheel."),
        ("code", 'x = "*kept*"'), ("list", "- What is kept."),
        ("paragraph", "Who grinds sleeps little."),
        ("table", "grain | weight"), ("table", "rye | ten"),
        ("paragraph", "bran"), ("paragraph", "What is left."),
    ]  # fmt: skip
    assert (found.title, found.links) == ("On mills", ["https://mills.test/told"])
    assert found.counts == {"directives": 1, "comments": 1}
    assert [b.role for b in found.blocks if b.role] == ["footnote", "quotation"]
    assert [b.level for b in found.blocks if b.form == "heading"] == [1, 2]


JATS = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96)//EN" "JATS.dtd">
<article article-type="research-article" xml:lang="en" xmlns:xlink="http://www.w3.org/1999/xlink"><front>
<journal-meta><journal-title>Journal of Mills</journal-title></journal-meta><article-meta>
<title-group><article-title>On mills</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Miller</surname><given-names>Ada</given-names></name>
</contrib></contrib-group><pub-date><day>3</day><month>5</month><year>2020</year></pub-date>
<permissions><license xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>Open access</license-p>
</license></permissions><abstract><title>Abstract</title><p>Mills turn.</p></abstract></article-meta></front>
<body><sec><label>1</label><title>The <italic>wheel</italic></title><p>It turns<sup><xref ref-type="bibr">1</xref></sup>
with the <ext-link xlink:href="https://mills.test/river">river</ext-link>.<fn><p>Not in frost.</p></fn>
<list><list-item><p>rye</p></list-item></list></p>
<disp-formula>x</disp-formula>
<table-wrap><caption><p>Grain</p></caption><table><tr><td>rye</td><td>ten</td></tr></table></table-wrap>
<sec><title>The stone</title><disp-quote><p>Who grinds sleeps little.</p></disp-quote></sec></sec></body>
<back><ref-list><title>References</title><ref><mixed-citation>Gone 1999</mixed-citation></ref></ref-list></back>
</article>"""


def test_a_paper_of_jats_gives_title_abstract_sections_and_its_licence():
    facts, found = read_paper(JATS, "jats")
    assert said(found) == [
        ("heading", "On mills"), ("heading", "Abstract"), ("paragraph", "Mills turn."), ("heading", "The wheel"),
        ("paragraph", "It turns with the river. rye"), ("paragraph", "Not in frost."), ("caption", "Grain"),
        ("table", "rye | ten"), ("heading", "The stone"), ("paragraph", "Who grinds sleeps little."),
    ]  # fmt: skip
    assert [b.level for b in found.blocks if b.form == "heading"] == [1, 2, 2, 3]
    assert [b.role for b in found.blocks if b.role] == ["footnote", "quotation"]
    assert (facts.title, facts.author, facts.date, facts.language) == ("On mills", "Ada Miller", "2020-05-03", "en")
    assert facts.rel_links == [("license", "", "https://creativecommons.org/licenses/by/4.0/")]
    assert facts.metas == [("rights", "Open access")]
    assert found.counts == {"formulae": 1, "references": 1} and found.links == ["https://mills.test/river"]


TEI = b"""<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:lang="en"><teiHeader><fileDesc><titleStmt><title>On mills</title>
<author>Ada Miller</author></titleStmt><publicationStmt><availability>
<licence target="https://creativecommons.org/publicdomain/zero/1.0/">
Free</licence></availability><date when="1902-01-02"/></publicationStmt></fileDesc></teiHeader>
<text><body><div><head>The wheel</head>
<p>It <choice><sic>trns</sic><corr>turns</corr></choice> with the ri<lb break="no"/>ver
<note place="foot">Not in frost.</note>and <del>gone</del> stone.<pb n="2"/></p>
<lg><l>The wheel turns,</l><l>the river burns.</l></lg>
<fw>ON MILLS</fw><table><row><cell>rye</cell><cell>ten</cell></row></table><list><item>bran</item></list>
<quote><p>Who grinds sleeps little.</p></quote></div></body>
<back><listBibl><bibl>Gone</bibl></listBibl></back>
</text></TEI>"""


def test_an_edition_of_tei_gives_what_its_editor_reads():
    facts, found = read_paper(TEI, "tei")
    assert said(found) == [
        ("heading", "The wheel"), ("paragraph", "It turns with the river and stone."), ("paragraph", "Not in frost."),
        ("paragraph", "The wheel turns,\nthe river burns."), ("table", "rye | ten"), ("list", "- bran"),
        ("paragraph", "Who grinds sleeps little."),
    ]  # fmt: skip
    assert [b.role for b in found.blocks if b.role] == ["footnote", "quotation"]
    assert (facts.title, facts.author, facts.date, facts.language) == ("On mills", "Ada Miller", "1902-01-02", "en")
    assert facts.rel_links == [("license", "", "https://creativecommons.org/publicdomain/zero/1.0/")]
    assert found.counts == {"references": 1}


@pytest.mark.parametrize(
    ("declared", "body", "kind"),
    [
        ("application/xml", JATS, "jats"),
        ("application/jats+xml", JATS, "jats"),
        ("text/xml", TEI, "tei"),
        ("application/tei+xml", TEI, "tei"),
        ("", b"<?xml version='1.0'?>" + TEI, "tei"),
        ("text/xml", b'<article xmlns="http://docbook.org/ns/docbook"><title>x</title></article>', None),
        ("text/xml", b"<rss/>", None),
        ("text/plain", TEI, "text"),
    ],
)
def test_the_root_element_says_which_paper_it_is(declared, body, kind):
    assert media_kind(declared, body) == kind


@pytest.mark.parametrize(
    ("url", "declared", "kind"),
    [
        ("http://a.test/_sources/mills.rst.txt", "text/plain", "rst"),
        ("http://a.test/mills.rst", "", "rst"),
        ("http://a.test/mills", "text/x-rst; charset=utf-8", "rst"),
        ("http://a.test/mills.adoc", "text/plain", "asciidoc"),
        ("http://a.test/mills", "text/asciidoc", "asciidoc"),
        ("http://a.test/mills.adoc", "text/markdown", "markdown"),
        ("http://a.test/mills.txt", "text/plain", "text"),
        ("http://a.test/mills.rst", "text/html", "html"),
    ],
)
def test_the_type_or_the_address_says_which_markup_it_is(judged, url, declared, kind):
    doc = judged(b"The miller of the old town rose long before the sun.\n", declared, url=url)
    assert doc.document_kind == kind


def test_a_paper_is_judged_like_a_page(judged):
    doc = judged(JATS, "application/xml")
    assert (doc.document_kind, doc.title, doc.author, doc.extractor) == ("jats", "On mills", "Ada Miller", "jats-2")
    assert doc.text.startswith("On mills\nAbstract\nMills turn.\nThe wheel\nIt turns with the river.")
    assert doc.quality_signals["references"] == 1
    broken = judged(JATS[:-40], "application/xml").verdict
    assert broken.reason is DropReason.BROKEN_DOCUMENT and broken.detail.startswith("jats: ")


PIECES = ["`", "*", "|", "[", "<<", "_", ":a:`", "``", "{a}", "((", "+", "a_", "\\", "\t", "::", ".. ", "  " * 20,
          "http://", "footnote:[", "+++", '"`', "|===\n", "====\n", "____\n", "+--+\n", "== ==\n", "a::\n\n  ",
          "\n" + " " * 9, "- ", ":a: "]  # fmt: skip


@pytest.mark.parametrize("read", [read_rst, read_asciidoc])
@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_longer_than_its_length_allows(read, piece):
    started = time.process_time()
    read(piece * (60_000 // len(piece)))
    assert time.process_time() - started < 5


def test_lists_within_lists_are_read_as_deep_as_people_write_them():
    text = "\n".join("  " * n + f"- level {n}\n" for n in range(200))
    assert [b.text for b in read_rst(text).blocks[:3]] == ["- level 0", "- level 1", "- level 2"]
    assert "level 199" in read_rst(text).blocks[-1].text


@pytest.mark.parametrize(
    "body",
    [
        b"<article article-type='x'><body>" + b"<sec>" * 5_000,
        b"<!DOCTYPE article [<!ENTITY f SYSTEM 'file:///etc/passwd'>]>"
        b"<article article-type='x'><body><p>a&f;b</p></body></article>",
        b"<!DOCTYPE article [<!ENTITY a 'x'><!ENTITY b '"
        + b"&a;" * 99
        + b"'>]><article><body><p>a&b;b</p></body></article>",
    ],
)
def test_entities_of_a_paper_give_nothing_and_a_nest_is_broken(judged, body):
    doc = judged(body, "application/jats+xml")
    assert "root" not in doc.text and "xx" not in doc.text
    assert doc.text in {"", "ab"}


TEI_AROUND = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>{}</body></text></TEI>'


@pytest.mark.parametrize(("kind", "around"), [("jats", "<article><body>{}</body></article>"), ("tei", TEI_AROUND)])
def test_listings_of_a_paper_keep_their_lines(kind, around):
    name = {"jats": "preformat", "tei": "eg"}[kind]
    body = around.format(f"<p>What it prints:</p><{name}>mill --stones 2\n  turned</{name}>")
    _, found = read_paper(body.encode(), kind)
    assert [(block.form, block.text) for block in found.blocks] == [
        ("paragraph", "What it prints:"), ("code", "mill --stones 2\n  turned")
    ]  # fmt: skip


def test_an_identifier_that_is_no_name_breaks_no_paper_and_what_is_broken_stays_so():
    whole = TEI_AROUND.format('<p xml:id="1.-the-mill">The mill.</p><p xml:id="1.-the-mill">The race.</p>')
    _, found = read_paper(whole.encode(), "tei")
    assert [block.text for block in found.blocks] == ["The mill.", "The race."]
    with pytest.raises(UnreadableError):
        read_paper(whole.replace("</p><p", "<p", 1).encode(), "tei")


def test_a_ruled_table_with_empty_lines_between_its_rows_ends_at_its_last_rule():
    text = (
        "Mills\n=====\n\n:Author: Ada Miller\n\n===== =====\nname  price\n===== =====\nflour 3\n      euros\n\n"
        "bran  1\n===== =====\n\nBack.\n"
    )
    found = read_rst(text)
    rows = [block.text for block in found.blocks if block.form == "table"]
    assert rows == ["name | price", "flour | 3 euros", "bran | 1"]
    assert found.blocks[-1].text == "Back." and found.author == "Ada Miller"


def test_an_asciidoc_title_in_quotes_opens_no_listing_and_a_macro_nobody_knows_gives_its_words():
    text = (
        '= Mills\nAda Miller <ada@mills.test>\n\n"The wheel" turns\n-----------------\n\nSee linkgit:git-log[1] and '
        "term:stone[the stone].\n\n----\ncode\n----\n"
    )
    found = read_asciidoc(text)
    assert [(block.form, block.text) for block in found.blocks] == [
        ("heading", "Mills"), ("heading", '"The wheel" turns'), ("paragraph", "See git-log(1) and the stone."),
        ("code", "code"),
    ]  # fmt: skip
    assert found.author == "Ada Miller"


def test_a_paper_keeps_exponents_numbers_and_floats_and_has_the_day_that_is_whole():
    days = "<pub-date><year>2011</year></pub-date><pub-date><year>2011</year><month>8</month><day>2</day></pub-date>"
    steps = '<list list-type="order"><list-item><p>Soak</p></list-item><list-item><p>Dry</p></list-item></list>'
    own = "<list><list-item><label>(a)</label><p>Sift</p></list-item></list>"
    body = (
        f'<article article-type="x"><front><article-meta>{days}</article-meta></front><body><p>10<sup>3</sup> Ni'
        f"<sup>2+</sup> at t<sub>1</sub>, the 1<sup>st</sup></p>{steps}{own}</body><floats-group><table-wrap><caption>"
        "<p>Flour</p></caption></table-wrap></floats-group></article>"
    )
    facts, content = read_paper(body.encode(), "jats")
    assert [(block.form, block.text) for block in content.blocks] == [
        ("paragraph", "10³ Ni²⁺ at t₁, the 1st"), ("list", "1. Soak"), ("list", "2. Dry"), ("list", "(a) Sift"),
        ("caption", "Flour"),
    ]  # fmt: skip
    assert facts.date == "2011-08-02"


def test_an_item_of_an_edition_keeps_words_that_stand_in_elements_beside_lists():
    body = (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><list rend="numbered"><item><hi>Announce it</hi></item>'
        "<item><hi>Merge</hi> it: <list><item>one</item><item>two</item></list> then rest</item></list></body></text>"
        "</TEI>"
    )
    _, content = read_paper(body.encode(), "tei")
    assert [block.text for block in content.blocks] == [
        "1. Announce it", "2. Merge it:", "- one", "- two", "then rest",
    ]  # fmt: skip
