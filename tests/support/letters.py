"""A corpus of a few pages about people, as a letter to the operator may concern them. Own texts."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason, Exchange, Reason
from crawler.documents.begin import begin
from crawler.stages.fingerprint import FingerprintStage
from crawler.storage.archive.records import Referred
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.records import holding_of, record_of, rejection_of
from tests.support.syllables import prose

SITE, MIRROR, OTHER = "https://birch.example", "https://mirror.example", "https://alder.example"


def changed(text: str, words: int = 3, seed: int = 5) -> str:
    """The text with some words replaced: nearly the same."""
    parts, chance = text.split(), random.Random(seed)
    for at in chance.sample(range(len(parts)), words):
        parts[at] = "elsewhere"
    return " ".join(parts)


class Letters:
    """A corpus folder that a test fills page by page: record, raw page, fingerprints as a crawl makes them."""

    def __init__(self, folder: Path | str, worker: str = "w1", **settings: str) -> None:
        self.config = from_mapping({"CORPUS_DIR": str(folder), "WORKER_ID": worker, "CRAWL_ID": "letters", **settings})
        self._corpus = Corpus(self.config, clock=lambda: 1_767_225_600.0)
        self._corpus.open()

    def add(
        self,
        url: str,
        text: str,
        *,
        reason: Reason | None = None,
        detail: str = "detail",
        html: str | bytes | None = None,
        when: int = 0,
        **more: Any,
    ) -> Document:
        """Keep a page, or reject it for `reason`; `html`, or the bytes of a file, is archived, empty: nothing is.

        more: fields of the document; `sent_as`: the Content-Type.
        """
        doc = self._made(url, text, html, when, more)
        if reason is None:
            self._corpus.keep(record_of(doc))
        else:
            self._corpus.reject(rejection_of(doc, Drop(reason.group, reason, detail)))
        self._corpus.commit()
        return doc

    def hold(self, url: str, text: str, *, html: str | None = None, when: int = 0, **more: Any) -> Document:
        """A page that waits for a person, for its personal data."""
        doc = self._made(url, text, html, when, more)
        self._corpus.hold(holding_of(doc, Drop("pii", DropReason.HELD_PII, "detail")), "pii")
        self._corpus.commit()
        return doc

    def _made(self, url: str, text: str, html: str | bytes | None, when: int, more: dict[str, Any]) -> Document:
        sent_as = more.pop("sent_as", "text/html; charset=utf-8")
        page = f"<html><title>T</title><p>{text}</p></html>" if html is None else html
        body = page.encode() if isinstance(page, str) else page
        doc = begin(url, more.pop("canonical_url", None) or url, self.config)
        doc.content_hash = f"sha256:{hashlib.sha256(body).hexdigest()}"
        doc.text, doc.word_count, doc.title = text, len(text.split()), more.pop("title", "A page")
        doc.crawled_at = doc.first_seen = f"2026-01-{1 + when:02d}T00:00:00Z"
        doc.text_allowed, doc.done = True, ["pii", "fingerprint"]
        for name, value in more.items():
            setattr(doc, name, value)
        FingerprintStage(self.config.dedup)(doc)
        if body:
            place = self._corpus.archive(_exchange(url, body, when, sent_as))
            doc.warc_file, doc.warc_record_id, doc.warc_offset = place.file, place.record_id, place.offset
        return doc

    def revisit(self, url: str, of: str) -> None:
        """A raw record of this address that only says: the bytes are those of another one."""
        exchange = _exchange(url, b"", 0)
        self._corpus.archive_revisit(exchange, Referred(of))
        self._corpus.commit()

    def close(self) -> None:
        self._corpus.close()


def fill(folder: Path) -> None:
    """Pages of three sites: one with a copy and a near copy elsewhere, one that names a person, and others."""
    letters = Letters(folder)
    letters.add(f"{SITE}/letter", prose(200, 1), title="The letter")
    letters.add(f"{SITE}/person", f"{prose(150, 2)} Then Ada Quillfeather spoke. {prose(50, 3)}")
    letters.add(f"{SITE}/other", prose(200, 4))
    letters.add(f"{MIRROR}/same", prose(200, 1))
    letters.add(f"{MIRROR}/nearly", changed(prose(200, 1)))
    letters.add(f"{OTHER}/far", prose(200, 6))
    letters.add(f"{OTHER}/copy", prose(200, 1), reason=DropReason.EXACT_DUPLICATE, dup_of=f"{SITE}/letter")
    letters.close()


def _exchange(url: str, body: bytes, when: int, sent_as: str = "text/html; charset=utf-8") -> Exchange:
    return Exchange(
        method="GET",
        url=url,
        status=200,
        request_headers=[(b"User-Agent", b"CorpusBot/1")],
        response_headers=[(b"Content-Type", sent_as.encode())],
        body=body,
        fetched_at=1_767_225_600.0 + 86_400 * when,
    )
