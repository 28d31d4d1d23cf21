"""Pages about medicine or law: what a model writes after them needs an expert who looks at it.

By what the corpus knows: the profile that a page was judged by, which an allowlist may give to a domain; the kind of a
legal document; words of illness in the page's language (`crawler/stages/pii/sign_words.txt`). Doubt counts as medical.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from crawler.stages.pii.signs import words_in
from crawler.storage.files.records import Record

MEDICAL, LEGAL, UNKNOWN = "medical", "legal", "unknown"
LEAST_WORDS, LEAST_SHARE = 2, 0.01
"""Different words of illness that make a page medical, or their share of its words."""
WHY = {
    MEDICAL: "read as medical, and --reviewed-by names nobody",
    LEGAL: "read as legal, and --reviewed-by names nobody",
    UNKNOWN: "in a language without words of illness here, so it may be medical: say by --domain what the pages are "
    "about, or give --reviewed-by",
}
"""Of each kind, why nothing is written after it."""
_PROFILES = {"legal": LEGAL, "law": LEGAL, "medical": MEDICAL, "medicine": MEDICAL, "health": MEDICAL}


def field_of(record: Record) -> str:
    """One of the three words, or "" for a page about something else."""
    profile = str((record.get("quality_signals") or {}).get("profile") or "").casefold()
    if found := next((field for word, field in _PROFILES.items() if word in profile.replace("_", "-").split("-")), ""):
        return found
    if record.get("legal_document_type"):
        return LEGAL
    words = words_in(record["text"], "health", record.get("language"))
    if words is None:
        return UNKNOWN
    share = words.total() / max(1, int(record.get("word_count") or 1))
    return MEDICAL if len(words) >= LEAST_WORDS or (words and share >= LEAST_SHARE) else ""


def unwanted(*, stated: bool) -> Callable[[Record], str]:
    """Why nothing is written after a page where no expert is named; "" where something is.

    stated: somebody says what the pages are about, so that only what is read as medical or legal counts.
    """
    return partial(_unwanted, stated=stated)


def _unwanted(record: Record, *, stated: bool) -> str:
    field = field_of(record)
    return "" if not field or (field == UNKNOWN and stated) else WHY[field]
