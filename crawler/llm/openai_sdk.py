"""OpenAI, and every server that speaks its chat completions: vLLM, llama.cpp, Ollama and others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import orjson

from crawler.llm.failures import TIMEOUT_SECONDS, answered, counted, not_deleted
from crawler.llm.model import Batching, Collected, Found, Outcome, ProviderError, Reply, Request, State, results_in

OWN_URL = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"


class OpenAI(Batching):
    """A model behind chat completions. url: None = OpenAI's own. Raises: ProviderError where no key is set."""

    most_bytes = 50_000_000  # of 200 MB: https://platform.openai.com/docs/guides/batch

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
        create = cast("Any", self._client.chat.completions.create)  # its overloads know no plain dict
        found = answered(self._sdk, partial(create, **self._body(request)), f"openai:{self._name}")
        return found if isinstance(found, Reply) else _reply(found)

    def _body(self, request: Request) -> dict[str, Any]:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": request.schema, "strict": True}}
        # OpenAI's reasoning models take no temperature and only the newer name; other servers know only the older one.
        own: dict[str, Any] = {"max_completion_tokens": request.most_tokens}
        others: dict[str, Any] = {"max_tokens": request.most_tokens, "temperature": 0.0}
        messages: Any = [{"role": "system", "content": request.system}, {"role": "user", "content": _content(request)}]
        more = own if self._is_own else others
        return {"model": self._name, "messages": messages, "response_format": form, **more}

    def submit(self, mark: str, requests: Sequence[tuple[str, Request]]) -> str | Reply:
        """A file of requests, and a batch of it. Raises: ProviderError."""
        lines = b"".join(
            orjson.dumps(
                {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": self._body(request)},
                option=orjson.OPT_APPEND_NEWLINE,
            )
            for name, request in requests
        )

        uploaded: list[str] = []

        def send() -> Any:
            uploaded.append(self._client.files.create(file=(f"{mark}.jsonl", lines), purpose="batch").id)
            return self._client.batches.create(
                input_file_id=uploaded[0], endpoint="/v1/chat/completions", completion_window="24h",
                metadata={"gristmill": mark},
            )  # fmt: skip

        try:
            made = answered(self._sdk, send, f"openai:{self._name}")
        except ProviderError as error:
            raise ProviderError(f"{error}{not_deleted(self._delete(uploaded))}") from None
        if isinstance(made, Reply):  # of any other one a batch may have come of the file
            left = not_deleted(self._delete(uploaded)) if made.outcome.is_unpaid else ""
            return replace(made, said=f"{made.said}{left}")
        return str(made.id) if getattr(made, "id", None) else Reply(Outcome.GARBLED, said=str(made)[:300])

    def find(self, mark: str, size: int, since: float, *, settled: bool) -> Found:  # noqa: ARG002
        """By its metadata; a file of requests that never became a batch is deleted. Raises: ProviderError."""

        def look() -> Found:
            for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).get("gristmill") == mark:
                    return Found(batch.id)
            if not settled:
                return Found()
            return Found(left=self._delete(self._requests_of(mark)))

        found = answered(self._sdk, look, f"openai:{self._name}")
        return Found(unsure=True) if isinstance(found, Reply) else cast("Found", found)

    def collect(self, batch: str) -> Collected:
        """Raises: ProviderError."""

        def read() -> Collected:
            try:
                state = self._client.batches.retrieve(batch)
            except self._sdk.NotFoundError:
                return Collected(State.GONE)
            if state.status == "failed":  # refused as a whole before anything ran
                return Collected(State.GONE, said=str(state.errors)[:300])
            if state.status not in ("completed", "expired", "cancelled"):
                return Collected(State.RUNNING)
            files = [each for each in (state.output_file_id, state.error_file_id) if each]
            return Collected(State.ENDED, [one for each in files for one in self._results(each)])

        found = answered(self._sdk, read, f"openai:{self._name}")
        return Collected(State.UNKNOWN, said=found.said) if isinstance(found, Reply) else cast("Collected", found)

    def _results(self, file: str) -> Iterator[tuple[str, Reply]]:
        try:
            data = self._client.files.content(file).content
        except self._sdk.NotFoundError:  # expired, or a process deleted it and died before it could note that
            return
        yield from ((name, _result(found)) for name, found in results_in(data))

    def forget(self, batch: str, mark: str) -> str:
        """Delete its files; OpenAI keeps the batch itself, which has no text."""
        try:
            try:
                state = self._client.batches.retrieve(batch)
            except self._sdk.NotFoundError:
                return self._delete(self._requests_of(mark))
        except self._sdk.APIError as error:
            return f"files of batch {batch} ({str(error)[:100]})"
        return self._delete([each for each in (state.input_file_id, state.output_file_id, state.error_file_id) if each])

    def _requests_of(self, mark: str) -> list[str]:
        """Files of requests by the name that `submit` gives them."""
        return [each.id for each in self._client.files.list(purpose="batch") if each.filename == f"{mark}.jsonl"]

    def _delete(self, files: Sequence[str]) -> str:
        """What could not be deleted, "" where all is gone."""
        left = []
        for each in files:
            try:
                self._client.files.delete(each)
            except self._sdk.NotFoundError:
                continue
            except self._sdk.APIError as error:
                left.append(f"{each} ({str(error)[:100]})")
        return ", ".join(left)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _content(request: Request) -> str | list[dict[str, Any]]:
    if not (image := request.image_in_base64()):
        return request.user
    url = {"url": f"data:image/jpeg;base64,{image}", "detail": "low"}
    return [{"type": "image_url", "image_url": url}, {"type": "text", "text": request.user}]


def _result(found: dict[str, Any]) -> Reply:
    """How a line of a batch's results ended; one in another form may be paid."""
    from openai.types.chat import ChatCompletion

    error, response = found.get("error"), found.get("response")
    if isinstance(error, dict) and error.get("code") in ("batch_expired", "batch_cancelled"):
        return Reply(Outcome.OVERLOADED, said=str(error)[:300])
    if error:
        return Reply(Outcome.REJECTED, said=str(error)[:300])
    status, body = (response.get("status_code"), response.get("body")) if isinstance(response, dict) else (None, None)
    if isinstance(status, int) and status != 200:
        return Reply(Outcome.REJECTED, said=str(body)[:300])
    if not isinstance(body, dict):
        return Reply(Outcome.GARBLED, said=str(found)[:300])
    return _reply(ChatCompletion.construct(**body))


def _reply(found: Any) -> Reply:
    usage = getattr(found, "usage", None)
    sent, got = counted(getattr(usage, "prompt_tokens", None)), counted(getattr(usage, "completion_tokens", None))
    try:
        choice = found.choices[0]
        message, why = choice.message, choice.finish_reason
        text, refusal = message.content, getattr(message, "refusal", None)
    except (AttributeError, TypeError, LookupError):
        return Reply(Outcome.GARBLED, "", sent, got, said=str(found)[:300])
    if why == "length":
        return Reply(Outcome.TRUNCATED, "", sent, got)
    if refusal or why == "content_filter":
        return Reply(Outcome.REFUSED, "", sent, got, said=str(refusal or why)[:300])
    if why != "stop" or not isinstance(text, str):
        return Reply(Outcome.MALFORMED, "", sent, got, said=f"ended with {why!r}")
    return Reply(Outcome.ANSWERED, text, sent, got)
