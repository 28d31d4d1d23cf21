"""Real input for benches: documentation sites from Debian packages, served on loopback by a real web server.

`python -m bench.web.realweb postgresql-doc-15 debian-handbook` serves until it is interrupted; `serve()` does the same
for other benches. Packages are fetched with `apt-get download` and unpacked with `dpkg -x` into `bench/.cache` (or
`REALWEB_CACHE`): no root, nothing installed. nginx answers where it is present, else the standard library's server.
"""

from __future__ import annotations

import argparse
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.places import PROJECT

CACHE = Path(os.environ.get("REALWEB_CACHE", PROJECT / "bench" / ".cache"))
FIRST_ADDRESS = 20  # 127.0.0.20 and up, clear of the demo web
START_SECONDS = 10.0
ROBOTS = "User-agent: *\nDisallow: /_sources/\nDisallow: /_static/\nDisallow: /_images/\n"


class RealWebError(RuntimeError):
    """The documentation cannot be fetched or served; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Package:
    """One Debian package as a web site: its document root inside the package and where a crawl begins."""

    name: str
    root: str
    entries: tuple[str, ...] = ("/index.html",)


PACKAGES = {
    p.name: p
    for p in (
        Package("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
        Package("python3.11-doc", "usr/share/doc/python3.11/html"),
        Package(
            "debian-handbook",
            "usr/share/doc/debian-handbook/html",
            ("/en-US/index.html", "/de-DE/index.html", "/fr-FR/index.html"),
        ),
        Package("sqlite3-doc", "usr/share/doc/sqlite3"),
        Package("python-django-doc", "usr/share/doc/python-django-doc/html"),
        Package("git-doc", "usr/share/doc/git/html"),
        Package("apache2-doc", "usr/share/doc/apache2-doc/manual", ("/en/index.html", "/de/index.html")),
        Package("installation-guide-amd64", "usr/share/doc/installation-guide-amd64", ("/en/index.html",)),
    )
}


@dataclass(frozen=True, slots=True)
class RealWeb:
    """A running web server: base URL by package, seeds, access log (JSON lines as the demo web writes them)."""

    bases: Mapping[str, str]
    access_log: Path
    server: str  # "nginx" or "http.server"
    seeds: tuple[str, ...] = field(default=())


def unpacked(name: str, cache: Path | None = None) -> Path:
    """The document root of a package, fetched and unpacked into `cache` where it is not there yet.

    Raises: RealWebError where apt-get or dpkg is missing or the package cannot be had.
    """
    package = PACKAGES.get(name)
    if package is None:
        raise RealWebError(f"unknown package {name!r}: expected one of {', '.join(PACKAGES)}")
    root = fetched(name, cache or CACHE, package.root) / package.root
    if not root.is_dir():
        raise RealWebError(f"{name} has no {package.root}: this release of the package is laid out differently")
    return root


def fetched(name: str, cache: Path, inside: str = "") -> Path:
    """The folder of an unpacked package, fetched where `inside` is not there. Raises: RealWebError."""
    folder = cache / name
    if not (folder / inside).is_dir():
        _fetch(name, folder)
    return folder


def _fetch(name: str, folder: Path) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        raise RealWebError(
            "apt-get and dpkg are needed: run this on Debian 12, or unpack the packages into bench/.cache"
        )
    with tempfile.TemporaryDirectory(prefix="realweb-") as download:
        result = subprocess.run(
            ["apt-get", "download", name], cwd=download, capture_output=True, text=True, check=False
        )
        debs = list(Path(download).glob("*.deb"))
        if result.returncode or not debs:
            hint = "is this Debian 12, and has `apt-get update` run?"
            raise RealWebError(f"apt-get download {name} failed ({hint}):\n{result.stderr.strip()}")
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.parent.mkdir(parents=True, exist_ok=True)  # dpkg makes one folder, not two
        subprocess.run(["dpkg", "-x", str(debs[0]), str(part)], check=True)
        part.rename(folder)


@contextmanager
def serve(names: list[str], folder: Path, port: int = 0) -> Iterator[RealWeb]:
    """Serve the packages as `serve_roots` does. Raises: RealWebError."""
    roots = {name: unpacked(name) for name in names}
    with serve_roots(roots, folder, port, {name: PACKAGES[name].entries for name in names}) as web:
        yield web


@contextmanager
def serve_roots(
    roots: Mapping[str, Path], folder: Path, port: int = 0, entries: Mapping[str, tuple[str, ...]] | None = None
) -> Iterator[RealWeb]:
    """Serve the document roots, one loopback address each, until the block ends; entries: where a crawl of each begins.

    `folder` takes the server's configuration and the access log. Raises: RealWebError.
    """
    hosts = {name: f"127.0.0.{FIRST_ADDRESS + i}" for i, name in enumerate(roots)}
    port = port or _free_port(list(hosts.values()))
    bases = {name: f"http://{host}:{port}" for name, host in hosts.items()}
    seeds = tuple(bases[name] + entry for name in roots for entry in (entries or {}).get(name, ("/index.html",)))
    log = folder / "access.jsonl"
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    with _nginx(nginx, roots, hosts, port, folder, log) if nginx else _stdlib(roots, hosts, port, log):
        for host in hosts.values():
            _wait_for(host, port)
        yield RealWeb(bases, log, "nginx" if nginx else "http.server", seeds)


def _free_port(hosts: list[str]) -> int:
    for _ in range(20):
        with socket.socket() as first:
            first.bind((hosts[0], 0))
            port: int = first.getsockname()[1]
            if all(_can_bind(host, port) for host in hosts[1:]):
                return port
    raise RealWebError("no port is free on all loopback addresses")


def _can_bind(host: str, port: int) -> bool:
    with socket.socket() as other:
        try:
            other.bind((host, port))
        except OSError:
            return False
        return True


def _wait_for(host: str, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection((host, port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise RealWebError(f"nothing listens on {host}:{port} after {START_SECONDS:.0f} s") from None
            time.sleep(0.02)  # polling a socket
        else:
            return


NGINX_CONF = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  types {{ text/html html htm; text/css css; application/javascript js; text/plain txt;
    image/png png; image/svg+xml svg; }}
  default_type application/octet-stream;
  charset utf-8;
  sendfile on;
  gzip on;
  log_format lines escape=json '{{"time": $msec, "address": "$server_addr:$server_port", "method": "$request_method", '
    '"path": "$request_uri", "status": $status, "user_agent": "$http_user_agent"}}';
  access_log {log} lines;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
{servers}
}}
"""
NGINX_SITE = """\
  server {{
    listen {host}:{port};
    root {root};
    index index.html;
    location = /robots.txt {{ alias {folder}/robots.txt; }}
  }}"""


