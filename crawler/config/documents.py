"""Settings of files that are no web pages: PDF, office documents, books."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from crawler.config.declare import setting

KINDS = ("pdf", "docx", "odt", "epub", "pptx", "odp", "xlsx", "ods", "mediawiki")
"""The kinds of file that are read, as `document_kind` of the record has them."""
_NEEDS = {"pdf": ("pypdfium2", "pypdf"), "mediawiki": ("mwparserfromhell",)}
"""Packages of the extra `documents`, by kind; the other kinds need nothing that is not installed anyway."""
EXTRA = "reading {} needs {}: pip install 'gristmill[documents]'"


def _check_kinds(value: tuple[str, ...]) -> str | None:
    return None if set(KINDS) >= set(value) else f"expected names out of {', '.join(KINDS)}"


@dataclass(frozen=True, slots=True)
class DocumentsConfig:
    """Which files are read beside web pages?"""

    kinds: tuple[str, ...] = setting("DOCUMENT_KINDS", KINDS, "files that are read beside web pages, out of "
                                     f"{', '.join(KINDS)}; the others are not_text", check=_check_kinds)  # fmt: skip
    max_bytes: int = setting("DOCUMENT_MAXSIZE", 64 * 2**20, "body limit of such a file, also after decompression",
                             minimum=1024)  # fmt: skip
    max_pages: int = setting("DOCUMENT_MAX_PAGES", 5_000, "pages of such a file, beyond which it is too_large",
                             minimum=1)  # fmt: skip

    def reads(self, kind: str) -> bool:
        """True where files of this kind are wanted and can be read here."""
        return kind in self.kinds and is_installed(kind)

    def refusal(self, kind: str) -> str:
        """Why a file of this kind is not read, for the detail of not_text."""
        if kind in self.kinds:
            return EXTRA.format(kind.upper() if kind == "pdf" else kind, " and ".join(_NEEDS[kind]))
        return f"DOCUMENT_KINDS does not name {kind}"


@cache
def is_installed(kind: str) -> bool:
    """True where the packages that read this kind are here; nothing is imported."""
    return all(find_spec(name) is not None for name in _NEEDS.get(kind, ()))
