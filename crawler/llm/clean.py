"""`gristmill llm clean`: the main text of pages whose extraction is in doubt, picked by a model out of what they show.

A model only picks. Its text is taken where each of its lines stands in the page, whole and without a gap, and the lines
stand there in this order: no word is added, changed, moved or left out in a sentence. Anything else is refused.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler.dataset.rewrite import Rewritten, rewrite
from crawler.dataset.versions import Cause
from crawler.document import SPAN_FIELDS
from crawler.llm.model import Request
from crawler.llm.prompt import request_of, version_of
from crawler.llm.tool import Column
from crawler.stages.fingerprint import exact_id
from crawler.stages.text.words import counts, is_short
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record, as_lists

NAME = "llm_clean"
BY = "llm clean --apply"
UNKNOWN, SURE, BARE, LONG = (
    "extraction confidence unknown", "extraction confidence high enough", "nothing of the page in the archive",
    "it shows more than --max-chars",
)  # fmt: skip
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
_INSTRUCTIONS = """You are given all that a web page shows: its menus, its main text, and what stands around it. Give \
the main text alone, copied letter by letter, in its order, one paragraph a line. Leave out whole lines that are not \
part of it: menus, notices, advertisements, lists of links, requests. Within a paragraph change nothing and leave \
nothing out. An empty text where the page has none."""
COLUMNS = {
    "text": Column("string", "the main text; empty where it was refused"),
    "refused": Column("string", "why the model's text was not taken; empty where it was"),
    "words_before": Column("int64", "of the record's text"),
    "words": Column("int64", "of the new text"),
}
EMPTY, INVENTED = "empty", "not_in_page"
REFUSALS = {
    EMPTY: "the model found no main text",
    INVENTED: "a line does not stand in the page, whole and in its place",
}
"""Of each reason why a model's text is not taken, for people."""


@dataclass(frozen=True, slots=True)
class Clean:
    """Pages whose extraction the learned extractor trusts less than `below`.

    shown: what a page shows, without personal data; "" where nobody knows. most_chars: of that.
    """

    shown: Callable[[Record], str]
    below: float
    most_chars: int
    most_tokens: int
    kind: str = "text"
    operation: str = "clean"
    name: str = NAME
    columns: dict[str, Column] = field(default_factory=lambda: dict(COLUMNS))

    @property
    def version(self) -> str:
        """Of wording and schema."""
        return version_of(_INSTRUCTIONS, SCHEMA)

    @property
    def parameters(self) -> dict[str, Any]:
        """For the job record."""
        return {"below": self.below, "max_chars": self.most_chars}

    def unwanted(self, record: Record) -> str:
        """Why nothing is asked about a page; "" where something is."""
        confidence = record.get("extraction_confidence")
        if confidence is None:
            return UNKNOWN
        if confidence >= self.below:
            return SURE
        shown = self.shown(record)
        return BARE if not shown.strip() else LONG if len(shown) > self.most_chars else ""

    def requests(self, record: Record) -> Sequence[Request]:
        """One."""
        return [request_of(_INSTRUCTIONS, self.shown(record), SCHEMA, self.most_tokens)]

    def row(self, record: Record, answers: Sequence[Any]) -> dict[str, Any]:
        """The text, where it holds."""
        text = "\n".join(line for line in (" ".join(each.split()) for each in answers[0]["text"].splitlines()) if line)
        why = EMPTY if not signs(text) else "" if stands_in(text, self.shown(record)) else INVENTED
        taken = "" if why else text
        before = counts(record["text"])["word_count"]
        return {"text": taken, "refused": why, "words_before": before, "words": counts(taken)["word_count"]}


def signs(text: str) -> list[str]:
    """The words of a text as they are written, each letter of a script without spaces, and the signs of numbers.

    Letters keep their case and marks: the rule is that nothing changes. Punctuation may.
    """
    found: list[str] = []
    joins = False
    normal = unicodedata.normalize("NFC", text)
    for at, character in enumerate(normal):
        category = unicodedata.category(character)
        if category[0] in "LMN":
            alone = category == "Lo" and _is_spaceless(ord(character))
            if joins and found and not alone:
                found[-1] += character
            else:
                found.append(character)
            joins = True
        else:
            joins = False
            signed = category[0] == "S" or character == "%"
            if signed or (category == "Pd" and normal[at + 1 : at + 2].isdigit()):
                found.append(character)
    return found


def _is_spaceless(code: int) -> bool:
    return 0x0E00 <= code < 0x0F00 or 0x1000 <= code < 0x10A0 or 0x1780 <= code < 0x1800 or 0x2E80 <= code < 0xA000


def stands_in(text: str, page: str) -> bool:
    """True where each line of a text stands in the page without a gap, and they stand there in this order."""
    whole, start = _marked(signs(page)), 0
    for line in text.splitlines():
        if not (found := signs(line)):
            continue
        run = _marked(found)
        at = whole.find(run, start)
        if at < 0:
            return False
        start = at + len(run) - 1
    return True


def _marked(found: Sequence[str]) -> str:
    return "\x1f" + "\x1f".join(found) + "\x1f"


def apply(place: Place, rows: dict[tuple[str, str], str], *, now: float) -> Rewritten:
    """Make a version with these texts, by URL and `doc_id` of the record; each page's text before it stays in the
    version before. Scores stay those of the text before it. Raises: StorageError as `rewrite`.
    """

    def decide(record: Record) -> Record:
        text = rows.get((str(record["canonical_url"]), str(record.get("doc_id"))))
        if text is None or text == record["text"]:
            return record
        size = counts(text)
        changed = {"text": text, "doc_id": exact_id(text), "extractor": NAME, "extraction_confidence": None}
        nowhere: dict[str, Any] = {name: as_lists([]) for name in SPAN_FIELDS} | {
            "pii_span_count": 0,
            "legal_citations": [],
            "legal_dockets": [],
            "code_blocks": [],
        }
        return record | changed | nowhere | size | {"short": is_short(size["word_count"])}

    return rewrite(place, decide, Cause(BY, "main texts picked by a language model", now))
