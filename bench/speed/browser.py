"""What pages in the browser cost.

`python -m bench.speed.browser [PAGES] [FAST] [--mixed] [--delay SECONDS] [--peer] [--places N …]` (default 500,
0, as many places as BROWSER_CONCURRENCY has)

Serves PAGES shells on 16 loopback addresses, each drawn by a script that all of an address share and by data of its
own, and FAST ordinary pages on 16 others; crawls them once, and prints pages a second, CPU and the memory of the
browser after each quarter of its pages. `CRAWLER_JS_MODE=never` in the environment: the same crawl without a browser.

`--mixed` crawls the FAST pages alone first: `fast_seconds` of both is the time from the first to the last request for
an ordinary page, so that one sees whether pages in the browser hold up the others; without `--delay`, which a real
crawl has, both want the same processors. `--peer` lets Crawlee draw the same PAGES after each crawl
(`bench/speed/browser_peer.py`), with as many pages at a time and the same Chromium, from an environment of its own:
`python -m venv bench/.cache/crawlee && bench/.cache/crawlee/bin/pip install 'crawlee[playwright]'`. `found` counts
pages whose own text is in the result.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil

from bench.places import PROJECT
from bench.web.known_site import page_html
from bench.web.prose import prose
from bench.web.realweb import CACHE
from crawler.browser.find import browser_path
from crawler.browser.watch import MARK
from crawler.config import from_mapping
from crawler.config.browser import BrowserConfig
from crawler.document import Document
from crawler.stages.chain import Chain
from crawler.storage.files.shards import read_lines

SITES = 16
PEER_PYTHON = CACHE / "crawlee" / "bin" / "python"
PEER_SCRIPT = PROJECT / "bench" / "speed" / "browser_peer.py"
SHELL = b"<!doctype html><title>Shell</title><body><div id=app></div><script src=/app.js></script>"
APP = b"""fetch('/data' + location.pathname).then(a => a.json()).then(d => { document.title = d.title;
document.getElementById('app').innerHTML = '<main><h1>' + d.title + '</h1>'
+ d.lines.map(l => '<p>' + l + '</p>').join('') + '</main>'; });"""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.asked.append((time.monotonic(), self.path))  # type: ignore[attr-defined]
        kind, body = _answer(self.path)
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


def _answer(path: str) -> tuple[str, bytes]:
    if path == "/app.js":
        return "text/javascript", APP
    if path.startswith("/data/page-"):
        lines = _lines(path)
        return "application/json", json.dumps({"title": f"About {path[11:]}", "lines": lines}).encode()
    if path.startswith("/page-"):
        return "text/html; charset=utf-8", SHELL
    if path.startswith("/fast-"):
        text = "".join(f"<p>{line}</p>" for line in prose(path))
        return "text/html; charset=utf-8", f"<!doctype html><title>Fast</title><main>{text}</main>".encode()
    return "text/plain", b""


@cache
def _lines(path: str) -> list[str]:
    """Prose for a page that is kept whole: a draft that the pipeline refuses or redacts is none."""
    drafts = (prose(f"{path}?{draft}") for draft in itertools.count())
    return next(lines for lines in drafts if _is_kept_whole(path, lines))


def _is_kept_whole(path: str, lines: list[str]) -> bool:
    html = page_html(path, lines)
    doc = _chain().run(Document(url=f"http://localhost{path}", html=html, content_type="text/html"))
    return doc.verdict is None and all(line in (doc.text or "") for line in lines)


@cache
def _chain() -> Chain:
    return Chain(from_mapping({"PII_PERSON": "off"}))


@dataclass
class Watched:
    """CPU seconds and memory (MiB) of a crawl, its browser apart; sampled while it runs."""

    browser_cpu: dict[int, float] = field(default_factory=dict)
    crawl_cpu: dict[int, float] = field(default_factory=dict)
    browser_memory: list[float] = field(default_factory=list)

    def look(self, process: psutil.Process) -> None:
        """One sample; processes come and go."""
        memory = 0.0
        for child in [process, *process.children(recursive=True)]:
            try:
                command, times = child.cmdline(), child.cpu_times()
                is_browser = any(part.startswith(MARK) or part.startswith("--type=") for part in command)
                (self.browser_cpu if is_browser else self.crawl_cpu)[child.pid] = times.user + times.system
                memory += child.memory_info().rss / 2**20 if is_browser else 0.0
            except psutil.Error:
                continue
        if memory:
            self.browser_memory.append(memory)

    def quarters(self) -> list[int]:
        """Mean memory of the browser in each quarter of its life."""
        size = max(1, len(self.browser_memory) // 4)
        parts = [self.browser_memory[n * size : (n + 1) * size] for n in range(4)]
        return [round(sum(part) / len(part)) for part in parts if part]


@contextmanager
def _served() -> Iterator[tuple[int, list[tuple[float, str]]]]:
    """The port on every address of loopback, and when each path was asked for."""
    server = ThreadingHTTPServer(("0.0.0.0", 0), _Handler)
    asked: list[tuple[float, str]] = []
    server.asked = asked  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port, asked
    finally:
        server.shutdown()
        server.server_close()


def run(pages: int, fast: int, folder: Path, places: int = 2, delay: float = 0.0) -> dict[str, Any]:
    """One crawl; what it kept, and what it cost."""
    with _served() as (port, asked):
        file = _seeds(pages, fast, port, folder)
        settings = {
            "CORPUS_DIR": folder / "corpus", "NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": port,
            "DOWNLOAD_DELAY": delay, "CONCURRENT_REQUESTS_PER_DOMAIN": 4, "FRONTIER_LATENCY_FACTOR": 0,
            "FRONTIER_IDLE_SECONDS": 0.5, "PII_PERSON": "off", "PROGRESS": "off", "BROWSER_CONCURRENCY": places,
        }  # fmt: skip
        command = [sys.executable, "-m", "scrapy", "crawl", "corpus", "-a", f"seeds={file}"]
        command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        seconds, watched = _watched(command)
    records = [json.loads(line) for path in (folder / "corpus" / "shards").glob("*") for line in read_lines(path)]
    drawn = sum(record["method_used"] == "js" for record in records)
    texts = {record["url"].rpartition("/")[2]: record["text"] for record in records}
    return {
        "pages": pages,
        "fast": fast,
        "places": places,
        "kept": len(records),
        "drawn": drawn,
        "found": _found(texts, pages),
        "fast_seconds": _fast_seconds(asked),
        **_costs(seconds, drawn, watched),
    }


def run_peer(pages: int, folder: Path, places: int) -> dict[str, Any]:
    """The same pages by Crawlee. Raises: SystemExit where it or a Chromium is missing."""
    browser = browser_path(BrowserConfig())
    if not PEER_PYTHON.exists() or browser is None:
        raise SystemExit(f"error: --peer needs {PEER_PYTHON} with crawlee[playwright] and a Chromium; see --help")
    output = folder / "peer.jsonl"
    with _served() as (port, _):
        file = _seeds(pages, 0, port, folder)
        command = [str(PEER_PYTHON), str(PEER_SCRIPT), str(file), str(output), browser, str(places)]
        seconds, watched = _watched(command, {"CRAWLEE_STORAGE_DIR": str(folder / "storage")})
    lines = [json.loads(line) for line in output.read_text("utf-8").splitlines()] if output.exists() else []
    texts = {line["url"].rpartition("/")[2]: line["text"] for line in lines}
    found = _found(texts, pages)
    return {"peer": "crawlee", "pages": pages, "places": places, "found": found, **_costs(seconds, found, watched)}


def _seeds(pages: int, fast: int, port: int, folder: Path) -> Path:
    """The seed file; the texts of its pages are made here, before anything is measured."""
    for n in range(pages):
        _lines(f"/data/page-{n}")
    seeds = [f"http://127.0.1.{n % SITES + 1}:{port}/page-{n}" for n in range(pages)]
    seeds += [f"http://127.0.2.{n % SITES + 1}:{port}/fast-{n}" for n in range(fast)]
    file = folder / "seeds.txt"
    file.write_text("\n".join(seeds) + "\n")
    return file


def _watched(command: list[str], environment: dict[str, str] | None = None) -> tuple[float, Watched]:
    """Run a command to its end: seconds by the clock, and what its processes used."""
    start, watched = time.monotonic(), Watched()
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL, env=os.environ | (environment or {}))
    while process.poll() is None:
        watched.look(psutil.Process(process.pid))
        time.sleep(0.25)
    return time.monotonic() - start, watched


def _found(texts: dict[str, str], pages: int) -> int:
    """Pages in whose text each line of their own stands."""
    return sum(all(line in texts.get(f"page-{n}", "") for line in _lines(f"/data/page-{n}")) for n in range(pages))


def _fast_seconds(asked: list[tuple[float, str]]) -> float | None:
    fast = [moment for moment, path in asked if path.startswith("/fast-")]
    return round(max(fast) - min(fast), 1) if fast else None


def _costs(seconds: float, drawn: int, watched: Watched) -> dict[str, Any]:
    return {
        "seconds": round(seconds, 1),
        "drawn_per_second": round(drawn / seconds, 2),
        "browser_cpu_ms_a_page": round(1000 * sum(watched.browser_cpu.values()) / max(drawn, 1)),
        "crawl_cpu_seconds": round(sum(watched.crawl_cpu.values()), 1),
        "browser_memory_mib_by_quarter": watched.quarters(),
    }


def main() -> int:
    """Print the figures as JSON. 1 where pages were not drawn."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.browser", description=__doc__)
    parser.add_argument("pages", type=int, nargs="?", default=500)
    parser.add_argument("fast", type=int, nargs="?", default=0)
    parser.add_argument("--mixed", action="store_true", help="the FAST pages alone first")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds between two requests to an address")
    parser.add_argument("--peer", action="store_true", help="Crawlee on the same PAGES beside each")
    parser.add_argument(
        "--places", type=int, nargs="+", default=[BrowserConfig().concurrency], metavar="N",
        help="pages in the browser at a time (BROWSER_CONCURRENCY), one crawl for each",
    )  # fmt: skip
    options = parser.parse_args()
    if options.mixed and not options.fast:
        parser.error("--mixed needs FAST pages")
    results: list[dict[str, Any]] = []
    pages, fast, delay = options.pages, options.fast, options.delay
    if options.mixed:
        results.append(_in_a_folder(lambda folder: run(0, fast, folder, options.places[0], delay)))
    for places in options.places:
        results.append(_in_a_folder(partial(run, pages, fast, places=places, delay=delay)))
        if options.peer:
            results.append(_in_a_folder(partial(run_peer, pages, places=places)))
    for result in results:
        print(json.dumps(result, indent=2))
    return 0 if all(result.get("drawn", pages) >= 0.95 * result["pages"] for result in results) else 1


def _in_a_folder(what: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return what(Path(folder))


if __name__ == "__main__":
    sys.exit(main())
