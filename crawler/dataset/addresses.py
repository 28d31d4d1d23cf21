"""Addresses without the names and numbers that were redacted in their pages, for whoever hands a corpus on.

The personal-data stage says where an address repeats what it took out (`language_signals["pii_url"]`). Inside a corpus
the address is the page's identity and stays; a record that leaves it may carry the type in place of the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from crawler.dataset.cuts import quoted
from crawler.document import SPAN_FIELDS
from crawler.stages.text.spans import Edit, moved
from crawler.storage.files.records import Record, as_lists, spans_in

PLACES = "pii_url"
IN_DOUBT = "[REDACTED]"
"""Stands for the whole path where an older version redacted the page, and nobody looked at its address."""
_NAMES = ("url", "canonical_url")
_LED_HERE = ("redirects", "canonical_link")
_NOT_OF_A_PERSON = {"SECRET", "NRP"}


@dataclass(slots=True)
class Addresses:
    """Writes records with such addresses. redacted, in_doubt: records that were changed."""

    redacted: int = 0
    in_doubt: int = 0

    def of(self, record: Record) -> Record:
        """The record, with the same marks in every field that has the address, or a part of it that was redacted."""
        places = (record.get("language_signals") or {}).get(PLACES)
        if places is None:
            if set(record.get("pii_entity_types") or ()) <= _NOT_OF_A_PERSON:
                return record
            self.in_doubt += 1
            return _without_paths(record)
        if not places:
            return record
        self.redacted += 1
        return _marked(record, places)


def _marked(record: Record, places: dict[str, list[list[Any]]]) -> Record:
    urls, parts = dict[str, str](), dict[str, str]()
    for name in _NAMES:
        url = str(record.get(name) or "")
        spans = sorted((start, end, str(kind)) for start, end, kind in places.get(name, ()))
        urls[url] = _replaced(url, spans)
        parts |= {url[start:end].lower(): kind for start, end, kind in spans}
    parts.pop("", None)
    found = re.compile("|".join(re.escape(part) for part in sorted(parts, key=len, reverse=True)), re.IGNORECASE)

    def in_host(text: str) -> str:
        return found.sub(lambda match: _of_host(parts[match[0].lower()]), text)

    def changed(text: str) -> str:
        if text in urls:
            return urls[text]
        if "://" in text and not re.search(r"\s", text):
            begin, end = _host(text)
            behind = found.sub(lambda match: f"[{parts[match[0].lower()]}]", text[end:])
            return text[:begin] + in_host(text[begin:end]) + behind
        for url, new in urls.items():
            text = text.replace(url, new) if url else text
        return text

    made = _with_text(record, urls) | {"domain": in_host(str(record.get("domain") or ""))}
    return {name: value if name in _KEPT else _each(value, changed) for name, value in made.items()}


def _without_paths(record: Record) -> Record:
    def changed(text: str) -> str:
        return f"{text[: _host(text)[1]]}/{IN_DOUBT}" if "://" in text else text

    urls = {url: changed(url) for name in _NAMES if (url := str(record.get(name) or ""))}
    made = _with_text(record, urls)
    return {name: _each(value, changed) if name in (*_NAMES, *_LED_HERE) else value for name, value in made.items()}


_KEPT = frozenset({"text", *SPAN_FIELDS})


def _with_text(record: Record, urls: dict[str, str]) -> Record:
    """The record; where its text has one of the addresses, too, with another text, whose spans have moved."""
    signals = {**(record.get("language_signals") or {}), PLACES: {}}
    text, edits = str(record.get("text") or ""), list[Edit]()
    there = [url for url in sorted(urls, key=len, reverse=True) if url and url in text]
    if not there:
        return record | {"language_signals": signals}

    def noted(match: re.Match[str]) -> str:
        new = urls[match[0]]
        edits.append((*match.span(), len(new)))
        return new

    made = re.sub("|".join(map(re.escape, there)), noted, text)
    spans = {name: as_lists(moved(spans_in(record, name), edits, made)) for name in SPAN_FIELDS if name in record}
    return record | spans | quoted(record, spans, made) | {"text": made, "language_signals": signals}


def _each(value: Any, changed: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return changed(value)
    if isinstance(value, list):
        return [_each(item, changed) for item in value]
    if isinstance(value, dict):
        return {name: _each(item, changed) for name, item in value.items()}
    return value


def _replaced(url: str, spans: list[tuple[int, int, str]]) -> str:
    _, end_of_host = _host(url)
    made, at = "", 0
    for start, end, kind in spans:
        made += url[at:start] + (_of_host(kind) if start < end_of_host else f"[{kind}]")
        at = end
    return made + url[at:]


def _of_host(kind: str) -> str:
    """A mark that a host name may have."""
    return kind.replace("_", "-").lower()


def _host(url: str) -> tuple[int, int]:
    """Where the host of a URL, with its port, begins and ends."""
    begin = url.find("://") + 3
    try:
        return begin, begin + len(urlsplit(url).netloc)
    except ValueError:
        return begin, len(url)
