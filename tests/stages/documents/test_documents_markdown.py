"""Markdown becomes blocks without a sign of markup, in time that grows with its length alone."""

from __future__ import annotations

import time

import pytest

from crawler.stages.documents.markdown import read_markdown

TEXT = """---
title: "On mills"
tags: [x]
---
# The wheel #

The *miller* of the **old town** rose\\
long before the `sun_dial`, as [told](https://example.org/told "a title") and ![no](x.png) in [the book][b].

Second
------

- flour, 2*3*4 bags
- bran from snake_case_mill

1. first

> Who grinds
> sleeps little.

| kind | weight |
|------|-------:|
| rye  | 12 kg  |

```python
x = "**kept**"
```

Tom &amp; Ada <https://example.org/a> \\*starred\\* <b>bold</b>

[b]: https://example.org/book
"""


def test_blocks_have_words_alone():
    found = read_markdown(TEXT)
    assert [(b.form, b.level, b.text) for b in found.blocks] == [
        ("heading", 1, "The wheel"),
        ("paragraph", 0, "The miller of the old town rose long before the sun_dial, as told and in the book."),
        ("heading", 2, "Second"),
        ("list", 0, "- flour, 2*3*4 bags"),
        ("list", 0, "- bran from snake_case_mill"),
        ("list", 0, "1. first"),
        ("paragraph", 0, "Who grinds sleeps little."),
        ("table", 0, "kind | weight"),
        ("table", 0, "rye | 12 kg"),
        ("code", 0, 'x = "**kept**"'),
        ("paragraph", 0, "Tom & Ada https://example.org/a *starred* bold"),
    ]
    assert found.title == "On mills"
    assert found.links == ["https://example.org/told", "https://example.org/book", "https://example.org/a"]
    assert [b.text for b in found.blocks if b.role == "quotation"] == ["Who grinds sleeps little."]


def test_a_page_of_markdown_is_a_kind_of_its_own(judged):
    doc = judged(TEXT.encode(), "text/markdown; charset=utf-8")
    assert (doc.document_kind, doc.title, doc.extractor) == ("markdown", "On mills", "markdown-2")
    assert "**" not in doc.text.replace('"**kept**"', "") and "](" not in doc.text
    assert judged(b"plain *words*", "text/plain").document_kind == "text"
    assert judged(TEXT.encode(), "text/markdown", TEXT_FORMAT="markdown").text.startswith("# The wheel\n\n")


@pytest.mark.parametrize(
    "piece", ["*a ", "[a](", "`x", "<a ", "> ", "- ", "_x *y ", "![a](", "[[", "|-", "```\n", "a|b|c\n", "\\"]
)
def test_hostile_markdown_takes_no_longer_than_it_is_long(piece):
    started = time.process_time()
    read_markdown(piece * (300_000 // len(piece)))
    assert time.process_time() - started < 4


STEPS = """1. Soak it

    ```sh
    mill --soak
      --long
    ```

    and then dry *it*.

2. Grind

   - fine
     or coarse

     as the `buyer` asks

         grind(3)

Back.

    real code
"""


def test_paragraphs_and_code_within_the_items_of_lists_are_read_as_such():
    assert [(block.form, block.text) for block in read_markdown(STEPS).blocks] == [
        ("list", "1. Soak it"), ("code", "mill --soak\n  --long"), ("paragraph", "and then dry it."),
        ("list", "2. Grind"), ("list", "- fine or coarse"), ("paragraph", "as the buyer asks"), ("code", "grind(3)"),
        ("paragraph", "Back."), ("code", "real code"),
    ]  # fmt: skip


def test_notes_come_in_and_comments_badges_and_labels_with_code_stay_out():
    text = (
        "Flour[^1] and [`bran()`][`b`].\n\n<!-- YAML\nadded: v1\n- one\n-->\n\n[![v](https://i.test/x.png)](https://b.test)\n"
        "\n[^1]: By *weight*.\n\n[`b`]: https://mills.test/b\n"
    )
    found = read_markdown(text)
    assert [(block.role, block.text) for block in found.blocks] == [
        ("", "Flour and bran()."),
        ("footnote", "By weight."),
    ]
    assert found.links == ["https://mills.test/b", "https://b.test"]


def test_attributes_of_headings_and_links_are_no_words_and_braces_are():
    text = (
        '## The wheel {#wheel .big}\n\nA [mill](https://m.test){target="_blank" rel=x} of {1, 2} and {name}.\n{: .n}\n'
    )
    assert [block.text for block in read_markdown(text).blocks] == ["The wheel", "A mill of {1, 2} and {name}."]
