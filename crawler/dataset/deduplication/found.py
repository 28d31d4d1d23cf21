"""Finds the duplicates of one finished corpus or of several, and says which copy stays.

Fingerprints, bands, thresholds and verification are those of the crawl; only the order differs: best copy first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from crawler.config import Config
from crawler.dataset.deduplication.prints import RULE, rule_in_words, sources_of, take_prints
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.records.database import connect, rows_of
from crawler.dedup.index import Scheme, similarity
from crawler.dedup.rounds import find_gone
from crawler.dedup.rounds_duckdb import DuckTables
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk
from crawler.storage.files.records import Record, encode

EXACT, NEAR, OLDER = "exact", "near", "replaced"
"""Why a document goes: the same text, nearly the same, or another text of the same page that was fetched later."""
_GOING = """
CREATE TABLE going AS
SELECT mine.id AS id, theirs.id AS stays, exact, agreeing FROM gone
JOIN places AS mine ON gone.ord = mine.ord JOIN places AS theirs ON gone.owned_by = theirs.ord
UNION ALL SELECT id, standing, NULL, NULL FROM replaced
"""
_PAIRED = "FROM going JOIN prints AS g ON going.id = g.id JOIN prints AS k ON going.stays = k.id"


class Pair(NamedTuple):
    """How many documents of `gone` give way to one of `kept`, by kind: exact, near or replaced."""

    gone: str
    kept: str
    kind: str
    documents: int


@dataclass(slots=True)
class Found:
    """What was found. documents and stay: of each source, in the order they were named."""

    rule: str
    names: list[str]
    documents: list[int]
    stay: list[int]
    pairs: list[Pair] = field(default_factory=list)
    withdrawn: int = 0
    empty: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        each = zip(self.names, self.documents, self.stay, strict=True)
        sources = [{"name": name, "documents": count, "stay": stay} for name, count, stay in each]
        pairs = [pair._asdict() for pair in self.pairs]
        return {
            "rule": self.rule, "sources": sources, "pairs": pairs, "withdrawn": self.withdrawn, "empty": self.empty,
        }  # fmt: skip


class Duplicates:
    """A comparison: made by `with`, then asked for its report, its list and what remains. Raises: StorageError."""

    def __init__(
        self,
        names: Sequence[str],
        config: Config,
        *,
        keep: Sequence[str] = RULE,
        band_bits: int = 32,
        progress: Callable[[int], object] = lambda _: None,
    ) -> None:
        self.names, self.config, self.band_bits, self._progress = list(names), config, band_bits, progress
        self._keep = keep

    def __enter__(self) -> Duplicates:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="dedup-")))
            self.sources = Sources(sources_of(self.names))
            self._before = self.sources.state()
            self._database = stack.enter_context(connect(folder / "dedup.duckdb", folder / "spill"))
            self._counts = [Counts() for _ in self.names]
            take_prints(
                self._database,
                self.sources,
                self._counts,
                self.config,
                keep=self._keep,
                band_bits=self.band_bits,
                progress=self._progress,
            )
            find_gone(DuckTables(self._database))
            self._database.execute(_GOING)
            self.found = self._report()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def check_unchanged(self) -> None:
        """Raises: StorageError where a source has changed since it was compared."""
        if self.sources.state() != self._before:
            raise StorageError("a source changed while it was compared; run the same command again")

    def _report(self) -> Found:
        documents = [counts.read - counts.withdrawn - counts.empty for counts in self._counts]
        found = Found(rule_in_words(self._keep), self.names, documents, list(documents))
        asked = f"SELECT g.source, k.source, exact, count(*) {_PAIRED} GROUP BY ALL ORDER BY ALL"
        for gone, kept, exact, count in self._database.execute(asked).fetchall():
            found.pairs.append(Pair(self.names[gone], self.names[kept], _kind(exact), count))
            found.stay[gone] -= count
        found.pairs.sort(key=lambda pair: (self.names.index(pair.gone), self.names.index(pair.kept), pair.kind))
        found.withdrawn = sum(counts.withdrawn for counts in self._counts)
        found.empty = sum(counts.empty for counts in self._counts)
        return found

    def decisions(self) -> Iterator[dict[str, Any]]:
        """Every document that goes, and the one that stays in its place; in the order of the sources."""
        width = Scheme.of(self.config.dedup).permutations
        answer = self._database.cursor().execute(
            f"SELECT g.source, g.n, g.url, k.source, k.n, k.url, exact, agreeing {_PAIRED} ORDER BY g.id"
        )
        for gone, n, url, kept, kept_n, kept_url, exact, agreeing in rows_of(answer):
            similar = None if exact is None else 1.0 if exact else round(similarity(agreeing, width), 4)
            yield {
                "source": self.names[gone],
                "document": n,
                "url": url,
                "kind": _kind(exact),
                "similarity": similar,
                "kept_source": self.names[kept],
                "kept_document": kept_n,
                "kept_url": kept_url,
            }

    def remaining(self, number: int) -> Iterator[Record]:
        """The documents of a source that stay, as they are."""
        gone = self._gone(number)
        following = next(gone, None)
        for n, record in enumerate(self.sources.read(number, Counts())):
            if n == following:
                following = next(gone, None)
            else:
                yield record

    def _gone(self, source: int) -> Iterator[int]:
        question = "SELECT n FROM going JOIN prints USING (id) WHERE source = ? ORDER BY n"
        answer = self._database.cursor().execute(question, [source])
        yield from (n for (n,) in rows_of(answer))

    def write_list(self, path: Path) -> None:
        """Write `decisions` as JSON lines. Raises: StorageError."""
        with disk(path), path.open("wb") as file:
            file.writelines(encode(each) for each in self.decisions())


def _kind(exact: bool | None) -> str:
    return OLDER if exact is None else EXACT if exact else NEAR
