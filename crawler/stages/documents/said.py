"""Which titles and authors of a file are those of its text? Programs fill them in where nobody else does."""

from __future__ import annotations

import re

from crawler.stages.documents.model import MAX_LINE

_PROGRAMS = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)|powerpoint presentation|layout 1|print(?:ing)?)\b", re.I
)
_FILES = re.compile(r"\S*\.(?:docx?|odt|rtf|tex|dvi|ps|pdf|indd|qxd|pmd|fm|wpd|html?|xlsx?|pptx?|cdr|ai|pub|txt)", re.I)
_NOTHING = re.compile(
    r"(?:un(?:titled|known|named|benannt)|\[?no[ -]?(?:name|title)\]?|document ?\d*|title|none|null|n/?a|-+|\W*"
    r"|(?:slide|folie|dia|diapositi\w+|слайд|スライド|幻灯片) ?\d+)",
    re.I,
)
_ACCOUNTS = re.compile(
    r"(?:admin(?:istrator)?|root|user ?\d*|owner|guest|test|default|pc|laptop|author|microsoft office user|acer|dell|hp"
    r"|preferred customer|\W*)",
    re.I,
)


def _line(text: str) -> str:
    return " ".join(text.replace("\x00", "").replace("\ufeff", "").split())[:MAX_LINE]


def plausible_title(text: str) -> str:
    """The title on one line; "" for that of a program, a file's name, or a word that stands for none."""
    title = _line(text)
    if _PROGRAMS.match(title) or _FILES.fullmatch(title) or _NOTHING.fullmatch(title):
        return ""
    return title


def plausible_author(text: str) -> str:
    """The author on one line; "" for the account of a machine."""
    author = _line(text)
    return "" if _ACCOUNTS.fullmatch(author) or _NOTHING.fullmatch(author) else author
