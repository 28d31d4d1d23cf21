"""The endpoint answers Prometheus in a thread of its own: http://HOST:PORT/metrics."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, start_http_server
from prometheus_client.registry import Collector

MOST_PORT = 65_535


class EndpointError(OSError):
    """The address cannot be used; the message says which setting to change."""


def check_address(host: str, port: int, name: str = "METRICS_PORT") -> None:
    """Bind and let go, so that a crawl says before its start what would fail later. Raises: EndpointError.

    name: the setting or option that gave the port.
    """
    if not 0 <= port <= MOST_PORT:
        raise EndpointError(f"{name}={port}: expected a number up to {MOST_PORT}")
    try:
        family, *_, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
        with socket.create_server((str(address[0]), port), family=family):
            pass
    except OSError as error:
        by_resolver = isinstance(error, socket.gaierror)  # it numbers its errors otherwise
        why = error.strerror if by_resolver else os.strerror(error.errno or 0)
        raise EndpointError(
            f"{name}={port}: {host}:{port} cannot be used ({why}); choose another port or address"
        ) from None


@contextlib.contextmanager
def served(collector: Collector, host: str, port: int) -> Iterator[int]:
    """Serve until the block ends; yields the port (0 chooses one). Raises: EndpointError."""
    registry = CollectorRegistry()
    registry.register(collector)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError:
        check_address(host, port)
        raise
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
