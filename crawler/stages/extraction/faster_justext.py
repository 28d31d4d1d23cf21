"""Faster parts of justext, which trafilatura asks last: a paragraph joins its text once, and has no XPath.

To be imported only where `originals.py` knows what is replaced; `faster.py` installs them.
"""

from __future__ import annotations

from typing import Any

from justext import core
from justext.core import PathInfo
from justext.paragraph import Paragraph


class _Path(PathInfo):  # type: ignore[misc]  # justext has no types
    """Where justext stands in the page; nobody asks its paragraphs for their XPath, which costs more than the rest."""

    xpath = ""


class _Paragraph(Paragraph):  # type: ignore[misc]  # justext has no types
    """A paragraph of justext's that joins its text once, not at each of ten questions about it."""

    _text: str | None = None

    @property
    def text(self) -> str:
        """All text so far, white space collapsed."""
        if self._text is None:
            self._text = str(super().text)
        return self._text

    def append_text(self, text: str) -> str:
        """As justext does it; answers what was added."""
        self._text = None
        return str(super().append_text(text))


REPLACEMENTS: tuple[tuple[Any, str, Any], ...] = (
    (core, "PathInfo", _Path),
    (core, "Paragraph", _Paragraph),
)
"""Module, name in it, and what stands there once installed."""
