"""The preparation corrects the tree of a page, before any extractor reads it, by small passes one after the other.

Each pass takes the tree, changes it in place and knows nothing of the others; `PASSES` is their order.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from lxml import etree

from crawler.stages.extraction.anchors import leads_to_itself
from crawler.stages.extraction.code import CODE
from crawler.stages.extraction.consent import drop_consent
from crawler.stages.extraction.faster import body_of
from crawler.stages.extraction.frame import mark_frame
from crawler.stages.extraction.render import protect_preformatted
from crawler.stages.extraction.roles import forget_slugs, name_admonitions
from crawler.stages.extraction.standfirst import adopt_standfirst

_PARAGRAPH_CLASSES = frozenset({"para", "simpara", "formalpara"})
_WIKI_ARTICLE = etree.XPath("//div[contains(@class, 'mw-parser-output')]")
_THUMB_CAPTIONS = etree.XPath(".//div[@class = 'thumbcaption']")
_STEPS = frozenset({"next", "prev", "previous", "up", "start", "home", "contents", "index"})
_STEP_KEYS = frozenset("npuh")
_SENTENCES = frozenset({"p", "li", "dd"})
_LEAST_BESIDE = 3
"""Words beside a date, from which it stands in a sentence and not in a line about the page."""
_MOST_TIMES = 200
"""Of a page: each is held against the words around it."""
_MIN_STEPS = 2
_LONGEST_BAR = 400
"""Characters; whatever is longer holds more than steps."""


def prepare(tree: Any) -> None:
    """Every pass over the tree, in place."""
    for each in PASSES:
        each(tree)


def drop_choices(tree: Any) -> None:
    """What a field offers to choose from, such as all countries, is no text; an extractor that takes all takes it."""
    for field in list(tree.iter("select", "datalist")):
        field.drop_tree()


def drop_steps(tree: Any) -> None:
    """Bars of links to the next, the previous and the upper page, as the links' own rel or accesskey says."""
    links = dict.fromkeys(a for a in tree.iter("a") if a.get("accesskey") in _STEP_KEYS or a.get("rel") in _STEPS)
    bars = dict.fromkeys(next(a.iterancestors("table", "ul", "p", "div"), None) for a in links)  # in page order
    for bar in bars:
        if bar is None or bar.getparent() is None or len(bar.text_content()) > _LONGEST_BAR:
            continue
        if sum(link in links for link in bar.iter("a")) >= _MIN_STEPS:
            bar.drop_tree()


def unwrap_inline_code(tree: Any) -> None:
    """Code in a sentence becomes its text: trafilatura saves <code> out of sections it drops, which tears sentences."""
    for code in list(tree.iter(*CODE[1:])):
        if _is_inline(code):
            code.drop_tag()


def _is_inline(code: Any) -> bool:
    """True for code inside a sentence: one line, not in <pre>."""
    if not len(code):
        return "\n" not in (code.text or "").strip() and next(code.iterancestors("pre"), None) is None
    if any("\n" in text.strip() for text in code.itertext()) or next(code.iter("br"), None) is not None:
        return False
    return next(code.iterancestors("pre"), None) is None


def unwrap_times(tree: Any) -> None:
    """A date in a sentence becomes its text: trafilatura leaves out every <time>, and "On , the river rose"."""
    for time in list(islice(tree.iter("time"), _MOST_TIMES)):
        around = time.getparent()
        if around is not None and around.tag in _SENTENCES and _words_beside(time, around) >= _LEAST_BESIDE:
            time.drop_tag()


def _words_beside(element: Any, around: Any) -> int:
    return len(around.text_content().split()) - len(element.text_content().split())


def name_paragraphs(tree: Any) -> None:
    """DocBook's and Publican's <div class="para"> becomes <p>: without this, half of such a page is lost."""
    for div in tree.iter("div"):
        if not _PARAGRAPH_CLASSES.isdisjoint((div.get("class") or "").split()) and div.find(".//div") is None:
            div.tag = "p"


def drop_anchors(tree: Any) -> None:
    """Anchors that lead nowhere, or only to where they stand, are no links: to count them costs headings and terms."""
    for anchor in list(tree.iter("a")):
        if anchor.get("href") is None:
            anchor.drop_tag()
        elif leads_to_itself(anchor):
            anchor.drop_tree()


def flatten_tables_in_lists(tree: Any) -> None:
    """A table in a list item becomes lines of cells: the extractor would run its cells into each other."""
    for table in list(tree.iter("table")):
        in_list = next(table.iterancestors("li", "dd"), None) is not None
        if in_list and next(table.iter("pre", "ul", "dl"), None) is None:
            _flatten(table)


def _flatten(table: Any) -> None:
    rows = (
        " | ".join(" ".join(cell.text_content().split()) for cell in row.iter("td", "th")) for row in table.iter("tr")
    )
    lines = [row for row in rows if row.strip(" |")]
    span = table.makeelement("span")
    span.text, span.tail = lines[0] if lines else None, table.tail
    for line in lines[1:]:
        span.append(table.makeelement("br"))
        span[-1].tail = line
    table.getparent().replace(table, span)


def name_captions(tree: Any) -> None:
    """Captions of an article of MediaWiki become paragraphs: trafilatura leaves pictures out with their captions."""
    article = next(iter(_WIKI_ARTICLE(tree)), None)
    if article is None:
        return
    for caption in [*article.iter("figcaption"), *_THUMB_CAPTIONS(article)]:
        picture = next(caption.iterancestors("figure"), None)
        if picture is None:
            picture = next((e for e in caption.iterancestors("div") if "thumb" in (e.get("class") or "").split()), None)
        if picture is None or picture.getparent() is None or not caption.text_content().strip():
            continue
        caption.attrib.clear()
        caption.tag, caption.tail = "p", picture.tail
        picture.getparent().replace(picture, caption)


def place_text(tree: Any) -> None:
    """Name the element around the text where nothing names it, and move the standfirst into it."""
    body = body_of(tree)
    if body is None:
        body = mark_frame(tree)
    if body is not None:
        adopt_standfirst(tree, body)


PASSES: tuple[Callable[[Any], object], ...] = (
    drop_consent,
    drop_choices,
    drop_steps,
    protect_preformatted,
    unwrap_inline_code,
    unwrap_times,
    name_paragraphs,
    drop_anchors,
    forget_slugs,
    name_admonitions,
    flatten_tables_in_lists,
    name_captions,
    place_text,
)
"""In the order in which they run; where the text stands is looked for last, in what the others leave."""
