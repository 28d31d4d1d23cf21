"""The web server runs in a thread of its own; the command waits beside it and hears the signals."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

STOP_SECONDS = 3
"""How long open answers have once the server is to end."""


class ServeError(OSError):
    """The address cannot be used; the message says what to change."""


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 chooses one. Raises: ServeError."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        by_resolver = isinstance(error, socket.gaierror)  # it numbers its errors otherwise
        why = error.strerror if by_resolver else os.strerror(error.errno or 0)
        raise ServeError(f"--port {port}: {host}:{port} cannot be used ({why}); choose another") from None
    except OverflowError:
        raise ServeError(f"--port {port}: expected a number up to 65535") from None


@contextmanager
def serving(app: ASGIApp, listening: socket.socket) -> Iterator[None]:
    """Answer on this socket while the block is open."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # it would write the token
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), name="explore", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(STOP_SECONDS + 2)
        listening.close()
