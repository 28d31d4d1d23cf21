"""Which file does an `img` stand for? The widest of `srcset` and `picture`, a lazy source, or `src`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

MAX_ITEMS = 100
"""Files of one `srcset` that are looked at."""
_URL = re.compile(r"[\s,]*(\S+)")
_DESCRIPTORS = re.compile(r"((?:[^,(]|\([^)]*\))*),?")
_DESCRIPTOR = re.compile(r"(\d+(?:\.\d+)?)([wx])")
_LAZY = ("data-src", "data-lazy-src", "data-original", "data-lazy", "data-hi-res-src")
_LAZY_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_READ = frozenset({"image/jpeg", "image/jpg", "image/png", "image/webp", "image/avif", "image/gif", "image/bmp",
                   "image/tiff"})  # fmt: skip


def source_of(image: HtmlElement) -> str:
    """The URL as the page writes it, of the largest file offered; empty where there is none.

    A `data:` URL in `src` stands for nothing where the page names another source: it is what lazy pages show first.
    """
    sets = [image.get(name, "") for name in _LAZY_SETS] + list(_sources(image))
    offered = [item for text in sets for item in parsed(text) if not _is_data(item[0])]
    if wide := [item for item in offered if item[2] == "w"]:
        return max(wide, key=lambda item: item[1])[0]
    plain, lazy = image.get("src", "").strip(), next((v for n in _LAZY if (v := image.get(n, "").strip())), "")
    if offered and (dense := max(offered, key=lambda item: item[1]))[1] > 1:
        return dense[0]
    return lazy or (plain if plain and not _is_data(plain) else (offered[0][0] if offered else plain))


def parsed(srcset: str) -> Iterator[tuple[str, float, str]]:
    """URL, number and unit ("w" or "x") of each file (HTML standard, "parse a srcset attribute")."""
    at = 0
    for _ in range(MAX_ITEMS):
        found = _URL.match(srcset, at)
        if found is None:
            return
        url, at = found[1], found.end()
        said = ""
        if url.endswith(","):
            url = url.rstrip(",")
        elif (rest := _DESCRIPTORS.match(srcset, at)) is not None:
            said, at = rest[1].strip(), rest.end()
        descriptor = _DESCRIPTOR.fullmatch(said.split()[0]) if said else None
        if url and (descriptor or not said):
            yield (url, float(descriptor[1]), descriptor[2]) if descriptor else (url, 1.0, "x")


def _sources(image: HtmlElement) -> Iterator[str]:
    """The `srcset` of each `source` of the `picture` around it whose type is read."""
    picture = next(image.iterancestors("picture"), None)  # libxml2 nests what stands behind a `source` into it
    for source in picture.iter("source") if picture is not None else ():
        kind = source.get("type", "").partition(";")[0].strip().lower()
        if not kind or kind in _READ:
            yield source.get("srcset", "") or source.get("data-srcset", "")


def _is_data(url: str) -> bool:
    return url[:5].lower() == "data:"
