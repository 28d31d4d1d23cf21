"""Judge: a person says keep or reject of a sample of every verdict, without seeing the verdict first."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from crawler.classify.train import LEAST
from crawler.dataset.records.filters import FilterError
from crawler.document import DropReason, Reason
from crawler.explore import labels
from crawler.explore.catalogue import Catalogue
from crawler.explore.document_page import MOST_TEXT, pieces
from crawler.explore.page_request import PageRequest
from crawler.stages.fingerprint import exact_id
from crawler.storage.files.records import spans_in
from crawler.times import rfc3339

EACH = 20
"""Documents of each verdict that are judged, unless the address says otherwise."""
MOST = 500
_NAME = re.compile(r"[\w .@-]{1,40}")
_TEXTLESS = [r for r in Reason.known() if (not r.keeps_text or r.is_duplicate) and r is not DropReason.TOO_SHORT]
_STRATUM = "CASE WHEN state = 'kept' THEN 'kept' ELSE reason END"
_JUDGED = f"(state = 'kept' OR state = 'rejected' AND reason NOT IN ({', '.join(repr(r.value) for r in _TEXTLESS)}))"
"""Verdicts on the text: a person who reads it can say whether they were right."""


def judge(request: PageRequest) -> tuple[str, dict[str, Any]]:
    """The next document of the sample that this judge has not judged, and what the labels say so far.

    Raises: FilterError, NotReadyError, StorageError.
    """
    name, each = _asked(dict(request.pairs))
    known = labels.read(request.catalogue.place)
    chosen = sample(request.catalogue, each)
    done = {label.url for label in known if label.judge == name}
    open_ones = [(key, url) for key, url in chosen if url not in done]
    strata = labels.strata_of(known, sizes(request.catalogue))
    return "judge.html", {
        "judge": name,
        "each": each,
        "chosen": len(chosen),
        "done": len(chosen) - len(open_ones),
        "asked": _document(request, open_ones[0][0]) if name and open_ones else None,
        "strata": strata,
        "precision": labels.precision(strata),
        "recall": labels.recall(strata),
        "agreements": labels.agreements(known),
        "labels": len(known),
        "least": LEAST,
        "domains": 0 if name else domains(request.catalogue),
        "corpus": shlex.quote(request.catalogue.place.url),
    }


def answer(request: PageRequest) -> Response:
    """Take one label and go on to the next document. Raises: FilterError, HTTPException, StorageError."""
    given = dict(request.pairs)
    name, each = _asked(given)
    said, key = given.get("answer", ""), given.get("key", "")
    if said not in labels.ANSWERS or not name or not re.fullmatch(r"\d{1,18}", key):
        raise FilterError(f"a label needs a judge, a document and one of {' or '.join(labels.ANSWERS)}")
    found = request.catalogue.record(int(key))
    if found is None:
        raise HTTPException(404)
    record = found[0]
    labels.append(request.catalogue.place, _label(record, name, said))
    return RedirectResponse(f"/{request.number}/judge?{urlencode({'judge': name, 'each': each})}", 303)


def _label(record: Mapping[str, Any], judge_name: str, said: str) -> labels.Label:
    return labels.Label(
        url=str(record.get("canonical_url") or record["url"]),
        doc_id=str(record.get("doc_id") or (exact_id(text) if (text := record.get("text")) else "")),
        judge=judge_name,
        answer=said,
        stratum=str(record.get("reason") or "kept"),
        config_digest=str(record.get("config_digest") or ""),
        at=rfc3339(time.time()),
    )


def _asked(given: Mapping[str, str]) -> tuple[str, int]:
    name, each = given.get("judge", "").strip(), given.get("each", "") or str(EACH)
    if name and not _NAME.fullmatch(name):
        raise FilterError("judge=…: expected a name of up to 40 letters, digits, spaces, . @ - and _")
    if not re.fullmatch(r"\d{1,4}", each) or not 1 <= int(each) <= MOST:
        raise FilterError(f"each={each[:20]}: expected a number from 1 to {MOST}")
    return name, int(each)


def sample(catalogue: Catalogue, each: int) -> list[tuple[int, str]]:
    """Keys and URLs: up to `each` documents of every verdict, by hash, mixed; every judge gets the same ones."""
    ranked = (
        f"SELECT id, canonical_url AS url, md5(canonical_url) AS hash, "  # noqa: S608  # our own names
        f"row_number() OVER (PARTITION BY {_STRATUM} ORDER BY md5(canonical_url), id) AS place "
        f"FROM records WHERE {_JUDGED}"
    )
    found = catalogue.rows(f"SELECT id, url FROM ({ranked}) WHERE place <= ? ORDER BY reverse(hash), id", [each])  # noqa: S608
    return [(int(key), str(url)) for key, url in found]


def domains(catalogue: Catalogue) -> int:
    """Of how many domains the documents are that can be judged."""
    return int(catalogue.rows(f"SELECT count(DISTINCT domain) FROM records WHERE {_JUDGED}")[0][0])  # noqa: S608


def sizes(catalogue: Catalogue) -> dict[str, int]:
    """Documents by verdict, of the verdicts that are judged."""
    found = catalogue.rows(f"SELECT {_STRATUM}, count(*) FROM records WHERE {_JUDGED} GROUP BY 1 ORDER BY 2 DESC, 1")  # noqa: S608
    return {str(name): int(count) for name, count in found}


def _document(request: PageRequest, key: int) -> dict[str, Any]:
    found = request.catalogue.record(key)
    record = found[0] if found else {}
    text = str(record.get("text") or "")[:MOST_TEXT]
    return {
        "key": key,
        "url": record.get("url", ""),
        "title": record.get("title") or "",
        "pieces": pieces(text, spans_in(record, "pii_spans")),
    }
