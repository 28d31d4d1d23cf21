"""The known site of the fault campaign: every page, what it does on the wire, and what must become of it.

Eight addresses (or fewer) with the same layout. Texts are chosen once: each passes the crawler's own stages and none is
nearly the same as another, so that a verdict never depends on who came first, except for mirrors, where it has to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

from bench.web.prose import articles, prose
from bench.web.target import RESET, Answer
from crawler.config import Config
from crawler.dedup.memory_index import MemoryIndex
from crawler.document import Document
from crawler.stages.chain import Chain

KEPT = "kept"
FIRST_HOST = 40
ROBOTS = b"User-agent: *\nDisallow: /private/\n"
SECRET = "umbrage quixotry"
"""Stands in the text of every page that must leave none on the disk, and nowhere else."""

Texts = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class KnownSite:
    """What is served, where the crawl begins, and what must become of each URL.

    `fates` maps a URL to "kept" or to the reason of its rejection. Of each group in `mirrors` exactly one URL is kept
    and the others are exact duplicates. `forbidden` URLs must never be asked for.
    """

    answers: Mapping[str, Mapping[str, Answer]]
    seeds: tuple[str, ...]
    fates: Mapping[str, str]
    mirrors: tuple[frozenset[str], ...]
    forbidden: frozenset[str]

    @property
    def urls(self) -> set[str]:
        """Every URL that has to be accounted for."""
        return set(self.fates).union(*self.mirrors)

    @property
    def pages(self) -> set[str]:
        """Every URL whose text belongs into a corpus, mirrors included."""
        return {url for url, fate in self.fates.items() if fate == KEPT}.union(*self.mirrors)


def hosts_of(count: int, first: int = FIRST_HOST) -> list[str]:
    """Loopback addresses, clear of the demo's and of `bench.web.realweb`'s."""
    return [f"127.0.0.{first + i}" for i in range(count)]


async def choose_texts(count: int, config: Config) -> Texts:
    """`count` texts that the stages keep and that are no duplicates of each other."""
    chain, index, found = Chain(config), MemoryIndex(config.dedup), list[tuple[str, ...]]()
    for number, text in enumerate(_candidates()):
        doc = chain.run(Document(url="http://localhost/", html=page_html(str(number), text), content_type="text/html"))
        if doc.verdict is None and await _is_new(index, doc, str(number)):
            found.append(text)
        if len(found) == count:
            break
    return tuple(found)


def _candidates() -> Iterator[tuple[str, ...]]:
    yield from articles()
    number = 0
    while True:
        number += 1
        yield tuple(prose(number))


async def _is_new(index: MemoryIndex, doc: Document, name: str) -> bool:
    return await index.check(doc.doc_id, doc.signature, doc.shingle_count, name) is None


def page_html(title: str, text: Iterable[str], links: Iterable[str] = (), meta: str = "") -> bytes:
    """A page with its text and a list of links."""
    body = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in text)
    nav = " ".join(f'<a href="{escape(link)}">further</a>' for link in links)
    head = f'<html lang="en"><head><title>Page {escape(title)}</title>{meta}</head>'
    return f"{head}<body><main><h1>Page {escape(title)}</h1>{body}</main><nav>{nav}</nav></body></html>".encode()


def shell_html(title: str, text: Iterable[str], links: Iterable[str] = ()) -> bytes:
    """The same page as a shell: a script draws its text and its links."""
    drawn = page_html(title, text, links).decode().partition("<body>")[2].partition("</body>")[0]
    code = json.dumps(drawn).replace("</", "<\\/")
    shell = f"<div id=root></div><script>document.getElementById('root').innerHTML = {code}</script>"
    return f'<html lang="en"><head><title>Page {escape(title)}</title></head><body>{shell}</body></html>'.encode()


def texts_needed(hosts: int, plain: int) -> int:
    """How many texts `build` takes."""
    return hosts * (plain + len(_Builder.KEPT_PATHS)) + hosts // 2


def build(bases: Mapping[str, str], plain: int, texts: Texts, *, shells: int = 0, deadly: bool = False) -> KnownSite:
    """The site on these hosts (host → base URL), with `plain` ordinary pages a host besides the special ones.

    shells: every so manieth ordinary page is drawn by a script; 0: none. deadly: one page kills whoever asks for it.
    """
    return _Builder(list(bases), bases, plain, iter(texts), shells=shells, deadly=deadly).build()


@dataclass
class _Builder:
    """Collects answers and fates host by host."""

    hosts: list[str]
    bases: Mapping[str, str]
    plain: int
    texts: Iterator[tuple[str, ...]]
    answers: dict[str, dict[str, Answer]] = field(default_factory=dict)
    fates: dict[str, str] = field(default_factory=dict)
    mirrors: list[frozenset[str]] = field(default_factory=list)
    forbidden: set[str] = field(default_factory=set)
    shells: int = 0
    deadly: bool = False

    KEPT_PATHS = ("/slow", "/unready", "/broken", "/moved-here", "/from-next-door")

    def build(self) -> KnownSite:
        for host in self.hosts:
            self.answers[host] = {}
        if self.deadly:
            self._reject(self.hosts[0], "/deadly", "stage_crashed", Answer(deadly=True))
        for number, host in enumerate(self.hosts):
            self._plain_pages(host)
            self._troubled_pages(host)
            self._redirects(host, self.hosts[(number + 1) % len(self.hosts)])
            self._rejected_pages(host)
            self._robots(number, host)
        for left, right in zip(self.hosts[::2], self.hosts[1::2], strict=False):
            self._mirror(left, right)
        seeds = tuple(self.bases[host] + "/p/0" for host in self.hosts)
        return KnownSite(self.answers, seeds, self.fates, tuple(self.mirrors), frozenset(self.forbidden))

    def _plain_pages(self, host: str) -> None:
        """A binary tree under /p/0; the special pages hang on its first leaves, a neighbour's page on the others."""
        special = ["/slow", "/unready", "/broken", "/moved", "/moved-next-door", "/gone", "/short", "/no-training",
                   "/mirror", "/private/a", "/private/b"]  # fmt: skip
        for i in range(self.plain):
            links = [f"/p/{child}" for child in (2 * i + 1, 2 * i + 2) if child < self.plain]
            links += [path for n, path in enumerate(special) if n % self.plain == i]
            links += ["/deadly"] if self.deadly and i == 0 and host == self.hosts[0] else []
            links += [self.bases[other] + f"/p/{i}" for other in self.hosts[:2] if other != host]
            make = shell_html if self.shells and i % self.shells == 1 else page_html
            self._keep(host, f"/p/{i}", Answer(make(f"{host} {i}", next(self.texts), links)))

    def _troubled_pages(self, host: str) -> None:
        self._keep(host, "/slow", Answer(self._text("/slow"), seconds=0.4))
        self._keep(host, "/unready", Answer(self._text("/unready"), first=(503,)))
        self._keep(host, "/broken", Answer(self._text("/broken"), first=(RESET,)))

    def _redirects(self, host: str, neighbour: str) -> None:
        self._keep(host, "/moved-here", Answer(self._text("/moved-here")))
        self._reject(host, "/moved", "redirected", Answer(status=301, location="/moved-here"))
        self._keep(neighbour, "/from-next-door", Answer(self._text("/from-next-door")))
        target = self.bases[neighbour] + "/from-next-door"
        self._reject(host, "/moved-next-door", "redirected", Answer(status=302, location=target))

    def _rejected_pages(self, host: str) -> None:
        self._reject(host, "/gone", "gone", Answer(status=404))
        self._reject(host, "/short", "too_short", Answer(page_html("short", ["A page of a few words."])))
        noai = page_html("no training", [*prose(host), SECRET], meta='<meta name="robots" content="noai">')
        self._reject(host, "/no-training", "optout", Answer(noai))

    def _robots(self, number: int, host: str) -> None:
        self.answers[host]["/robots.txt"] = Answer(ROBOTS, kind="text/plain", first=(RESET,) if number == 1 else ())
        for path in ("/private/a", "/private/b"):
            self._reject(host, path, "robots_disallowed", Answer(page_html("private", [*prose(path), SECRET])))
            self.forbidden.add(self.bases[host] + path)

    def _mirror(self, left: str, right: str) -> None:
        text = next(self.texts)
        for host in (left, right):
            self.answers[host]["/mirror"] = Answer(page_html("mirror", text))
        self.mirrors.append(frozenset(self.bases[host] + "/mirror" for host in (left, right)))

    def _text(self, path: str) -> bytes:
        return page_html(path, next(self.texts))

    def _keep(self, host: str, path: str, answer: Answer) -> None:
        self.answers[host][path] = answer
        self.fates[self.bases[host] + path] = KEPT

    def _reject(self, host: str, path: str, reason: str, answer: Answer) -> None:
        self.answers[host][path] = answer
        self.fates[self.bases[host] + path] = reason
