"""What each job with a language model declares: its questions about a page, and the row that the answers make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from crawler.llm.ask import Asked
from crawler.llm.model import Request
from crawler.storage.files.records import Record


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the annotation. kind: as `crawler.dataset.annotations.tables.TYPES`."""

    kind: str
    meaning: str


MONEY_COLUMNS: Mapping[str, Column] = {
    "model": Column("string", "who answered"),
    "prompt_version": Column("string", "of the instructions: other words have another one"),
    "tokens_in": Column("int64", "as the provider counts them, of the calls that were answered"),
    "tokens_out": Column("int64", "likewise, thoughts included"),
    "cost": Column("double", "of these calls, in the currency of the job"),
}
"""Columns of every annotation that a model has answered."""


class Asking(Protocol):
    """A job with a model, as far as it asks."""

    @property
    def name(self) -> str:
        """Of the annotation, or of the kind of texts."""

    @property
    def operation(self) -> str:
        """Of `gristmill llm`."""

    @property
    def version(self) -> str:
        """Of the instructions and the schema."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """For the job record, or the manifest."""

    def requests(self, record: Record) -> Sequence[Request]:
        """What is asked about a page: one request, or one for each window of a long text."""


class Tool(Asking, Protocol):
    """A job whose answers become rows of an annotation."""

    @property
    def kind(self) -> str:
        """Of the annotation, as job records name it."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """The annotation's own."""

    def row(self, record: Record, answers: Sequence[Any]) -> dict[str, Any]:
        """The values of the annotation's own columns; answers: one for each request, each of its schema."""


def money_of(model: str, version: str, asked: Sequence[Asked]) -> dict[str, Any]:
    """The values of `MONEY_COLUMNS`."""
    return {
        "model": model,
        "prompt_version": version,
        "tokens_in": sum(one.tokens_in for one in asked),
        "tokens_out": sum(one.tokens_out for one in asked),
        "cost": float(sum(one.cost for one in asked)),
    }
