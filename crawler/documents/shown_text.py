"""What an archived page shows: all that a reader sees of it as it was sent, free of personal data.

Not its main text, but what that has to be found in.
"""

from __future__ import annotations

from crawler.config import Config
from crawler.dataset.exchange import exchange_of
from crawler.document import Document, Drop
from crawler.documents.from_archive import document_from_archive
from crawler.stages.parse.stage import of_config as parse_of
from crawler.stages.pii.stage import of_config as pii_of
from crawler.stages.text.visible import visible_texts
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record


class ShownTexts:
    """What a page of the archive shows, free of personal data, one block a line; "" where there is nothing of it."""

    def __init__(self, place: Place, config: Config) -> None:
        self._place, self._config = place, config
        self._parse, self._redact = parse_of(config), pii_of(config)
        self._last: tuple[object, str] = (None, "")

    def __call__(self, record: Record) -> str:
        """Raises: StorageError where an archive is damaged."""
        name = (record["canonical_url"], record.get("doc_id"))
        if self._last[0] != name:
            self._last = name, self._of(record)
        return self._last[1]

    def _of(self, record: Record) -> str:
        try:
            doc = document_from_archive(exchange_of(self._place, record), self._config)
        except StorageError:  # expired, or of a subset: its archive is elsewhere
            return ""
        if doc.verdict is not None or isinstance(self._parse(doc), Drop) or doc.tree is None:
            return ""
        texts = [doc.tree] if isinstance(doc.tree, str) else visible_texts(doc.tree)
        lines = [" ".join(text.split()) for text in texts]
        shown = Document(url=doc.url, text="\n".join(line for line in lines if line))
        shown.language, shown.domain = record.get("language"), record.get("domain") or ""
        self._redact(shown)  # a verdict of it is about how much is left
        return "" if shown.hold is not None else shown.text
