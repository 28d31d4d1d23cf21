"""Ports for servers that have to be told theirs: nobody takes one by chance between its choice and its use."""

from __future__ import annotations

import contextlib
import os
import socket

LOWEST, MANY = 24_000, 5_000
"""Below all that Linux hands out of its own accord (ip_local_port_range: from 32768 on)."""
_next = os.getpid() * 61 % MANY  # test processes beside this one begin elsewhere


def free_port() -> int:
    """A port of 127.0.0.1 that is free, that this process has not given away and the system gives to nobody."""
    global _next  # a counter
    for _ in range(MANY):
        port, _next = LOWEST + _next, (_next + 1) % MANY
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("every port is taken")
