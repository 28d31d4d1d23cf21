"""The answers to requests for opt-out files are interpreted here.

Such a file is optional, so its absence says nothing, in whatever way a server expresses it: 4xx, or 200 with the HTML
of a front page. A server error or an unreadable file is a doubt, and holds the host. A licence that robots.txt names
(RSL) is not optional: without it nobody knows what was said.
"""

from __future__ import annotations

from collections.abc import Callable

from crawler.policy.headers import values_of
from crawler.policy.robots.answer import Answer, Reader, Reading
from crawler.policy.robots.parse import MAX_BYTES

_PASSING_4XX = frozenset({408, 425, 429})


def read_optional(unreadable: Callable[[bytes], str]) -> Reader:
    """A reader for an optional file; `unreadable` says why a body is no such file, "" where it is one."""

    def read(answer: Answer) -> tuple[Reading, str]:
        status = answer.status or 0
        if 400 <= status < 500 and status not in _PASSING_4XX:
            return Reading.NO_RULES, f"answered {status}"
        if _succeeded(answer) and _is_page(answer):
            return Reading.NO_RULES, "answered with a page"
        return _read_body(answer, unreadable)

    return read


def read_required(unreadable: Callable[[bytes], str]) -> Reader:
    """A reader for a file that has to be there because another one names it."""
    return lambda answer: _read_body(answer, unreadable)


def _read_body(answer: Answer, unreadable: Callable[[bytes], str]) -> tuple[Reading, str]:
    if not _succeeded(answer):
        what = "out of reach" if answer.status is None else f"answered {answer.status}"
        return Reading.HOLD, f"{what}{': ' + answer.error if answer.error else ''}"[:400]
    complaint = unreadable(answer.body[: MAX_BYTES + 1])  # no more of it is kept, for any reader after this one
    if complaint and len(answer.body) > MAX_BYTES:
        complaint += f", as far as it is read ({MAX_BYTES:,} bytes)"
    return (Reading.HOLD, complaint) if complaint else (Reading.RULES, "")


def _succeeded(answer: Answer) -> bool:
    return answer.status is not None and 200 <= answer.status < 300 and not answer.error


def _is_page(answer: Answer) -> bool:
    """A page by its first bytes. By its type alone it is none: servers that know no type for a file say text/html."""
    kinds = values_of(answer.headers, b"content-type")
    start = answer.body[:1_024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    is_html = any("html" in kind.lower() for kind in kinds)
    return start.startswith((b"<!doctype html", b"<html", b"<head", *([b"<"] if is_html else ())))
