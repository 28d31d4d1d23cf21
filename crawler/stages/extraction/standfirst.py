"""A standfirst is the short text between a headline and the body of an article; it is moved into the body.

News pages put it into the header of the article, where the extractor does not look, or call it a teaser, which the
extractor discards. It is told by where it stands and by what it is called, or by repeating the page's own description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

SHORTEST, LONGEST = 40, 1_000
"""Characters of a standfirst."""
MAX_LINKED = 0.3
"""Share of a standfirst that may be link text."""
MAX_SEARCHED = 150
"""Elements between headline and body that are looked at."""
MIN_BODY = 500
"""Characters of a body: with less, the extractor still has to find out where the text is, and is not to be helped."""
_NAMES = re.compile(
    r"(?<![a-z])(?<!with-)(?<!has-)(?<!no-)(?:lead|lede|intro|introduction|teaser|sub-?head(?:ing|line)?|sub-?title|deck|dek|chapo|chapeau|excerpt"
    r"|stand-?first|summary|abstract|vorspann|anriss|entradilla|bajada|sommario|occhiello|ingress|manchet)(?![a-z])"
)
_OTHERS = re.compile(r"author|byline|avatar|(?<![a-z])bio(?![a-z])|comment|related|recommend|newsletter|promo|share")
"""Names of elements that hold a text of the same length about somebody or something else."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BLOCKS = frozenset({"p", "div", "h2", "h3", "h4", "section", "span", "strong"})
_TEXT_ALONE = ("p", "h1", "h2", "h3", "h4", "ul", "ol", "table", "form", "time", "img", "button", "input", "iframe")
_SAME = 60
"""Characters in which a text and the page's description have to agree."""


def adopt_standfirst(tree: Any, body: Any) -> None:
    """Make the standfirst, if there is one, the first paragraph of `body`, which the extractor will choose."""
    headline = _headline_before(tree, body)
    if headline is None:
        return
    described, around = _descriptions(tree), {body, *body.iterancestors()}
    for element in islice(_between(headline, body, around), MAX_SEARCHED):
        if element.tag in _BLOCKS and (text := _standfirst(element, described)) and not _is_of_others(element, around):
            there = _flat("".join(body.itertext()))
            if len(there) >= MIN_BODY and text[:_SAME] not in there:
                _move(element, text, body)
            return


def _headline_before(tree: Any, body: Any) -> Any:
    """The last <h1> before `body`, in page order, and not in it; None where there is none."""
    headline = None
    for element in tree.iter("h1", body.tag):
        if element is body:
            return headline
        if element.tag == "h1":
            headline = element
    return None


def _between(headline: Any, body: Any, around: set[Any]) -> Iterator[Any]:
    """Every element behind the headline and before the body, in page order; not those that hold it (`around`)."""
    node = headline
    while node is not None:
        following = node.getnext()
        while following is not None and following not in around:
            yield from following.iter()
            following = following.getnext()
        if following is body:
            return
        if following is not None:  # it holds the body: what stands in it before the body
            for child in _before(following, body, around):
                yield from child.iter()
            return
        node = node.getparent()


def _before(holder: Any, body: Any, around: set[Any]) -> Iterator[Any]:
    for child in holder:
        if child is body:
            return
        if child in around:
            yield from _before(child, body, around)
            return
        yield child


def _descriptions(tree: Any) -> set[str]:
    """How the page describes itself, as far as it is compared."""
    found = tree.iterfind(".//meta[@content]")
    texts = (_flat(m.get("content")) for m in found if "description" in (m.get("name") or m.get("property") or ""))
    return {text[:_SAME] for text in texts if len(text) >= SHORTEST}


def _standfirst(element: Any, described: set[str]) -> str:
    """Its text where the element is a standfirst, else ""."""
    name = _name(element)
    named = bool(_NAMES.search(name))
    if not (named or described):
        return ""
    text = _flat("".join(islice(element.itertext(), MAX_SEARCHED)))
    if not SHORTEST <= len(text) <= LONGEST or text.endswith(":") or not (named or text[:_SAME] in described):
        return ""
    if sum(1 for _ in element.iterdescendants(*_TEXT_ALONE)) > 1:
        return ""  # a block with more in it than one text: its parts are asked next
    linked = sum(len(_flat("".join(link.itertext()))) for link in element.iterdescendants("a"))
    return text if linked <= MAX_LINKED * len(text) else ""


def _is_of_others(element: Any, around: set[Any]) -> bool:
    return any(_OTHERS.search(_name(e)) for e in (element, *element.iterancestors()) if e not in around)


def _name(element: Any) -> str:
    """Class and id, in lower case, with a hyphen where a capital letter began a word."""
    return _CAMEL.sub("-", f"{element.get('class', '')} {element.get('id', '')}").lower()


def _move(element: Any, text: str, body: Any) -> None:
    paragraph = body.makeelement("p")
    paragraph.text, paragraph.tail, body.text = text, body.text, None
    body.insert(0, paragraph)
    element.drop_tree()


def _flat(text: str | None) -> str:
    return " ".join(text.split()) if text else ""
