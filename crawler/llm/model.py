"""One request to a language model and how it ended, the same for every provider.

Only a whole answer is `ANSWERED`. What was cut, refused or garbled has a word of its own and is never read as if it
were whole.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

import orjson


class Outcome(StrEnum):
    """How a call ended.

    The first four are paid and final: the same question again would cost the same and say as little. The next six
    pass: ask again; GARBLED once, for it may be paid. UNREACHABLE: no connection was made, so nothing was sent.
    REJECTED: the provider does not take this request (too long, a schema it does not know).
    """

    ANSWERED = "answered"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    MALFORMED = "malformed"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    UNREACHABLE = "unreachable"
    CUT = "cut"
    GARBLED = "garbled"
    REJECTED = "rejected"

    @property
    def is_final(self) -> bool:
        """Nobody has to ask again."""
        return self in (self.ANSWERED, self.TRUNCATED, self.REFUSED, self.MALFORMED)

    @property
    def is_unpaid(self) -> bool:
        """The provider has said that it did nothing, or nothing has reached it."""
        return self in (self.RATE_LIMITED, self.OVERLOADED, self.UNREACHABLE, self.REJECTED)


MEANING = {
    Outcome.TRUNCATED: "the answer reached the most tokens before its end",
    Outcome.REFUSED: "the model or its provider refused to answer",
    Outcome.MALFORMED: "the answer does not have the form that was asked for",
    Outcome.RATE_LIMITED: "the provider asked to wait for too long",
    Outcome.OVERLOADED: "the provider was overloaded",
    Outcome.SERVER_ERROR: "the provider failed",
    Outcome.UNREACHABLE: "no connection was made, nothing was sent or paid",
    Outcome.CUT: "the connection was cut, or no answer came in time",
    Outcome.GARBLED: "what came is no answer of the provider's protocol",
    Outcome.REJECTED: "the provider does not take the request",
}
"""Of each outcome that is no answer, for people."""


MOST_IMAGE_BYTES = 100_000
"""Of an image as it is sent."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image that goes along. sha256: of its file. tokens: the most that the provider counts it as.

    jpeg: reads it, and makes it a JPEG of `MOST_IMAGE_BYTES` at most; raises StorageError.
    """

    sha256: str
    tokens: int
    jpeg: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. schema: JSON Schema of the answer. most_tokens: of the answer, thoughts included."""

    system: str
    user: str
    schema: dict[str, Any]
    most_tokens: int
    image: Image | None = None

    def image_in_base64(self) -> str:
        """The JPEG as the providers' JSON has it; "" without one. Raises: StorageError."""
        return "" if self.image is None else base64.b64encode(self.image.jpeg()).decode()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came. text: only where the outcome is ANSWERED. Tokens: as the provider counts them, None where it does not.

    wait: seconds that it asks to wait. said: what the provider said of a failure, for people.
    """

    outcome: Outcome
    text: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    wait: float | None = None
    said: str = ""


class State(StrEnum):
    """Of a batch at its provider. GONE: it is not there. UNKNOWN: it could not be read now."""

    RUNNING = "running"
    ENDED = "ended"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Collected:
    """What a provider has of a batch. replies: by custom id, in any order, of an ended one; "" where a result has none
    that can be read. said: of a failure; of an ended one without results, how it ended.
    """

    state: State
    replies: Iterable[tuple[str, Reply]] = ()
    said: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a batch of ours is looked for. id: of the provider, "" where it is not there. unsure: it may be there.

    lost: it may be one that has ended and no longer tells whose it is. left: files that could not be deleted.
    """

    id: str = ""
    unsure: bool = False
    lost: bool = False
    left: str = ""


class ProviderError(Exception):
    """No request can succeed: no key, no such model, not allowed. The message says what and what to do."""


class Provider(Protocol):
    """A provider's client, for one model. Safe to use from several threads."""

    def complete(self, request: Request) -> Reply:
        """Send one request, once: nothing is sent again here. Raises: ProviderError."""

    def close(self) -> None:
        """Close the connections."""


@runtime_checkable
class Batching(Provider, Protocol):
    """A provider that takes many requests at once, for half the price, and answers within a day.

    most_bytes: of the requests of a batch, as `crawler.llm.prices.most_tokens_in` and images in base64 count them.
    """

    most_bytes: int

    def submit(self, mark: str, requests: Sequence[tuple[str, Request]]) -> str | Reply:
        """Send requests by custom id, each of which begins with `mark`. Its id at the provider, or how it failed.

        Raises: ProviderError.
        """

    def find(self, mark: str, size: int, since: float, *, settled: bool) -> Found:
        """A batch whose id was lost. since: seconds since the epoch before which it was not made. settled: so long ago
        that what is not listed never came; what else was sent for it is deleted then. Raises: ProviderError.
        """

    def collect(self, batch: str) -> Collected:
        """Its state, and what was answered. Raises: ProviderError."""

    def forget(self, batch: str, mark: str) -> str:
        """Delete what the provider keeps of it, also where it knows the batch no more, but files by its mark; "" or
        what is left there, for people. Safe to repeat.
        """


def results_in(data: bytes, id_field: str = "custom_id") -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a batch's results, each with its custom id; "" and nothing for one that cannot be read."""
    for line in data.splitlines():
        try:
            found = orjson.loads(line)
            name = found[id_field]
        except (ValueError, TypeError, KeyError):
            found, name = {}, ""
        yield (name if isinstance(name, str) else ""), found
