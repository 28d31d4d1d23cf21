"""trafilatura's costly expressions are compiled in the lists from which it takes them: the same result in less time.

trafilatura calls each expression with the tree, whatever it is; `selectors.py` says how one is answered faster. They
are the expressions of the version that is installed, so a later one with other expressions is served as well. Beside
them one function is replaced, for the sake of hostile pages (`neighbours.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trafilatura import external, xpaths

from crawler.stages.extraction import neighbours
from crawler.stages.extraction.selectors import Rule

LISTS = (
    "OVERALL_DISCARD_XPATH",
    "TEASER_DISCARD_XPATH",
    "DISCARD_IMAGE_ELEMENTS",
    "REMOVE_COMMENTS_XPATH",
    "BODY_XPATH",
)

_theirs: list[tuple[list[Any], list[Any]]] = []


def install() -> None:
    """Let trafilatura use compiled expressions; once per process, harmless when repeated."""
    if _theirs:
        return
    for name in LISTS:
        used = getattr(xpaths, name, [])
        _theirs.append((used, used[:]))
        used[:] = [_compiled(one, name) for one in used]
    external.revise_paragraph_classification = neighbours.revise_paragraph_classification


def uninstall() -> None:
    """Give trafilatura its own expressions back: for the comparison in tests and benches."""
    while _theirs:
        used, own = _theirs.pop()
        used[:] = own
    external.revise_paragraph_classification = neighbours.THEIRS


def body_of(tree: Any) -> Any:
    """The element that one of trafilatura's body paths leads to, in its order; None where none does."""
    return next((found[0] for path in getattr(xpaths, "BODY_XPATH", ()) if (found := path(tree))), None)


def _compiled(expression: Any, name: str) -> Callable[[Any], list[Any]]:
    """One that answers the same; of a path to the body, of which trafilatura takes the first element, the first one."""
    rule = Rule(expression)
    return rule.select if name != "BODY_XPATH" else lambda tree: [] if (first := rule.first(tree)) is None else [first]
