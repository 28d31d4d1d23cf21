"""What an HTTP status means for a call, whoever the provider is."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable, Mapping
from typing import Any

from crawler.llm.model import Outcome, ProviderError, Reply

TIMEOUT_SECONDS = 300.0
"""For one answer: a long one of a slow model takes minutes."""
_MOST_SAID = 300
_NEVER_MADE = {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"}
"""Exceptions of httpx (and httpx2) before a request is sent: refused, name unknown, TLS failed.

Source: https://www.python-httpx.org/exceptions/
"""
_HOPELESS = {
    401: "the key is not accepted",
    402: "the account has no credit",
    403: "the key may not do this",
    404: "there is no such model or address",
}


def answered(sdk: Any, call: Callable[[], Any], who: str) -> Any:
    """What a client of Anthropic's or OpenAI's answers, or the `Reply` of a call that failed. who: the model.

    Raises: ProviderError where no other request would fare better.
    """
    try:
        return call()
    except sdk.APIStatusError as error:
        return reply_of(error.status_code, error.response.headers, str(error), who)
    except sdk.APIConnectionError as error:
        return cut_of(error)
    except (sdk.APIResponseValidationError, ValueError) as error:  # HTML with status 200: the parser's own error
        return Reply(Outcome.GARBLED, said=str(error)[:_MOST_SAID])


def reply_of(status: int, headers: Mapping[str, str], said: str, who: str) -> Reply:
    """How a call ended that was answered with an error. who: the model, for messages.

    Raises: ProviderError where no other request would fare better.
    """
    said = " ".join(said.split())[:_MOST_SAID]
    if status in _HOPELESS:
        raise ProviderError(f"{who}: {_HOPELESS[status]} (HTTP {status}: {said})")
    if status == 429:
        return Reply(Outcome.RATE_LIMITED, wait=seconds_of(headers.get("retry-after")), said=said)
    if status in (503, 529):
        return Reply(Outcome.OVERLOADED, wait=seconds_of(headers.get("retry-after")), said=said)
    if status == 408 or status >= 500:
        return Reply(Outcome.SERVER_ERROR, wait=seconds_of(headers.get("retry-after")), said=said)
    return Reply(Outcome.REJECTED, said=f"HTTP {status}: {said}")


def cut_of(error: BaseException) -> Reply:
    """How a call ended whose connection failed: before anything could be sent, or later."""
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in chain:
        chain.append(each)
        each = each.__cause__
    last = str(chain[-1]) or type(chain[-1]).__name__
    never = any(type(one).__name__ in _NEVER_MADE for one in chain)
    return Reply(Outcome.UNREACHABLE if never else Outcome.CUT, said=f"{type(error).__name__}: {last}"[:_MOST_SAID])


def seconds_of(value: str | None) -> float | None:
    """The seconds of a Retry-After header: a number or a date (RFC 9110, 10.2.3). None where it says neither."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def counted(tokens: object) -> int | None:
    """A number of tokens; None where a server says something else."""
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0 else None


def not_deleted(left: str) -> str:
    """The end of a sentence about a batch that was refused. left: of its files, "" where all are gone."""
    return left and f"; not deleted at the provider: {left}"
