"""The published documents of a corpus, an export or a mixture: which files they are, and what stands in each."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from crawler.observe.publish import croissant, dataset_card, eu_summary
from crawler.observe.publish.dataset_card import Files
from crawler.observe.publish.provenance import Provenance


def documents(found: Provenance, files: Files | None = None, more: Iterable[str] = ()) -> dict[str, bytes]:
    """Content by name. files: of a derived folder; None: the shards of the corpus. more: lines for the card."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return {
        "eu_summary.md": eu_summary.as_markdown(found).encode(),
        "eu_summary.html": eu_summary.as_html(found).encode(),
        "eu_summary.json": orjson.dumps(eu_summary.as_json(found), option=options),
        "croissant.json": orjson.dumps(croissant.metadata(found, files), option=options),
        "README.md": dataset_card.card(found, files, more).encode(),
    }