@contextmanager
def _nginx(
    binary: str, roots: Mapping[str, Path], hosts: Mapping[str, str], port: int, folder: Path, log: Path
) -> Iterator[None]:
    (folder / "robots.txt").write_text(ROBOTS)
    sites = [NGINX_SITE.format(host=hosts[n], port=port, root=root, folder=folder) for n, root in roots.items()]
    conf = folder / "nginx.conf"
    conf.write_text(NGINX_CONF.format(folder=folder, log=log, servers="\n".join(sites)))
    server = subprocess.Popen([binary, "-p", str(folder), "-c", str(conf)], stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(10)


@contextmanager
def _stdlib(roots: Mapping[str, Path], hosts: Mapping[str, str], port: int, log: Path) -> Iterator[None]:
    lock = threading.Lock()
    with log.open("a", encoding="utf-8") as lines:

        def record(entry: dict[str, object]) -> None:
            with lock:
                lines.write(json.dumps(entry) + "\n")
                lines.flush()

        servers = [_stdlib_site(root, hosts[name], port, record) for name, root in roots.items()]
        for server in servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        try:
            yield
        finally:
            for server in servers:
                server.shutdown()
                server.server_close()


def _stdlib_site(root: Path, host: str, port: int, record) -> http.server.ThreadingHTTPServer:
    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __init__(self, *args, **kwargs):
            super().__init__(*args, directory=str(root), **kwargs)

        def do_GET(self) -> None:
            if self.path != "/robots.txt":
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(ROBOTS)))
            self.end_headers()
            self.wfile.write(ROBOTS.encode())

        def log_request(self, code="-", size="-") -> None:  # noqa: ARG002
            record(
                {
                    "time": time.time(),
                    "address": f"{host}:{port}",
                    "method": self.command,
                    "path": self.path,
                    "status": int(code),
                    "user_agent": self.headers.get("User-Agent", ""),
                }
            )

        def log_error(self, format, *args) -> None:
            """Quiet: the status is in the access log."""

    return http.server.ThreadingHTTPServer((host, port), Handler)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.web.realweb", description=__doc__)
    parser.add_argument("packages", nargs="*", default=["postgresql-doc-15", "python3.11-doc", "debian-handbook"])
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="realweb-") as name,
        serve(options.packages, Path(name), options.port) as web,
    ):
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the web server must not outlive us
        print(f"# {web.server}, access log {web.access_log}; Ctrl-C ends it", *web.seeds, sep="\n", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RealWebError as error:
        sys.exit(f"realweb: {error}")
