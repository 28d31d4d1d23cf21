"""Labels, a model of them, the corpus judged again with it: CPU seconds, and what differs from a full replay.

    python -m bench.quality.judged_again [--pages 10000] [--labels 100] [--data ../shared/data] [--show 10]

Pages: paragraphs of two main texts of wcxb-dev in turn, on twenty hosts of loopback; crawled, and some of the kept
answered by the page type that the data names (prose: keep). Counted are the commands `classify train` and `dataset
rejudge`, their children included. Exit code 1 where a record differs.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import orjson

from bench.places import PROJECT, SHARED_DATA
from bench.quality.eval_classifier import PROSE
from bench.quality.replay_equality import archived, differences, report, scrapy
from bench.web.known_site import page_html
from crawler.storage.files.shards import read_lines
from demo.outputs import read_corpus

HOSTS = [f"127.0.61.{number}" for number in range(1, 21)]
LIMIT_SECONDS = 7200


def main() -> int:
    """Print seconds and differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--show", type=int, default=10, help="differences to print one by one")
    options = parser.parse_args()
    source = options.data / "wcxb-dev.jsonl.zst"
    if not source.is_file():
        sys.exit(f"{source} is not there: give --data")
    with tempfile.TemporaryDirectory(prefix="judged-") as name:
        folder = Path(name)
        with _web(_pages(source, options.pages)) as (port, answers):
            settings = {"NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": str(port), "DOWNLOAD_DELAY": "0",
                        "CONCURRENT_REQUESTS_PER_DOMAIN": "4", "PII_PERSON": "off", "STAGE_WORKERS": "1"}  # fmt: skip
            seeds = ",".join(f"http://{host}:{port}/" for host in HOSTS)
            corpus = scrapy(folder / "crawl", "corpus", {"url": seeds}, settings)
        print(f"crawl: {len(archived(corpus)):,} pages in the archive, {len(read_corpus(corpus).kept):,} kept")
        labels = folder / "labels.jsonl"
        labels.write_bytes(b"".join(_labels(corpus, answers, options.labels)))
        took, _ = _gristmill(["classify", "train", "worth", "--labels", labels, "--out", folder], {})
        model = {"CLASSIFIERS": f"worth:{folder / 'worth.npz'}"}
        _gristmill(["classify", "card", folder / "worth.npz", "--threshold", ".5", "--action", "drop",
                    "--out", folder / "strict.npz"], {})  # fmt: skip
        model = settings | {"CLASSIFIERS": f"worth:{folder / 'strict.npz'}"}
        again, said = _gristmill(["dataset", "rejudge", corpus], model)
        print(said.strip())
        print(f"train {took:.1f} s, rejudge {again:.1f} s, together {took + again:.1f} s of CPU")
        replay = scrapy(folder / "replay", "replay", {"archive": str(corpus / "archive")}, model)
        differ = differences(archived(corpus), archived(replay))
        report("rejudge = replay", differ, options.show)
        return 1 if differ else 0


def _pages(source: Path, many: int) -> Iterator[tuple[bool, list[str]]]:
    """Whether it is prose, and paragraphs; page n and page n + k of one kind have other texts beside each other."""
    found: dict[bool, list[list[str]]] = {True: [], False: []}
    for line in read_lines(source):
        page = orjson.loads(line)
        lines = [part for part in (page["main_content"] or "").split("\n") if part.strip()]
        if lines:
            found[page["page_type"] in PROSE].append(lines)
    for number in range(many):
        own = found[number % 3 > 0]
        one, other = own[number % len(own)], own[(number * 7 + number // len(own) + 1) % len(own)]
        yield number % 3 > 0, [line for pair in zip(one, other, strict=False) for line in pair] or one


@contextmanager
def _web(pages: Iterator[tuple[bool, list[str]]]) -> Iterator[tuple[int, dict[str, bool]]]:
    """A port on every host, and by path whether its page is prose."""
    bodies: dict[str, bytes] = {}
    answers: dict[str, bool] = {}
    links: dict[str, list[str]] = {host: [] for host in HOSTS}
    for number, (prose, lines) in enumerate(pages):
        path = f"/page-{number}"
        bodies[path], answers[path] = page_html(str(number), lines), prose
        links[HOSTS[number % len(HOSTS)]].append(path)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            host = str(self.connection.getsockname()[0])
            index = page_html(host, [], links[host]) if self.path == "/" else None
            body = index or bodies.get(self.path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

    first = ThreadingHTTPServer((HOSTS[0], 0), Handler)
    port = int(first.server_address[1])
    servers = [first, *(ThreadingHTTPServer((host, port), Handler) for host in HOSTS[1:])]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield port, answers
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


def _labels(corpus: Path, answers: dict[str, bool], many: int) -> Iterator[bytes]:
    kept = [one for one in read_corpus(corpus).kept if "/page-" in one["url"]]
    for record in kept[:: max(1, len(kept) // many)][:many]:
        answer = "keep" if answers["/" + record["url"].rpartition("/")[2]] else "reject"
        yield orjson.dumps({name: record[name] for name in ("url", "doc_id", "text", "language")}
                           | {"judge": "bench", "answer": answer, "stratum": "kept",
                              "at": "2026-11-28T10:00:00Z"}) + b"\n"  # fmt: skip


def _gristmill(words: list[str | Path], settings: dict[str, str]) -> tuple[float, str]:
    """CPU seconds of a command and its children, and what it says."""
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "scrapy", *words, *given], cwd=PROJECT, capture_output=True, text=True,
                          timeout=LIMIT_SECONDS, check=False)  # fmt: skip
    if done.returncode:
        sys.exit(f"{words[:2]} failed:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


if __name__ == "__main__":
    sys.exit(main())
