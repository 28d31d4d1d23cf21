"""What `make demo` runs: serve the demo web, crawl it with the real command, stop the server by its pid.

`python -m demo.run [--corpus demo-corpus] [scrapy arguments …]`. The exit code is that of `scrapy crawl`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from demo.pages import load_web
from demo.render import Web

PROJECT = Path(__file__).resolve().parent.parent
START_SECONDS = 20.0
STOP_SECONDS = 5.0
DELAY_SECONDS = 0.2


class DemoError(RuntimeError):
    """The demo cannot go on; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Served:
    """A running demo server."""

    web: Web
    access_log: Path
    pid: int

    @property
    def ports(self) -> list[int]:
        """Every port the demo web listens on."""
        return sorted({port for base in self.web.bases.values() if (port := urlsplit(base).port)})


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Run `demo.serve` in a subprocess; its access log is `folder/access.jsonl`. Stops it by its pid.

    Raises: DemoError where the server does not start.
    """
    ready, log = folder / "ready.json", folder / "access.jsonl"
    ready.unlink(missing_ok=True)
    command = [sys.executable, "-m", "demo.serve", "--log", str(log), "--ready", str(ready), "--until-stdin-closes"]
    server = subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)  # noqa: S603
    try:
        yield Served(Web(load_web(), _wait_for_bases(server, ready)), log, server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        if server.stdin:
            server.stdin.close()


def _wait_for_bases(server: subprocess.Popen[bytes], ready: Path) -> Mapping[str, str]:
    deadline = time.monotonic() + START_SECONDS
    while not ready.exists():
        if server.poll() is not None:
            raise DemoError(
                f"the demo server ended with code {server.returncode} before it listened; see the lines above"
            )
        if time.monotonic() > deadline:
            raise DemoError(f"the demo server did not listen within {START_SECONDS:.0f} s")
        time.sleep(0.02)  # polling the file the server writes last
    bases: dict[str, str] = json.loads(ready.read_text("utf-8"))
    return bases


def crawl_command(served: Served, seeds: Path, corpus: Path, extra: list[str]) -> list[str]:
    """The `scrapy crawl` command line for the demo web; writes its seed file."""
    web = served.web
    seeds.write_text("".join(f"{web.bases[s.name]}/\n" for s in web.sites.values() if s.entry == "seed"), "utf-8")
    sitemaps = ",".join(f"{web.bases[s.name]}/sitemap.xml" for s in web.sites.values() if s.entry == "sitemap")
    settings = {
        "CORPUS_DIR": str(corpus),
        "NETWORK_ALLOW": "127.0.0.0/8",
        "NETWORK_PORTS": ",".join(map(str, served.ports)),
        "DOWNLOAD_DELAY": str(DELAY_SECONDS),
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "corpus", "-a", f"seeds={seeds}", "-a", f"sitemap={sitemaps}"]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    return command + extra


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m demo.run", description="Crawl the demo web.")
    parser.add_argument("--corpus", type=Path, default=PROJECT / "demo-corpus", help="output folder")
    options, extra = parser.parse_known_args(arguments)
    with tempfile.TemporaryDirectory(prefix="demo-web-") as name, served(Path(name)) as server:
        sys.stdout.write(f"The demo web: {len(server.web.pages())} pages on {len(server.web.bases)} sites, port ")
        sys.stdout.write(", ".join(map(str, server.ports)) + "\n")
        sys.stdout.flush()
        command = crawl_command(server, Path(name) / "seeds.txt", options.corpus.resolve(), extra)
        return _run(command)


def _run(command: list[str]) -> int:
    """Run to the end; Ctrl-C reaches the crawl itself, which stops in good order."""
    crawl = subprocess.Popen(command, cwd=PROJECT, env={**os.environ})  # noqa: S603
    while True:
        try:
            return crawl.wait()
        except KeyboardInterrupt:
            continue


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DemoError as error:
        sys.exit(f"demo: {error}")
