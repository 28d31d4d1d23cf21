"""Citations of decisions and norms as they are written: reporters, neutral citations, ECLI, CELEX, docket numbers, §.

Each is a span with its kind (`CITED`); no party's name is taken. `legal_forms.txt` has the forms. All are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawler.document import CITED, Span
from crawler.stages.text.tables import sections

_NAMED = [line.split(" ", 1) for line in sections(__package__, "legal_forms.txt")["citations"]]
_FORM = re.compile("|".join(f"(?P<{kind}_{n}>{form})" for n, (kind, form) in enumerate(_NAMED)))
_BEGIN = re.compile(
    r"[A-Z§\[(0-9adlnoprs](?<!\w.)(?:(?<![a-z])|(?<=a)(?:rt|pplication)|(?<=d)(?:[eé]cret|ire|yrek)|(?<=l)(?:oi|egge)"
    r"|(?<=n)[°o]|(?<=o)rdonn|(?<=p)ourvoi|(?<=r)(?:equ|[eè]gl|egul|ozporz)|(?<=s)(?:s?\.|ections?)\s)"
)
"""What a citation begins with. A plain set of characters comes first: so it is searched ten times faster."""
_KIND = {index: CITED[CITED.index(name.rpartition("_")[0])] for name, index in _FORM.groupindex.items()}


def citations_in(text: str) -> Iterator[Span]:
    """Every citation of a text, in order; of two that overlap the one that begins first."""
    end = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() >= end and (found := _FORM.match(text, begin.start())):
            end = found.end()
            yield found.start(), end, _KIND[found.lastindex or 0]
