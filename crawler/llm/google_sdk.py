"""Google's Gemini, by key or, as `vertex:`, by a project of Vertex AI."""

from __future__ import annotations

import os
from typing import Any

from crawler.llm.failures import TIMEOUT_SECONDS, cut_of, reply_of
from crawler.llm.model import Outcome, Provider, ProviderError, Reply, Request

OWN_URL = "https://generativelanguage.googleapis.com"
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
PROJECT, LOCATION = "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"
_REFUSED = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR"}


class Google(Provider):
    """A Gemini model. url: None = Google's own. Raises: ProviderError without a key (Vertex: a project)."""

    def __init__(self, name: str, url: str | None, *, vertex: bool = False) -> None:
        from google import genai
        from google.genai import types

        self._name, self._types = name, types
        key = next((os.environ[each] for each in KEYS if each in os.environ), None)
        if not vertex and key is None and url is None:
            raise ProviderError(f"google:{name}: no key; set {KEYS[0]}")
        if vertex and not (os.environ.get(PROJECT) and os.environ.get(LOCATION)):
            raise ProviderError(f"vertex:{name}: set {PROJECT} and {LOCATION}")
        options = types.HttpOptions(
            base_url=url or (None if vertex else OWN_URL),
            timeout=int(TIMEOUT_SECONDS * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        # Kept: as a temporary it would be closed before its first call.
        self._client = (
            genai.Client(
                vertexai=True, project=os.environ[PROJECT], location=os.environ[LOCATION], http_options=options
            )
            if vertex
            else genai.Client(vertexai=False, api_key=key or "none", http_options=options)
        )

    def complete(self, request: Request) -> Reply:
        """One answer. Raises: ProviderError."""
        from google.genai import errors

        clients = [getattr(errors, name, None) for name in ("httpx", "httpx2")]  # it uses the newer one that is there
        cut = (OSError, *(each.HTTPError for each in clients if each is not None))

        config = self._types.GenerateContentConfig(
            system_instruction=request.system,
            max_output_tokens=request.most_tokens,
            response_mime_type="application/json",
            response_json_schema=request.schema,
        )
        try:
            found: Any = self._client.models.generate_content(model=self._name, contents=request.user, config=config)
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            return reply_of(error.code or 500, headers, str(error), f"google:{self._name}")
        except errors.UnknownApiResponseError as error:
            return Reply(Outcome.GARBLED, said=str(error)[:300])
        except cut as error:
            return cut_of(error)
        except ValueError as error:  # HTML with status 200: the parser's own error
            return Reply(Outcome.GARBLED, said=str(error)[:300])
        return _reply(found)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _reply(found: Any) -> Reply:
    sent, got = _tokens(getattr(found, "usage_metadata", None))
    try:
        blocked = getattr(found.prompt_feedback, "block_reason", None)
        if not found.candidates:
            return Reply(Outcome.REFUSED if blocked else Outcome.GARBLED, "", sent, got, said=str(blocked)[:300])
        first = found.candidates[0]
        why = getattr(first.finish_reason, "value", first.finish_reason)
        parts = (first.content.parts or []) if first.content is not None else []
        text = "".join(part.text for part in parts if part.text and not part.thought)
    except (AttributeError, TypeError):
        return Reply(Outcome.GARBLED, "", sent, got, said=str(found)[:300])
    if why == "MAX_TOKENS":
        return Reply(Outcome.TRUNCATED, "", sent, got)
    if why in _REFUSED:
        return Reply(Outcome.REFUSED, "", sent, got, said=str(why))
    if why != "STOP":
        return Reply(Outcome.MALFORMED, "", sent, got, said=f"ended with {why!r}")
    return Reply(Outcome.ANSWERED, text, sent, got)


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    """Thoughts are charged as answer."""
    if getattr(usage, "prompt_token_count", None) is None:
        return None, None
    return usage.prompt_token_count, (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
