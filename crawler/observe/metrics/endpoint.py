"""The endpoint answers Prometheus in a thread of its own: http://HOST:PORT/metrics."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, start_http_server
from prometheus_client.registry import Collector


class EndpointError(OSError):
    """The address cannot be used; the message says which setting to change."""


def check_address(host: str, port: int, name: str = "METRICS_PORT") -> None:
    """Bind and let go, so that a crawl says before its start what would fail later. Raises: EndpointError.

    name: the setting or option that gave the port.
    """
    try:
        with socket.create_server((host, port)):
            pass
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
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
