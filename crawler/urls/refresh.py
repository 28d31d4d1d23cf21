"""A page may say itself where it leads: the `Refresh` header, and `<meta http-equiv=refresh>`.

Read as Chromium does, which takes more than https://html.spec.whatwg.org/#shared-declarative-refresh-steps. Linear in
the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from crawler.document import Refresh
from crawler.urls.resolve import resolve

AT_ONCE = 1.0
"""Seconds: before that nobody has seen the page, whatever stands on it."""
MAX_DELAY = 30.0
"""Seconds up to which a page with next to no text is a notice that it has moved. Pages that lead to another one later
are shows of slides, start pages that renew themselves, and sessions that end: their refresh is a link."""
MAX_TEXT = 2**14
"""Characters of a statement; a longer one says nothing."""

_BLANK = " \t\n\f\r"
_STATEMENT = re.compile(
    rf"[{_BLANK}]*+(?P<seconds>[0-9]*+)(?P<fraction>[0-9.]*+)(?=\Z|[;,{_BLANK}])[{_BLANK}]*+[;,]?+[{_BLANK}]*+"
)
_NAME = re.compile(rf"[uU][rR][lL][{_BLANK}]*+=[{_BLANK}]*+")


def is_redirect(refresh: Refresh | None) -> bool:
    """True where nobody sees the page itself."""
    return refresh is not None and bool(refresh.url) and refresh.for_all and refresh.seconds < AT_ONCE


def moves_a_notice(refresh: Refresh | None) -> bool:
    """True where a page that shows next to nothing is only on the way to another one."""
    return refresh is not None and bool(refresh.url) and refresh.seconds <= MAX_DELAY


def read_refresh(text: str, page: str, base: str = "", *, for_all: bool = True) -> Refresh | None:
    """What one statement says on the page at `page`, its URLs standing on `base`; None where Chromium ignores it."""
    found = _STATEMENT.match(text) if len(text) <= MAX_TEXT else None
    if found is None or not (found["seconds"] or found["fraction"]):
        return None
    reference = _reference(text[found.end() :])
    url = resolve(base or page, reference) if reference else page
    if url is None or not url.startswith(("http://", "https://")):
        return None
    url = url.partition("#")[0]
    renews = url == page.partition("#")[0]
    return Refresh(_seconds(found["seconds"], found["fraction"]), "" if renews else url, for_all)


def read_header(headers: Iterable[tuple[bytes, bytes]], page: str) -> Refresh | None:
    """The same of the lines of a response's head."""
    return read_refresh(", ".join(v.decode("latin-1") for name, v in headers if name.lower() == b"refresh"), page)


def _seconds(whole: str, fraction: str) -> float:
    """Of `0.1.2` the first two parts count, as in Chromium."""
    return float(f"{whole[-9:] or 0}.{fraction[1:].partition('.')[0][:9] or 0}")


def _reference(text: str) -> str:
    """The URL behind the delay: with or without `url=`, with or without quotes, of which the last one closes."""
    named = _NAME.match(text)
    text = text[named.end() :] if named else text
    quote = text[:1]
    if quote in ("'", '"'):
        inside, closing, _ = text[1:].rpartition(quote)
        text = inside if closing and inside else text[1:]
    return text.strip(_BLANK)
