"""spaCy's entities, in a third of its time.

Its parser scores all moves at one token after the other, and takes and releases the interpreter's lock a hundred times
at each. But before an entity begins, the scores hang on the token alone: those of all tokens of a page are computed at
once, and only entities are walked. Where two moves are as good as equal, spaCy itself reads the passage again, so that
no answer differs. Another release, and a pipeline that is built in another way, run as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawler.stages.pii.quick_vectors import vectors_of

RELEASE = "3.8."
"""Of spaCy, whose inner workings this module has: a model belongs to one such release, too."""
_AS_GOOD_AS_EQUAL = 1e-3
"""Scores differ by less than a hundredth of this where their numbers are added in another order."""
_AT_ONCE = 40_000
"""Characters whose tokens are scored together, or one passage: a bound of the memory."""

Floats = npt.NDArray[np.float32]


class Entity(NamedTuple):
    """What a model takes for a name of something: place in the passage, in characters, and spaCy's label."""

    start: int
    end: int
    label: str


@cache
def reader(nlp: Any) -> PlainReader:
    """What reads passages with this pipeline, one for all of a process."""
    return QuickReader(nlp) if version("spacy").startswith(RELEASE) and _is_known(nlp) else PlainReader(nlp)


def _is_known(nlp: Any) -> bool:
    """One greedy entity recogniser and nothing else, with a hidden layer over three tokens, on the processor."""
    if nlp.pipe_names != ["ner"]:
        return False
    ner = nlp.get_pipe("ner")
    model, layers = ner.model, ("tok2vec", "lower", "upper")
    return (
        type(ner).__name__ == "EntityRecognizer"
        and ner.cfg.get("beam_width") == 1
        and model.ops.name == "numpy"
        and model.attrs.get("has_upper") is True
        and not model.attrs.get("unseen_classes")
        and all(model.has_ref(layer) for layer in layers)
        and model.get_ref("lower").get_dim("nF") == 3
        and model.get_ref("lower").get_dim("nP") > 1
    )


