"""A file is read in a child of the nursery: facts and text come back, or a reason. Never an exception for its sake.

Each process that runs stages has a nursery of its own, started with the first file and used for all the next ones.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any

from crawler.document import Drop, DropReason, Reason
from crawler.stages.documents.model import Content, Facts, content_of, facts_of
from crawler.stages.documents.nursery import MEMORY, OUT_OF_MEMORY, frame, frames_of, read_frame

WALL = 5
"""Wall-clock seconds for each second of CPU time: half of what the stage pool allows (`pool.cpu_limit.PATIENCE`)."""
_START = "import sys; sys.path[:] = sys.argv[1:]; from crawler.stages.documents.nursery import main; main()"
_REASONS = {
    reason.value: reason
    for reason in (
        DropReason.ENCRYPTED, DropReason.NEEDS_OCR, DropReason.GARBLED, DropReason.TRUNCATED, DropReason.TOO_LARGE,
        DropReason.BROKEN_DOCUMENT, DropReason.NO_TEXT,
    )
}  # fmt: skip
_BY_SIGNAL: dict[int, tuple[Reason, str]] = {
    signal.SIGABRT: (DropReason.DOCUMENT_MEMORY, "the reader got no more memory"),
    signal.SIGXCPU: (DropReason.DOCUMENT_CPU, "more CPU time than STAGE_TIMEOUT_SECONDS"),
    signal.SIGALRM: (DropReason.DOCUMENT_CPU, f"no answer within {WALL} times STAGE_TIMEOUT_SECONDS"),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """facts: None where nothing could be read. drop: why there is no content. cpu: seconds that the child took."""

    facts: Facts | None = None
    content: Content | None = None
    drop: Drop | None = None
    cpu: float = 0.0


class Nursery:
    """The process that makes the children; it is started with the first file, and again where it has died."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._lock = threading.Lock()

    def read(self, kind: str, body: bytes, *, seconds: float, **wanted: Any) -> Reading:
        """Read a file of a kind of `DOCUMENT_KINDS`. seconds: of CPU time. wanted: `max_pages`, `max_links`."""
        cpu = max(1, math.ceil(seconds))
        asked = {"kind": kind, "cpu": cpu, "wall": WALL * cpu, "memory": self._memory, **wanted}
        with self._lock:
            for _ in range(2):  # the first may have died for somebody else's sake
                try:
                    return _understood(*self._ask(asked, body))
                except (OSError, EOFError, ValueError):
                    self.close()
        return Reading(drop=Drop("documents", DropReason.DOCUMENT_CRASH, "the process that reads files does not live"))

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def _ask(self, asked: dict[str, Any], body: bytes) -> tuple[dict[str, Any], list[Any]]:
        """Raises: OSError, EOFError, ValueError where the process has died or speaks nonsense."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(frame(json.dumps(asked).encode()))
        process.stdin.write(frame(body))
        process.stdin.flush()
        end = json.loads(read_frame(process.stdout))  # type: ignore[arg-type]
        return end, frames_of(read_frame(process.stdout))  # type: ignore[arg-type]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            if self._owner == os.getpid():
                self.close()
            self._owner = os.getpid()
            self._process = subprocess.Popen(  # noqa: S603  # this program itself
                [sys.executable, "-c", _START, *filter(None, sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=False,
            )
        return self._process


def _understood(end: dict[str, Any], said: list[Any]) -> Reading:
    cpu, status = float(end["cpu"]), int(end["status"])
    drop = next((_named(*value["drop"]) for value in said if "drop" in value), None)
    values = [value for value in said if "drop" not in value]
    facts = facts_of(values[0]) if values else None
    content = content_of(values[1]) if len(values) > 1 else None
    if drop is None and (content is None or status):
        drop, content = _drop_of(status), None
    return Reading(facts, content, drop, cpu)


def _named(reason: str, detail: str) -> Drop:
    return Drop("documents", _REASONS.get(reason, DropReason.BROKEN_DOCUMENT), str(detail)[:512])


def _drop_of(status: int) -> Drop:
    """Why the child ended: its exit code, or the signal with a minus in front."""
    if status == OUT_OF_MEMORY:
        return Drop("documents", *_BY_SIGNAL[signal.SIGABRT])
    if -status in _BY_SIGNAL:
        return Drop("documents", *_BY_SIGNAL[-status])
    how = f"signal {-status}" if status < 0 else f"exit code {status}"
    return Drop("documents", DropReason.DOCUMENT_CRASH, f"the process that read the file ended: {how}")


THE_NURSERY = Nursery()
"""That of this process."""
atexit.register(THE_NURSERY.close)
