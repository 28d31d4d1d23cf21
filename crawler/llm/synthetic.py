"""Texts that a language model wrote, as records: always marked, never taken twice, and never one of an evaluation set.

A record keeps the address, domain, licence and time of the page that it rests on, so whatever withdraws or caps that
page does the same to it; its `canonical_url` has a fragment of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from crawler.config import Config
from crawler.dedup.memory_index import MemoryIndex
from crawler.document import Document, Drop
from crawler.llm.named import model_of
from crawler.stages.contamination.stage import ContaminationStage
from crawler.stages.fingerprint import FingerprintStage, exact_id
from crawler.stages.pii.stage import of_config as pii_of
from crawler.stages.text.words import counts
from crawler.storage.files.records import SYNTHETIC, Record, record_fields
from crawler.storage.files.records import record_of as record_of_document

_OF_PAGE = (
    "url", "domain", "language", "language_script", "license_tag", "license_tier", "license_reviewer",
    "license_reviewed", "crawled_at", "robots_status", "robots_sha256", "robots_fetched_at", "optout_signals",
    "noai_checked", "crawl_id", "config_digest",
)  # fmt: skip
DUPLICATE, NEAR, CONTAMINATED, PERSONAL, HELD = (
    "duplicate",
    "near_duplicate",
    "contaminated",
    "personal_data",
    "held_pii",
)
COMMON_REFUSALS = {
    DUPLICATE: "it is there already",
    NEAR: "one nearly like it is there already",
    CONTAMINATED: "it repeats an evaluation set (EVAL_SETS)",
    PERSONAL: "little but personal data",
    HELD: "no model of PII_MODELS takes names out of its language (PII_UNCOVERED)",
}
"""Of each reason why a text of any kind is not taken, for people."""
_TEXTS = {"question": "title", "answer": "description", "passage": "comments", "synthetic_subject": "title"}
"""Fields of drafts that are text: what is found in one of them goes in all, as in these fields of a page."""
_PII = ("pii_flag", "pii_span_count", "pii_entity_types", "pii_spans")


@dataclass(frozen=True, slots=True)
class Draft:
    """A text before it is taken. same: two drafts with the same one are one. fields: what the record has beside it."""

    text: str
    same: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Origin:
    """Who wrote the texts of a job. kind: "question" or "text"; reviewer: "" where none was named."""

    kind: str
    model: str
    prompt: str
    reviewer: str = ""

    @property
    def provider(self) -> str:
        """Who has the model, and in which region where one was chosen."""
        said = model_of(self.model).as_record()
        return said["provider"] + (f" in {said['region']}" if said["region"] else "")


def record_of(page: Record, draft: Draft, origin: Origin) -> Record:
    """The record of a text that rests on one page: all fields of a record, `SYNTHETIC_FIELDS` and the draft's own."""
    name = hashlib.blake2b(draft.same.encode("utf-8", "replace"), digest_size=8).hexdigest()
    record: Record = dict.fromkeys(record_fields()) | {name: page.get(name) for name in _OF_PAGE}
    return (
        record
        | {
            "canonical_url": f"{page['canonical_url']}#{SYNTHETIC}-{origin.kind}-{name}",
            "doc_id": exact_id(draft.text),
            "text": draft.text,
        }
        | counts(draft.text)
        | {
            SYNTHETIC: True,
            "synthetic_kind": origin.kind,
            "synthetic_model": origin.model,
            "synthetic_provider": origin.provider,
            "synthetic_prompt": origin.prompt,
            "synthetic_sources": [page["canonical_url"]],
            "synthetic_reviewer": origin.reviewer or None,
        }
        | dict(draft.fields)
    )


class Sieve:
    """Takes each text once, and none that repeats an evaluation set. Memory: about 0.5 kB a text."""

    def __init__(self, config: Config) -> None:
        """Raises: InputError where an evaluation set cannot be used."""
        self._redact = pii_of(config)
        self._least = config.decontamination.min_overlap
        self._sets = ContaminationStage(config)
        self._fingerprint, self._index = FingerprintStage(config.dedup), MemoryIndex(config.dedup)
        self._seen = set[str]()
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        """Let go of what answers."""
        self._loop.close()

    def redacted(self, page: Record, draft: Draft) -> Draft | str:
        """A draft without personal data, or why it is not taken: `PERSONAL` or `HELD`. page: that it rests on."""
        doc = Document(url=page["url"], canonical_url=page["canonical_url"], text=draft.text)
        doc.language, doc.domain = page.get("language"), page.get("domain") or ""
        names = {name: _TEXTS[name] for name in draft.fields if name in _TEXTS}
        for name, field_of_page in names.items():
            setattr(doc, field_of_page, draft.fields[name])
        if isinstance(self._redact(doc), Drop):
            return PERSONAL
        if doc.hold is not None:
            return HELD
        texts = {name: getattr(doc, field_of_page) for name, field_of_page in names.items()}
        found = {name: value for name, value in record_of_document(doc).items() if name in _PII}
        same = doc.text if draft.same == draft.text else texts.get("question", draft.same)
        return Draft(doc.text, same, {**draft.fields, **texts, **found})

    def refusal(self, draft: Draft) -> str:
        """Why a text is not taken: `DUPLICATE`, `NEAR` or `CONTAMINATED`; "" where it is, and no like one after it."""
        if any(overlap.grams >= self._least for overlap in self._sets.overlaps(draft.text)):
            return CONTAMINATED
        if (name := exact_id(draft.same)) in self._seen:
            return DUPLICATE
        doc = Document(url="", text=draft.text)
        self._fingerprint(doc)
        asked = self._index.check(doc.doc_id, doc.signature, doc.shingle_count, name)
        if (match := self._loop.run_until_complete(asked)) is not None:
            return DUPLICATE if match.exact else NEAR
        self._seen.add(name)
        return ""

    def know(self, text: str, owner: str) -> None:
        """Take note of a text that is there already: drafts like it are refused."""
        doc = Document(url="", text=text)
        self._fingerprint(doc)
        self._loop.run_until_complete(self._index.check(doc.doc_id, doc.signature, doc.shingle_count, owner))


@contextmanager
def sieve_of(config: Config) -> Iterator[Sieve]:
    """Raises: InputError where an evaluation set cannot be used."""
    sieve = Sieve(config)
    try:
        yield sieve
    finally:
        sieve.close()
