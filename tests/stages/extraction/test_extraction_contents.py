"""A table of contents whose headings stand in the text says nothing again; lists that say something stay."""

from __future__ import annotations

import pytest

from bench.web.prose import prose
from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction import contents as room
from crawler.stages.extraction.contents import LEAST, LEAST_SAID, contents_of, without_contents
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage

URL = "http://manual.test/pumps?page=2"
NAMES = ["How a pump works", "Care in the winter", "Parts that wear", "Where to ask"]
NUMBERED = [f"{i}.1 {name}" for i, name in enumerate(NAMES)]
PARTS = list(zip(NAMES, (prose(seed, words=60)[0] for seed in range(4)), strict=True))
BODY = [line for part in PARTS for line in part]


def tree_of(body: str):
    doc = Document(url=URL, content_type="text/html", html=f"<html><body>{body}</body></html>".encode())
    ParseStage()(doc)
    return doc.tree


def links(names: list[str], href: str = "#p{}") -> str:
    return "".join(f'<li><a href="{href.format(i)}">{name}</a></li>' for i, name in enumerate(names))


def cleaned(before: list[str], page: str, body: list[str] = BODY) -> list[str]:
    return without_contents("\n".join([*before, *body]), contents_of(tree_of(page), URL)).split("\n")


ITEMS = [f"- {name}" for name in NAMES]
LIST = f"<ul>{links(NAMES)}</ul>"


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        (LIST, ITEMS),
        (f"<ol>{links(NAMES, URL + '#p{}')}</ol>", [f"{i}. {name}" for i, name in enumerate(NAMES, 1)]),
        (f"<ul>{links(NUMBERED)}</ul>", [f"- {name}" for name in NUMBERED]),
        (f"<ul><li><a href=#>Pumps</a><ul>{links(NAMES)}</ul></ul>", ["- Pumps", *(f"  {item}" for item in ITEMS)]),
        (f"<div><h2>On this page</h2>{LIST}</div>", ["On this page", *ITEMS]),
        (f"<ul><li><ul>{links(NAMES)}</ul><li><a href=/next>Valves</a></ul>", ITEMS),
    ],
    ids=["list", "whole addresses", "numbers", "nested", "with its heading", "in a menu"],
)  # fmt: skip
def test_a_table_of_contents_goes_where_its_headings_follow(page, lines):
    assert cleaned(["Pumps of this house", *lines], page) == ["Pumps of this house", *BODY]


@pytest.mark.parametrize(
    ("page", "before", "body"),
    [
        (f"<ul>{links(NAMES, '/{}')}</ul>", ITEMS, BODY),
        (LIST.replace("</ul>", "<li><a href=/next>Valves</a></ul>"), ITEMS, BODY),
        (LIST, ITEMS, [text for _, text in PARTS]),
        (LIST, ["A pump has four parts that you should know:", *ITEMS], BODY),
        (LIST, [*BODY[:2], *ITEMS], BODY[2:]),
        (LIST, [ITEMS[0], "They work in all weathers.", ITEMS[1], "They need care.", *ITEMS[2:]], BODY),
        (f"<ul>{links([*NAMES, *'abcde'])}</ul>", ITEMS, BODY),
        (f"<ul>{links(NAMES[:2])}</ul>", ITEMS[:2], BODY),
        ("", ITEMS, BODY),
    ],
    ids=["other pages", "one other page", "no headings", "a sentence", "an index behind", "items with a text",
         "few headings", "two links", "no links"],
)  # fmt: skip
def test_a_list_that_says_more_stays(page, before, body):
    assert cleaned(before, page, body) == [*before, *body]


def test_a_heading_above_a_table_of_contents_stays_where_it_may_be_that_of_its_section():
    section = f"<h2>Pumps</h2>{LIST}<p>They are made here.</p>"
    assert cleaned(["Pumps", *ITEMS], section) == ["Pumps", *BODY]
    title = f"<div><h1>Pumps</h1>{LIST}</div>"
    assert cleaned(["Pumps", *ITEMS], title) == ["Pumps", *BODY]


def test_headings_of_markdown_are_headings():
    body = [f"## {line}" if line in NAMES else line for line in BODY]
    assert cleaned(ITEMS, LIST, body) == body
    blocks = "\n\n".join(["# Pumps", "## On this page", "\n".join(ITEMS), *body])
    found = without_contents(blocks, contents_of(tree_of(f"<div><h2>On this page</h2>{LIST}</div>"), URL))
    assert found == "\n\n".join(["# Pumps", *body])
    told = "\n\n".join(["Of pumps these are known to all:", "\n".join(ITEMS), *body])
    assert without_contents(told, contents_of(tree_of(LIST), URL)) == told


def test_a_page_without_an_address_has_its_places():
    assert [len(one.texts) for one in contents_of(tree_of(LIST), None)] == [4]  # type: ignore[arg-type]  # as a bench


def test_the_limits_are_those_of_the_page():
    assert (LEAST, LEAST_SAID) == (3, 0.5)


@pytest.mark.parametrize("extractor", ["learned", "trafilatura", "resiliparse"])
@pytest.mark.parametrize("layout", ["text", "markdown"])
def test_no_extractor_leaves_a_table_of_contents(extractor, layout):
    body = "".join(f"<h2 id=p{i}>{name}</h2><p>{text}</p>" for i, (name, text) in enumerate(PARTS))
    page = f"<h1>Pumps of this house</h1><p>{prose(9, words=60)[0]}</p><ul>{links(NUMBERED)}</ul>{body}"
    html = f"<html><body><main><article>{page}</article></main></body></html>"
    doc = Document(url=URL, content_type="text/html", html=html.encode())
    ParseStage()(doc)
    ExtractionStage(ExtractionConfig(extractor=extractor, text_format=layout))(doc)
    assert [sum(name in line for line in doc.text.split("\n")) for name in NAMES] == [1, 1, 1, 1]


def test_lists_in_lists_are_read_once(monkeypatch):
    deep, asked = 60, []
    monkeypatch.setattr(room, "_bare", lambda text: asked.append(text) or text)
    page = tree_of("<ul><li>" * deep + links(NAMES) + "</ul>" * deep)
    assert len(contents_of(page, URL)) == 1
    assert sum(text in NAMES for text in asked) == len(NAMES)
    closed = [room.Contents() for _ in range(deep)]
    room._end_all(closed)
    assert not any(one.is_one for one in closed)
