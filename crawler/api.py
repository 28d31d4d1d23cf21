"""What other programs may use: `from crawler import …`. Names of `__all__` stay as they are within a major version.

Nothing here starts Scrapy or a reactor, and nothing asks the network but `Frontier`, which talks to its server.
`docs/library.md` shows each name in an example that the tests run.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import urlsplit

from crawler.config import Config, ConfigError, declared, from_mapping
from crawler.dataset.query import query as query_place
from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.rewrite import records_in
from crawler.document import Document, Drop, DropReason, Reason, Signal
from crawler.documents.begin import begin
from crawler.frontier.client import Frontier
from crawler.policy.decide import Verdict, decide_headers, decide_robots, decide_unread
from crawler.policy.robots.answer import Ages, Answer, Reading
from crawler.policy.robots.answer import judge as read_answer
from crawler.policy.robots.parse import parse as parse_robots
from crawler.problems import InputError, check_names
from crawler.stages.chain import READING, STAGES, Chain, stage_names
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import HELD, REJECTED, SHARDS, Place
from crawler.storage.files.records import Record, record_of, rejection_of
from crawler.urls.link import Link

__all__ = [
    "STAGES",
    "Chain",
    "Config",
    "ConfigError",
    "CorpusWriter",
    "Document",
    "Drop",
    "DropReason",
    "Frontier",
    "InputError",
    "Link",
    "Reason",
    "Record",
    "Signal",
    "StorageError",
    "Verdict",
    "configure",
    "corpus_writer",
    "decide",
    "judge",
    "page",
    "query",
    "read_corpus",
]


def configure(**values: Any) -> Config:
    """The configuration with these settings, by their names in `docs/settings.md`; defaults for all others.

    Raises: ConfigError that lists every problem; InputError where a name is not that of a setting.
    """
    check_names("setting", values, declared())
    return from_mapping(values)


def page(url: str, html: bytes | str, config: Config | None = None) -> Document:
    """A page before its first stage. html: bytes as they were fetched, or text."""
    doc = begin(url, url, config or configure())
    doc.html = html.encode("utf-8", "replace") if isinstance(html, str) else html
    doc.content_type = "text/html; charset=utf-8" if isinstance(html, str) else "text/html"
    return doc


def judge(doc: Document, chain: Chain | None = None, *, stages: Iterable[str] = STAGES) -> Document:
    """Run a page through the stages, in their order, up to the first that decides against it.

    stages: those that are wanted; the ones that read the page are added. chain: one that was built before, since models
    take seconds to load. What was measured is on the document; `verdict` says why it is not kept, None where it is.
    Raises: InputError where a stage does not exist.
    """
    wanted = {*READING, *stage_names(stages)}
    return (chain or Chain(configure(), wanted)).run(doc, wanted)


def decide(
    url: str,
    *,
    robots: tuple[int | None, bytes] = (None, b""),
    headers: Mapping[str, str] | None = None,
    html: bytes | str | None = None,
    config: Config | None = None,
) -> Verdict:
    """May this page be fetched and kept? The crawl's own decision, on what you have of the site.

    robots: status and body of the answer to `/robots.txt`; no status = it could not be had, and doubt means no.
    headers, html: of the page, where it was fetched. The first of the three that refuses decides; `signals` are all
    statements that were seen until then.
    """
    made, now = config or configure(), time.time()
    token, profile = made.crawl.product_token, made.policy.optout_profile
    status, body = robots
    answer = Answer(status, body, error="" if status else "no answer")
    record = read_answer(answer, now, Ages())
    rules = parse_robots(record.body) if record.reading is Reading.RULES else None
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    found = decide_robots(record, rules, path, product_token=token, profile=profile, now=now)
    if found.ok and headers is not None:
        lines = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        said = decide_headers(lines, token, profile, now)
        found = replace(found, drop=said.drop, signals=(*found.signals, *said.signals))
    if found.ok and html is not None:
        fetched = page(url, html, made)
        fetched.optout_signals = list(found.signals)
        judged = judge(fetched, Chain(made, READING), stages=())
        return replace(found, drop=judged.verdict, signals=tuple(judged.optout_signals))
    return replace(found, drop=found.drop or decide_unread(found.signals, profile, url))


def read_corpus(corpus_dir: str, kind: Literal["kept", "held", "rejected"] = "kept") -> Iterator[Record]:
    """Every record of a corpus folder or URL that was not withdrawn, file by file, in their order (docs/record.md).

    Raises: InputError for another kind; StorageError, while it is read, where the folder is no corpus or a file is
    damaged.
    """
    check_names("kind of records", [kind], _FOLDERS)
    return _records(Place(corpus_dir), _FOLDERS[kind])


_FOLDERS = {"kept": SHARDS, "held": HELD, "rejected": REJECTED}


def _records(place: Place, folder: str) -> Iterator[Record]:
    refused = refusals_of([place])
    yield from (record for record in records_in(place, (folder,)) if not refused.hides(record))


def query(corpus_dir: str, sql: str) -> list[dict[str, Any]]:
    """The answer to one SELECT over a corpus: its rows, by the names of the columns (docs/datasets.md).

    Raises: StorageError where the SQL is none that can be answered, or duckdb is not installed.
    """
    with query_place(Place(corpus_dir), sql) as (names, rows):
        return [dict(zip(names, row, strict=True)) for row in rows]


@contextmanager
def corpus_writer(corpus_dir: str, config: Config | None = None, **values: Any) -> Iterator[CorpusWriter]:
    """Write documents into a corpus folder; sealed, listed in the manifest and a version of its own at the end.

    values: settings, where no `config` is given. Raises: StorageError where another process writes there by this name;
    InputError where there is a `config` and settings as well.
    """
    if config and values:
        raise InputError([f"{name}: belongs into the configuration that is given with it" for name in values])
    made = config or configure(**{**values, "CORPUS_DIR": corpus_dir})
    made = replace(made, crawl=replace(made.crawl, corpus_dir=corpus_dir))
    corpus = Corpus(made)
    corpus.kind = "replay"
    corpus.open()
    try:
        yield CorpusWriter(corpus, refusals_of([corpus.place]), made)
        corpus.commit()
    finally:
        corpus.close()


class CorpusWriter:
    """Takes documents; every one with a verdict goes to the rejected ones, and what the corpus refuses as withdrawn."""

    def __init__(self, corpus: Corpus, refused: Refusals, config: Config) -> None:
        self._corpus, self._refused, self._dedup = corpus, refused, config.dedup

    def add(self, doc: Document) -> None:
        """Write the document's record. Raises: StorageError; TypeError where a field is no JSON."""
        refusal = self._refused.of_document(doc, self._dedup)
        if refusal is not None and (doc.verdict is None or doc.text_allowed):
            self._corpus.reject(rejection_of(doc, refusal.drop))
        elif doc.verdict is None:
            self._corpus.keep(record_of(doc))
        else:
            self._corpus.reject(rejection_of(doc, doc.verdict))
