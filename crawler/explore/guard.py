"""The guard lets in who knows the token, from this machine's own pages, and forbids a browser everything else.

Each request passes here first: Host, token or cookie, Origin and CSRF token of a POST; each answer gets a content
security policy under which no inline script runs and nothing is loaded from another address.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 64 * 1024
"""Bytes of a POST."""
MAX_PATH, MAX_QUERY = 200, 16 * 1024
"""Characters of an address; its path holds words and numbers of this program only."""
FORM = "explore.form"
"""Where the names and values of a POST stand in the scope of the request: it has been read here already."""
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser would say "Origin: null" of our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_READ = ("GET", "HEAD")


class Guard:
    """Wraps an application. `hosts`: names under which it may be asked for, beside loopback; "*" = any IP address."""

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str] = ()) -> None:
        self._app, self._token = app, token
        self._hosts = {*_LOOPBACK, *(host.lower() for host in hosts)}
        self._session = _derived(token, "session")

    @staticmethod
    def csrf_of(token: str) -> str:
        """What every form sends along; a page of another origin cannot read it."""
        return _derived(token, "csrf")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it with a sentence."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks WebSocket: the server answers 403
        request = Request(scope, receive)
        answer = self._refusal(request) or self._admission(request)
        body: bytes | None = b""
        if answer is None and request.method not in _READ:
            body = await _body(request)
            answer = self._refusal_of_post(request, body)
        if answer is None:
            scope[FORM] = parse_qsl((body or b"").decode("utf-8", "replace"))
            await self._app(scope, receive, _guarded(send))
        else:
            await answer(scope, receive, _guarded(send))

    def _refusal(self, request: Request) -> Response | None:
        if not self._is_ours(request.headers.get("host", "")):
            return _refused(421, "This address is not one of this server's; use the one that it has printed.")
        if len(request.url.path) > MAX_PATH or len(request.url.query) > MAX_QUERY:
            return _refused(414, f"An address has at most {MAX_PATH} characters here, and {MAX_QUERY} of a query.")
        if request.method not in (*_READ, "POST"):
            return _refused(405, "Only GET and POST are answered.")
        return None

    def _is_ours(self, host: str) -> bool:
        name = (urlsplit(f"//{host}").hostname or "") if host.isascii() and "@" not in host else ""
        return name in self._hosts or ("*" in self._hosts and _is_address(name))

    def _admission(self, request: Request) -> Response | None:
        """None for who has the cookie; a redirect that sets it for who brings the token; else a refusal."""
        name = _cookie_name(request)
        given = request.query_params.get("token")
        if given is not None and request.method in _READ:
            if not hmac.compare_digest(given.encode(), self._token.encode()):
                return _refused(403, "This token is not the one that was printed when the server started.")
            pairs = [pair for pair in parse_qsl(request.url.query) if pair[0] != "token"]
            to = f"/{request.url.path.lstrip('/')}" + (f"?{urlencode(pairs)}" if pairs else "")
            answer = RedirectResponse(to, 303)
            answer.set_cookie(name, self._session, httponly=True, samesite="strict", path="/")
            return answer
        cookie = cookie_parser(request.headers.get("cookie", "")).get(name, "")
        if hmac.compare_digest(cookie.encode(), self._session.encode()):
            return None
        return _refused(403, "Open the address that was printed when the server started: it has the token.")

    def _refusal_of_post(self, request: Request, body: bytes | None) -> Response | None:
        if body is None:
            return _refused(413, f"A form has at most {MAX_BODY} bytes here.")
        if request.headers.get("origin") != f"http://{request.headers['host']}":
            return _refused(403, "A form of another page may not be sent here (Origin).")
        given = dict(parse_qsl(body.decode("utf-8", "replace"))).get("csrf", "")
        if not hmac.compare_digest(given.encode(), self.csrf_of(self._token).encode()):
            return _refused(403, "The form has not the right CSRF token; load its page again.")
        return None


def _derived(token: str, purpose: str) -> str:
    return hmac.new(token.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def _cookie_name(request: Request) -> str:
    """Cookies do not know ports: two servers on one machine need two names."""
    return f"explore_{(request.scope.get('server') or ('', 0))[1]}"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _body(request: Request) -> bytes | None:
    """The whole body; None where it is too large."""
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > MAX_BODY:
            return None
    return b"".join(parts)


def _guarded(send: Send) -> Send:
    """Every answer gets the headers that it has not set itself."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers


def _refused(status: int, sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status)
