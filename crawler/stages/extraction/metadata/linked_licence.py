"""What a page's linked data call the licence of the page itself, not of a picture or another article that it shows.

Only objects at the top of the data are asked, of a type that is the page or its text. One that names an address is the
page's where that is the page's own; one that names none is where there is no other. Source: schema.org (license, url,
mainEntityOfPage).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from crawler.stages.extraction.metadata.linked import PAGES, Node, types_of
from crawler.stages.extraction.metadata.linked_own import TEXTS, keys_at, keys_of, objects_of

MAX_TEXTS = 20


def stated_licences(roots: Iterable[Any], url: str, addresses: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """The texts (addresses, names) of each statement of a licence.

    roots: the page's linked data, a value a script; url: its address; addresses: others that it gives itself.
    """
    objects = objects_of(roots)
    known = {id_: one for one in objects if isinstance(id_ := one.get("@id"), str) and len(one) > 1}
    own = keys_of(url, addresses)
    pages, texts = ([one for one in objects if not kinds.isdisjoint(types_of(one))] for kinds in (PAGES, TEXTS))
    for candidates in (pages, texts):
        for one in candidates:
            keys = keys_at(url, one)
            if "license" in one and (keys & own or (not keys and len(candidates) == 1)):
                yield from _statements(one["license"], known)


def _statements(value: Any, known: dict[str, Node]) -> Iterator[tuple[str, ...]]:
    for one in islice(value if isinstance(value, list) else [value], MAX_TEXTS):
        texts: tuple[Any, ...] = (one,)
        if isinstance(one, dict):
            whole = {**known.get(str(one.get("@id")), {}), **one}
            texts = tuple(whole.get(name) for name in ("@id", "url", "sameAs", "name"))
        if said := tuple(text for text in texts if isinstance(text, str) and text.strip()):
            yield said
