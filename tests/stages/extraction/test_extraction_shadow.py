"""What a page has in declarative shadow roots is read where its reader sees it, and nothing that nobody sees."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.shadow import open_shadows
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html

PROSE = "".join(
    f"<p>The {place} of the village was old when the village was young, and nobody knew who had built it there.</p>"
    for place in ("bridge", "church", "mill", "tower", "inn", "well", "school", "market")
)
LAST = (
    "What is left of all of it today can be seen by whoever walks there early in the morning, before the fog has gone."
)
ROOT = '<template shadowrootmode="open">{}</template>'
INNER = f"<x-b>{ROOT.format('[ <slot></slot> ]')}<slot></slot></x-b>"


def shown(body: str) -> str:
    tree = parse_html(f"<body>{body}</body>")
    open_shadows(tree)
    for template in list(tree.iter("template", "style")):
        template.drop_tree()
    return " ".join(" ".join(tree.itertext()).split())


@pytest.mark.parametrize("extractor", ["learned", "trafilatura"])
def test_the_part_of_an_article_that_stands_in_a_shadow_root_is_extracted(extractor):
    rest = ROOT.format(f"<style>p {{ color: red }}</style>{PROSE.replace('village', 'harbour')}<slot></slot>")
    article = f"<article><h1>The village</h1>{PROSE}<story-rest>{rest}<p>{LAST}</p></story-rest></article>"
    page = f"<html><head><title>The village</title></head><body>{article}</body></html>"
    doc = Document(url="http://a.test/", html=page.encode(), content_type="text/html")
    ParseStage()(doc)
    assert isinstance(ExtractionStage(ExtractionConfig(extractor=extractor))(doc), Document)
    assert doc.text.count("was old when the village") == doc.text.count("was old when the harbour") == 8
    assert doc.text.endswith(LAST)
    assert "color" not in doc.text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<x-a>{ROOT.format('one <slot></slot> three')}two</x-a> four", "one two three four"),
        (
            f"<x-a><b slot=t>Title</b>body {ROOT.format('<h2><slot name=t>none</slot></h2><slot></slot>')}end</x-a>",
            "Title body end",
        ),
        (f"<x-a> {ROOT.format('<slot>fallback</slot>')} </x-a>", "fallback"),
        (f"<x-a><i slot=gone>nobody sees it</i>{ROOT.format('seen')}</x-a>", "seen"),
        (f"<x-a>{ROOT.format(INNER)}deep</x-a>", "[ deep ]"),
        (f"<x-a>{ROOT.format('<slot name=no>a <slot>b</slot> c</slot>')}light</x-a>", "a light c"),
        (f"<x-a>{ROOT.format('<slot>a <slot name=no>b</slot></slot> c')}light</x-a>", "light c"),
        (f"<x-a>{ROOT.format('<slot></slot>x ' * 3)}</x-a>", "x x x"),
        (f"<x-a>{ROOT.format('first')}{ROOT.format('second')}</x-a>", "first"),
        ("<x-a>light<template><p>a template of a script</p></template></x-a>", "light"),
        (f"<ul>light{ROOT.format('no host')}</ul>", "light"),
    ],
)
def test_children_stand_in_the_slots_of_the_root(body, text):
    assert shown(body) == text
