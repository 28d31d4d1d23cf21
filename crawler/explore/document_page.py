"""One document: its text beside the page it was taken from, what was measured, and the whole way of the page."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from crawler.dataset.exchange import exchange_of
from crawler.dataset.records.fields import state_of
from crawler.explore.archived import CSP, frame_of, note
from crawler.explore.found_on import found_on
from crawler.explore.page_request import PageRequest
from crawler.observe.diagnose.thresholds import Threshold, Thresholds
from crawler.stages.chain import STAGES
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import VERDICT, Record, record_fields, spans_in

MOST_TEXT = 300_000
"""Characters of a text that one page shows."""
_MOST_LINES = 1_000
"""Lines of each text that a difference looks at."""
_WIDTH = 300
AFTER_THE_STAGES = ("exact", "near")
"""Steps that compare a document with others, once every stage has let it pass."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A value against its threshold; `missed` where it is on the wrong side."""

    limit: Threshold
    value: float | None
    missed: bool


def document(request: PageRequest) -> tuple[str, dict[str, Any]]:
    """The page of one document. Raises: HTTPException, NotReadyError, StorageError."""
    record, file, line = _record(request)
    text, evidence = str(record.get("text") or ""), _evidence(request, record)
    return "document.html", {
        "record": dict.fromkeys((*record_fields(), *VERDICT)) | record,
        "key": request.key,
        "place": f"{file}, line {line}",
        "state": state_of(record),
        "pieces": pieces(text[:MOST_TEXT], spans_in(record, "pii_spans")),
        "left_out": max(0, len(text) - MOST_TEXT),
        "measured": measured(record, Thresholds(request.config)),
        "other_settings": record.get("config_digest") not in (None, "", request.config.digest),
        "found": found_on(request.catalogue, record, fetch_of(evidence)),
        "way": list(way(record, evidence)),
        "twin": _twin(request, record),
        "annotations": [
            (name, said, _shown(value)) for name, said, value in request.catalogue.annotations(request.key)
        ],
        "fields": [(name, _shown(value)) for name, value in record.items() if name != "text"],
    }


def archived(request: PageRequest) -> Response:
    """The page as it was fetched, for the frame. Raises: HTTPException, NotReadyError, StorageError."""
    record, _, _ = _record(request)
    try:
        shown = frame_of(exchange_of(request.catalogue.place, record), str(record.get("text") or ""))
    except StorageError as error:
        shown = note(str(error))
    return HTMLResponse(shown, headers={"Content-Security-Policy": CSP})


def _record(request: PageRequest) -> tuple[Record, str, int]:
    found = request.catalogue.record(request.key)
    if found is None:
        raise HTTPException(404)
    return found


def pieces(text: str, spans: Iterable[Any]) -> list[tuple[str, str]]:
    """The text cut at its redactions: (passage, type of the personal data, or "")."""
    found, at = [], 0
    for span in sorted(tuple(span) for span in spans if len(span) == 3):
        begin, end, kind = span
        if at <= begin < end <= len(text):
            found += [(text[at:begin], ""), (text[begin:end], str(kind))]
            at = end
    return [piece for piece in [*found, (text[at:], "")] if piece[0]]


def measured(record: Mapping[str, Any], thresholds: Thresholds) -> list[Measured]:
    """Every threshold of the document's profile with the value it is compared with; what is missed comes first."""
    signals = record.get("quality_signals") or {}
    if "profile" not in signals:
        return [Measured(miss.limit, miss.value, True) for miss in thresholds.misses(record) or ()]
    values = {**record, **signals}
    try:
        limits = thresholds.of_record(record)
    except KeyError:
        return []  # a profile of a file that these settings do not name
    rows = [(limit, values.get(limit.value)) for limit in limits]
    found = [Measured(limit, value, value is not None and limit.is_missed_by(value)) for limit, value in rows]
    return sorted(found, key=lambda row: not row.missed)


