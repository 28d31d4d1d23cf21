"""Markdown of a text that the chain or resiliparse chose, and the languages of its code."""

from __future__ import annotations

import re
from typing import Any

import pytest

from crawler.config import ExtractionConfig
from crawler.config.config import from_mapping
from crawler.document import Document, Drop
from crawler.stages.extraction.code import code_blocks, code_chars, languages_of, listings, name_languages
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.extraction.markdown import as_markdown
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.extraction.written import of_lines
from crawler.stages.parse.stage import ParseStage, parse_html


def marked(tree: Any, text: str) -> str:
    return as_markdown(walk(tree), of_lines(text)).text


def prose(topic: str) -> str:
    """Of five words in a row one is the topic: no run of them stands in the prose of another one."""
    said = ("was old", "was tall", "had stood", "was known", "had friends", "was mended", "was painted", "is ours")
    return "The first time, " + ", ".join(f"the {topic} {each}" for each in said) + f", and the {topic} stays."


MENU = "<nav><ul>" + "".join(f"<li><a href=/{n}>Menu {n}</a></li>" for n in range(12)) + "</ul></nav>"
ARTICLE = f"""<article><h1>A village and its things</h1><p>{prose("bridge")}</p><h2>What else was mended</h2>
<ul><li>{prose("mill")}<ul><li>{prose("wheel")}</li></ul></li><li>{prose("door")}</li></ul>
<table><tr><th>Thing</th><th>Cost</th></tr><tr><td>The old mill</td><td>forty crowns and a goose</td></tr></table>
<pre><code class="language-python">def mend(thing):
    if thing:

        return  thing</code></pre><blockquote><p>{prose("roof")}</p></blockquote><p>{prose("well")}</p></article>"""


def run(body: str, **config: str | int) -> Document:
    html = f"<html lang=en><head><title>A village</title></head><body>{MENU}{body}</body></html>"
    doc = Document(url="https://example.org/", html=html.encode(), content_type="text/html")
    assert not isinstance(ParseStage()(doc), Drop)
    ExtractionStage(ExtractionConfig(min_words=0, **config))(doc)
    return doc


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("extractor", ["trafilatura", "resiliparse", "learned"])
def test_structure_survives_in_markdown_whichever_extractor_chose_the_text(extractor: str) -> None:
    text = run(ARTICLE, extractor=extractor, text_format="markdown").text
    assert "\n\n## What else was mended\n\n" in text
    if extractor != "resiliparse":  # it leaves this list out
        assert "mended\n\n- The first time, the mill" in text
        assert "\n  - The first time, the wheel" in text and "\n- The first time, the door" in text
    assert "| Thing | Cost |\n| --- | --- |\n| The old mill | forty crowns and a goose |" in text
    assert "```python\ndef mend(thing):\n    if thing:\n\n        return  thing\n```" in text
    assert "\n> The first time, the roof" in text
    assert "Menu 3" not in text


def test_markdown_has_the_words_of_the_plain_text() -> None:
    plain, marked = run(ARTICLE), run(ARTICLE, text_format="markdown")
    assert plain.extractor == marked.extractor
    fenced = [word for word in words(marked.text) if word != "python"]
    assert fenced == words(plain.text)


def test_plain_text_stays_the_default() -> None:
    assert from_mapping({}).extraction.text_format == "text"
    assert from_mapping({"TEXT_FORMAT": "markdown"}).extraction.text_format == "markdown"
    assert "## " not in run(ARTICLE).text


def test_a_block_that_the_page_repeats_stands_as_often_as_in_the_text() -> None:
    tree = parse_html(f"<body><p>{prose('bridge')}</p><div>{prose('bridge')}</div><p>{prose('mill')}</p></body>")
    assert marked(tree, f"{prose('bridge')}\n{prose('mill')}").count("bridge was mended") == 1


def test_a_text_that_the_blocks_do_not_make_up_stays_as_it_is() -> None:
    tree = parse_html(f"<body><h2>Bridges</h2><p>{prose('bridge')}</p></body>")
    text = f"Bridges\n{prose('bridge')}\n{prose('mill')}"
    assert marked(tree, text) == text
    assert marked(tree, f"Bridges\n{prose('bridge')}").startswith("## Bridges\n\nThe first")


def test_a_page_of_too_many_tags_stays_plain() -> None:
    many = "<p>" + "<b></b>" * 31_000 + "</p>"
    doc = run(ARTICLE + many, text_format="markdown")
    assert (doc.extractor, "## " in doc.text) == ("resiliparse", False)


@pytest.mark.parametrize("extractor", ["trafilatura", "resiliparse", "learned"])
def test_the_languages_of_the_code_in_the_text_are_named(extractor: str) -> None:
    assert run(ARTICLE, extractor=extractor).code_languages == ["python"]


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ('<pre class="brush: ruby">x = 1</pre>', "ruby"),
        ('<div class="highlight-python3 notranslate"><div><pre><span>x</span> = 1</pre></div></div>', "python"),
        ('<pre><code class="lang-c++">x = 1</code></pre>', "c++"),
        ('<pre class="language-none">x = 1</pre>', ""),
        ("<pre>x = 1</pre>", ""),
    ],
)
def test_a_class_names_the_language_of_code(markup: str, language: str) -> None:
    tree = parse_html(f"<body>{markup}</body>")
    name_languages(tree)
    assert languages_of(code_blocks("Before\n  x = 1\nBehind", listings(tree))) == ([language] if language else [])
    assert code_blocks("The code is not in the text.", listings(tree)) == []


def test_characters_of_code_are_counted_once() -> None:
    tree = parse_html("<body><pre>ab<code>cd</code><kbd>ef</kbd></pre><p><code>gh</code> ij <tt>kl</tt></p></body>")
    assert code_chars(tree) == 10


@pytest.mark.parametrize(
    "menu", ["<ul><li><a href=/>Home</a></li><li><a href=/a>About</a></li></ul>", "<a href=/>About</a>"]
)
def test_a_menu_whose_word_stands_in_a_sentence_is_no_part_of_the_text(menu: str) -> None:
    text = "The gnome\nThis page is about a gnome of clay, who stands at home in every weather and minds no snow."
    heading, sentence = text.split("\n")
    page = (
        f"<body><nav>{menu}</nav><main><h1>{heading}</h1><p>{sentence}</p><ul><li><a href=/s>Snow</a></li></ul></main>"
    )
    assert marked(parse_html(page), text) == f"# {heading}\n\n{sentence}"
    assert marked(parse_html(page), f"{text}\n- Snow").endswith("snow.\n\n- Snow")
