"""Turns a `Document` into the JSON line that is written: kept records and rejected records.

Pure: no files here. `docs/record.md` explains every field.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from crawler.config.stages import columns
from crawler.document import HELD_PREFIX, RECORD_FIELDS, SPAN_FIELDS, Document, Drop, Reason, Span

Record = dict[str, Any]

TEXT_FIELDS = ("title", "description", "author", "comments", "text")
"""Fields that repeat what the page says. A rejected record has them only where policy allows it."""
SPAN = ("start", "end", "type")
"""What a record has of such a field (`SPAN_FIELDS`): three lists of the same length."""
OF_TEXT = (*TEXT_FIELDS, *SPAN_FIELDS)
"""What stands and falls with the text of a record."""
QUOTED = ("legal_citations", "legal_dockets", "legal_court", "legal_decision_date", "legal_parties", "legal_validity")
"""What a record repeats of its text: a rejected record may have it without the text, a withdrawn page's has not."""


def textless(record: dict[str, Any]) -> dict[str, Any]:
    """What is left of a rejected record when its text and all that repeats it goes."""
    left = {name: value for name, value in record.items() if name not in OF_TEXT}
    return left | {name: [] if isinstance(left[name], list) else None for name in QUOTED if name in left}


SYNTHETIC = "synthetic"
"""True in a record whose text a language model wrote; no field of a page's own record (docs/language-models.md)."""
SYNTHETIC_FIELDS = (
    SYNTHETIC, "synthetic_kind", "synthetic_model", "synthetic_provider", "synthetic_prompt", "synthetic_sources",
    "synthetic_reviewer",
)  # fmt: skip
"""What such a record says of that: kind ("question", "text"), model, its provider with the region, version of the
prompt, URLs of the pages that the text rests on, and who has reviewed the job, where its domain asks for it."""

VERDICT = ("stage", "reason", "detail")
"""Fields that a kept record has not."""
_NOT_IN_REJECTIONS = frozenset({*OF_TEXT, "url", "canonical_url", "domain"})
_IN_REJECTIONS = tuple(name for name in RECORD_FIELDS if name not in _NOT_IN_REJECTIONS)
_ATOMS = frozenset({str, int, float, bool, type(None)})


def record_fields() -> tuple[str, ...]:
    """Names of a kept record, in the order they are written; those that stages of other packages add come last."""
    return (*RECORD_FIELDS, *columns())


def record_of(doc: Document) -> Record:
    """The record of a kept document: `record_fields`, in that order, with plain JSON types."""
    return {name: _field(doc, name) for name in RECORD_FIELDS} | _added(doc)


def rejection_of(doc: Document, verdict: Drop, *, with_text: bool = True) -> Record:
    """The record of a rejected document: where, which stage, why, the scores and the provenance.

    The text is part of it only if `with_text` (setting REJECTED_TEXT), policy has let the text pass
    (`doc.text_allowed`), personal data has been redacted (`"pii" in doc.done`), and the reason says so (`keeps_text`).
    A duplicate says with it what stands where (`SPAN_FIELDS`), so that `gristmill dataset best` may keep it.
    """
    record = _judged(doc, verdict)
    if with_text and doc.text_allowed and "pii" in doc.done and verdict.reason.keeps_text:
        record |= {name: getattr(doc, name) for name in TEXT_FIELDS}
        record |= {name: _field(doc, name) for name in SPAN_FIELDS} if verdict.reason.is_duplicate else {}
    return record


def holding_of(doc: Document, hold: Drop) -> Record:
    """The record of a page that waits for a person: a rejected one's, with the whole of its redacted text."""
    return _judged(doc, hold) | {name: _field(doc, name) for name in OF_TEXT}


def held_kind(reason: str) -> str:
    """Under which name in `held/` a page waits that is held for this reason: "held_pii" in `held/pii/`."""
    return reason.removeprefix(HELD_PREFIX)


def is_held(record: Record) -> bool:
    """True for the record of a page that waits for a person."""
    return str(record.get("reason")).startswith(HELD_PREFIX)


def released(record: Record) -> Record:
    """The record of a held page as that of a kept one."""
    kept = {name: record.get(name) for name in RECORD_FIELDS}
    return kept | {name: value for name, value in record.items() if name not in {*kept, *VERDICT}}


def _judged(doc: Document, verdict: Drop) -> Record:
    record: Record = {
        "url": doc.url,
        "canonical_url": doc.canonical_url or doc.url,
        "domain": doc.domain,
        "stage": verdict.stage,
        "reason": verdict.reason.value,
        "detail": verdict.detail[:512],
    }
    return record | {name: _field(doc, name) for name in _IN_REJECTIONS} | _added(doc)


def _added(doc: Document) -> Record:
    """What stages of other packages left, in the columns that they declare."""
    return {name: doc.extra.get(name) for name in columns()}


def is_duplicate(record: Record) -> bool:
    """True for a rejected record whose page has passed every stage: it can take the kept one's place."""
    return "reason" in record and Reason.of(record["reason"]).is_duplicate


def encode(record: Record) -> bytes:
    """One JSON line, UTF-8, ending in a line feed. Lone surrogates become U+FFFD, NaN becomes null.

    Raises: TypeError where a value has no JSON form.
    """
    try:
        return orjson.dumps(record, option=_OPTIONS)
    except TypeError:
        return orjson.dumps(_clean(record), option=_OPTIONS)


_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


def spans_in(record: Mapping[str, Any], name: str) -> list[Span]:
    """The spans of a record's field, in order; none where it has none."""
    lists = record.get(name) or {}
    return [*zip(*(lists.get(one, ()) for one in SPAN), strict=False)]


def as_lists(spans: Iterable[Span]) -> dict[str, list[Any]]:
    """Spans as a record has them: a list of each kind, so that no list mixes types."""
    found = list(spans)
    return {name: [span[at] for span in found] for at, name in enumerate(SPAN)}


def _field(doc: Document, name: str) -> Any:
    value = getattr(doc, name)
    return as_lists(value) if name in SPAN_FIELDS else _plain(value)


def _plain(value: Any) -> Any:
    if type(value) in _ATOMS:
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return value


def _clean(value: Any) -> Any:
    """The same value without lone surrogates, which UTF-8 cannot carry."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    return value