def way(record: Record, evidence: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Steps of the page in their order: what was asked, what was answered, who decided what."""
    fetch = fetch_of(evidence)
    yield from (("Redirected from", url) for url in record.get("redirects") or ())
    for name, title in (("depth", "Depth"), ("lease", "Lease"), ("attempt", "Attempt")):
        if fetch.get(name) not in (None, ""):
            yield title, str(fetch[name])
    robots = (record.get("robots_status"), evidence.get("robots_rule"), record.get("robots_fetched_at"))
    yield "robots.txt", ", ".join(str(part) for part in robots if part) or "not requested"
    for signal in record.get("optout_signals") or ():
        found = [str(signal.get(name, "")) for name in ("protocol", "carrier", "value", "verdict")]
        yield "Opt-out statement", "{} in {}: {} ({})".format(*found)
    if not record.get("optout_signals"):
        yield "Opt-out statements", "none" if record.get("noai_checked") else "not checked"
    yield "Basis", ", ".join(_basis(record)) or "no licence recorded"
    by = f" by {record['worker_id']}" if record.get("worker_id") else ""
    yield "Fetched", f"{record.get('crawled_at') or 'never'}{by}"
    if record.get("http_status"):
        yield "Answer", f"{record['http_status']} {record.get('content_type') or ''}"
    if record.get("extractor"):
        yield "Text by", f"{record['extractor']} ({record.get('method_used')})"
    if record.get("language"):
        score = record.get("language_score")
        yield "Language", record["language"] + ("" if score is None else f" ({score})")
    if passed := stages_passed(record):
        yield "Passed", ", ".join(passed)
    if "reason" in record:
        yield "Verdict", f"{record.get('stage')}: {record['reason']}. {record.get('detail') or ''}"
    else:
        yield "Verdict", "kept: every stage let it pass"


def _basis(record: Record) -> Iterable[str]:
    """On which licence the page is kept, and who has reviewed it when."""
    for name, said in (("license_tag", ""), ("license_tier", "tier "), ("license_reviewer", "reviewed by ")):
        if value := record.get(name):
            yield f"{said}{value}"
    if day := record.get("license_reviewed"):
        yield f"on {day}"


def fetch_of(evidence: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the archive says of how the page was fetched; nothing where it says nothing that can be read."""
    fetch = evidence.get("fetch")
    return fetch if isinstance(fetch, dict) else {}


def stages_passed(record: Record) -> tuple[str, ...]:
    """The stages that let the page pass, in flow order: those before the one that rejected it.

    None where it was an opt-out: a header decides before the page is parsed.
    """
    if "reason" not in record or record.get("stage") in AFTER_THE_STAGES:
        return STAGES
    stage = str(record.get("stage"))
    return STAGES[: STAGES.index(stage)] if stage in STAGES and stage != "optout" else ()


def _evidence(request: PageRequest, record: Record) -> Mapping[str, Any]:
    """What the crawl noted beside the page; nothing where the archive has none."""
    try:
        found = json.loads(exchange_of(request.catalogue.place, record).evidence or b"{}")
    except (StorageError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _twin(request: PageRequest, record: Record) -> dict[str, Any] | None:
    """The page that a duplicate repeats, with the difference of their texts where both are there."""
    url = record.get("dup_of")
    if not url:
        return None
    found = request.catalogue.rows("SELECT id FROM records WHERE canonical_url = ? AND state = 'kept' LIMIT 1", (url,))
    if not found:
        return {"url": url, "key": None, "lines": None}
    other = request.catalogue.record(found[0][0])
    texts = [str(each.get("text") or "") for each in (other[0] if other else {}, record)]
    return {"url": url, "key": found[0][0], "lines": difference(*texts) if all(texts) else None}


def difference(old: str, new: str) -> list[str]:
    """A unified difference by line, without its head; empty where the texts are the same. Of long texts the begin."""
    before, after = ([line[:_WIDTH] for line in text.splitlines()[:_MOST_LINES]] for text in (old, new))
    return list(difflib.unified_diff(before, after, n=1, lineterm=""))[2:]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
