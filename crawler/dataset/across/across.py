"""Finds exact and near duplicates between finished corpora, says which copy stays, and writes what remains.

Fingerprints, bands, thresholds and verification are those of the crawl; only the order differs: best copy first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import orjson

from crawler.config import Config
from crawler.dataset.across.decide import decide
from crawler.dataset.across.prints import RULE, rule_in_words, sources_of, take_prints
from crawler.dataset.export import Exported, Filling, draft_beside, put, settle_version
from crawler.dataset.export_formats import export_format
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.records.database import connect, rows_of
from crawler.dedup.index import Scheme
from crawler.storage.corpus.software import versions
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk, indented
from crawler.storage.files.records import Record, encode
from crawler.times import Clock

ACROSS_FORMAT = "crawler-across/1"
ACROSS = "across.json"
DUPLICATES = "duplicates.jsonl"


class Pair(NamedTuple):
    """How many documents of `gone` repeat one of `kept`, by kind: exact or near."""

    gone: str
    kept: str
    kind: str
    documents: int


@dataclass(slots=True)
class Found:
    """What was found. documents and stay: of each corpus, in the order they were named."""

    rule: str
    names: list[str]
    documents: list[int]
    stay: list[int]
    pairs: list[Pair] = field(default_factory=list)
    withdrawn: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        each = zip(self.names, self.documents, self.stay, strict=True)
        corpora = [{"name": name, "documents": count, "stay": stay} for name, count, stay in each]
        pairs = [pair._asdict() for pair in self.pairs]
        return {"rule": self.rule, "corpora": corpora, "pairs": pairs, "withdrawn": self.withdrawn}


class Across:
    """A comparison: made by `with`, then asked for its report, its list and what remains."""

    def __init__(
        self,
        names: Sequence[str],
        config: Config,
        *,
        keep: Sequence[str] = RULE,
        progress: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._names, self._config, self._keep, self._progress = list(names), config, keep, progress

    def __enter__(self) -> Across:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="across-")))
            self._sources = Sources(sources_of(self._names))
            self._before = self._sources.state()
            self._database = stack.enter_context(connect(folder / "across.duckdb", folder / "spill"))
            self._counts = [Counts() for _ in self._names]
            take_prints(
                self._database, self._sources, self._counts, self._config, keep=self._keep, progress=self._progress
            )
            decide(self._database, Scheme.of(self._config.dedup).permutations, progress=self._progress)
            self.found = self._report()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _report(self) -> Found:
        documents = [counts.read - counts.withdrawn - counts.empty for counts in self._counts]
        found = Found(rule_in_words(self._keep), self._names, documents, list(documents))
        for gone, kept, exact, count in self._database.execute(
            "SELECT g.source, k.source, exact, count(*) FROM decisions d JOIN ranked g ON d.place = g.place "
            "JOIN ranked k ON d.owner = k.place GROUP BY ALL ORDER BY g.source, k.source, exact DESC"
        ).fetchall():
            found.pairs.append(Pair(self._names[gone], self._names[kept], "exact" if exact else "near", count))
            found.stay[gone] -= count
        found.withdrawn = sum(counts.withdrawn for counts in self._counts)
        return found

    def decisions(self) -> Iterator[dict[str, Any]]:
        """Every document that goes, and the one that stays in its place; in the order of the corpora."""
        answer = self._database.cursor().execute(
            "SELECT g.source, g.n, g.url, k.source, k.n, k.url, exact, similarity FROM decisions d "
            "JOIN ranked g ON d.place = g.place JOIN ranked k ON d.owner = k.place ORDER BY g.source, g.n"
        )
        for gone, n, url, kept, kept_n, kept_url, exact, similar in rows_of(answer):
            yield {
                "corpus": self._names[gone],
                "document": n,
                "url": url,
                "kind": "exact" if exact else "near",
                "similarity": round(similar, 4),
                "kept_corpus": self._names[kept],
                "kept_document": kept_n,
                "kept_url": kept_url,
            }

    def remaining(self) -> Iterator[Record]:
        """The documents that stay, corpus by corpus, as they are."""
        for number in range(len(self._names)):
            gone = self._gone(number)
            following = next(gone, None)
            for place, record in enumerate(self._sources.read(number, Counts())):
                if place == following:
                    following = next(gone, None)
                else:
                    yield record

    def _gone(self, source: int) -> Iterator[int]:
        question = "SELECT n FROM decisions JOIN ranked USING (place) WHERE source = ? ORDER BY n"
        answer = self._database.cursor().execute(question, [source])
        yield from (place for (place,) in rows_of(answer))

    def write(self, out: Path, to: str, *, max_bytes: int, clock: Clock = time.time) -> Exported:
        """Write what remains to the folder `out`, in the format `to`, with the list and a manifest.

        Equal corpora give equal bytes outside its registry. Raises: StorageError where `out` is in use, no
        document remains, or a corpus changes meanwhile.
        """
        with ExitStack() as stack:
            draft = draft_beside(out, stack)
            files = Filling(draft, export_format(to), max_bytes, self._progress)
            files.fill(self.remaining())
            self.write_list(draft / DUPLICATES)
            manifest = self._manifest(to, files)
            if self._sources.state() != self._before:
                raise StorageError(f"{out}: a corpus changed while it was compared; run the same command again")
            put(draft / ACROSS, indented(manifest))
            settle_version(draft, out, ACROSS, self._sources.places(), now=clock())
        return files.result()

    def write_list(self, path: Path) -> None:
        """Write `decisions` as JSON lines. Raises: StorageError."""
        with disk(path), path.open("wb") as file:
            file.writelines(encode(each) for each in self.decisions())

    def _manifest(self, to: str, files: Filling) -> dict[str, Any]:
        dedup = self._config.dedup
        return {
            "format": ACROSS_FORMAT,
            "to": to,
            "sources": self._sources.lineage(),
            "thresholds": {
                "near": dedup.threshold,
                "near_short": dedup.short_threshold,
                "short_shingles": dedup.short_shingles,
                "min_shingles": dedup.min_shingles,
            },
            "scheme": orjson.loads(Scheme.of(dedup).to_json()),
            "versions": versions(),
            **self.found.as_dict(),
            "files": files.files,
        }
