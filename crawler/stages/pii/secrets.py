"""`secrets_in` finds keys, tokens and passwords: what lets somebody in, in code, logs, configuration and forum posts.

Certain by their form: tokens with a prefix of their issuer (`secret_forms.tsv` names the source of each), private keys
in PEM (RFC 7468, OpenSSH's PROTOCOL.key, RFC 9580 for PGP) and PuTTY's files, signed JSON Web Tokens (RFC 7519), logins
in URLs (RFC 3986 section 3.2.1), in HTTP headers (RFC 7617, RFC 6750) and in connection strings (ADO.NET). Certain by
chance alone: what is assigned to a name such as `password` and is random (`secret_proof`). Of a connection the password
goes and the rest stays. Public keys, certificates, hashes, UUIDs and a manual's examples stay.

Most pages have no row of twelve ASCII characters with a figure in it, but for a few: those are all that is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from crawler.stages.pii import secret_proof
from crawler.stages.pii.needles import Needles
from crawler.stages.pii.outline import Outline
from crawler.stages.pii.page import SECRET, Hit
from crawler.stages.pii.skeleton import runs
from crawler.stages.text.tables import alternatives, sections

_SHORTEST, _SURE = 12, 20  # characters in a row of which a secret is a part: with a figure in it, and with or without
_BEFORE, _WITHIN = 80, 400  # characters before a row, and of it, in which a name is looked for
_PEM_BODY, _LEAST_PEM = 20_000, 64  # characters of a private key, and those of its base64 at least
_FORMS = [line.split("\t")[:2] for line in sections(__package__, "secret_forms.tsv")[""]]
_WORDS = sections(__package__, "secret_words.txt")


@cache
def _tokens() -> dict[str, list[re.Pattern[str]]]:
    """By prefix, the expressions of what follows it; compiled when the first page has the prefix of one."""
    found: dict[str, list[re.Pattern[str]]] = {}
    for prefix, body in _FORMS:
        found.setdefault(prefix, []).append(re.compile(rf"({body})(?![\w+/=-])", re.ASCII))
    return found


_JOINED = re.compile(r"[A-Za-z0-9_-]")
_ANCHORS = Needles(
    {
        word: word.lower().encode()
        for word in {*(prefix for prefix, _ in _FORMS), "eyJ", "://", "bearer", "basic", "@tcp("}
    },
    width=3,
)
_NAMES = re.compile(
    rb"pass|pwd|secret|token|key|creden|senha|wort|parola|has\x80|salasana|wachtw|mot.de|kata.sandi|contrase|\x80{2}"
)
"""What is in every name of a secret, in the folded outline."""
_SETS = re.compile(rb"[=:>]|\x80| is | lautet | est? ")


def secrets_in(outline: Outline) -> Iterator[Hit]:
    """What is secret in the text of the outline, overlaps included. One pass, and a bounded look at each place."""
    if b"PRIVATE KEY" in outline.image or b"Private-Lines" in outline.image:
        yield from _private_keys(outline.text)
    rows = _rows(outline)
    if not rows:
        return
    rowed = b" ".join(outline.folded[start:end] for start, end in rows)
    for anchor in _ANCHORS.possible(rowed):
        if _ANCHORS.needles[anchor] in rowed:
            yield from _at(anchor, outline)
    looked = 0
    for start, end in rows:
        begin, last = max(looked, start - _BEFORE), min(end, start + _WITHIN)
        if not _MIXED.search(outline.folded, start, last):
            continue
        name = _NAMES.search(outline.folded, begin, last)
        if name and _SETS.search(outline.folded, name.end(), last):
            yield from _assigned(outline.text, begin, last)
            looked = start


_MIXED = re.compile(rb"[a-z][^a-z0-9]{0,3}[0-9]|[0-9][^a-z0-9]{0,3}[a-z]")


def _rows(outline: Outline) -> list[tuple[int, int]]:
    """Rows of ASCII characters without a space in which a secret may be, in order."""
    codes = np.frombuffer(outline.image, dtype=np.uint8)
    long = runs((codes - np.uint8(0x21)) < 0x5E, _SHORTEST)
    if not np.count_nonzero(long):
        return []
    padded = np.concatenate([[False], long, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    starts, ends = edges[::2], edges[1::2] + (_SHORTEST - 1)
    figures = np.flatnonzero((codes - np.uint8(0x30)) < 10)
    has_figure = np.searchsorted(figures, ends) > np.searchsorted(figures, starts)
    wanted = has_figure | (ends - starts >= _SURE)
    return list(zip(starts[wanted].tolist(), ends[wanted].tolist(), strict=True))


def _at(anchor: str, outline: Outline) -> Iterator[Hit]:
    """What begins at an anchor, wherever that stands: prefixes as they are written, words of HTTP in any case."""
    judge = _JUDGES.get(anchor)
    text, needle = (outline.folded, anchor.encode()) if anchor in _ANY_CASE else (outline.image, anchor.encode())
    place = text.find(needle)
    while place >= 0:
        if judge:
            yield from judge(outline.text, place)
        elif not _JOINED.match(outline.text[place - 1 : place]):
            yield from _token(outline.text, place, anchor)
        place = text.find(needle, place + len(needle))


def _token(text: str, place: int, prefix: str) -> Iterator[Hit]:
    for body in _tokens()[prefix]:
        match = body.match(text, place + len(prefix))
        if match and secret_proof.is_issued(match[1]):
            start = match.start(1) if prefix.endswith(("=", "/")) else place
            yield _hit(text, start, match.end(1))
            return


_LOGIN = re.compile(r"([^\s:/@\"'<>`]{0,64}):([^\s/@\"'<>`]{1,128})@[\w.\[:$<{%-]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}\Z")


def _login(text: str, place: int) -> Iterator[Hit]:
    """The password in scheme://user:password@host."""
    match = _LOGIN.match(text, place + 3)
    if match is None or not _SCHEME.search(text[max(0, place - 21) : place]):
        return
    if secret_proof.is_password_of_a_connection(match[1], match[2]):
        yield _hit(text, *match.span(2))


