"""The learned extractor: blocks of every kind of page, the same answer everywhere, an end on hostile pages."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from lxml import html as lxml_html

from crawler.config import ExtractionConfig
from crawler.document import Document, Drop
from crawler.stages.extraction.code import name_languages
from crawler.stages.extraction.learned import choice
from crawler.stages.extraction.learned.choice import choose, hoped
from crawler.stages.extraction.learned.extract import extract
from crawler.stages.extraction.learned.model import KINDS, OWN, read_model, the_model
from crawler.stages.extraction.learned.numbers import features
from crawler.stages.extraction.learned.opinion import LEAST, MOST_BLOCKS, is_asked, moved, strangeness
from crawler.stages.extraction.learned.rows import with_whole_rows
from crawler.stages.extraction.learned.walk import MAX_BLOCKS, Kind, Mark, walk
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.models.file import read
from crawler.stages.models.odds import CERTAIN, SCALE, probability
from crawler.stages.models.trees import Trees
from crawler.stages.parse.stage import ParseStage, parse_html
from tests.support.places import PROJECT

PROSE = " ".join(
    f"The {word} paragraph of this page explains at some length, with commas and full stops, what the reader came for."
    for word in ("first", "second", "third", "fourth")
)
VALUES = (("Height", "34 cm"), ("Weight", "2 kg"), ("Material", "Clay, painted by hand"))
NAV = "<nav><ul>" + "".join(f"<li><a href=/{n}>Menu {n}</a></li>" for n in range(12)) + "</ul></nav>"
FOOTER = "<footer><p>© 2025 A Company. All rights reserved.</p><a href=/privacy>Privacy policy</a></footer>"


def page(body: str, title: str = "The title of the page") -> str:
    return f"<html lang=en><head><title>{title}</title></head><body>{NAV}{body}{FOOTER}</body></html>"


def text_of(body: str, **options: str) -> str:
    tree = parse_html(page(body))
    name_languages(tree)
    return extract(tree, **options).text


ARTICLE = f"""<article><h1>The title of the page</h1><p>One. {PROSE}</p><h2>A section</h2><p>Two. {PROSE}</p>
<ul><li>Three. {PROSE}<ul><li>Four. {PROSE}</li></ul></li></ul>
<table><tr><th>Name</th><th>Value</th></tr><tr><td>alpha</td><td>Five. {PROSE}</td></tr></table>
<pre><code class="language-python">def f(x):
    return  x</code></pre><blockquote><p>Six. {PROSE}</p></blockquote><p>Seven. {PROSE}</p></article>"""


def strange(html: str) -> str:
    """The same page in words that no table knows."""
    return re.sub(r"\b[A-Za-z]{2,}\b(?![^<]*>)", lambda word: word[0][::-1] + "x", html)


def test_what_is_no_text_ends_nothing_around_it():
    markup = "<body><div><p>One<script>x</script></p>two<ul><li>three<svg></svg></li></ul></div>four</body>"
    found = walk(lxml_html.fromstring(f"<html>{markup}</html>"))
    assert found.texts == ["One", "two", "three", "four"]
    assert [found.tags[holder] for holder in found.holders] == ["p", "div", "li", "body"]


def test_an_article_keeps_its_text_and_loses_menu_and_footer():
    text = text_of(ARTICLE)
    assert "The title of the page" in text and text.count("fourth paragraph") >= 5
    assert "Menu 3" not in text and "Privacy policy" not in text


def test_a_row_keeps_its_value_with_its_name():
    rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in VALUES)
    text = text_of(f"<h1>A garden gnome of clay</h1><p>19.90</p><p>{PROSE}</p><table>{rows}</table><p>{PROSE} Two.</p>")
    assert [line for line in text.split("\n") if " | " in line] == [f"{name} | {value}" for name, value in VALUES]


def test_the_cells_of_a_row_are_one_decision_and_no_others_are():
    found = walk(lxml_html.fromstring("<table><tr><td>a<td>b c d</tr><tr><td>e</tr></table><p>f</p>"))
    mixed = with_whole_rows(found, np.array([8, 0, -4, 2], np.int64), np.array([1.0, 3.0, 1.0, 1.0]))
    assert mixed.tolist() == [2, 2, -4, 2]
    nested = walk(
        lxml_html.fromstring("<table><tr><td>a<table><tr><td>b<td>c</tr></table></td><td>d</td></tr></table>")
    )
    assert with_whole_rows(nested, np.array([8, 4, 0, 0], np.int64), np.ones(4)).tolist() == [4, 2, 2, 4]


def test_posts_of_a_forum_are_text_although_they_are_called_comments():
    posts = "".join(f"<div class=post><div class=comment-body><p>Answer {n}. {PROSE}</p></div></div>" for n in range(6))
    text = text_of(f"<h1>How do I do it?</h1><div class=topic>{posts}</div>")
    assert all(f"Answer {n}." in text for n in range(6))


def test_a_page_that_stands_in_noscript_is_read():
    posts = "".join(f"<div class='topic-body crawler-post'><p>Post {n}. {PROSE}</p></div>" for n in range(4))
    text = text_of(f"<noscript><h1>A topic</h1>{posts}</noscript>")
    assert all(f"Post {n}." in text for n in range(4))


def test_sections_of_a_service_page_are_all_text():
    sections = "".join(
        f"<section class=elementor-section><h2>Part {n}</h2><p>In part {n}: {PROSE}</p></section>" for n in range(5)
    )
    text = text_of(f"<h1>Our service</h1>{sections}")
    assert text.count("fourth paragraph") == 5


def test_a_page_without_text_has_none_and_no_type():
    found = extract(parse_html("<html><body><img src=a></body></html>"))
    assert (found.text, found.confidence, found.page_type) == ("", 0.0, None)


def test_structure_survives_in_plain_text():
    lines = text_of(ARTICLE).split("\n")
    assert "Name | Value" in lines
    assert lines[lines.index("def f(x):") + 1] == "    return  x"
    assert any(line.startswith("- Three. The first") for line in lines)
    assert any(line.startswith("  - Four. The first") for line in lines)


def test_structure_survives_in_markdown():
    text = text_of(ARTICLE, text_format="markdown")
    assert "# The title of the page\n\n" in text and "\n## A section\n" in text
    assert "```python\ndef f(x):\n    return  x\n```" in text
    assert "| Name | Value |\n| --- | --- |\n| alpha | " in text
    assert "\n> Six. The" in text and "\n- Three. The" in text and "\n  - Four. The" in text


def test_the_sign_by_which_a_heading_leads_to_itself_is_no_text():
    for sign in ("¶", "#", "🔗", ""):
        anchor = f'<a class=headerlink href="#part"><span>{sign}</span></a>'
        text = text_of(ARTICLE.replace("A section</h2>", f"A section {anchor} of it</h2>"))
        assert "\nA section of it\n" in text
    cross = text_of(ARTICLE.replace("A section</h2>", 'A section of <a href="#part">spoons</a></h2>'))
    assert "\nA section of spoons\n" in cross


def test_line_numbers_beside_code_are_no_text():
    code = "\n".join(f'<span class="source-line-no">{n:03}</span><span>call({n});</span>' for n in range(1, 4))
    doc = run_stage(page(ARTICLE.replace("<h2>", f"<pre>{code}</pre><h2>")), extractor="learned")
    assert "\ncall(1);\ncall(2);\ncall(3);\n" in doc.text


def test_an_article_that_only_structured_data_hold_is_read_from_there():
    article = f'{{"@type":"Article","articleBody":"{PROSE}"}}'
    html = f'<html><body><script type="application/ld+json">{article}</script></body></html>'
    doc = run_stage(html, extractor="learned")
    assert (doc.text, doc.extraction_confidence, doc.page_type) == (PROSE, None, None)
    assert run_stage(html.replace("<body>", f"<body>{NAV}"), extractor="learned").text == PROSE
    menus = run_stage(page(""), extractor="learned")
    assert menus.text == ""  # the rules find no more than the blocks hold
    assert menus.extraction_confidence is not None and menus.extraction_confidence < 0.2


def test_links_without_white_space_between_them_are_no_text_that_stands_elsewhere():
    doc = run_stage(page("".join(f"<a href=/{n}>y</a>" for n in range(1_000))), extractor="learned")
    assert doc.extraction_confidence is not None and doc.extraction_confidence < 0.5
    assert doc.extractor in {"", "learned", "learned-second"}  # the rules part them, which makes more words of them


def test_what_is_offered_for_copying_is_no_text():
    offer = f"<textarea>&lt;p&gt;One. {PROSE} {PROSE}&lt;/p&gt;</textarea>"
    text = text_of(ARTICLE.replace("</article>", f"</article><div class=republish>{offer}</div>"))
    assert text.count("One. The first paragraph") == 1


def test_what_a_style_hides_is_marked():
    for style in ("display: none", "visibility:hidden", "color:red"):
        found = walk(parse_html(page(f'<div style="{style}"><p>{PROSE}</p></div>')))
        marks = found.marks[found.holders[found.texts.index(PROSE)]]
        assert bool(marks & Mark.HIDDEN) == (style != "color:red")


def test_the_languages_of_code_are_named():
    tree = parse_html(page(ARTICLE))
    name_languages(tree)
    assert extract(tree).written.languages == ("python",)


def run_stage(html: str, **config: str | int) -> Document:
    doc = Document(url="https://example.org/", html=html.encode(), content_type="text/html")
    assert not isinstance(ParseStage()(doc), Drop)
    ExtractionStage(ExtractionConfig(min_words=0, **config))(doc)
    return doc


def test_the_record_says_what_the_model_thinks():
    doc = run_stage(page(ARTICLE), extractor="learned")
    assert doc.extractor == "learned" and doc.page_type == "article"
    assert doc.extraction_confidence is not None and 0.5 < doc.extraction_confidence <= 1.0
    assert doc.page_type in KINDS and doc.page_type_score is not None and 1 / 7 <= doc.page_type_score <= 1.0
    assert doc.code_languages == ["python"]


def test_text_from_the_data_of_a_page_has_no_confidence_of_the_text_that_is_shown():
    doc = Document(url="https://example.org/", html=page("<p>Loading</p>").encode(), content_type="text/html")
    ParseStage()(doc)
    doc.embedded, doc.render_signals = (PROSE, "json-ld"), {"shell": {"visible_words": 1}}
    ExtractionStage(ExtractionConfig(extractor="learned", min_words=0))(doc)
    assert doc.extractor == "embedded-json-ld"
    assert (doc.extraction_confidence, doc.page_type, doc.code_languages) == (None, None, [])


@pytest.mark.parametrize("extractor", ["trafilatura", "resiliparse"])
def test_other_extractors_leave_these_fields_empty(extractor):
    doc = run_stage(page(ARTICLE), extractor=extractor)
    assert doc.extractor.startswith(extractor)
    assert (doc.extraction_confidence, doc.page_type, doc.page_type_score) == (None, None, None)


def test_the_stage_writes_markdown_where_it_is_asked_for():
    assert "## A section" in run_stage(page(ARTICLE), extractor="learned", text_format="markdown").text
    assert "## A section" not in run_stage(page(ARTICLE), extractor="learned").text


# --- parts -----------------------------------------------------------------------------------------------------------
def test_the_walk_notes_blocks_with_what_holds_them():
    walked = walk(parse_html("<body><nav><a href=x>Home</a></nav><h1>One<br>two</h1><p>a <b>b</b><br>c</p></body>"))
    assert walked.texts == ["Home", "One two", "a b", "c"]
    assert walked.kinds == [Kind.TEXT, Kind.HEADING, Kind.PARAGRAPH, Kind.PARAGRAPH]
    assert walked.linked == [4, 0, 0, 0]
    assert walked.marks[walked.holders[0]] & Mark.NAV and not walked.marks[walked.holders[1]] & Mark.NAV


def test_the_tree_is_left_as_it_is():
    tree = parse_html(page(ARTICLE))
    before = tree.text_content()
    extract(tree)
    assert tree.text_content() == before


def test_the_forest_adds_the_leaf_that_the_answers_name():
    forest = Trees(
        np.array([[0, 1]], np.int16), np.array([[0.5, 2.0]], np.float32), np.array([[[1], [2], [3], [4]]], np.int32),
        np.array([10], np.int32),
    )  # fmt: skip
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3.0], [1.0, 3.0]], np.float32)
    assert forest(rows)[:, 0].tolist() == [11, 12, 13, 14]
    assert forest(rows[:0]).shape == (0, 1)


def test_probabilities_grow_with_the_odds_and_stay_in_their_range():
    chances = probability(np.arange(-100_000, 100_000, 97))
    assert (np.diff(chances) >= 0).all() and chances.min() >= 0 and chances.max() <= CERTAIN
    assert probability(np.array([0]))[0] == CERTAIN // 2
    table = probability(np.arange(-(8 << 12), (8 << 12) + 1, 16))
    assert hashlib.sha256(table.astype("<i8").tobytes()).hexdigest()[:16] == "81aba0b7dd0c6a22"


def test_the_choice_takes_what_promises_the_best_f1():
    kept, expected = choose(odds(9, -9, 9), np.array([10.0, 10.0, 5.0]))
    assert kept.tolist() == [True, False, True] and expected > 0.99
    doubtful, _ = choose(odds(-0.4, -0.4, -0.4, -0.4), np.array([10.0] * 4))
    assert doubtful.all()  # a threshold of one half would take nothing


def test_what_may_all_be_misjudged_alike_promises_less_than_what_is_independent():
    sums, words = odds(3, 3, 1, 1, -1, -1), np.array([10.0] * 6)
    assert choose(sums, words)[1] < hoped(sums, words) < 1.0


def test_a_grid_whose_cards_err_together_is_kept_where_independent_ones_would_be_dropped(monkeypatch):
    sums, words = odds(3, *[-1] * 30), np.array([30.0, *[5.0] * 30])
    assert choose(sums, words)[0].all()
    monkeypatch.setattr(choice, "LIKELY", tuple(int(shift == 0) for shift in choice.SHIFTS))
    assert choose(sums, words)[0].tolist() == [True, *[False] * 30]


def test_nothing_is_chosen_of_nothing():
    kept, expected = choose(odds(), np.zeros(0))
    assert (kept.tolist(), expected, hoped(odds(), np.zeros(0))) == ([], 0.0, 0.0)


def odds(*units: float) -> np.ndarray:
    return np.array([unit * SCALE for unit in units], np.int64)


def test_the_second_opinion_moves_the_odds_by_what_it_took_of_each_block():
    sums = np.array([100, 100, 100], np.int64)
    two = 2 * SCALE
    assert moved(sums, [1.0, 0.0, 0.5], article=0.9, strange=0.0).tolist() == [100 + two, 100 - two, 100]
    assert moved(sums, [1.0, 0.0, 0.5], article=0.25, strange=0.0).tolist() == [100 + SCALE, 100 - SCALE, 100]
    nearly = moved(sums, [1.0, 1.0, 1.0], article=0.9 + 1e-12, strange=0.0)
    assert nearly.tolist() == moved(sums, [1.0] * 3, article=0.9, strange=0.0).tolist()


def test_the_second_opinion_weighs_more_the_stranger_the_page():
    sums = np.array([0], np.int64)
    weights = [
        int(moved(sums, [1.0], article=1.0, strange=strangeness(known))[0]) for known in (1.0, 0.8, 0.65, 0.5, 0.0)
    ]
    assert weights == [2 * SCALE, 2 * SCALE, 3 * SCALE, 4 * SCALE, 4 * SCALE]


def test_the_second_opinion_is_asked_on_doubtful_articles_of_a_bearable_size_alone():
    assert is_asked(LEAST, MOST_BLOCKS, 0.84, 0.0)
    assert not is_asked(LEAST - 0.01, 10, 0.5, 0.0) and not is_asked(0.9, MOST_BLOCKS + 1, 0.5, 0.0)
    assert not is_asked(0.9, 10, 0.86, 0.0)  # sure enough of a page that is like others
    assert is_asked(0.9, 10, 0.91, 0.5) and is_asked(0.9, 10, 0.985, 1.0)  # not of a strange one
    assert not is_asked(0.9, 10, 0.992, 1.0)  # unless it promises more than any text needs


def test_an_article_in_unknown_words_is_stranger_and_asks():
    known = "".join(f"<p>{PROSE} {PROSE}</p>" for _ in range(8))
    numbers = [
        features(walk(parse_html(page(f"<article><h1>Title</h1>{body}</article>"))), the_model().scores)[1]
        for body in (known, strange(known))
    ]
    assert strangeness(numbers[0].known) < 0.5 and strangeness(numbers[1].known) == 1.0


def test_a_line_that_only_the_second_opinion_takes_can_win_and_one_that_it_leaves_can_lose():
    doubtful = strange("Subscribe to our weekly letter and get the best stories of the week by mail.")
    older = "".join(f"<li><a href=/{n}>{strange('Older story of the week')} {n}</a></li>" for n in range(12))
    box = f"<div class=newsletter><p>{doubtful}</p><ul>{older}</ul></div></article>"
    body = strange(ARTICLE.replace("</article>", "")) + box

    def asked(opinion: str) -> str:
        found = extract(parse_html(page(body)), opinion=lambda: opinion)
        assert found.is_second
        return found.text

    everything = extract(parse_html(page(body))).text
    assert doubtful in asked(f"{everything}\n{doubtful}") and doubtful not in asked(everything.replace(doubtful, ""))


def test_a_shelf_of_a_shop_is_not_shown_to_the_second_opinion():
    cards = "".join(
        f"<div class=product-card><a href=/p/{n}><h3 class=product-title>Shoe {n}</h3></a>"
        f"<span class=price>$ {n}9.00</span><button>Add to cart</button></div>"
        for n in range(30)
    )
    asked: list[str] = []
    found = extract(
        parse_html(page(f"<h1>Red shoes</h1><div class=products>{cards}</div>", "Shop: shoes")),
        opinion=lambda: asked.append("asked") or "",
    )
    assert (found.page_type, found.is_second, asked) == ("collection", False, [])


def test_ties_go_to_what_stands_first():
    kept, _ = choose(odds(5, 1, 1), np.array([1.0, 1.0, 1.0]))
    again, _ = choose(odds(5, 1, 1), np.array([1.0, 1.0, 1.0]))
    assert kept.tolist() == again.tolist() and kept[0] and kept[1] >= kept[2]


# --- the model's file ------------------------------------------------------------------------------------------------
def test_the_card_names_the_file_that_is_there_and_it_is_small():
    card = (PROJECT / "docs" / "extraction-model.md").read_text("utf-8")
    assert read(OWN).digest in card
    assert len((PROJECT / "crawler/stages/extraction/learned/model.npz").read_bytes()) <= 2_000_000


def test_the_card_says_what_the_file_holds():
    card = " ".join((PROJECT / "docs" / "extraction-model.md").read_text("utf-8").split())
    model = read_model()
    net, (trees, depth) = model.blocks.net, model.blocks.trees.feature.shape
    layers, _, width = net.mix.shape
    reach = net.reach.tolist()
    of_types, type_depth = model.kinds.feature.shape
    assert f"A net of {layers} layers and {width} values a block over {len(net.borders)} numbers of each block" in card
    assert f"{', '.join(map(str, reach[:-1]))} and {reach[-1]} blocks before and behind" in card
    assert f"{trees} symmetric trees of depth {depth} over the same numbers" in card
    assert f"{of_types} trees of depth {type_depth} for the page type" in card
    assert f"what {len(model.said)} statements of a page about itself say of its type" in card
    assert f"a table of {round(len(model.table), -3):,} hashes" in card


def test_the_model_holds_numbers_and_no_text_but_its_card():
    stored = read(OWN)
    assert {array.dtype.kind for array in stored.arrays.values()} <= {"i", "u", "f"}
    assert sorted(stored.card) == ["data", "date", "features", "figures", "format", "kind", "licence", "parts", "what"]
    assert stored.card["licence"].startswith("Apache-2.0") and stored.card["date"] == "2026-11-26"


def test_the_model_fits_the_features():
    model = read_model()
    rows, _ = features(walk(parse_html(page(ARTICLE))), model.scores)
    assert rows.shape[1] == len(model.blocks.net.borders) and rows.dtype == np.float32
    assert np.isfinite(rows).all()


def test_the_model_is_read_once():
    assert the_model() is the_model()


def test_the_text_is_the_same_in_another_process_with_another_hash_seed():
    script = (
        "import sys; from crawler.config import ExtractionConfig; from crawler.document import Document;"
        "from crawler.stages.extraction.stage import ExtractionStage;"
        "from crawler.stages.parse.stage import ParseStage;"
        "doc = Document(url='https://example.org/', html=sys.stdin.buffer.read(), content_type='text/html');"
        "ParseStage()(doc); ExtractionStage(ExtractionConfig(extractor='learned', min_words=0))(doc);"
        "print(doc.extractor, doc.extraction_confidence, doc.page_type_score, doc.text)"
    )

    def run(seed: str) -> bytes:
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(PROJECT)}
        return subprocess.run(
            [sys.executable, "-c", script], input=page(ARTICLE).encode(), capture_output=True, check=True, env=env
        ).stdout

    assert run("1") == run("2")
    assert run("3").startswith(b"learned ")


# --- hostile pages ---------------------------------------------------------------------------------------------------
HOSTILE = {
    "10,000 small tables": "<table><tr><td>a<td>b</table>" * 10_000,
    "nested tables": "<table><tr><td>" * 60 + PROSE,
    "5 MB of paragraphs": "<p>" * 1_700_000,
    "50,000 paragraphs": "<p>word" * 50_000,
    "100,000 links": "<a href=x>y</a>" * 100_000,
    "25,000 links": "<a href=x>y</a>" * 25_000,
    "a row of 20,000 cells": "<table><tr>" + "<td>cell" * 20_000,
    "60,000 attributes": "<p " + " ".join(f"a{n}=1" for n in range(60_000)) + f">{PROSE}</p>",
    "a class of 1 MB": f"<p class='{'related ' * 125_000}'>{PROSE}</p>",
    "one word of 2 MB": "<p>" + "x" * 2_000_000,
    "100,000 nested elements": "<div>" * 100_000 + PROSE,
    "60,000 breaks": "word<br>" * 59_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_ends_within_the_limit_of_a_stage(name):
    doc = Document(url="https://example.org/", html=page(HOSTILE[name]).encode(), content_type="text/html")
    started = time.process_time()
    if not isinstance(ParseStage()(doc), Drop):
        ExtractionStage(ExtractionConfig(extractor="learned", min_words=0))(doc)
    assert time.process_time() - started < 20  # STAGE_TIMEOUT_SECONDS is 30
    assert len(doc.text) <= len(doc.html)


def test_a_page_has_a_limit_of_blocks():
    walked = walk(parse_html("<body>" + "<p>word" * (MAX_BLOCKS + 10) + "</body>"))
    assert len(walked.texts) == MAX_BLOCKS == max(walked.ends)
