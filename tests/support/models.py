"""A server of language models that speaks OpenAI's, Anthropic's and Google's protocol, as a test scripts it."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.serving import Handler, LoopbackServer, reset

MARK = "==="
_URL_SAFE = str.maketrans("-_", "+/")  # protobuf takes both alphabets of base64


@dataclass
class Ask:
    """A request as the model sees it. number: from 1, of all that came."""

    number: int
    protocol: str
    model: str
    system: str
    user: str
    schema: dict[str, Any]
    body: dict[str, Any]
    image: bytes = b""

    @property
    def page(self) -> str:
        """What stands between the marks."""
        return self.user.split("\n", 1)[1].rsplit("\n", 1)[0]


@dataclass
class Say:
    """What the server does. ended: "stop", "length" or "refusal". raw: sent in place of an answer of the protocol.

    cut: hang up after half of the answer. tokens: in and out; None: the answer has no count.
    """

    text: str = "{}"
    status: int = 200
    ended: str = "stop"
    headers: dict[str, str | None] = field(default_factory=dict)
    raw: bytes | None = None
    kind: str = "application/json"
    cut: bool = False
    tokens: tuple[int, int] | None = (100, 20)


Script = Callable[[Ask], Say]


def judged(score: int = 3, evidence: tuple[str, ...] = (), reason: str = "as it reads") -> Say:
    return Say(json.dumps({"reason": reason, "evidence": list(evidence), "score": score}))


class ModelServer(LoopbackServer):
    """Answers by `script`; `asks` has all that came."""

    def __init__(self, script: Script) -> None:
        super().__init__(_Protocols, "127.0.0.1")
        self.script, self.asks, self._counting = script, list[Ask](), threading.Lock()

    def url(self, protocol: str) -> str:
        return f"http://127.0.0.1:{self.port}" + ("/v1" if protocol == "openai" else "")

    def model(self, protocol: str = "openai") -> str:
        """As `--model` takes it."""
        return f"{protocol}:small@{self.url(protocol)}"

    def note(self, path: str, body: dict[str, Any]) -> Ask:
        with self._counting:
            self.asks.append(_read(len(self.asks) + 1, path, body))
            return self.asks[-1]


class _Protocols(Handler):
    def do_POST(self) -> None:  # noqa: N802  # the base class calls it so
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ask = self.server.note(self.path, body)
        say = self.server.script(ask)
        data = say.raw if say.raw is not None else json.dumps(_written(ask, say)).encode()
        if not say.cut:
            self.send(say.status, data, say.kind, say.headers)
            return
        self.send_response(200)
        self.send_header("Content-Type", say.kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.wfile.flush()
        reset(self)


def _read(number: int, path: str, body: dict[str, Any]) -> Ask:
    if path.endswith("/chat/completions"):
        system, user = (message["content"] for message in body["messages"])
        user, image = _parts(user, lambda part: part["image_url"]["url"].removeprefix("data:image/jpeg;base64,"))
        schema = body["response_format"]["json_schema"]["schema"]
        return Ask(number, "openai", body["model"], system, user, schema, body, image)
    if path.endswith("/v1/messages"):
        (message,) = body["messages"]
        user, image = _parts(message["content"], lambda part: part["source"]["data"])
        schema = body["output_config"]["format"]["schema"]
        return Ask(number, "anthropic", body["model"], body["system"], user, schema, body, image)
    model = path.rpartition("/models/")[2].partition(":")[0]
    system = body["systemInstruction"]["parts"][0]["text"]
    user, image = _parts(body["contents"][0]["parts"], lambda part: part["inlineData"]["data"])
    return Ask(number, "google", model, system, user, body["generationConfig"]["responseJsonSchema"], body, image)


def _parts(content: Any, data: Callable[[dict[str, Any]], str]) -> tuple[str, bytes]:
    """The text and the image of what is asked. data: base64 of a part that is no text."""
    if isinstance(content, str):
        return content, b""
    (text,) = (part["text"] for part in content if "text" in part)
    images = [base64.b64decode(data(part).translate(_URL_SAFE)) for part in content if "text" not in part]
    return text, b"".join(images)


def _written(ask: Ask, say: Say) -> dict[str, Any]:
    if say.status != 200:
        return {"error": {"message": "scripted", "code": say.status, "status": "SCRIPTED"}}
    return {"openai": _openai, "anthropic": _anthropic, "google": _google}[ask.protocol](ask, say)


def _openai(ask: Ask, say: Say) -> dict[str, Any]:
    message = {"role": "assistant", "content": say.text, "refusal": None}
    if say.ended == "refusal":
        message |= {"content": None, "refusal": "I cannot help with that."}
    why = "length" if say.ended == "length" else "stop"
    made = {"id": "c1", "object": "chat.completion", "created": 1, "model": ask.model}
    made["choices"] = [{"index": 0, "finish_reason": why, "message": message}]
    if say.tokens:
        sent, got = say.tokens
        made["usage"] = {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}
    return made


def _anthropic(ask: Ask, say: Say) -> dict[str, Any]:
    why = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}[say.ended]
    made = {"id": "m1", "type": "message", "role": "assistant", "model": ask.model, "stop_reason": why}
    made |= {"content": [{"type": "text", "text": say.text}], "stop_sequence": None}
    if say.tokens:
        made["usage"] = {"input_tokens": say.tokens[0], "output_tokens": say.tokens[1]}
    return made


def _google(ask: Ask, say: Say) -> dict[str, Any]:
    why = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}[say.ended]
    content = {"role": "model", "parts": [{"text": say.text}]}
    made: dict[str, Any] = {"candidates": [{"content": content, "finishReason": why, "index": 0}]}
    if say.tokens:
        sent, got = say.tokens
        made["usageMetadata"] = {"promptTokenCount": sent, "candidatesTokenCount": got, "totalTokenCount": sent + got}
    return made
