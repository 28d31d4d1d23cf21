"""`docs/how-to.md` and `docs/tutorial.md` as data, and a small web in place of example.org and example.net."""

from __future__ import annotations

import re
import threading
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from demo.pages import load_web
from demo.render import LINK

ROOT = Path(__file__).resolve().parents[2]
PAGE, TUTORIAL = ROOT / "docs" / "how-to.md", ROOT / "docs" / "tutorial.md"
HOSTS = {"example.org": ("127.0.0.21", "almanac"), "example.net": ("127.0.0.22", "library")}
"""Name in the recipes → loopback address, and the site of the demo web whose texts it shows."""
SHORT = "/short"
"""A page of fewer than EXTRACTION_MIN_WORDS words."""


class Block(NamedTuple):
    """One fenced block: its language and its text."""

    language: str
    text: str


def recipes(page: Path = PAGE) -> dict[str, list[Block]]:
    """The blocks below each second-level heading."""
    sections = re.split(r"^## (.+)$", page.read_text("utf-8"), flags=re.MULTILINE)
    return {
        heading: [Block(*found) for found in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]
        for heading, text in zip(sections[1::2], sections[2::2], strict=True)
    }


class SmallWeb:
    """Two hosts with kept pages of the demo web as /one, /two, …, and a short one; every page links to the next one."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        self.pages: dict[str, dict[str, str]] = {}
        self.bases: dict[str, str] = {}
        self._servers: list[ThreadingHTTPServer] = []

    def start(self) -> SmallWeb:
        web = load_web()
        for name, (address, source) in HOSTS.items():
            pages = [p for p in web[source].pages.values() if p.expect == "kept"][:4]
            paths = ["/one", "/two", "/three", "/four"]
            self.pages[name] = {
                path: _html(page.title, page.body, following)
                for path, page, following in zip(paths, pages, [*paths[1:], SHORT], strict=True)
            }
            words = pages[0].body.split()[:42]
            self.pages[name][SHORT] = _html(f"A short page of {name}", " ".join(words) + ".", "/one")
            server = ThreadingHTTPServer((address, 0), self._handler(name))
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            self.bases[name] = f"{address}:{server.server_address[1]}"
            self._servers.append(server)
        return self

    def stop(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def here(self, text: str) -> str:
        """The recipe with the addresses of this machine."""
        for name, base in self.bases.items():
            text = text.replace(f"https://{name}", f"http://{base}").replace(name, base)
        return text

    def urls(self, name: str) -> set[str]:
        """The pages of a host that a crawl keeps."""
        return {f"http://{self.bases[name]}{path}" for path in self.pages[name] if path != SHORT}

    def _handler(self, name: str) -> type[BaseHTTPRequestHandler]:
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                web.hits.append(f"http://{web.bases[name]}{self.path}")
                body = web.pages[name].get(self.path, "").encode()
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                return

        return Handler


def _html(title: str, body: str, following: str) -> str:
    paragraphs = [p for p in body.split("\n\n") if p.strip() and not p.lstrip().startswith(("#", "-", ">", "["))]
    text = "".join(f"<p>{escape(LINK.sub(_first, p))}</p>" for p in paragraphs)
    head = f"<head><title>{escape(title)}</title></head>"
    return (
        f'<html lang=en>{head}<body><main><h1>{escape(title)}</h1>{text}</main><a href="{following}">next</a></body>'
        "</html>"
    )


def _first(link: re.Match[str]) -> str:
    return link[1]
