"""Wikitext becomes blocks without markup; what stays out is counted. Own texts."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("mwparserfromhell", reason="mwparserfromhell is optional")

from crawler.config.documents import DocumentsConfig
from crawler.document import Document, Drop, DropReason
from crawler.stages.documents.mediawiki import CATEGORY, FILE, of_wikitext
from crawler.stages.parse.files import FileReader

GERMAN = {"datei": FILE, "kategorie": CATEGORY}


def lines(text: str, names: dict[str, str] = GERMAN) -> list[tuple[str, str]]:
    return [(block.form, block.text) for block in of_wikitext(text, names).blocks]


def test_a_page_is_read_block_by_block() -> None:
    text = """'''Birch''' is a [[tree|kind of tree]], see [[oak]].<ref>Book</ref> {{lang|fr|x}}It grows&nbsp;here
and there. <!-- not this --> __NOTOC__

== The ''bark'' ==
* one [[a]]
** two
# three
; term : meaning
Behind it.
{| class="wikitext"
|+ A caption
! Head !! Two
|-
| a || style="x" | b
|-
| '''c'''
| d {{x}}
|}
<pre>code
 line</pre>
<syntaxhighlight lang="py">x = 1</syntaxhighlight>
<blockquote>Said by [[her]].</blockquote>
<math>a^2</math> [http://x.example a label] [http://y.example] http://z.example <nowiki>[[kept]]</nowiki>
"""
    assert lines(text) == [
        ("paragraph", "Birch is a kind of tree, see oak. It grows here and there."),
        ("heading", "The bark"),
        ("list", "- one a"), ("list", "- two"), ("list", "- three"), ("list", "term"), ("list", "meaning"),
        ("paragraph", "Behind it."),
        ("caption", "A caption"), ("table", "Head | Two"), ("table", "a | b"), ("table", "c | d"),
        ("code", "code\n line"), ("code", "x = 1"),
        ("paragraph", "Said by her."),
        ("paragraph", "a label http://z.example [[kept]]"),
    ]  # fmt: skip
    found = of_wikitext(text)
    assert found.counts == {"formulae": 1, "references": 1, "templates": 2}
    assert [block.role for block in found.blocks if block.role] == ["quotation"]
    assert [block.level for block in found.blocks if block.form == "heading"] == [2]


def test_files_and_categories_are_no_words_in_any_language_and_other_links_are() -> None:
    text = (
        "A [[Datei:x.png|thumb|A [[b|cap]]]][[File:y.png|frame]]b [[:Kategorie:Trees]] [[Kategorie:Trees]][[Trees: a]]."
    )
    assert lines(text) == [("paragraph", "A b Kategorie:Trees Trees: a.")]
    assert of_wikitext(text, GERMAN).counts == {"categories": 1, "images": 2}


def test_names_that_a_dump_does_not_tell_and_links_to_other_languages_are_no_words_either() -> None:
    text = "A [[Bild:x.png|thumb|A cap]][[Immagine:y.JPG]]pear.\n\n[[fr:Poire]]\n[[zh-min-nan:Lâi]]\n"
    text += "[[:fr:Poire]] [[Bild: a]]"
    assert lines(text) == [("paragraph", "A pear."), ("paragraph", "fr:Poire Bild: a")]
    assert of_wikitext(text).counts == {"images": 2, "languages": 2}


def test_what_is_left_out_leaves_no_empty_brackets_and_no_space_before_a_sign() -> None:
    text = "A pear ({{IPA|x}}; {{y}}) grows {{on}}, it ({{z}} or not) does {{so}}. (!) __INIT__ __init__\n\n({{x}})"
    assert lines(text) == [("paragraph", "A pear grows, it ( or not) does. (!) __init__")]


def test_a_reference_to_a_character_is_one_that_can_be_written() -> None:
    ((_, text),) = lines("a &#xD800; b &ndash; <nowiki>&amp;[[c]]</nowiki>")
    assert text.encode() == "a \ufffd b – &[[c]]".encode()


def test_a_line_break_in_an_item_is_a_space_and_ends_a_paragraph() -> None:
    assert lines("* a<br>b\nc<br />d") == [("list", "- a b"), ("paragraph", "c"), ("paragraph", "d")]


def test_a_long_page_is_read_in_time_that_grows_with_it() -> None:
    started = time.process_time()
    assert len(lines("word\n\n" * 100_000)) == 100_000
    assert time.process_time() - started < 5


@pytest.mark.parametrize("text", ["[[a", "{{a|b", "{| x\n| y", "<ref>a", "'''a", "}}]]|}", "== ==\n", "[[|]]", "&#0;"])
def test_markup_that_is_not_closed_is_read_to_its_end(text: str) -> None:
    found = lines(f"Before.\n\n{text}\n\nBehind.")
    assert found[0] == ("paragraph", "Before.") and "Behind." in found[-1][1]


@pytest.mark.parametrize("text", ["<b>" * 20_000, "{|\n" * 20_000, "{{" * 50_000, "[[" * 50_000, "''" * 50_000])
def test_a_hostile_page_ends_with_a_reason_or_a_text_and_takes_nobody_along(text: str) -> None:
    body = (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><page><title>A</title><revision>'
        f"<text>{text.replace('<', '&lt;')}</text></revision></page></mediawiki>"
    ).encode()
    doc = Document(url="https://wiki.example/wiki/A", html=body, content_type="application/xml")
    found = FileReader(DocumentsConfig(), seconds=1, max_links=10)(doc, "mediawiki")
    drop = found if isinstance(found, Drop) else getattr(doc.tree, "drop", None)
    allowed = {
        DropReason.DOCUMENT_CPU,
        DropReason.DOCUMENT_CRASH,
        DropReason.DOCUMENT_MEMORY,
        DropReason.BROKEN_DOCUMENT,
    }
    assert drop is None or drop.reason in allowed


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<mediawiki><page/><page/></mediawiki>", "an export of 2 pages"),
        (b"<mediawiki><page>", "mediawiki: "),
        (b"<mediawiki><page><revision><model>json</model><text>{}</text></revision></page></mediawiki>", "json"),
    ],
)
def test_what_is_no_page_of_wikitext_is_refused_with_a_sentence(body: bytes, reason: str) -> None:
    doc = Document(url="https://wiki.example/wiki/A", html=body, content_type="application/xml")
    found = FileReader(DocumentsConfig(), seconds=5, max_links=10)(doc, "mediawiki")
    assert isinstance(found, Drop) and reason in found.detail


def test_exponents_and_indexes_stand_as_such() -> None:
    text = "H<sub>2</sub>O at 10<sup>3</sup> m, on the 1<sup>st</sup>"
    assert lines(text) == [("paragraph", "H₂O at 10³ m, on the 1st")]
