"""Which language is a listing in, as the page says it? One table of names, one reader of the ways to write them.

Generators and highlighters write the language into a class (`language-js`, `highlight-source-python`, `brush: js`,
`mw-highlight-lang-python`, `hljs javascript`, `sourceCode python`) or an attribute (`data-lang`, `lang`), on the code,
on the <pre> or on an element around it. The name is that of GitHub Linguist, in lower case; a name that the table
(`code_names.txt`) does not have is none, since the same classes name colours, widgets and languages of people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import Any

from crawler.stages.text.tables import sections

ABOVE = 3
"""Elements around a <pre> that may name its language."""
_ATTRIBUTES = (
    *("data-lang", "data-language", "data-canonical-lang", "data-code-language", "data-enlighter-language"),
    *("data-highlight-language", "data-programming-language", "data-lexer"),
)
_PREFIXES = (
    *(
        "language-",
        "lang-",
        "highlight-source-",
        "highlight-text-",
        "highlight-",
        "mw-highlight-lang-",
        "source-",
        "src-",
    ),
    *(
        "brush:",
        "brush-",
        "lang:",
        "code-",
        "syntax-",
        "hljs-language-",
        "codehilite-",
        "prettyprint-",
        "sh_",
        "gatsby-code-",
    ),
    *(
        "language:",
        "syntax:",
        "wp-block-code-",
        "cm-s-",
        "rouge-",
        "chroma-",
        "shiki-",
        "prism-",
        "tab-",
        "block-code-",
    ),
)
_OF_HIGHLIGHTERS = frozenset(
    ("hljs", "highlight", "code", "sourcecode", "prettyprint", "syntaxhighlighter", "brush:", "src",
     "programlisting", "chroma", "codehilite", "listingblock", "shiki", "prism-code", "rust-example-rendered",
     "mw-geshi", "de1", "language", "lang", "syntax", "literal-block", "code-block", "wp-block-code", "example",
     "screen", "verbatim", "coderay", "pygments", "rouge", "geshi", "enlighterjsraw", "crayon-syntax", "codeblock",
     "code-snippet", "snippet", "prettyprinted", "literate")
)  # fmt: skip
_SHORT = frozenset(("js", "py", "rb", "rs", "go", "c++", "c#"))
"""Names of two letters that are no language of people (ISO 639-1)."""
_BARE_SHORT = _SHORT | {"ts", "cs", "sh", "hs", "kt", "c", "r", "pl"}
_SEPARATORS = re.compile(r"[\s;,]+")


@cache
def _tables() -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
    """Names that mean a language, those that do so behind a mark alone, and those that say that there is none."""
    found = sections(__package__, "code_names.txt")
    return _names(found[""]), _names(found["words"]), frozenset(found["none"])


def _names(lines: list[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for line in lines:
        name, _, others = line.partition(": ")
        for each in (name, name.replace(" ", "-"), name.replace(" ", ""), *others.split()):
            names.setdefault(each, name)
    return names


@lru_cache(maxsize=4_096)
def name_of(written: str) -> str:
    """The language that is written so, as Linguist names it in lower case; "" for what names none."""
    key = written.strip().lower()
    names, words, _ = _tables()
    return names.get(key) or words.get(key) or ""


@lru_cache(maxsize=8_192)
def of_class(classes: str) -> str:
    """The language that the classes of one element name; "" for none."""
    tokens = [token for token in _SEPARATORS.split(classes.lower()) if token]
    for i, token in enumerate(tokens):
        for prefix in _PREFIXES:
            if token.startswith(prefix):
                rest = token[len(prefix) :] or (tokens[i + 1] if prefix[-1] == ":" and i + 1 < len(tokens) else "")
                if name := name_of(rest):
                    return name
    names = _tables()[0]
    is_marked = not _OF_HIGHLIGHTERS.isdisjoint(tokens)
    bare = (names[token] for token in tokens if token in names and (len(token) > 2 or token in _BARE_SHORT))
    return next(bare, "") if is_marked or len(tokens) == 1 else ""


def linguist_name(pre: Any) -> str:
    """The language of a <pre>: what is nearest to its code says it; "" where the page says nothing."""
    for element in _holders(pre):
        for name in _ATTRIBUTES:
            if (said := element.get(name)) and (found := name_of(said)):
                return found
        if (classes := element.get("class")) and (found := _of_holder(element, classes, pre)):
            return found
        said = element.get("lang")
        if said and (len(said) > 2 or said.lower() in _SHORT) and element.tag != "html" and (found := name_of(said)):
            return found
    return ""


def _of_holder(element: Any, classes: str, pre: Any) -> str:
    """A single word as the class of a box is its style; on code it is the language."""
    found = of_class(classes)
    if found and element is not pre and element.tag not in {"code", "pre", "span"} and len(classes.split()) == 1:
        tokens = classes.lower()
        is_people = re.fullmatch(r"lang(?:uage)?-[a-z]{2}", tokens) is not None and tokens[-2:] not in _SHORT
        return found if tokens.startswith(_PREFIXES) and not is_people else ""
    return found


def _holders(pre: Any) -> Iterator[Any]:
    """The code in a <pre>, the <pre> itself, then what is around it."""
    code = pre.find(".//code")
    if code is not None:
        yield code
    line = pre.find(".//span[@lang]")
    if line is not None:
        yield line
    yield pre
    outer = pre
    for around in pre.iterancestors("pre"):  # a listing may have a table of its lines in it
        outer = around
        yield around
    for around in islice(outer.iterancestors(), ABOVE):
        if around.tag in {"body", "html", "main", "article"}:
            return
        yield around
