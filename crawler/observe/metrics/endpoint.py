"""The endpoint answers Prometheus and probes in threads of its own: http://HOST:PORT/metrics, /live and /ready."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, make_wsgi_app
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

Probes = Mapping[str, Callable[[], str]]
"""Path -> what is wrong at this moment, in a sentence; empty = nothing."""

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
def served(collector: Collector, host: str, port: int, probes: Probes | None = None) -> Iterator[int]:
    """Serve until the block ends; yields the port (0 chooses one). Raises: EndpointError."""
    registry = CollectorRegistry()
    registry.register(collector)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    try:
        server = make_server(host, port, _application(registry, probes or {}), _server_class(host), _SilentHandler)
    except OSError:
        check_address(host, port)
        raise
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _application(registry: CollectorRegistry, probes: Probes) -> WSGIApplication:
    metrics: WSGIApplication = make_wsgi_app(registry)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        probe = probes.get(environ.get("PATH_INFO", ""))
        if probe is None:
            return metrics(environ, start_response)
        problem = probe()
        status = "503 Service Unavailable" if problem else "200 OK"
        start_response(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{problem or 'ok'}\n".encode()]

    return answer


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


def _server_class(host: str) -> type[_Server]:
    family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
    return _Server6 if family is socket.AF_INET6 else _Server


class _SilentHandler(WSGIRequestHandler):
    timeout = 30.0  # seconds; who connects and says nothing does not keep a thread

    def log_message(self, format: str, *args: object) -> None:  # the name in the standard library
        """A scrape every few seconds is no news."""
