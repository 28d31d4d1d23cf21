"""The process that has loaded the libraries, and makes a child of itself for every file: the child may die of it.

It reads requests from its standard input and answers on its standard output, one after the other, and ends when its
input does. Frames are a length of eight bytes and so many bytes; what is said is JSON, because a child that reads
hostile bytes may say anything. Each child has limits of its own: memory, CPU time, wall-clock time, and it cannot write
a file. Nothing here knows of the crawl.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO

from crawler.config.documents import KINDS, is_installed
from crawler.stages.documents.model import Content, Facts, UnreadableError, packed

MEMORY = 1_536 * 2**20
"""Bytes of address space of a child, its libraries included: 113 pages take 68 MB, a bomb 3 GB (measured)."""
MAX_ANSWER = 256 * 2**20
"""Bytes that a child may say."""
READERS = {kind: kind for kind in KINDS}
"""Module of each kind, here beside."""
Reader = Callable[[bytes, dict[str, Any]], Iterator[Facts | Content]]
"""A reader yields the facts, then the content. Raises: UnreadableError."""


def read_exactly(file: BinaryIO, size: int) -> bytes:
    """Raises: EOFError where the other side is gone."""
    data = file.read(size)
    if len(data) != size:
        raise EOFError
    return data


def read_frame(file: BinaryIO) -> bytes:
    """Raises: EOFError."""
    return read_exactly(file, int.from_bytes(read_exactly(file, 8), "big"))


def frame(data: bytes) -> bytes:
    """With its length in front."""
    return len(data).to_bytes(8, "big") + data


def frames_of(data: bytes) -> list[Any]:
    """The whole frames of what a child has said before it ended, as values; one that was torn is left out."""
    found, at = [], 0
    while (start := at + 8) <= len(data):
        at = start + int.from_bytes(data[at:start], "big")
        if at > len(data):
            break
        found.append(json.loads(data[start:at]))
    return found


def main() -> None:
    """Serve until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started us
    loaded: dict[str, Reader] = {
        kind: import_module(f"crawler.stages.documents.{name}").read
        for kind, name in READERS.items()
        if is_installed(kind)
    }
    gc.collect()
    gc.freeze()
    into, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    with suppress(EOFError, BrokenPipeError):
        while True:
            asked = json.loads(read_frame(into))
            said, status, used = _in_child(loaded[asked["kind"]], read_frame(into), asked)
            end = json.dumps({"status": status, "cpu": round(used.ru_utime + used.ru_stime, 6)})
            out.write(frame(end.encode()) + frame(said))
            out.flush()


def _in_child(reader: Reader, body: bytes, asked: dict[str, Any]) -> tuple[bytes, int, resource.struct_rusage]:
    """What the child has said, how it ended (`os.waitstatus_to_exitcode`), and what it used."""
    mouth, ear = os.pipe()[::-1]
    pid = os.fork()
    if pid == 0:
        try:
            os.close(ear)
            _limit(asked)
            _answer(reader, body, asked, mouth)
            os._exit(0)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        finally:
            os._exit(1)
    os.close(mouth)
    said = bytearray()
    with os.fdopen(ear, "rb", buffering=0) as pipe:
        while piece := pipe.read(2**20):
            said += piece
            if len(said) > MAX_ANSWER:
                os.kill(pid, signal.SIGKILL)
                break
    _, status, used = os.wait4(pid, 0)
    return bytes(said), os.waitstatus_to_exitcode(status), used


OUT_OF_MEMORY = 77
"""Exit code of a child that Python told so; PDFium ends with SIGABRT instead."""


def _limit(asked: dict[str, Any]) -> None:
    gc.disable()
    cpu = int(asked["cpu"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], asked["memory"]))
    signal.alarm(int(asked["wall"]))


def _answer(reader: Reader, body: bytes, asked: dict[str, Any], mouth: int) -> None:
    with os.fdopen(mouth, "wb") as out:
        try:
            for value in reader(body, asked):
                out.write(frame(json.dumps(packed(value)).encode("utf-8", "surrogatepass")))
                out.flush()
        except UnreadableError as error:
            out.write(frame(json.dumps({"drop": [error.reason, error.detail]}).encode()))
        except RecursionError:
            out.write(frame(json.dumps({"drop": ["broken_document", "nested too deep"]}).encode()))


if __name__ == "__main__":
    main()
