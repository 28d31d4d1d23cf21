"""The prescan tells HTML that is built to hurt the parser, on its bytes.

Parsers compare the attributes of a tag with each other: one with 60,000 takes resiliparse 13 s. So tags are measured
on the bytes first, in linear time. Depth
needs no scan: libxml2 stops at 256 open elements by itself and says so (`stage.py` reads its error log).
"""

from __future__ import annotations

import re

MAX_ATTRIBUTES = 10_000
"""Attributes a tag may have. Templates that go wrong write thousands: real articles had tags of 1,211 and 5,322."""
MAX_COMPARISONS = 100_000_000
"""Pairs of attributes in all crowded tags of a page together: some 0.4 s of resiliparse, 0.1 s of lxml."""
_CROWDED = 2_000
"""Bytes from which the attributes of a tag are counted."""
MAX_TAG_BYTES = 262_144
"""Bytes a tag may have, embedded payloads apart: five of 1,497 real pages had some of 70 to 180 kB."""

MAX_TAGS = 400_000
"""Start and end tags a page may have: an element costs lxml some 400 bytes, 10 MB of `<p>a` would cost a gigabyte."""

# Possessive quantifiers: every byte is consumed once. A quote without an end can fail at most once for each kind of
# quote, because no further quote of that kind follows it.
_TAG = re.compile(rb"""<(?:!--|/?([a-zA-Z][^\s/>]*+)(?:[^>"']++|"[^"]*+"|'[^']*+'|["'])*+)""")
_ORDINARY = re.compile(
    rb"""(?:[^<]*+</?+(?![st](?:cript|tyle|extarea|itle)[\s/>])[a-z][^\s/>"'<]{0,50}+"""
    rb"""(?:[^>"'<]{0,200}+"[^"<>]{0,300}+"){0,3}+[^>"'<]{0,200}+>)*+[^<]*+""",
    re.IGNORECASE,
)
"""Text and tags too short to be judged, as many as follow each other: most of a page in one step.

None of them is one whose content is no markup (`_RAW_TEXT_END`).
"""
_ATTRIBUTE = re.compile(rb"""[^\s"'>/=][^\s"'>/=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'>]++))?""")
_QUOTED = re.compile(rb""""[^"]*+"|'[^']*+'""")
_RAW_TEXT_END = {
    name: re.compile(rb"</" + name + rb"[\s/>]", re.IGNORECASE) for name in (b"script", b"style", b"textarea", b"title")
}
_PAYLOAD = re.compile(rb"""["']\s{0,99}(?:data:|[{\[]|&quot;|&#34;|%7b|m\s?-?[\d.])""", re.IGNORECASE)
"""How long attribute values of ordinary pages begin: inline media, application state as JSON, SVG paths."""


def hostile_reason(body: bytes) -> str | None:
    """Why lxml must not see these bytes (UTF-8), as a sentence, or None."""
    position, tags, comparisons, dead = 0, 0, 0, set[bytes]()
    has_few_tags = len(body) <= MAX_TAGS or body.count(b"<") <= MAX_TAGS  # a tag has a byte at least
    skip = _behind_ordinary if has_few_tags else _behind_nothing
    while match := _TAG.search(body, skip(body, position)):
        position, tags = match.end(), tags + 1
        if tags > MAX_TAGS:
            return f"more than {MAX_TAGS} tags"
        name = match[1]
        if name is None:
            position = _skip(body, position, rb"-->", dead)
            continue
        if match.end() - match.start() > _CROWDED:
            count = sum(1 for _ in _ATTRIBUTE.finditer(match[0])) - 1
            comparisons += count * count
            if reason := _judge(match[0], count, comparisons):
                return reason
        raw_end = _RAW_TEXT_END.get(name.lower())
        if raw_end is not None:
            position = _skip_raw(body, position, name.lower(), raw_end, dead)
    return None


def _behind_ordinary(body: bytes, position: int) -> int:
    match = _ORDINARY.match(body, position)
    return match.end() if match else position


def _behind_nothing(body: bytes, position: int) -> int:  # noqa: ARG001  # every tag is counted
    return position


def _skip(body: bytes, position: int, end: bytes, dead: set[bytes]) -> int:
    """Position behind the next `end`, or `position` where there is none; a vain search is made once."""
    found = -1 if end in dead else body.find(end, position)
    if found < 0:
        dead.add(end)
        return position
    return found + len(end)


def _skip_raw(body: bytes, position: int, name: bytes, end: re.Pattern[bytes], dead: set[bytes]) -> int:
    if name in dead:
        return position
    if found := end.search(body, position):
        return found.start()
    dead.add(name)
    return position


def _judge(tag: bytes, count: int, comparisons: int) -> str | None:
    if count > MAX_ATTRIBUTES:
        return f"a tag with {count} attributes (limit {MAX_ATTRIBUTES})"
    if comparisons > MAX_COMPARISONS:
        return f"crowded tags with {comparisons} pairs of attributes (limit {MAX_COMPARISONS})"
    if len(tag) <= MAX_TAG_BYTES:
        return None
    payload = sum(len(value[0]) for value in _QUOTED.finditer(tag) if _is_payload(value[0]))
    size = len(tag) - payload
    return f"a tag of {size} bytes (limit {MAX_TAG_BYTES})" if size > MAX_TAG_BYTES else None


def _is_payload(quoted: bytes) -> bool:
    return len(quoted) > 1024 and _PAYLOAD.match(quoted) is not None
