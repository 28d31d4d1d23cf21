"""What a page says of itself counts for its type, and what a script left in it is no text."""

from __future__ import annotations

from zlib import crc32

import orjson
import pytest

from crawler.stages.extraction.learned.extract import extract, page_types
from crawler.stages.extraction.learned.model import the_model
from crawler.stages.extraction.learned.numbers import features
from crawler.stages.extraction.learned.said import MAX_SCRIPT, said
from crawler.stages.extraction.learned.walk import LEAST_DATA, Kind, walk
from crawler.stages.parse.stage import parse_html

PROSE = "A kettle of steel that boils a litre of water in three minutes, with a handle of beech and a lid that closes."


def page(head: str = "", body: str = f"<p>{PROSE}</p>") -> str:
    return f"<html lang=en><head><title>A kettle</title>{head}</head><body>{body}</body></html>"


def linked(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def statements(html: str) -> frozenset[int]:
    tree = parse_html(html)
    return said(tree, walk(tree).names)


def hashed(*names: str) -> frozenset[int]:
    return frozenset(crc32(name.encode()) for name in names)


@pytest.mark.parametrize(
    ("head", "names"),
    [
        (linked('{"@type": "Product", "name": "x"}'), ["ld product"]),
        (linked('{"@graph": [{"@type":"Thing"}, {"@type" : ["A", "FAQPage"]}]}'), ["ld thing", "ld a", "ld faqpage"]),
        (linked('{"@type": "https://schema.org/NewsArticle"}'), ["ld newsarticle"]),
        (linked('{"@type": "schema:Recipe"}'), ["ld recipe"]),
        (linked('{"@type": "QAPage", "an error follows": }'), ["ld qapage"]),
        (linked('{"name": "Product"}'), []),
        ('<script>{"@type": "Product"}</script>', []),
        ("<meta property=og:type content=' Article '>", ["og article"]),
        ("<meta name=og:type content=website><meta property=og:title content=product>", ["og website"]),
    ],
)  # fmt: skip
def test_a_page_states_its_types_in_its_head(head, names):
    assert statements(page(head)) == hashed(*names)


def test_microdata_states_types_where_its_elements_stand():
    body = f"<div itemscope itemtype='http://schema.org/Product'><p itemprop=name>{PROSE}</p></div>"
    assert statements(page(body=body)) == hashed("md product")
    assert statements(page(body=f"<div itemtype='https://example.org/Product'><p>{PROSE}</p></div>")) == frozenset()


def test_what_stands_behind_the_limit_of_a_script_is_not_looked_at():
    late = linked(f'{{"text": "{"x" * MAX_SCRIPT}", "@type": "Product"}}')
    assert statements(page(late)) == frozenset()


@pytest.mark.parametrize(("stated", "kind"), [("Product", "product"), ("DiscussionForumPosting", "forum")])
def test_the_type_that_a_page_states_makes_its_page_type_likelier(stated, kind):
    tree = parse_html(page())
    rows, _ = features(walk(tree), the_model().scores, "A kettle")
    without, with_it = (
        page_types(the_model(), rows, statements(page(head)))[kind] for head in ("", linked(f'{{"@type": "{stated}"}}'))
    )
    assert with_it > 2 * without


def test_a_small_page_that_states_to_be_a_product_is_one():
    found = extract(parse_html(page(linked('{"@type": "Product", "offers": {"@type": "Offer", "price": 20}}'))))
    assert found.page_type == "product"


DATA = orjson.dumps({"layout": 2, "buttons": ["Buy now"] * 40, "colour": {"hue": 213}}).decode()


def test_an_object_that_a_script_left_in_the_page_is_no_text():
    assert len(DATA) > LEAST_DATA
    assert walk(parse_html(page(body=f"<p>{PROSE}</p><div hidden>{DATA}</div>"))).texts == [PROSE]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (f"<pre>{DATA}</pre>", Kind.CODE),
        (f"<p>{DATA}</p>", Kind.PARAGRAPH),
        (f"<div>{DATA[:LEAST_DATA]}</div>", Kind.TEXT),
        (f"<div>{DATA} is what a server answers.</div>", Kind.TEXT),
        ('<div>{"x": 1}</div>', Kind.TEXT),
    ],
)
def test_data_that_a_reader_is_shown_stays(body, kind):
    assert walk(parse_html(page(body=body))).kinds == [kind]
