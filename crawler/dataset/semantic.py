"""`gristmill dataset semantic`: heavily edited copies, which no signature of shingles finds.

Two texts are copies where the cosine of their tf-idf vectors is at least .8, or somewhat less where nearly all words of
one stand in the other: sentences moved about and two fifths of the words dropped leave it there, another text on the
same topic does not come near it. Nothing here knows meaning: a free paraphrase is not found (docs/duplicates.md).

A copy goes for one better text that it is near to, never for a neighbour of a neighbour; and for one text go at most
`most` copies, because more than these are a template, not an edit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler.dataset.annotate import Annotations, Refused
from crawler.dataset.annotations.job import job_of
from crawler.dataset.best import RULE, rank_of
from crawler.dataset.cuts import rejection
from crawler.dataset.living import Living
from crawler.dataset.pages import identity, page_name
from crawler.dataset.rewrite import Decision, Rejection, Rewritten, rewrite
from crawler.dataset.supersede import standing
from crawler.dataset.tfidf import Bar, Near, Vectors
from crawler.dataset.versions import Cause
from crawler.document import Drop, DropReason
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record
from crawler.version import __version__

BY = "dataset semantic"
"""The operation's name in the lineage, and the stage of its verdicts."""
COSINE = 0.8
"""From which on no two different texts of our data were near (`python -m bench.quality.edited`)."""
SHARE, WHOLE, LESS = 0.7, 0.85, 0.15
"""Two pages that share a frame and little else are alike in the words that the corpus knows: `SHARE` of all different
words of one have to stand in the other. Where `WHOLE` of them do, one was thinned out, which takes from the cosine
what was dropped: it may be `LESS` lower."""
MOST = 100
MAX_LISTED = 10_000
COLUMNS = {"of": "string", "cosine": "float"}
_MEANING = {
    "of": "canonical URL of the better copy of this text",
    "cosine": "of the tf-idf vectors of the two texts, 0-1",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two kept documents by canonical URL, the better one first. goes: the copy is one that would be taken out."""

    kept: str
    copy: str
    cosine: float
    goes: bool


@dataclass(slots=True)
class Semantic:
    """What was found. spared: copies that stay because as many as `most` go for the text that they are near to."""

    cosine: float
    most: int
    documents: int = 0
    copies: int = 0
    spared: int = 0
    pairs: list[Pair] = field(default_factory=list)
    gone: dict[bytes, tuple[str, float]] = field(default_factory=dict)  # identity of the copy: URL of the other, cosine
    ids: dict[bytes, tuple[str, str]] = field(default_factory=dict)  # identity of the copy: canonical_url, doc_id

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types; of the pairs the first `MAX_LISTED`."""
        listed = [
            {"kept": one.kept, "copy": one.copy, "cosine": round(one.cosine, 4), "goes": one.goes}
            for one in self.pairs[:MAX_LISTED]
        ]
        counts = {"documents": self.documents, "copies": self.copies, "spared": self.spared}
        return {"rule": RULE, "cosine": self.cosine, "most": self.most, **counts, "found": len(self.pairs),
                "pairs": listed}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Document:
    rank: tuple[Any, ...]
    page: str
    identity: bytes
    key: tuple[str, str]


def find(place: Place, *, cosine: float = COSINE, most: int = MOST) -> Semantic:
    """The edited copies among the kept documents. Needs about 0.7 kB of memory a document, and 150 MB.

    cosine: from which on a pair counts; most: how many copies may go for one text. Raises: StorageError where there is
    no corpus, or a file is damaged; OSError where the temporary folder is full.
    """
    found, documents, stale = Semantic(cosine, most), [], standing(place).stale
    with Vectors() as vectors:
        for record in Living(place).kept():
            if identity(record) in stale or not record.get("text"):
                continue
            vectors.add(record["text"])
            documents.append(_of(record))
        found.documents = len(documents)
        near = [
            pair for pair in vectors.near(bars(cosine)) if documents[pair.first].page != documents[pair.second].page
        ]
    _decide(found, documents, near)
    return found


def bars(cosine: float) -> tuple[Bar, Bar]:
    """What a pair of copies reaches, by the cosine of two texts that were edited in every way."""
    return Bar(cosine, SHARE), Bar(max(0.0, cosine - LESS), WHOLE)


def _of(record: Record) -> _Document:
    name = page_name(record)
    key = str(record.get("canonical_url") or record["url"]), str(record.get("doc_id") or "")
    return _Document((rank_of(record), record.get("crawled_at") or "", name), name, identity(record), key)


def _decide(found: Semantic, documents: Sequence[_Document], near: Sequence[Near]) -> None:
    """The best text first: of those near to it that are still there the nearest go."""
    beside: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for pair in near:
        beside[pair.first].append((pair.second, pair.cosine))
        beside[pair.second].append((pair.first, pair.cosine))
    order = sorted(beside, key=lambda number: documents[number].rank)
    place = {number: at for at, number in enumerate(order)}
    gone: dict[int, int] = {}
    spared: set[int] = set()
    for number in order:
        if number in gone:
            continue
        worse = [(other, near_to) for other, near_to in beside[number] if place[other] > place[number]]
        worse = [pair for pair in sorted(worse, key=lambda pair: (-pair[1], place[pair[0]])) if pair[0] not in gone]
        for other, near_to in worse[: found.most]:
            gone[other] = number
            copy = documents[other]
            found.gone[copy.identity] = documents[number].page, near_to
            found.ids[copy.identity] = copy.key
        spared |= {other for other, _ in worse[found.most :]}
    found.copies, found.spared = len(gone), len(spared - gone.keys())
    for pair in near:
        better, worst = sorted((pair.first, pair.second), key=place.__getitem__)
        goes = gone.get(worst) == better
        found.pairs.append(Pair(documents[better].page, documents[worst].page, pair.cosine, goes))
    found.pairs.sort(key=lambda pair: (-pair.cosine, pair.kept, pair.copy))


def annotate(place: Place, name: str, found: Semantic, *, now: float) -> tuple[Rewritten, Refused]:
    """Note beside each copy that would go which text it is near to. Raises: InputError, StorageError as `write`."""
    said = {
        "kind": "duplicate",
        "code": f"gristmill {__version__} {BY}",
        "parameters": {"cosine": found.cosine, "share": SHARE, "whole": WHOLE, "less": LESS, "most": found.most},
    }
    job = job_of(COLUMNS, _MEANING, None, said, now=now)
    return Annotations(place).write(name, job, _rows(found), now=now)


def _rows(found: Semantic) -> Iterator[dict[str, Any]]:
    for copy, (of, cosine) in found.gone.items():
        url, doc_id = found.ids[copy]
        yield {"canonical_url": url, "doc_id": doc_id, "of": of, "cosine": round(cosine, 4)}


def remove(place: Place, found: Semantic, *, now: float, keep_old: bool = True) -> Rewritten:
    """Take the copies out of the corpus that `found` is about: a new version with its lineage.

    Raises: StorageError as `rewrite`.
    """
    said = Counter[str]()

    def decide(record: Record) -> Decision:
        if (other := found.gone.get(identity(record))) is None:
            return record
        of, cosine = other
        said[of] += 1
        drop = Drop("semantic", DropReason.EDITED_COPY, f"of {of}: cosine {cosine:.4f}")
        return Rejection(rejection(record, drop) | {"dup_of": of, "dup_similarity": round(cosine, 4)})

    reason = f"edited copies: cosine of tf-idf vectors {found.cosine:g} or more; {RULE}"
    return rewrite(place, decide, Cause(f"{BY} --remove", reason, now, keep_old))