class PlainReader:
    """Asks spaCy."""

    def __init__(self, nlp: Any) -> None:
        self._nlp = nlp

    def read(self, texts: Sequence[str]) -> Iterator[list[Entity]]:
        """The entities of each passage, in order; in batches, which cost less than passages one by one."""
        for doc in self._nlp.pipe(texts):
            yield [Entity(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]


class QuickReader(PlainReader):
    """Makes spaCy's tokens with spaCy, their vectors as it does (`quick_vectors`), and spaCy's moves here.

    The moves are O (no entity), U (all of one), B (its first token), I (one inside), L (its last), each but the first
    with a label. The score of one is that of a hidden layer, to which the next token, the first one of the open entity
    and the one before contribute a part each.
    """

    def __init__(self, nlp: Any) -> None:
        super().__init__(nlp)
        ner = nlp.get_pipe("ner")
        lower, upper = ner.model.get_ref("lower"), ner.model.get_ref("upper")
        self._vectors, self._gemm = vectors_of(ner.model.get_ref("tok2vec")), ner.model.ops.gemm
        parts = lower.get_param("W")
        self._hidden, self._pieces = parts.shape[1:3]
        self._parts = [np.ascontiguousarray(part.reshape(-1, parts.shape[3])) for part in parts]
        self._bias = lower.get_param("b").reshape(-1)
        self._bias_outside = self._bias + lower.get_param("pad")[0, 1:].sum(axis=0).reshape(-1)
        names = [ner.moves.get_class_name(number) for number in range(ner.moves.n_moves)]
        weights, biases = upper.get_param("W"), upper.get_param("b")
        # "U-" without a label is for tokens that were forbidden beforehand
        outside = [number for number, name in enumerate(names) if name[0] in "BUO" and name != "U-"]
        self._outside = [(names[number][0], names[number][2:]) for number in outside]
        self._weights_outside, self._biases_outside = np.ascontiguousarray(weights[outside]), biases[outside]
        self._is_begin = np.array([kind == "B" for kind, _ in self._outside])
        self._is_entity = np.array([kind != "O" for kind, _ in self._outside])
        self._more: dict[str, tuple[Floats, float]] = {}
        """By label what says that an entity goes on rather than ends."""
        for label in {label for kind, label in self._outside if kind == "B"}:
            inside, last = names.index(f"I-{label}"), names.index(f"L-{label}")
            self._more[label] = weights[inside] - weights[last], float(biases[inside] - biases[last])

    def read(self, texts: Sequence[str]) -> Iterator[list[Entity]]:
        """The entities of each passage, in order; none in an empty one."""
        for some in _batches(texts):
            docs = [self._nlp.make_doc(text) for text in some]
            for text, doc, passage in zip(some, docs, self._passages(docs), strict=True):
                spans = passage.entities()
                if spans is None:
                    yield from super().read([text])
                else:
                    yield [Entity(*_place(doc, start, end), label) for start, end, label in spans]

    def _passages(self, docs: list[Any]) -> Iterator[_Passage]:
        lengths = list(map(len, docs))
        if not any(lengths):
            yield from (_Passage(self, [], self._bias, self._bias) for _ in docs)
            return
        vectors = self._vectors.of(docs)
        parts = self._gemm(vectors, self._parts[0], trans2=True)
        scores = self._gemm(self.squeezed(parts + self._bias_outside), self._weights_outside, trans2=True)
        scores += self._biases_outside
        ends = np.cumsum(lengths)
        scores[np.ix_(ends - 1, self._is_begin)] = -np.inf
        scores[np.ix_(np.concatenate([doc.to_array("IS_SPACE") for doc in docs]) > 0, self._is_entity)] = -np.inf
        best = scores.argmax(axis=1)
        second, first = np.partition(scores, -2, axis=1)[:, -2:].T
        moves = np.where(first - second < _AS_GOOD_AS_EQUAL, -1, best)
        for begin, end in zip(ends - lengths, ends, strict=True):
            yield _Passage(self, moves[begin:end].tolist(), vectors[begin:end], parts[begin:end])

    def squeezed(self, parts: Floats) -> Floats:
        """The hidden layer: of the pieces of each number the largest."""
        largest: Floats = parts.reshape(*parts.shape[:-1], self._hidden, self._pieces).max(axis=-1)
        return largest

    def move(self, number: int) -> tuple[str, str]:
        """Kind and label of a move that can be made where no entity is open."""
        return self._outside[number]

    def goes_on(self, label: str, part: Floats, first: Floats, before: Floats) -> bool | None:
        """Whether an open entity has more tokens behind this one; None where that is as good as undecided.

        part: what the token contributes. first, before: vectors of the entity's first token and the one before.
        """
        weights, bias = self._more[label]
        hidden = self.squeezed(part + self._parts[1] @ first + self._parts[2] @ before + self._bias)
        more = float(weights @ hidden) + bias
        return None if abs(more) < _AS_GOOD_AS_EQUAL else more > 0


class _Passage:
    """The best move at each token where no entity is open (-1: undecided), and the numbers for those in entities."""

    def __init__(self, reader: QuickReader, moves: list[int], vectors: Floats, parts: Floats) -> None:
        self._reader, self._moves, self._vectors, self._parts = reader, moves, vectors, parts

    def entities(self) -> list[tuple[int, int, str]] | None:
        """First token, token behind the last, and label of each entity; None where a move is undecided."""
        found = []
        at = 0
        while at < len(self._moves):
            if self._moves[at] < 0:
                return None
            kind, label = self._reader.move(self._moves[at])
            start, last = at, self._last(at, label) if kind == "B" else at
            if last is None:
                return None
            if kind != "O":
                found.append((start, last + 1, label))
            at = last + 1
        return found

    def _last(self, start: int, label: str) -> int | None:
        vectors = self._vectors
        for at in range(start + 1, len(self._moves) - 1):
            more = self._reader.goes_on(label, self._parts[at], vectors[start], vectors[at - 1])
            if not more:
                return None if more is None else at
        return len(self._moves) - 1


def _place(doc: Any, start: int, end: int) -> tuple[int, int]:
    last = doc[end - 1]
    return doc[start].idx, last.idx + len(last)


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    some: list[str] = []
    size = 0
    for text in texts:
        if size and size + len(text) > _AT_ONCE:
            yield some
            some, size = [], 0
        some.append(text)
        size += len(text)
    if some:
        yield some
