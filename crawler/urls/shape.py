"""The shape of a URL: what it has in common with the other pages of its kind; by shapes the frontier learns.

`https://shop.example/shoes/red-runner?size=9&sort=up` has the shape `shop.example/shoes/*?size&sort`: the segments that
name one page are generalised, the words that name a part of the site stay, and of the query only the names. A pure
function of the canonical URL, the same on every machine and in every version that says `SHAPE_VERSION`:

- a segment of digits is `#`; digits in a short word are, too (`page-12` is `page-#`, `v2` is `v#`);
- the last segment is `*` (with its extension, `*.html`), except for an index file, which is a page of its own kind; a
  word and a colon before it stay (`Talk:*`: the namespaces of wikis);
- a segment before it is `*` where it is a slug of three words and more, an identifier, escaped, or longer than 32;
- segments after the eighth are one `**`; parameter names after the eighth are left out.
"""

from __future__ import annotations

import re
from functools import lru_cache

import xxhash

SHAPE_VERSION = 2
MAX_SEGMENTS = 8
MAX_NAMES = 8
MAX_WORD = 32
"""Characters of a segment or parameter name that stands for itself."""
SHORT_WORD = 12
"""Letters beside which digits count up (`page-12`); a longer name with digits is a slug."""

_DIGITS = re.compile(r"[0-9]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_SPACE = re.compile(rf"[A-Za-z_]{{1,{MAX_WORD}}}")
_INDEX = frozenset({"index", "default", "home", "genindex", "search", "sitemap"})
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def shape_of(url: str) -> str:
    """The shape of a canonical http(s) URL, its host in front; at most some 600 characters."""
    rest = url.partition("://")[2]
    rest, _, query = rest.partition("?")
    slash = "/" if rest.endswith("/") and rest.count("/") > 1 else ""
    folder, mark, name = rest[: len(rest) - len(slash)].rpartition("/")
    if not mark:
        return name + _query(query)
    return f"{_folder(folder)}/{_name(name)}{slash}{_query(query)}"


def shape_id(shape: str) -> str:
    """Three letters that stand for a shape in the frontier (18 bits: a domain has at most some dozens of shapes)."""
    n = xxhash.xxh64_intdigest(shape.encode())
    return _ALPHABET[n & 63] + _ALPHABET[n >> 6 & 63] + _ALPHABET[n >> 12 & 63]


@lru_cache(65_536)
def shape_id_of(url: str) -> str:
    """`shape_id(shape_of(url))`, remembered: a link stands on many pages."""
    return shape_id(shape_of(url))


@lru_cache(16_384)
def _folder(folder: str) -> str:
    """Host and the segments before the last."""
    host, *segments = folder.split("/")
    kept = [_segment(segment) for segment in segments[:MAX_SEGMENTS]]
    return "/".join([host, *kept, *(["**"] if len(segments) > MAX_SEGMENTS else [])])


def _segment(segment: str) -> str:
    if "%" in segment or len(segment) > MAX_WORD:
        return "*"
    if _DIGITS.search(segment):
        return _numbered(segment)
    return "*" if segment.count("-") + segment.count("_") > 1 else segment


def _name(name: str) -> str:
    """The last segment, which names a page."""
    found = _EXTENSION.search(name)
    stem, extension = (name[: found.start()], found[0]) if found else (name, "")
    if not stem:
        return name
    if stem in _INDEX:
        return name
    space, colon, rest = stem.partition(":")
    if not (colon and rest and _SPACE.fullmatch(space)):
        space, colon, rest = "", "", stem
    return f"{space}{colon}{_numbered(rest) if _DIGITS.search(rest) else '*'}{extension}"


def _numbered(text: str) -> str:
    """A word that counts up; `*` where more than one word stands beside the digits."""
    words = _LETTERS.findall(text[: 2 * MAX_WORD])
    if len(text) > MAX_WORD or len(words) > 1 or (words and len(words[0]) > SHORT_WORD):
        return "*"
    return _DIGITS.sub("#", text)


@lru_cache(16_384)
def _query(query: str) -> str:
    """The names of the parameters, sorted, each once."""
    if not query:
        return ""
    names = {part.partition("=")[0] for part in query.split("&")}
    shown = sorted({_DIGITS.sub("#", name) if len(name) <= MAX_WORD else "*" for name in names if name})
    return "?" + "&".join(shown[:MAX_NAMES])
