"""Anthropic's Messages."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, cast

from crawler.llm.failures import TIMEOUT_SECONDS, answered, counted
from crawler.llm.model import Batching, Collected, Found, Outcome, ProviderError, Reply, Request, State, results_in

OWN_URL = "https://api.anthropic.com"
KEY = "ANTHROPIC_API_KEY"
CLOCKS = 3_600.0
"""Seconds that the provider's clock may differ from ours."""


class Anthropic(Batching):
    """A model of Anthropic's. url: None = Anthropic's own. Raises: ProviderError where no key is set."""

    most_bytes = 50_000_000  # of 256 MB: https://platform.claude.com/docs/en/build-with-claude/batch-processing

    def __init__(self, name: str, url: str | None) -> None:
        import anthropic

        key = os.environ.get(KEY)
        if key is None and url is None:
            raise ProviderError(f"anthropic:{name}: no key; set {KEY}")
        self._name, self._sdk = name, anthropic
        self._client = anthropic.Anthropic(
            api_key=key or "none", base_url=url or OWN_URL, max_retries=0, timeout=TIMEOUT_SECONDS
        )

    def complete(self, request: Request) -> Reply:
        """One message. Raises: ProviderError."""
        create = cast("Any", self._client.messages.create)
        call = partial(create, **self._body(request))
        found = answered(self._sdk, call, f"anthropic:{self._name}")
        return found if isinstance(found, Reply) else _reply(found)

    def _body(self, request: Request) -> dict[str, Any]:
        return {
            "model": self._name,
            "max_tokens": request.most_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": _content(request)}],
            "output_config": {"format": {"type": "json_schema", "schema": request.schema}},
        }

    def submit(self, mark: str, requests: Sequence[tuple[str, Request]]) -> str | Reply:  # noqa: ARG002
        """A message batch; its custom ids carry the mark. Raises: ProviderError."""
        listed: Any = [{"custom_id": name, "params": self._body(request)} for name, request in requests]
        call = partial(self._client.messages.batches.create, requests=listed)
        made = answered(self._sdk, call, f"anthropic:{self._name}")
        if isinstance(made, Reply):
            return made
        return str(made.id) if getattr(made, "id", None) else Reply(Outcome.GARBLED, said=str(made)[:300])

    def find(self, mark: str, size: int, since: float, *, settled: bool) -> Found:  # noqa: ARG002
        """By the custom ids of its results: a batch that runs does not tell them. Raises: ProviderError."""

        def look() -> Found:
            unsure = lost = False
            for batch in self._client.messages.batches.list(limit=100):
                made = batch.created_at.timestamp()
                if made < since - CLOCKS:
                    break
                counts = batch.request_counts
                total = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
                if total != size or made > since + CLOCKS:
                    continue
                if batch.processing_status != "ended":
                    unsure = True
                elif not batch.results_url:
                    lost = True
                elif any(name.startswith(mark) for name, _ in self._results(batch.id)):
                    return Found(batch.id)
            return Found(unsure=unsure, lost=lost)

        found = answered(self._sdk, look, f"anthropic:{self._name}")
        return Found(unsure=True) if isinstance(found, Reply) else cast("Found", found)

    def collect(self, batch: str) -> Collected:
        """Raises: ProviderError."""

        def read() -> Collected:
            try:
                state = self._client.messages.batches.retrieve(batch)
            except self._sdk.NotFoundError:
                return Collected(State.GONE)
            if state.processing_status != "ended":
                return Collected(State.RUNNING)
            if not state.results_url:
                return Collected(State.GONE)
            return Collected(State.ENDED, list(self._results(batch)))

        found = answered(self._sdk, read, f"anthropic:{self._name}")
        return Collected(State.UNKNOWN, said=found.said) if isinstance(found, Reply) else cast("Collected", found)

    def _results(self, batch: str) -> Iterator[tuple[str, Reply]]:
        # the SDK's own reader ends at a line that is not JSON
        data = self._client.messages.batches.results(batch).http_response.read()
        yield from ((name, _result(found)) for name, found in results_in(data))

    def forget(self, batch: str, mark: str) -> str:  # noqa: ARG002
        """Delete it; there are no files."""
        try:
            self._client.messages.batches.delete(batch)
        except self._sdk.NotFoundError:
            return ""
        except self._sdk.APIError as error:
            return f"batch {batch} ({str(error)[:100]})"
        return ""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _content(request: Request) -> str | list[dict[str, Any]]:
    if not (image := request.image_in_base64()):
        return request.user
    source = {"type": "base64", "media_type": "image/jpeg", "data": image}
    return [{"type": "image", "source": source}, {"type": "text", "text": request.user}]


def _result(found: dict[str, Any]) -> Reply:
    """How a line of a batch's results ended; one in another form may be paid."""
    from anthropic.types import Message

    said = found.get("result")
    result: dict[str, Any] = said if isinstance(said, dict) else {}
    kind = result.get("type")
    if kind == "succeeded" and isinstance(message := result.get("message"), dict):
        return _reply(Message.construct(**message))
    if kind == "errored":
        return Reply(Outcome.REJECTED, said=str(result.get("error"))[:300])
    if kind in ("canceled", "expired"):
        return Reply(Outcome.OVERLOADED, said=f"the batch has {kind} it")
    return Reply(Outcome.GARBLED, said=str(found)[:300])


def _reply(found: Any) -> Reply:
    usage = getattr(found, "usage", None)
    sent, got = counted(getattr(usage, "input_tokens", None)), counted(getattr(usage, "output_tokens", None))
    try:
        why = found.stop_reason
        texts = [each.text for each in found.content if each.type == "text"]
    except (AttributeError, TypeError):
        return Reply(Outcome.GARBLED, "", sent, got, said=str(found)[:300])
    if why in ("max_tokens", "model_context_window_exceeded"):
        return Reply(Outcome.TRUNCATED, "", sent, got)
    if why == "refusal":
        return Reply(Outcome.REFUSED, "", sent, got)
    if why not in ("end_turn", "stop_sequence") or not all(isinstance(each, str) for each in texts):
        return Reply(Outcome.MALFORMED, "", sent, got, said=f"ended with {why!r}")
    return Reply(Outcome.ANSWERED, "".join(texts), sent, got)
