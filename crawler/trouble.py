"""Is it this machine's own trouble? An error that says nothing about the site or the page that met it.

`of_this_machine` knows what only this machine can lack. `perhaps_of_this_machine` knows what may be the network here or
the host there: whoever asks has to look whether other hosts are reached (`crawler.downloader.reach`).
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator

_LACKS = {
    errno.EMFILE: "this process has no file descriptor left: raise its limit (ulimit -n), or lower CONCURRENT_REQUESTS",
    errno.ENFILE: "this machine has no file descriptor left: raise fs.file-max, or run less on it",
    errno.ENOMEM: "this machine has no memory left: give it more, or run less on it",
    errno.ENOBUFS: "this machine has no memory left for its network: give it more, or run less on it",
    errno.ENOSPC: "a disk of this machine is full: free space on it",
    errno.EDQUOT: "this user's share of a disk is used up: free space on it",
    errno.EROFS: "a disk of this machine is read-only: check it",
}
_UNREACHED = frozenset(
    {errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.EPERM, errno.EACCES}
)
_NO_ANSWER = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL, socket.EAI_SYSTEM, socket.EAI_MEMORY})
_MOST = 32  # errors looked at behind one


class LackError(Exception):
    """This machine lacks what its work needs: what, and what to do. It says nothing of a page."""


def of_this_machine(error: BaseException) -> str | None:
    """What this machine lacks and what to do, as a sentence; None where the error is not, or not surely, its own."""
    for number in _numbers(error):
        if number in _LACKS:
            return f"{os.strerror(number)}: {_LACKS[number]}; then run the same command again"
    return None


def perhaps_of_this_machine(error: BaseException) -> str | None:
    """What a network that is down would bring about as well; None where a host has answered, if only to refuse."""
    for one in _behind(error):
        if isinstance(one, socket.gaierror):
            if one.errno in _NO_ANSWER:
                return f"host names cannot be resolved ({one.strerror}): check this machine's DNS (/etc/resolv.conf)"
        elif _number_of(one) in _UNREACHED:
            return f"no host can be reached ({os.strerror(_number_of(one))}): check this machine's network"
    return None


def _numbers(error: BaseException) -> Iterator[int]:
    return (_number_of(one) for one in _behind(error) if not isinstance(one, socket.gaierror))


def _number_of(error: BaseException) -> int:
    """errno of a system call that failed; Twisted's errors carry it as `osError`. 0 = none."""
    found = getattr(error, "errno", None) or getattr(error, "osError", None)
    return found if isinstance(found, int) else 0


def _behind(error: BaseException) -> Iterator[BaseException]:
    """The error and what brought it about, as Python and Twisted (`reasons`) tell it."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < _MOST:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        reasons = [getattr(reason, "value", None) for reason in getattr(one, "reasons", None) or ()]
        waiting += [e for e in (one.__cause__, one.__context__, *reasons) if isinstance(e, BaseException)]
