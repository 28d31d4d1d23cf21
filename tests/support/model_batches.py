"""A server that takes batches by Anthropic's, OpenAI's and Google's protocols, as a test scripts it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from crawler.times import rfc3339
from tests.support.models import Ask, Script, _read, _written
from tests.support.serving import Handler, LoopbackServer, reset

Lines = list[Any]


@dataclass
class Held:
    """A batch. status: as the protocol says it. lines: the requests."""

    id: str
    created: float
    lines: Lines
    status: str
    metadata: dict[str, str] = field(default_factory=dict)
    file: str = ""


class BatchServer(LoopbackServer):
    """batches, files: what is kept. ending: what becomes of a batch at once; None: it runs. lose: the answer to the
    next submit is cut, before ("before") or after ("after") it was kept. edit: changes the results; bytes are sent as
    they are. clock: of batches. refuse: the status of the next submits. archived: results are no longer there.
    keeps: nothing can be deleted.
    """

    def __init__(self, script: Script, clock: float) -> None:
        super().__init__(_Batches, "127.0.0.1")
        self.script, self.clock = script, clock
        self.batches, self.files = dict[str, Held](), dict[str, tuple[str, bytes]]()
        self.lose, self.submitted, self.deleted, self.upload = "", 0, list[str](), ""
        self.ending: str | None = None
        self.refuse, self.archived, self.keeps = 0, False, False
        self.edit: Callable[[Lines], Lines] = lambda lines: lines
        self.turn = threading.Lock()

    def model(self, protocol: str) -> str:
        return f"{protocol}:small@http://127.0.0.1:{self.port}" + ("/v1" if protocol == "openai" else "")

    def say(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        ask: Ask = _read(0, path, body)
        return _written(ask, self.script(ask))


class _Batches(Handler):
    @property
    def _is_google(self) -> bool:
        return "x-goog-api-key" in self.headers

    def do_POST(self) -> None:  # noqa: N802  # the base class calls it so
        data, path = self.rfile.read(int(self.headers["Content-Length"])), urlsplit(self.path).path
        server: BatchServer = self.server
        with server.turn:
            if path.startswith("/upload/"):
                server.upload = json.loads(data)["file"]["display_name"]
                where = {"X-Goog-Upload-URL": f"http://127.0.0.1:{server.port}/session"}
                return self.send(200, b"{}", "application/json", where)
            if path == "/session":
                made = f"file-{len(server.files) + 1}"
                server.files[made] = server.upload, data
                said = json.dumps({"file": self._file(made)}).encode()
                return self.send(200, said, "application/json", {"X-Goog-Upload-Status": "final"})
            if path == "/v1/files":
                name = re.findall(rb'filename="([^"]+)"', data)[0].decode()
                content = next(p for p in data.split(b"\r\n\r\n") if b'"custom_id"' in p).rsplit(b"\r\n--", 1)[0]
                made = f"file-{len(server.files) + 1}"
                server.files[made] = name, content
                return self._json(self._file(made))
            if server.refuse:
                return self._json({"error": {"message": "not now"}}, server.refuse)
            body, lose, server.lose = json.loads(data), server.lose, ""
            if lose != "before":
                server.submitted += 1
                number = f"batch_{server.submitted}"
                google = body.get("batch")
                file = google["inputConfig"]["fileName"].removeprefix("files/") if google else body.get("input_file_id")
                lines = body.get("requests") or [json.loads(line) for line in server.files[file][1].splitlines()]
                metadata = {"gristmill": google["displayName"]} if google else body.get("metadata") or {}
                held = Held(number, server.clock, lines, "", metadata, file or "")
                server.batches[number] = held
            if lose:
                reset(self)
                self.close_connection = True
                return None
            return self._json(self._batch(held))

    def do_DELETE(self) -> None:  # noqa: N802
        name = urlsplit(self.path).path.rpartition("/")[2]
        if self.server.keeps:
            return self._json({"error": {"message": "it stays"}}, 409)
        kept: dict[str, Any] = self.server.files if name.startswith("file") else self.server.batches
        self.server.deleted.append(name)
        return self._json({"id": name, "deleted": True}, 200 if kept.pop(name, None) else 404)

    def respond(self) -> None:
        server: BatchServer = self.server
        path = urlsplit(self.path).path
        with server.turn:
            if path.endswith("/batches"):
                batches = [self._batch(b) for b in reversed(server.batches.values())]
                return self._json({"data": batches, "operations": batches, "has_more": False})
            if path.endswith("/files"):
                files = [self._file(name) for name in server.files]
                return self._json({"data": files, "files": files, "has_more": False})
            path = path.removesuffix(":download")
            name = path.split("/batches/")[-1].split("/files/")[-1].partition("/")[0]
            if name in server.files:
                return self.send(200, server.files[name][1], "application/octet-stream")
            if (held := server.batches.get(name)) is None:
                return self._json({"error": {"message": "no such batch"}}, 404)
            if path.endswith("/results"):
                lines = [{"custom_id": line["custom_id"], "result": self._result(line)} for line in held.lines]
                return self._lines(server.edit(lines))
            return self._json(self._batch(held))

    def _result(self, line: dict[str, Any]) -> dict[str, Any]:
        if self.server.ending in ("expired", "canceled", "errored"):
            return {"type": self.server.ending, "error": {"type": "error", "error": {"type": "x", "message": "no"}}}
        return {"type": "succeeded", "message": self.server.say("/v1/messages", line["params"])}

    def _batch(self, held: Held) -> dict[str, Any]:
        server, ended = self.server, self.server.ending
        if self._is_google:
            return self._operation(held)
        if "messages" in self.path:
            counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
            counts["succeeded" if ended else "processing"] = len(held.lines)
            when = rfc3339(held.created)
            url = (
                f"http://127.0.0.1:{server.port}/v1/messages/batches/{held.id}/results"
                if ended and not server.archived
                else None
            )
            return {
                "id": held.id, "type": "message_batch", "processing_status": "ended" if ended else "in_progress",
                "request_counts": counts, "created_at": when, "expires_at": when, "results_url": url,
            }  # fmt: skip
        made: dict[str, Any] = {
            "id": held.id, "object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h",
            "created_at": int(held.created), "status": ended or "in_progress", "metadata": held.metadata,
            "input_file_id": held.file,
        }  # fmt: skip
        if ended in ("completed", "expired", "cancelled"):
            made["output_file_id"] = f"file-out-{held.id}"
            if made["output_file_id"] not in server.files and made["output_file_id"] not in server.deleted:
                lines = server.edit([self._line(line) for line in held.lines])
                data = _jsonl(lines)
                server.files[made["output_file_id"]] = "out.jsonl", data
        if ended == "failed":
            made["errors"] = {"object": "list", "data": [{"code": "bad", "message": "not taken"}]}
        return made

    def _operation(self, held: Held) -> dict[str, Any]:
        server, ended = self.server, self.server.ending
        said: dict[str, Any] = {"displayName": held.metadata["gristmill"], "state": ended or "BATCH_STATE_RUNNING"}
        said["createTime"] = rfc3339(held.created)
        if ended == "BATCH_STATE_SUCCEEDED":
            name = f"file-out-{held.id}"
            said["output"] = {"responsesFile": f"files/{name}"}
            if name not in server.files and name not in server.deleted:
                path = "/v1/models/small:generateContent"
                lines = [
                    {"custom_id": line["key"], "response": server.say(path, line["request"])} for line in held.lines
                ]
                server.files[name] = "out.jsonl", _jsonl(server.edit(lines)).replace(b'"custom_id"', b'"key"')
        return {"name": f"batches/{held.id}", "metadata": said, "done": bool(ended)}

    def _line(self, line: dict[str, Any]) -> dict[str, Any]:
        if self.server.ending in ("expired", "cancelled"):
            return {"custom_id": line["custom_id"], "response": None, "error": {"code": f"batch_{self.server.ending}"}}
        body = self.server.say(line["url"], line["body"])
        return {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}

    def _file(self, name: str) -> dict[str, Any]:
        kept, data = self.server.files[name]
        if self._is_google or self.path == "/session":
            return {"name": f"files/{name}", "displayName": kept, "sizeBytes": str(len(data))}
        return {"id": name, "object": "file", "bytes": len(data), "created_at": 1, "filename": kept,
                "purpose": "batch", "status": "processed"}  # fmt: skip

    def _json(self, body: dict[str, Any], status: int = 200) -> None:
        self.send(status, json.dumps(body).encode(), "application/json")

    def _lines(self, lines: Lines) -> None:
        self.send(200, _jsonl(lines), "application/x-jsonl")


def _jsonl(lines: list[Any]) -> bytes:
    return b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
