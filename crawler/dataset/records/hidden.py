"""Records that are still in the files although something refuses them are in no table.

That is so where a withdrawal was cut off, or where a corpus that this one was made of withdrew a page later. Candidates
are found by their domain and by the print of their text, without reading texts; each is judged by `Refusals`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from crawler.dataset.records.database import fill, rows_of
from crawler.document import HELD_PREFIX
from crawler.urls.canonicalize import registrable_domain

if TYPE_CHECKING:
    import duckdb

    from crawler.dataset.refused import Refusals

ROWS, DOCUMENTS = "hidden_rows", "hidden_documents"
"""Tables of hidden records: by file name and row, and by canonical_url and doc_id, or the hash of the file."""
NEEDED = ("url", "canonical_url", "domain", "doc_id", "crawled_at", "reason", "content_hash")
CARRIED = ("title", "description", "author", "warc_file")
"""What a rejected record has lost once it was withdrawn."""
_CANDIDATES = """
SELECT filename, file_row_number, url, canonical_url, doc_id, crawled_at, reason, carries, content_hash,
    substr(doc_id, 8, 20) IN (SELECT digest FROM refused_texts) AS same_text
FROM ({source}) AS r
WHERE coalesce(domain, '') = '' OR substr(doc_id, 8, 20) IN (SELECT digest FROM refused_texts)
    OR EXISTS (SELECT 1 FROM refused_names AS n WHERE domain = n.name OR ends_with(domain, '.' || n.name))
"""


def hide(connection: duckdb.DuckDBPyConnection, source: str, refused: Refusals) -> bool:
    """Make the tables `ROWS` and `DOCUMENTS`; False, and no table, where nothing has to be hidden.

    source: a SELECT of filename, file_row_number, `NEEDED`, and of whether a record carries one of `CARRIED`.
    """
    fill(connection, "refused_names", {"name": "VARCHAR"}, ((name,) for name in sorted(set(_names(refused)))))
    digests = ((digest.hex(),) for known in (refused.texts, refused.older) for digest in known.digests())
    fill(connection, "refused_texts", {"digest": "VARCHAR"}, digests)
    asked = connection.cursor().execute(_CANDIDATES.format(source=source))
    found = [row for row in rows_of(asked) if _is_hidden(row, refused)]
    for name in ("refused_names", "refused_texts"):
        connection.execute(f"DROP TABLE {name}")
    if found:
        fill(connection, ROWS, {"filename": "VARCHAR", "file_row_number": "BIGINT"}, (row[:2] for row in found))
        whose = {(row[3], row[4] if row[6] is None else row[8] or "") for row in found}
        fill(connection, DOCUMENTS, {"canonical_url": "VARCHAR", "doc_id": "VARCHAR"}, iter(sorted(whose)))
    return bool(found)


def _is_hidden(row: tuple[Any, ...], refused: Refusals) -> bool:
    _, _, url, canonical_url, _, crawled_at, reason, carries, _, same_text = row
    if reason is not None and not (carries or str(reason).startswith(HELD_PREFIX)):
        return False
    if same_text or refused.refusal(url or "", canonical_url=canonical_url or ""):
        return True
    return refused.has_passed({"url": url, "crawled_at": crawled_at})


def _names(refused: Refusals) -> Iterator[str]:
    """Domains in which a refused page can be."""
    yield from refused.domains
    for url in {*refused.domains, *refused.addresses, *refused.passed, *refused.expired}:
        try:
            yield registrable_domain(f"https://{url}")
        except ValueError:
            yield url.partition("/")[0]