_DSN = re.compile(r"(?<![\w.-])([\w.-]{1,64}):([^\s:@\"'<>`]{1,128})\Z")


def _driver_login(text: str, place: int) -> Iterator[Hit]:
    """The password in user:password@tcp(host), as the MySQL driver of Go has it."""
    match = _DSN.search(text, max(0, place - 200), place)
    if match and secret_proof.is_password_of_a_connection(match[1], match[2]):
        yield _hit(text, *match.span(2))


_WEB_TOKEN = re.compile(r"eyJ[\w-]{8,2000}\.eyJ[\w-]{8,8000}\.[\w-]{16,1000}(?![\w-])", re.ASCII)


def _web_token(text: str, place: int) -> Iterator[Hit]:
    if _JOINED.match(text[place - 1 : place]):
        return
    match = _WEB_TOKEN.match(text, place)
    if match and secret_proof.is_web_token(match[0]):
        yield _hit(text, *match.span())


_BEARER = re.compile(r"bearer[ \u00a0]{1,2}([\w+/=.~-]{20,500})", re.IGNORECASE | re.ASCII)
_BASIC = re.compile(r"basic[ \u00a0]{1,2}([A-Za-z0-9+/]{8,300}={0,2})", re.IGNORECASE)


def _bearer(text: str, place: int) -> Iterator[Hit]:
    match = _BEARER.match(text, place)
    if match and secret_proof.is_random_token(match[1]):
        yield _hit(text, *match.span(1))


def _basic(text: str, place: int) -> Iterator[Hit]:
    match = _BASIC.match(text, place)
    if match and secret_proof.is_login(match[1]):
        yield _hit(text, *match.span(1))


_ANY_CASE = frozenset({"bearer", "basic", "://", "@tcp("})
_JUDGES: dict[str, Callable[[str, int], Iterator[Hit]]] = {
    "://": _login, "@tcp(": _driver_login, "eyJ": _web_token, "bearer": _bearer, "basic": _basic
}  # fmt: skip

