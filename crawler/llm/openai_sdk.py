"""OpenAI, and every server that speaks its chat completions: vLLM, llama.cpp, Ollama and others."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, cast

from crawler.llm.failures import TIMEOUT_SECONDS, answered, counted
from crawler.llm.model import Outcome, Provider, ProviderError, Reply, Request

OWN_URL = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"


class OpenAI(Provider):
    """A model behind chat completions. url: None = OpenAI's own. Raises: ProviderError where no key is set."""

    def __init__(self, name: str, url: str | None) -> None:
        import openai

        key = os.environ.get(KEY)
        if key is None and url is None:
            raise ProviderError(f"openai:{name}: no key; set {KEY}")
        self._name, self._sdk, self._is_own = name, openai, url is None
        self._client = openai.OpenAI(
            api_key=key or "none", base_url=url or OWN_URL, max_retries=0, timeout=TIMEOUT_SECONDS
        )

    def complete(self, request: Request) -> Reply:
        """One chat completion. Raises: ProviderError."""
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": request.schema, "strict": True}}
        # OpenAI's reasoning models take no temperature and only the newer name; other servers know only the older one.
        own: dict[str, Any] = {"max_completion_tokens": request.most_tokens}
        others: dict[str, Any] = {"max_tokens": request.most_tokens, "temperature": 0.0}
        messages: Any = [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]
        create = cast("Any", self._client.chat.completions.create)  # its overloads know no plain dict
        more = own if self._is_own else others
        call = partial(create, model=self._name, messages=messages, response_format=form, **more)
        found = answered(self._sdk, call, f"openai:{self._name}")
        return found if isinstance(found, Reply) else _reply(found)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _reply(found: Any) -> Reply:
    usage = getattr(found, "usage", None)
    sent, got = counted(getattr(usage, "prompt_tokens", None)), counted(getattr(usage, "completion_tokens", None))
    try:
        choice = found.choices[0]
        message, why = choice.message, choice.finish_reason
        text, refusal = message.content, getattr(message, "refusal", None)
    except (AttributeError, TypeError, IndexError):
        return Reply(Outcome.GARBLED, "", sent, got, said=str(found)[:300])
    if why == "length":
        return Reply(Outcome.TRUNCATED, "", sent, got)
    if refusal or why == "content_filter":
        return Reply(Outcome.REFUSED, "", sent, got, said=str(refusal or why)[:300])
    if why != "stop" or not isinstance(text, str):
        return Reply(Outcome.MALFORMED, "", sent, got, said=f"ended with {why!r}")
    return Reply(Outcome.ANSWERED, text, sent, got)
