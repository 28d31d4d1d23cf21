"""Metadata say who wrote the page, when and under which licence; to read them is cheap and never an error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from crawler.stages.extraction.metadata.author import find_author
from crawler.stages.extraction.metadata.dates import read_date, stated_dates, vague_dates
from crawler.stages.extraction.metadata.head import Head, read_head
from crawler.stages.extraction.metadata.licence import find_licence
from crawler.stages.extraction.metadata.linked import Linked, read_linked
from crawler.stages.extraction.metadata.linked_licence import stated_licences
from crawler.stages.extraction.metadata.linked_own import others
from crawler.stages.extraction.metadata.source import Source
from crawler.stages.extraction.metadata.title import find_title
from crawler.stages.text.normal import line_of

_NO_ANCHORS = str.maketrans(dict.fromkeys("¶\uf0c1🔗", " "))
"""Signs that documentation generators hang on headings as links to themselves."""
_DESCRIPTIONS = ("og:description", "description", "twitter:description", "dc.description", "dcterms.description")
_MAX_CHARS = 1_000
_MAX_AUTHOR_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says about itself; None where it does not."""

    title: str | None = None
    description: str | None = None
    author: str | None = None
    pub_date: str | None = None
    """ISO 8601 date."""
    license_tag: str | None = None
    """SPDX identifier of a Creative Commons licence, or `LicenseRef-CC-…` where SPDX does not list it."""


def read_metadata(tree: Any, url: str, max_date: str | None = None, *, source: Source | None = None) -> Metadata:
    """Read title, description, author, date and licence off the parsed page.

    `max_date` (ISO date, the day of the fetch) bounds publication dates, so that a replay finds the same one.
    `source`, the page that the tree was made of, spares searches for what it does not hold.
    Whatever a page contains, missing values are the worst that happens.
    """
    found: dict[str, list[Any]] = {tag: [] for tag in ("title", "meta", "script", "h1", "time", "a", "link")}
    for element in tree.iter(*found):
        found[element.tag].append(element)
    head = _attempt(read_head, found["meta"], found["title"]) or Head("", {})
    addresses = _addresses(found["link"], head)
    linked = _attempt(read_linked, found["script"], partial(others, url=url, addresses=addresses)) or Linked()
    return Metadata(
        title=_short(_attempt(find_title, found["h1"], url, head, linked.headline)),
        description=_short(head.first(*_DESCRIPTIONS)),
        author=_short(_attempt(find_author, tree, url, head, linked, source), _MAX_AUTHOR_CHARS),
        pub_date=_attempt(
            partial(read_date, is_whole=linked.is_whole, vague=vague_dates(head)),
            tree,
            url,
            stated_dates(found["time"], head, linked),
            max_date,
        ),
        license_tag=_attempt(_licence, tree, url, found, (linked, addresses), source),
    )


def _licence(
    tree: Any, url: str, found: dict[str, list[Any]], said: tuple[Linked, tuple[str, ...]], source: Source | None
) -> str | None:
    own = list(stated_licences(said[0].roots, url, said[1]))
    links = (*found["link"], *found["a"])
    return find_licence(tree, url, links=links, metas=found["meta"], linked=own, source=source)


def _addresses(links: list[Any], head: Head) -> tuple[str, ...]:
    """That the page gives itself."""
    canonical = [link.get("href") or "" for link in links if (link.get("rel") or "").lower() == "canonical"]
    return (*canonical[:1], *head.all("og:url")[:1])


def _attempt(function: Any, *args: Any) -> Any:
    """The answer, or None: readers meet every kind of malformed page, which must not cost it its text."""
    try:
        return function(*args)
    except Exception:
        return None


def _short(value: str | None, limit: int = _MAX_CHARS) -> str | None:
    """In the form in which text is kept: JSON can hold controls, and halves of characters that no file can."""
    if not value:
        return None
    kept = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return line_of(kept.translate(_NO_ANCHORS), limit)