_PASSWORD = alternatives(_WORDS["password"])
_ISSUED = alternatives(_WORDS["token"])
_ASSIGNED = re.compile(
    rf"(?P<before>[\w.-]{{0,24}}?)(?:(?P<password>{_PASSWORD})|{_ISSUED})(?P<rest>[\w-]{{0,24}})[\"'\]`]{{0,2}}"
    r"(?:[ \t]{0,4}(?::=|=>|==?|[:：>])|[ \t]{1,2}(?:is|lautet|est|es|è)(?=[ \t]))[ \t\n]{0,4}"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{8,200})(?P=quote)|(?P<plain>[^\s\"'`<>]{8,200}))",
    re.IGNORECASE,
)
_HARMLESS = re.compile(alternatives(_WORDS["harmless"]), re.IGNORECASE)
_CONNECTION = re.compile(
    r"(?:server|data source|host|addr|address|endpoint|user id|uid|user|username|database|initial catalog)\s?="
    r"[^;\n]{1,120};",
    re.IGNORECASE,
)
_ADO = 300  # characters of a connection string on each side of its password


def _assigned(text: str, start: int, end: int) -> Iterator[Hit]:
    """What a name of a secret is set to, where chance alone has written it, or where a whole connection is told."""
    for match in _ASSIGNED.finditer(text, start, end):
        group = "quoted" if match["quoted"] else "plain"
        value = match[group] if group == "quoted" else match[group].split(";")[0].rstrip(",.)]}&")
        at = match.start(group)
        if _HARMLESS.search(match["rest"]) or _HARMLESS.search(match["before"]):
            continue
        if _is_secret(value, is_password=match["password"] is not None) or (
            match["password"] and _is_in_a_connection(text, at, at + len(value), value)
        ):
            yield _hit(text, at, at + len(value))


def _is_secret(value: str, *, is_password: bool) -> bool:
    if "://" in value or value.startswith(("/", "./")):
        return False
    return secret_proof.is_random_token(value) or (is_password and secret_proof.is_random_password(value))


def _is_in_a_connection(text: str, start: int, end: int, value: str) -> bool:
    told = _CONNECTION.search(text, max(0, start - _ADO), start) or (
        text[end : end + 1] == ";" and _CONNECTION.search(text, end, end + _ADO)
    )
    return bool(told) and secret_proof.is_password_of_a_connection("", value)


_PEM = re.compile(r"-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3})PRIVATE KEY( BLOCK)?-----")
_PEM_LINE = re.compile(r"(?:[A-Za-z0-9+/=]{0,128}|[A-Za-z-]{4,20}: [^\n]{0,100})\s{0,2}")
_PUTTY = re.compile(r"Private-Lines: \d{1,3}\n")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{24,}")


def _private_keys(text: str) -> Iterator[Hit]:
    """Whole blocks, from the first line to the last; of one that is cut off, as far as its base64 goes."""
    for match in _PEM.finditer(text):
        closing = text.find("-----", match.end(), match.end() + _PEM_BODY)
        end = match.end() + _lines_end(text[match.end() : match.end() + _PEM_BODY])
        if closing >= 0 and text.startswith("-----END ", closing):
            last = text.find("-----", closing + 9, closing + 80)
            end = last + 5 if last >= 0 else closing
        if _is_key(text[match.end() : closing if closing >= 0 else end]):
            yield _hit(text, match.start(), end)
    for match in _PUTTY.finditer(text):
        end = match.end() + _lines_end(text[match.end() : match.end() + _PEM_BODY])
        if _is_key(text[match.end() : end]):
            yield _hit(text, match.start(), end)


def _lines_end(body: str) -> int:
    """Where the lines of base64 at the start end."""
    end = 0
    for line in body.splitlines(keepends=True):
        if not _PEM_LINE.fullmatch(line):
            break
        end += len(line)
    return end


def _is_key(body: str) -> bool:
    """Enough of base64, and random: not a manual's "MIIE…"."""
    rows = "".join(_BASE64.findall(body.replace("\\n", "\n").replace("\\r", "\n")))
    return len(rows) >= _LEAST_PEM and len(set(rows)) >= _SURE and "..." not in body


def _hit(text: str, start: int, end: int) -> Hit:
    return Hit(start, end, SECRET, text[start:end])
