"""The text stages keep text in this one form.

Unicode NFC, line feeds, no invisible characters, mojibake repaired where there is a sign of it.
"""

from __future__ import annotations

import re
import unicodedata
from html import unescape

import regex
from ftfy import fix_encoding
from ftfy.badness import badness

_CONTINUES = "[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
_MOJIBAKE_SIGN = re.compile(f"[ÂÃâÄÅÎÏÐÑ×ØÙ]{_CONTINUES}|[à-ô]{_CONTINUES}{{2}}|\ufffd")
"""What UTF-8 read as Latin-1 or Windows-1252 leaves behind: the cheap test before ftfy looks."""
_BEGINS = "ÂÃâÄÅÎÏÐÑ×ØÙï\ufffd"
"""What each of these signs begins with."""
_MIN_SIGNS = 3
_PIECE = re.compile(r"[^<\n]+")
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]"
)
"""Soft hyphens, zero-width spaces, byte order marks, direction overrides, controls. Joiners stay: scripts need them."""
_ODD_BREAKS = re.compile("\r\n?|[\u0085\u2028\u2029\u000c]")
_ODD = re.compile(f"[\r\u0085\u2028\u2029\u000c{_INVISIBLE.pattern[1:]}")
"""Any of both: one search of a plain set of characters, as nearly no text has one."""


_PILED = regex.compile(r"(\p{M}{30})\p{M}+")
"""More marks on one letter than any script has (UAX #15, stream-safe text): to put them in order takes the square of
their number."""


def normalise(text: str) -> str:
    """The text in its kept form. Idempotent on its own output except where mojibake is nested deeper than ftfy goes."""
    is_ascii = text.isascii()
    if is_ascii and text.replace("\n", "").isprintable():
        return text
    given, is_odd = text, _ODD.search(text) is not None
    if is_odd:
        text = _ODD_BREAKS.sub("\n", text)
    if not is_ascii:
        text = repair(text)
    is_clean = text is given and not is_odd
    text = text if is_clean else _INVISIBLE.sub("", text)
    return unicodedata.normalize("NFC", text if is_ascii else _PILED.sub(r"\1", text))


_ESCAPED = re.compile(
    r"&(?:amp|quot|apos|#[0-9]{2,6}|#[xX][0-9a-fA-F]{2,5}|[lr][sd]quo|[nm]dash|hellip|szlig|oslash|aelig|aring|euro"
    r"|[a-zA-Z](?:acute|grave|circ|uml|tilde|cedil));"
)
"""References that stand in a text because they were escaped twice; `&lt;` and `&nbsp;` a text may speak of."""


def line_of(text: str, limit: int) -> str | None:
    """One line of what a page says about itself, in the kept form, references that were escaped twice read; None for
    nothing.
    """
    if "&" in text:
        text = _ESCAPED.sub(lambda found: unescape(found[0]), text)
    return " ".join(normalise(text).split())[:limit].rstrip() or None


def repair(text: str) -> str:
    """Undo mojibake, line by line, where a cheap test finds signs of it; anything else comes back as it is."""
    if sum(map(text.count, _BEGINS)) < _MIN_SIGNS or len(_MOJIBAKE_SIGN.findall(text)) < _MIN_SIGNS:
        return text
    return unmixed(text)


def unmixed(text: str) -> str:
    """The same without the test, for who has seen the signs: each line, and each text between tags, by itself."""
    return _PIECE.sub(_repaired, text)


def _repaired(piece: re.Match[str]) -> str:
    given: str = piece[0]
    return fix_encoding(given) if _MOJIBAKE_SIGN.search(given) and badness(given) else given
