"""A program of the user's reads a file: in a process of its own, within limits, and what it prints is the text.

The command is no line for a shell: it is split into words once, and `{file}` in a word stands for the path.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crawler.problems import InputError
from crawler.storage.types import JobRecord

FILE = "{file}"
FAILURES = {
    "program_failed": "the program ended with another exit code than 0",
    "program_timeout": "the program took longer than --seconds",
    "program_killed": "a signal ended the program, as where it got no more memory than --memory",
    "program_not_utf8": "what the program printed is no UTF-8",
    "program_empty": "the program printed nothing",
    "program_too_large": "the program printed more than a file may have",
}
"""What can come of a program instead of a text."""
MOST_BYTES = 80 * 2**20
"""Of what a program prints: 20,000,000 characters, as of a file that the crawl reads."""
_WRITTEN = 2**30
"""Bytes of a file that a program may write."""
_LIMITED = """
import ctypes, os, resource, signal, sys
parent, memory, written = map(int, sys.argv[1:4])
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != parent:
    os._exit(1)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
os.execvp(sys.argv[4], sys.argv[4:])
"""
"""Sets limits, dies with the process that started it (prctl 1: PR_SET_PDEATHSIG), and becomes the program."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What came of a file. failure: of `FAILURES`, "" where there is a text. said: last line on standard error."""

    text: str = ""
    failure: str = ""
    detail: str = ""
    seconds: float = 0.0
    said: str = ""


@dataclass(slots=True)
class Program:
    """A command with `{file}` in it. seconds: of wall-clock time a file. memory: bytes of address space. version: what
    the job record says of it, "" = the hashes of the files that the command names.

    Raises: InputError where the command has no `{file}` or its program is not there.
    """

    command: str
    seconds: float = 120.0
    memory: int = 4 * 2**30
    version: str = ""
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise InputError([f"--command {self.command!r}: {error}"]) from None
        if not any(FILE in word for word in words):
            raise InputError([f"--command {self.command!r}: expected {FILE} where the path of the file belongs"])
        if shutil.which(words[0]) is None:
            raise InputError([f"--command {self.command!r}: there is no program {words[0]!r}"])
        self.version = self.version or _hashes(words)

    @property
    def name(self) -> str:
        """Of the program alone."""
        return Path(shlex.split(self.command)[0]).name

    def parameters(self) -> dict[str, Any]:
        """For the job record."""
        return {"command": self.command, "seconds": self.seconds, "memory": self.memory}

    def made(self, job: JobRecord) -> bool:
        """True for a job of this command in this version."""
        return job["code"] == self.version and job["parameters"].get("command") == self.command

    def had_these_limits(self, job: JobRecord) -> bool:
        """True where it had the same time and memory."""
        had: Mapping[str, Any] = job["parameters"]
        return all(had.get(name) == value for name, value in self.parameters().items())

    def read(self, body: bytes, name: str) -> Printed:
        """Give it a file of this name. Never an exception for the sake of the file or of what the program does.

        Raises: OSError where this machine can start no process or has no room for the file.
        """
        began = time.monotonic()
        with TemporaryDirectory(prefix="transcribe-") as folder:
            path = Path(folder) / name
            path.write_bytes(body)
            words = [word.replace(FILE, str(path)) for word in shlex.split(self.command)]
            with (Path(folder) / ".printed").open("w+b") as out, (Path(folder) / ".said").open("w+b") as err:
                failure, detail = self._run(words, folder, out.fileno(), err.fileno())
                printed, said = _read(out, MOST_BYTES + 1), _last_line(_read(err, 2**16, from_end=True))
        seconds = time.monotonic() - began
        if failure:
            return Printed("", failure, detail, seconds, said)
        if len(printed) > MOST_BYTES:
            return Printed("", "program_too_large", f"more than {MOST_BYTES:,} bytes", seconds, said)
        try:
            text = printed.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            return Printed("", "program_not_utf8", f"byte {error.start:,}", seconds, said)
        if not text.strip():
            return Printed("", "program_empty", "", seconds, said)
        return Printed(text, seconds=seconds)

    def stop(self) -> None:
        """End what runs."""
        with self._lock:
            for process in self._running:
                _kill(process)

    def _run(self, words: Sequence[str], folder: str, out: int, err: int) -> tuple[str, str]:
        """Failure and detail; both empty where it ended well."""
        limits = [str(number) for number in (os.getpid(), self.memory, _WRITTEN)]
        process = subprocess.Popen(  # noqa: S603  # the user's own command
            [sys.executable, "-I", "-c", _LIMITED, *limits, *words],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, start_new_session=True,
        )  # fmt: skip
        with self._lock:
            self._running.add(process)
        try:
            code = process.wait(self.seconds)
        except subprocess.TimeoutExpired:
            return "program_timeout", f"{self.seconds:g} seconds"
        finally:
            _kill(process)
            process.wait()
            with self._lock:
                self._running.discard(process)
        if code < 0:
            return "program_killed", f"signal {-code}"
        return ("program_failed", f"exit code {code}") if code else ("", "")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The program, and what it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _read(file: Any, most: int, *, from_end: bool = False) -> bytes:
    file.seek(max(0, file.seek(0, os.SEEK_END) - most) if from_end else 0)
    found: bytes = file.read(most)
    return found


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return "".join(c if c.isprintable() else " " for c in lines[-1])[:200] if lines else ""


def _hashes(words: Sequence[str]) -> str:
    """The files that a command names, with the beginnings of their hashes: a changed one is another version."""
    found = [path for word in words if (path := Path(shutil.which(word) or word)).is_file()]
    return ", ".join(f"{path.name} sha256:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}" for path in found)
