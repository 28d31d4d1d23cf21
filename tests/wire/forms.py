"""The forms of the wire: exact bytes as some server sends them, and what Chromium made of them, one form a line.

`forms.jsonl` has for each form `name`, `kind`, `bytes` (Latin-1, so that every character is one byte), and `chromium`:
`{"text", "path", "site", "type"}` of the document it showed (`broken`: its end was missing), or `{"nothing"}` with its
error or "download". In the bytes `@filler@` stands for `filler` letters, `@there@` for the host and port of another
site, `@port@` for the port.

kind: `head`, `coding`, `type`, `redirect` (what `/page` answers), `robots` (what `/robots.txt` answers, a file that
disallows everything), or another: what `/page` answers, and Chromium says where that leads. A new form is a line
without `chromium`; `python -m tests.wire.ask_chromium` adds it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

FORMS = Path(__file__).with_name("forms.jsonl")
PAGE, ROBOTS = "/page", "/robots.txt"
STAY = frozenset({"head", "coding", "type", "robots"})
"""Kinds that lead nowhere else."""
LATER = frozenset({"refresh", "frame"})
"""Kinds for which the browser is given more time, to go elsewhere."""
GONE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True)
class Form:
    """One line of the file. `number` makes its addresses: `here` has the form, `there` answers whatever is asked."""

    number: int
    name: str
    kind: str
    bytes: str
    filler: int
    chromium: dict[str, Any] | None

    @property
    def here(self) -> str:
        return f"127.40.{self.number // 250}.{self.number % 250 + 1}"

    @property
    def there(self) -> str:
        return f"127.41.{self.number // 250}.{self.number % 250 + 1}"

    @property
    def asked(self) -> str:
        """The path that has the bytes."""
        return ROBOTS if self.kind == "robots" else PAGE

    def wire(self, port: int) -> bytes:
        text = self.bytes.replace("@filler@", "x" * self.filler)
        return text.replace("@there@", f"{self.there}:{port}").replace("@port@", str(port)).encode("latin-1")


def forms(path: Path = FORMS) -> list[Form]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        said = json.loads(line)
        found.append(
            Form(number, said["name"], said["kind"], said["bytes"], said.get("filler", 0), said.get("chromium"))
        )
    return found


def written(form: Form) -> str:
    """The form as a line of the file."""
    said: dict[str, Any] = {"name": form.name, "kind": form.kind, "bytes": form.bytes}
    said |= {"filler": form.filler} if form.filler else {}
    said |= {"chromium": form.chromium} if form.chromium is not None else {}
    return json.dumps(said, ensure_ascii=True)


def answers(form: Form, port: int) -> dict[tuple[str, str], bytes]:
    """What both sites of a form answer, by address and path; whatever else is asked is `elsewhere`."""
    found = {(form.here, ROBOTS): GONE, (form.there, ROBOTS): GONE}
    if form.kind == "robots":
        found[form.there, "/real.txt"] = plain(f"# {form.name}\nUser-agent: *\nDisallow: /\n", "text/plain")
    return found | {(form.here, form.asked): form.wire(port)}


def elsewhere(form: Form, address: str, path: str) -> bytes:
    """A page that says where it is."""
    site = "here" if address == form.here else "there"
    return plain(f"<!doctype html><p>Form {form.name} came to the path {escape(path)} of {site}.", HTML)


HTML = "text/html; charset=utf-8"


def plain(body: str, kind: str) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body.encode())}\r\n\r\n"
    return head.encode() + body.encode()
