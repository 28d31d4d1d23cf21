"""What pages in the browser cost: `python -m bench.speed.browser [PAGES] [FAST]` (default 500 and 0).

Serves PAGES shells on 16 loopback addresses, each drawn by a script that all of an address share and by data of its
own, and FAST ordinary pages on 16 others; crawls them once, and prints pages a second, CPU and the memory of the
browser after each quarter of its pages. `CRAWLER_JS_MODE=never` in the environment: the same crawl without a browser.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil

from bench.places import PROJECT
from bench.web.prose import prose
from crawler.browser.watch import MARK
from crawler.storage.files.shards import read_lines

SITES = 16
SHELL = b"<!doctype html><title>Shell</title><body><div id=app></div><script src=/app.js></script>"
APP = b"""fetch('/data' + location.pathname).then(a => a.json()).then(d => { document.title = d.title;
document.getElementById('app').innerHTML = '<main><h1>' + d.title + '</h1>'
+ d.lines.map(l => '<p>' + l + '</p>').join('') + '</main>'; });"""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
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
        lines = prose(path)
        return "application/json", json.dumps({"title": f"About {path[11:]}", "lines": lines}).encode()
    if path.startswith("/page-"):
        return "text/html; charset=utf-8", SHELL
    if path.startswith("/fast-"):
        text = "".join(f"<p>{line}</p>" for line in prose(path))
        return "text/html; charset=utf-8", f"<!doctype html><title>Fast</title><main>{text}</main>".encode()
    return "text/plain", b""


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
def _served() -> Iterator[int]:
    server = ThreadingHTTPServer(("0.0.0.0", 0), _Handler)  # every address of loopback
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def run(pages: int, fast: int, folder: Path) -> dict[str, Any]:
    """One crawl; what it kept, and what it cost."""
    with _served() as port:
        seeds = [f"http://127.0.1.{n % SITES + 1}:{port}/page-{n}" for n in range(pages)]
        seeds += [f"http://127.0.2.{n % SITES + 1}:{port}/fast-{n}" for n in range(fast)]
        file = folder / "seeds.txt"
        file.write_text("\n".join(seeds) + "\n")
        settings = {
            "CORPUS_DIR": folder / "corpus", "NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": port, "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 4, "FRONTIER_LATENCY_FACTOR": 0, "FRONTIER_IDLE_SECONDS": 0.5,
            "PII_PERSON": "off", "PROGRESS": "off",
        }  # fmt: skip
        command = [sys.executable, "-m", "scrapy", "crawl", "corpus", "-a", f"seeds={file}"]
        command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        start, watched = time.monotonic(), Watched()
        process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL)
        while process.poll() is None:
            watched.look(psutil.Process(process.pid))
            time.sleep(0.25)
        seconds = time.monotonic() - start
    records = [json.loads(line) for path in (folder / "corpus" / "shards").glob("*") for line in read_lines(path)]
    drawn = sum(record["method_used"] == "js" for record in records)
    return {
        "pages": pages,
        "fast": fast,
        "kept": len(records),
        "drawn": drawn,
        "seconds": round(seconds, 1),
        "drawn_per_second": round(drawn / seconds, 2),
        "browser_cpu_ms_a_page": round(1000 * sum(watched.browser_cpu.values()) / max(drawn, 1)),
        "crawl_cpu_seconds": round(sum(watched.crawl_cpu.values()), 1),
        "browser_memory_mib_by_quarter": watched.quarters(),
    }


def main() -> int:
    """Print the figures as JSON. 1 where pages were not drawn."""
    pages, fast = (int(sys.argv[n]) if len(sys.argv) > n else default for n, default in ((1, 500), (2, 0)))
    with tempfile.TemporaryDirectory() as folder:
        found = run(pages, fast, Path(folder))
    print(json.dumps(found, indent=2))
    return 0 if found["drawn"] >= 0.95 * pages else 1


if __name__ == "__main__":
    sys.exit(main())
