"""A web server that knows no HTTP: it sends exactly the bytes of a form, then hangs up."""

from __future__ import annotations

import socketserver
import threading
from typing import Self

from tests.wire.forms import Form, answers, elsewhere

_LONGEST_REQUEST = 65_536


class RawWeb(socketserver.ThreadingTCPServer):
    """Runs as a context; every address of 127.0.0.0/8 is a site."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, forms: list[Form]) -> None:
        super().__init__(("0.0.0.0", 0), _Handler)
        self.port = int(self.server_address[1])
        self.asked: list[tuple[str, str]] = []
        self._answers = {key: value for form in forms for key, value in answers(form, self.port).items()}
        self._forms = {address: form for form in forms for address in (form.here, form.there)}
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def answer(self, address: str, path: str) -> bytes:
        self.asked.append((address, path))
        found = self._answers.get((address, path))
        return elsewhere(self._forms[address], address, path) if found is None else found

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are part of the tests."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join(5)


class _Handler(socketserver.BaseRequestHandler):
    server: RawWeb

    def handle(self) -> None:
        request = b""
        while b"\r\n\r\n" not in request and len(request) < _LONGEST_REQUEST:
            if not (part := self.request.recv(8_192)):
                return
            request += part
        path = request.split(b" ", 2)[1].decode("latin-1")
        self.request.sendall(self.server.answer(self.request.getsockname()[0], path))
