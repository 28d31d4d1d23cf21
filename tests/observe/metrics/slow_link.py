"""A link to a server on which everything takes its time: each piece of a request waits before it goes on."""

from __future__ import annotations

import contextlib
import socket
import threading
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any, Self


class SlowLink(ThreadingTCPServer):
    """Passes everything that comes to `port` on to another port of this machine while the block lasts."""

    daemon_threads = True

    def __init__(self, to_port: int, seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.to_port, self.seconds, self.over = to_port, seconds, threading.Event()
        self.port = int(self.server_address[1])

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.shutdown()
        self.server_close()


class _Connection(BaseRequestHandler):
    server: Any

    def handle(self) -> None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.server.to_port)) as far:
            back = threading.Thread(target=self._pass, args=(far, self.request, 0.0))
            back.start()
            self._pass(self.request, far, self.server.seconds)
            back.join()

    def _pass(self, source: socket.socket, target: socket.socket, seconds: float) -> None:
        with contextlib.suppress(OSError):  # one side has hung up
            while piece := source.recv(1 << 16):
                self.server.over.wait(seconds)
                target.sendall(piece)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)
