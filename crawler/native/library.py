"""Which binary is for this machine, is it the one that was built, and may it be used (`NATIVE`)?

A binary that is missing, damaged, of another version or for another machine is no error unless `NATIVE=required`: the
same is computed in Python. `problem` says why, and whoever starts a crawl logs it once.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import platform
import sys
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

VERSION = 5
"""Of the functions and their arguments: `NATIVE_VERSION` of native.h."""
MODES = ("auto", "off", "required")
_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_ENDINGS = {"linux": "so", "darwin": "dylib"}
_FOLDER: Traversable = resources.files(__package__)


class NativeError(Exception):
    """There is no library to be used: why, as a sentence."""


class _Mode:
    """Of this process: the stages of one crawl share it, and no answer depends on it."""

    name = "auto"


def use(mode: str) -> None:
    """From now on, in this process: `auto` where there is a library, `off` never, `required` always.

    Raises: NativeError where a library is required and there is none.
    """
    if mode not in MODES:
        raise NativeError(f"NATIVE={mode!r}: expected one of {', '.join(MODES)}")
    if mode == "required" and (why := problem()):
        raise NativeError(f"NATIVE=required: {why}")
    _Mode.name = mode


def library() -> Any:
    """The library of this machine, a `ctypes.CDLL`; None where Python does the work."""
    return None if _Mode.name == "off" else _found()[0]


def problem() -> str:
    """Why this machine has no library, as a sentence; "" where it has one."""
    return _found()[1]


def state() -> str:
    """What computes here, for the record of a run: "0+python", or version and hash of the binary and its name."""
    return "0+python" if library() is None else f"{VERSION}+{expected()[binary()][:16]} {binary()}"


@cache
def _found() -> tuple[Any, str]:
    try:
        return load(), ""
    except NativeError as error:
        return None, str(error)


def binary() -> str:
    """The file name of the binary for this machine. Raises: NativeError where none is built for it."""
    machine, ending = _MACHINES.get(platform.machine().lower()), _ENDINGS.get(sys.platform)
    if machine is None or ending is None or sys.maxsize < 2**32:
        raise NativeError(f"no native binary is built for {sys.platform} on {platform.machine() or 'this machine'}")
    return f"{sys.platform}-{machine}.{ending}"


def expected(folder: Traversable = _FOLDER) -> dict[str, str]:
    """SHA-256 by file name, 64 hex digits, as the build noted them. Raises: NativeError."""
    try:
        noted = json.loads(folder.joinpath("binaries.json").read_bytes())["binaries"]
        return {str(name): str(digest) for name, digest in noted.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise NativeError(f"native/binaries.json cannot be read ({error}): install the package again") from error


def load(folder: Traversable = _FOLDER) -> Any:
    """The library, if its file is the one that was built. Raises: NativeError."""
    name = binary()
    wanted = expected(folder).get(name)
    if wanted is None:
        raise NativeError(f"no native binary is built for {sys.platform} on {platform.machine()}")
    file = folder.joinpath("binaries", name)
    try:
        with resources.as_file(file) as path:  # a package may be a zip file (a batch job on Spark)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if digest != wanted:
                raise NativeError(f"native binary {name}: has the SHA-256 {digest[:16]}…, not {wanted[:16]}…: "
                                  "install the package again")  # fmt: skip
            found = ctypes.CDLL(str(path))
    except OSError as error:
        raise NativeError(f"native binary {name}: cannot be loaded ({error})") from error
    if (version := found.native_version()) != VERSION:
        raise NativeError(f"native binary {name}: has version {version}, this package needs {VERSION}")
    return found
