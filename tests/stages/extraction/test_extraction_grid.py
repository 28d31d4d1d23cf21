"""Tables keep their columns in Markdown, and rows are lines of cells."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document, Drop
from crawler.stages.extraction.learned.grid import MOST_COLUMNS
from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html


def written(body: str, text_format: str = "markdown") -> str:
    page = walk(parse_html(f"<body>{body}</body>"))
    return write(page, [True] * len(page.texts), text_format).text


def table(*rows: str) -> str:
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def test_a_cell_stands_below_its_head_whatever_is_empty_or_spans_beside_it():
    rows = table(
        "<th>Name<th>Year<th>Note",
        "<td rowspan=2>Alpha<td>2001<td>a",
        "<td>2002<td>b",
        "<td>Beta<td><td>c",
        "<td colspan=3>all of them",
        "<td colspan=2>Gamma<td>d",
    )
    assert written(rows).split("\n") == [
        "| Name | Year | Note |",
        "| --- | --- | --- |",
        "| Alpha | 2001 | a |",
        "|  | 2002 | b |",
        "| Beta |  | c |",
        "| all of them |  |  |",
        "| Gamma |  | d |",
    ]
    assert written(rows, "text").split("\n")[2:5] == ["| 2002 | b", "Beta | | c", "all of them"]
    assert written(rows, "text").split("\n")[5] == "Gamma | | d"


def test_a_bar_in_a_cell_begins_no_column():
    rows = table("<th>Sign<th>Means", "<td>a || b<td>or")
    assert written(rows) == "| Sign | Means |\n| --- | --- |\n| a \\|\\| b | or |"
    assert written(rows, "text") == "Sign | Means\na || b | or"


def test_a_cell_of_several_lines_stays_in_the_row_of_a_table_with_heads():
    rows = table("<th>Size<td>22 × 16 cm<br>with base", "<th>Use<td><p>Water.</p><p>Tea.</p>", "<th>Extras<td>")
    assert written(rows, "text") == "Size | 22 × 16 cm with base\nUse | Water. Tea.\nExtras"


def test_a_table_that_lays_out_the_page_is_no_table_of_values():
    rows = table("<td><p>One.</p><p>Two.</p><td>x", "<td>a<br>b<td>y")
    assert written(rows, "text") == "One.\nTwo.\nx\na\nb\ny"
    assert "|" not in written(rows)
    assert written(table("<th>Menu<td><ul><li>a<li>b</ul>"), "text") == "Menu\n- a\n- b"


@pytest.mark.parametrize("span", ["colspan=99999999999999999999", "colspan=-1 rowspan=x", "rowspan=0", "colspan=²"])
def test_a_span_that_no_table_has_is_none(span):
    assert written(table("<th>a<th>b", f"<td {span}>c<td>d")).endswith("\n| c | d |")


def test_a_table_of_too_many_columns_is_written_without_the_empty_ones():
    wide = "".join(f"<td>{n}" for n in range(90))
    rows = table(*("<td colspan=80>" * shift + wide for shift in range(4)))
    assert written(rows).count("\n") == 3 and len(rows) > MOST_COLUMNS


@pytest.mark.parametrize(
    "code",
    [
        "<pre><code><div class=line>def f():</div><div class=line>    return 1</div></code></pre>",
        "<pre><ol><li>def f():</li><li>    return 1</li></ol></pre>",
        "<pre><button>Copy</button><code>def f():\n    return 1</code></pre>",
    ],
)
def test_code_that_a_page_has_line_by_line_is_one_piece_without_its_button(code):
    assert written(code) == "```\ndef f():\n    return 1\n```"
    assert written(code, "text") == "def f():\n    return 1"
    assert written(code + "<pre>x</pre>").count("```") == 4


def test_what_follows_an_inner_list_is_no_item_of_its_own():
    assert written("<ul><li>one<ul><li>inner</li></ul>rest of one</li><li>two</li></ul>", "text").split("\n") == [
        "- one",
        "  - inner",
        "rest of one",
        "- two",
    ]


@pytest.mark.parametrize("extractor", ["learned", "trafilatura"])
def test_code_with_line_numbers_is_in_the_markdown_whichever_extractor_chose_the_text(extractor):
    prose = "The method fetches a page and returns what the server has answered, and it raises where nothing came."
    lines = "\n".join(f'<span class="linenos">{n}</span>call_{n}(x)' for n in range(1, 6))
    body = f"<h1>Calls</h1><p>{prose}</p><p>{prose} {prose}</p><pre>{lines}</pre><p>So it is. {prose}</p>"
    html = f"<html><body><article>{body}</article></body></html>"
    doc = Document(url="https://example.org/", html=html.encode(), content_type="text/html")
    assert not isinstance(ParseStage()(doc), Drop)
    ExtractionStage(ExtractionConfig(min_words=0, extractor=extractor, text_format="markdown"))(doc)
    assert "```\ncall_1(x)\ncall_2(x)\n" in doc.text
