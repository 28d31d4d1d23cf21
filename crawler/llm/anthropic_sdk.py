"""Anthropic's Messages."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from crawler.llm.failures import TIMEOUT_SECONDS, answered, counted
from crawler.llm.model import Outcome, Provider, ProviderError, Reply, Request

OWN_URL = "https://api.anthropic.com"
KEY = "ANTHROPIC_API_KEY"


class Anthropic(Provider):
    """A model of Anthropic's. url: None = Anthropic's own. Raises: ProviderError where no key is set."""

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
        call = partial(
            self._client.messages.create,
            model=self._name,
            max_tokens=request.most_tokens,
            system=request.system,
            messages=[{"role": "user", "content": request.user}],
            output_config={"format": {"type": "json_schema", "schema": request.schema}},
        )
        found = answered(self._sdk, call, f"anthropic:{self._name}")
        return found if isinstance(found, Reply) else _reply(found)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


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
