"""Sides that crawls make: by two orders of the same sites, and by two programs."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.speed.crawl import run_inline, run_ours
from bench.speed.value import LEAST, MOST, ORDERS, Web, learning, plain
from bench.trial.pages import read, write
from bench.web.realweb import serve
from bench.web.value_sites import SITES
from crawler.server.embedded import EmbeddedServer
from demo.outputs import records

Record = dict[str, Any]
PLAYED = ("documentation", "blog", "shop", "forum", "wiki", "news")
PACKAGES = ["postgresql-doc-15", "python3.11-doc", "debian-handbook", "git-doc"]
PAGES = 400
"""Of a site."""
NO_PROSE = frozenset({"list", "code", "table"})


def value(folder: Path, prose: list[str], lists: list[str]) -> dict[str, list[Path]]:
    """Breadth first and the value frontier (`bench.speed.value`), each stopped after the first half of the requests
    that breadth first needs: every page fetched, and those with a text worth keeping, once.

    A page of the sites has the next of these texts: of `prose` where it is worth keeping, the same one wherever it is
    repeated; else of `lists`, the same one for all queries of a path.
    """
    files = {kind: [folder / f"{kind}-{order}.jsonl" for order in ("breadth", "value")] for kind in ("fetched", "kept")}
    if all(path.exists() for paths in files.values() for path in paths):
        return files
    found: dict[str, tuple[list[Record], list[Record]]] = {"fetched": ([], []), "kept": ([], [])}
    given = _Texts(prose, lists)
    with tempfile.TemporaryDirectory() as scratch, EmbeddedServer(Path(scratch)) as server:
        for site in (one for one in SITES if one.name in PLAYED):
            with Web(site) as web:
                broad = plain(web, ORDERS["breadth first"], MOST)
                ours = asyncio.run(learning(web, server))
                total = sum((broad.texts | ours.texts).values())
                half = ((broad.requests_for(total) or MOST) if site.endless else len(broad.urls)) // 2
                for number, crawl in enumerate((broad, ours)):
                    seen: set[str] = set()
                    for text, record in _texts(site.name, web, crawl.urls[:half], given):
                        found["fetched"][number].append(record)
                        if text and text not in seen:
                            seen.add(text)
                            found["kept"][number].append(record)
    for kind, paths in files.items():
        for path, made in zip(paths, found[kind], strict=True):
            write(path, made)
    return files


class _Texts:
    """Gives each name a text of its own, as long as there are some."""

    def __init__(self, *pools: list[str]) -> None:
        self._pools = pools
        self._given: tuple[dict[str, str], ...] = tuple({} for _ in pools)

    def of(self, pool: int, name: str) -> str:
        given = self._given[pool]
        return given.setdefault(name, self._pools[pool][len(given) % len(self._pools[pool])])


def _texts(name: str, web: Web, urls: list[str], given: _Texts) -> Iterator[tuple[str, Record]]:
    """Name of the text, empty where it is not worth keeping, and the record of each page that is there."""
    for url in urls:
        if (page := web.truth(url)) is not None:
            good, path = page.text if page.tokens >= LEAST else "", url.removeprefix(web.origin)
            text = given.of(0, f"{name} {good}") if good else given.of(1, f"{name} {urlsplit(path).path}")
            yield good, {"url": f"https://{name}.example{path}", "text": text, "title": ""}


def peer(folder: Path) -> list[Path]:
    """Scrapy with trafilatura, langdetect, rules after Gopher and datasketch | this project, at as many pages"""
    made = folder / "peer"
    if not made.exists():
        with tempfile.TemporaryDirectory() as scratch, serve(PACKAGES, Path(scratch)) as web:  # outside the project
            for result in (run_inline(web, Path(scratch), PAGES, "off"), run_ours(web, Path(scratch), PAGES)):
                print(result.name, result.pages, "pages,", f"{result.cost.cpu_seconds:.0f} CPU seconds,",
                      dict(result.verdicts), flush=True)  # fmt: skip
            shutil.copytree(scratch, made)
    return [made / "out.jsonl", made / "corpus"]


def peer_same(folder: Path) -> list[Path]:
    """the peer's texts of the pages that both keep | this project's, and these without lists, code and tables"""
    theirs, corpus = peer(folder)
    sides = [folder / f"same-{name}.jsonl" for name in ("peer", "ours", "prose")]
    if not all(side.exists() for side in sides):
        ours = {record["url"]: record for record in records(corpus / "shards")}
        both = [record for record in read(theirs) if record["url"] in ours]
        write(sides[0], both)
        write(sides[1], [record | {"text": ours[record["url"]]["text"]} for record in both])
        write(sides[2], [record | {"text": _without(ours[record["url"]], NO_PROSE)} for record in both])
    return sides


def _without(record: Record, kinds: frozenset[str]) -> str:
    """The text without the parts of these kinds."""
    text, parts, left, at = record["text"], record["parts"], [], 0
    for begin, end, kind in sorted(zip(parts["start"], parts["end"], parts["type"], strict=True)):
        if kind in kinds and end > at:
            left.append(text[at : max(at, begin)])
            at = end
    return "".join([*left, text[at:]])
