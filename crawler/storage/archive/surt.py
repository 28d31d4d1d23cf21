"""The key under which an archive's index finds a page: SURT, the URL with its host turned round, without what varies.

pywb and the Wayback Machine compute the same key when they look a page up, so the rules are theirs: host without
`www.`, default port, user and fragment; path and query unescaped, in lower case, without session ids; parameters
sorted.
The `surt` package is not used: it is licensed under the AGPL, and its last release is from 2016.

Source: "Sort-friendly URI Reordering Transform" (IIPC), canonicalisation of the Internet Archive's CDX server.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

_WWW = re.compile(rb"www\d*\.")
_SAFE = b"!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_UNESCAPE_ROUNDS = 10
"""A URL that is escaped more often than this is kept as it is after so many rounds."""
_QUERY_SESSIONS = [
    re.compile(name + rb"(?=&|$)")
    for name in (rb"jsessionid=[0-9a-z]{32}", rb"phpsessid=[0-9a-z]{32}", rb"sid=[0-9a-z]{32}")
] + [re.compile(rb"aspsessionid[a-z]{8}=[a-z]{24}(?=&|$)")]
_PATH_SESSIONS = [re.compile(rb"(?<=/)\((?:[a-z]\([0-9a-z]{24}\))+\)/"), re.compile(rb"(?<=/)\([0-9a-z]{24}\)/")]


def surt(url: str) -> str:
    """The key of an http or https URL, in ASCII without spaces; of anything else, the URL itself, escaped."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if not host:
        return _escaped(url.encode()).decode("ascii")
    place = b",".join(reversed(_host(host).split(b".")))
    if port and port != _DEFAULT_PORTS.get(parts.scheme):
        place += b":%d" % port
    query = _query(parts.query.encode())
    return (place + b")" + _path(parts.path.encode()) + (b"?" + query if query else b"")).decode("ascii")


@lru_cache(1024)  # a site's pages share theirs
def _host(host: str) -> bytes:
    name = _unescaped(host.encode())
    with suppress(UnicodeError):
        name = name if name.isascii() else name.decode().encode("idna")
    name = name.lower().replace(b"..", b".").strip(b".")
    return _escaped(_WWW.sub(b"", name, count=1) if _WWW.match(name) else name)


def _path(path: bytes) -> bytes:
    kept: list[bytes] = []
    steps = _unescaped(path).split(b"/")[1:]
    for step in steps:
        if step == b".." and kept:
            kept.pop()
        elif step not in {b"", b"."}:
            kept.append(step)
    tail = b"/" if kept and steps[-1] == b"" else b""
    found = _escaped(b"/" + b"/".join(kept) + tail).lower()
    for pattern in _PATH_SESSIONS:
        found = _without_path_session(pattern, found)
    return found[:-1] if len(found) > 1 and found.endswith(b"/") else found


def _without_path_session(pattern: re.Pattern[bytes], path: bytes) -> bytes:
    for match in reversed(list(pattern.finditer(path))):
        if path.find(b".aspx", match.end() + 1) >= 0:
            return path[: match.start()] + path[match.end() :]
    return path


def _query(query: bytes) -> bytes:
    if not query:
        return b""
    found = _escaped(_unescaped(query)).lower()
    for pattern in _QUERY_SESSIONS:
        if matches := list(pattern.finditer(found)):
            found = found[: matches[-1].start()] + found[matches[-1].end() + 1 :]
    pairs = _without_cold_fusion(found.split(b"&"))
    return b"&".join(b"=".join(pair) for pair in sorted(pair.split(b"=", 1) for pair in pairs))


def _without_cold_fusion(pairs: list[bytes]) -> list[bytes]:
    """Drop `cfid=…&cftoken=…`; what stood before it in its parameter stays, as an empty parameter where nothing did."""
    for at in range(len(pairs) - 2, -1, -1):
        before, name, value = pairs[at].rpartition(b"cfid=")
        if name and value and len(pairs[at + 1]) > len(b"cftoken=") and pairs[at + 1].startswith(b"cftoken="):
            after = pairs[at + 2 :]
            return [*pairs[:at], before + after[0], *after[1:]] if after else [*pairs[:at], before]
    return pairs


def _unescaped(text: bytes) -> bytes:
    for _ in range(_UNESCAPE_ROUNDS):
        plain = unquote_to_bytes(text)
        if plain == text:
            break
        text = plain
    return text


def _escaped(text: bytes) -> bytes:
    return quote_from_bytes(text, safe=_SAFE).encode("ascii")
