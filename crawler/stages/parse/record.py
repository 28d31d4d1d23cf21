"""A record of a JSON source becomes what a page would be: its text, HTML or Markdown, and what it says about itself.

`fields` of the document says where each stands (`-a api=FILE`, `crawler/seeds/api_file.py`).
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

from crawler.document import Document, Drop, DropReason
from crawler.stages.parse.embedded import plain
from crawler.stages.text.json_data import NoJSONError, read_json, value_at
from crawler.stages.text.normal import normalise
from crawler.urls.rel_canonical import from_links

MAX_CHARS = 1_000
"""Characters of title, author and licence."""
MAX_PARTS = 20
"""Authors of one record."""
NAME = "api"
"""`method_used` of what is read here, and `extractor` where the text needs none."""
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_record(doc: Document) -> tuple[str, str] | Drop:
    """The record's text and its form ("html", "markdown", "text"); what else it says goes onto the document.

    Drops: not_text (no JSON). A record without its text gives an empty one.
    """
    try:
        data = read_json(doc.html)
    except NoJSONError as error:
        return Drop("parse", DropReason.NOT_TEXT, f"expected JSON: {error}")
    found = {name: value_at(data, path) for name, path in doc.fields.items()}
    doc.title = _line(found.get("title"))
    doc.author = _line(found.get("author"))
    doc.pub_date = _day(found.get("date"))
    doc.license_tag = doc.license_tag or _line(found.get("licence"))
    doc.method_used = NAME
    url = found.get("url")
    doc.canonical_link = from_links([("canonical", "", url)], doc.domain) if isinstance(url, str) else None
    for form in ("html", "markdown"):
        if isinstance(markup := found.get(form), str) and markup.strip():
            return markup, form
    text = found.get("text")
    doc.extractor = NAME
    return (text if isinstance(text, str) else ""), "text"


def _line(value: Any) -> str | None:
    """One line of text; several names with commas between them."""
    if isinstance(value, list):
        value = ", ".join(name for item in value[:MAX_PARTS] if (name := _line(item)))
    if isinstance(value, dict):
        value = value.get("name")
    return (" ".join(normalise(plain(value)).split())[:MAX_CHARS] or None) if isinstance(value, str) else None


def _day(value: Any) -> str | None:
    """ISO 8601, from such a text or from seconds since the epoch."""
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).date().isoformat()
        if isinstance(value, str) and (found := _DAY.match(value.strip())):
            return date.fromisoformat(found[0]).isoformat()
    except (ValueError, OverflowError, OSError):
        pass
    return None
