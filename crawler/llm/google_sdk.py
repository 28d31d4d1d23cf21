"""Google's Gemini, by key or, as `vertex:`, by a project of Vertex AI. Batches go by key alone."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from typing import Any, cast

import orjson

from crawler.llm.failures import TIMEOUT_SECONDS, cut_of, not_deleted, reply_of
from crawler.llm.model import (
    Batching,
    Collected,
    Found,
    Outcome,
    Provider,
    ProviderError,
    Reply,
    Request,
    State,
    results_in,
)

OWN_URL = "https://generativelanguage.googleapis.com"
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
PROJECT, LOCATION = "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"
_REFUSED = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR"}
_ENDED = {"JOB_STATE_SUCCEEDED", "JOB_STATE_PARTIALLY_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED"}
_ENDED |= {"JOB_STATE_EXPIRED"}


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
        body = _body(request)

        def generate() -> Any:
            config = {**body["generationConfig"], "systemInstruction": request.system}
            made = self._types.GenerateContentConfig.model_validate(config)
            return self._client.models.generate_content(model=self._name, contents=body["contents"], config=made)

        found = self._answered(generate)
        return found if isinstance(found, Reply) else _reply(found)

    def _answered(self, call: Callable[[], Any]) -> Any:
        """What the client answers, or the `Reply` of a call that failed. Raises: ProviderError."""
        from google.genai import errors

        clients = [getattr(errors, name, None) for name in ("httpx", "httpx2")]  # it uses the newer one that is there
        cut = (OSError, *(each.HTTPError for each in clients if each is not None))
        try:
            return call()
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            return reply_of(error.code or 500, headers, str(error), f"google:{self._name}")
        except cut as error:
            return cut_of(error)
        except (errors.UnknownApiResponseError, ValueError, KeyError) as error:  # HTML with status 200, too
            return Reply(Outcome.GARBLED, said=str(error)[:300])

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class Gemini(Google, Batching):
    """A Gemini model by key, which takes batches: a file of requests, and a file of results whose lines stand alone."""

    most_bytes = 50_000_000  # of 2 GB: https://ai.google.dev/gemini-api/docs/batch-api

    def submit(self, mark: str, requests: Sequence[tuple[str, Request]]) -> str | Reply:
        """A file of requests, and a batch of it, both by the name `mark`. Raises: ProviderError."""
        lines = b"".join(
            orjson.dumps({"key": name, "request": _body(request)}, option=orjson.OPT_APPEND_NEWLINE)
            for name, request in requests
        )
        named: Any = {"display_name": mark, "mime_type": "application/jsonl"}
        file = self._answered(lambda: self._client.files.upload(file=io.BytesIO(lines), config=named))
        if isinstance(file, Reply):  # no batch can have come of it
            left = "" if file.outcome is Outcome.UNREACHABLE else self._delete_files(mark)
            return Reply(Outcome.UNREACHABLE, said=file.said + not_deleted(left))
        create = self._client.batches.create
        try:
            made = self._answered(lambda: create(model=self._name, src=file.name, config={"display_name": mark}))
        except ProviderError as error:
            raise ProviderError(f"{error}{not_deleted(self._delete_files(mark))}") from None
        if not isinstance(made, Reply):
            return str(made.name) if made.name else Reply(Outcome.GARBLED, said=str(made)[:300])
        left = self._delete_files(mark) if made.outcome.is_unpaid else ""
        return Reply(made.outcome, said=made.said + not_deleted(left))

    def find(self, mark: str, size: int, since: float, *, settled: bool) -> Found:  # noqa: ARG002
        """By its name; a file of requests that never became a batch is deleted. Raises: ProviderError."""

        def look() -> Found:
            for batch in self._client.batches.list(config={"page_size": 100}):
                if batch.display_name == mark and batch.name:
                    return Found(batch.name)
            return Found(left=self._delete_files(mark)) if settled else Found()

        found = self._answered(look)
        return Found(unsure=True) if isinstance(found, Reply) else cast("Found", found)

    def collect(self, batch: str) -> Collected:
        """What has no file of results (failed, expired, cancelled) may be paid: nobody says that it is not.

        Raises: ProviderError.
        """

        def read() -> Collected:
            if (found := self._batch(batch)) is None:
                return Collected(State.GONE)
            state = getattr(found.state, "name", str(found.state))
            if state not in _ENDED:
                return Collected(State.RUNNING)
            file = found.dest.file_name if found.dest is not None else None
            data = self._results(file) if file else b""
            lines = [(name, self._result(line)) for name, line in results_in(data, "key")]
            return Collected(State.ENDED, lines, said="" if file else state)

        found = self._answered(read)
        return Collected(State.UNKNOWN, said=found.said) if isinstance(found, Reply) else cast("Collected", found)

    def _batch(self, name: str) -> Any:
        return self._found(lambda: self._client.batches.get(name=name))

    def _results(self, file: str) -> bytes:
        return self._found(lambda: self._client.files.download(file=file)) or b""

    @staticmethod
    def _found(call: Callable[[], Any]) -> Any:
        """None where it is not there: expired, or a process deleted it and died before it could note that."""
        from google.genai import errors

        try:
            return call()
        except errors.ClientError as error:
            if error.code == 404:
                return None
            raise

    def _result(self, line: dict[str, Any]) -> Reply:
        """How a line of the results ended; one in another form may be paid."""
        if line.get("error"):
            return Reply(Outcome.REJECTED, said=str(line["error"])[:300])
        if not isinstance(response := line.get("response"), dict):
            return Reply(Outcome.GARBLED, said=str(line)[:300])
        try:
            return _reply(self._types.GenerateContentResponse.model_validate(response))
        except ValueError:
            return Reply(Outcome.GARBLED, said=str(response)[:300])

    def forget(self, batch: str, mark: str) -> str:
        """Delete it with its two files."""
        left: list[str] = []

        def delete() -> None:
            if (found := self._batch(batch)) is None:
                left.append(self._delete_files(mark))
                return
            results = found.dest.file_name if found.dest is not None else None
            left.append(self._delete_files(found.display_name, results))
            self._client.batches.delete(name=batch)

        try:
            ended = self._answered(delete)
        except ProviderError as error:
            ended = Reply(Outcome.REJECTED, said=str(error))
        if isinstance(ended, Reply):
            left.append(f"batch {batch} ({ended.said[:100]})")
        return ", ".join(filter(None, left))

    def _delete_files(self, mark: str | None, *more: str | None) -> str:
        """Delete the files of a name, and others by their ids; what could not be deleted, "" where all is gone."""
        left: list[str] = []

        def delete() -> None:
            listed = self._client.files.list(config={"page_size": 100}) if mark else ()
            for name in [*(file.name for file in listed if file.display_name == mark), *more]:
                if name:
                    self._delete_file(name, left)

        try:
            ended = self._answered(delete)
        except ProviderError as error:
            ended = Reply(Outcome.REJECTED, said=str(error))
        if isinstance(ended, Reply):
            left.append(f"files called {mark} ({ended.said[:100]})")
        return ", ".join(left)

    def _delete_file(self, name: str, left: list[str]) -> None:
        from google.genai import errors

        try:
            self._client.files.delete(name=name)
        except errors.APIError as error:
            if error.code != 404:
                left.append(f"{name} ({str(error)[:100]})")


def _body(request: Request) -> dict[str, Any]:
    """As the REST interface has it."""
    image = request.image_in_base64()
    parts: list[dict[str, Any]] = [{"inlineData": {"mimeType": "image/jpeg", "data": image}}] if image else []
    return {
        "systemInstruction": {"parts": [{"text": request.system}]},
        "contents": [{"role": "user", "parts": [*parts, {"text": request.user}]}],
        "generationConfig": {
            "maxOutputTokens": request.most_tokens,
            "responseMimeType": "application/json",
            "responseJsonSchema": request.schema,
        },
    }


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
