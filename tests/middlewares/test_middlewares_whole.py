"""The policy middlewares inside the whole crawler: real spider, real frontier, real stages."""

from __future__ import annotations

import itertools
import time

from tests.support.process import scrapy

PAGE = b"<html><head><title>t</title></head><body><p>One short page.</p>%s</body></html>"


def test_crawl_delay_of_robots_txt_slows_down_everything_sent_to_the_host(web, tmp_path):
    times: list[tuple[float, str]] = []
    links = b'<a href="/a">a</a> <a href="/b">b</a> <a href="/shut">shut</a>'
    bodies = {
        "/robots.txt": b"User-agent: *\nCrawl-delay: 1.5\nDisallow: /shut\n",
        "/": PAGE % links,
        "/a": PAGE % b"",
        "/b": PAGE % b"",
        "/shut": PAGE % b"",
    }

    def answer(handler):
        times.append((time.monotonic(), handler.path))
        body, kind = bodies[handler.path], b"text/plain" if handler.path.endswith(".txt") else b"text/html"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        handler.wfile.write(head % (kind, len(body)) + body)

    base = web.site("127.0.0.2", dict.fromkeys(bodies, answer))
    settings = {
        "CORPUS_DIR": str(tmp_path / "corpus"),
        "NETWORK_ALLOW": "127.0.0.0/8",
        "NETWORK_PORTS": str(web.port),
        "DOWNLOAD_DELAY": "0.05",
        "OPTOUT_PROFILE": "minimal",
        "STAGE_WORKERS": "0",
        "PROGRESS": "off",
    }
    done = scrapy("crawl", "corpus", "-a", f"url={base}/", settings=settings)
    assert done.returncode == 0, done.stderr[-3000:]
    assert [path for _, path in times] == ["/robots.txt", "/", "/a", "/b"]
    # three times 1.5 s; with one gap less or DOWNLOAD_DELAY alone it would be 3 s or nearly nothing
    assert times[-1][0] - times[0][0] > 3.5, times


def test_a_page_that_its_robots_txt_forbids_gives_the_turn_of_that_request_to_nobody(web, tmp_path):
    times: list[tuple[float, str]] = []

    def answer(handler):
        times.append((time.monotonic(), handler.path))
        body = b"User-agent: *\nDisallow: /no\n" if handler.path == "/robots.txt" else PAGE % b""
        kind = b"text/plain" if handler.path == "/robots.txt" else b"text/html"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        handler.wfile.write(head % (kind, len(body)) + body)

    def absent(handler):
        times.append((time.monotonic(), handler.path))
        handler.wfile.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    routes = {"/robots.txt": answer, "/.well-known/tdmrep.json": absent, "/yes": answer}
    base = web.site("127.0.0.2", routes)
    settings = {
        "CORPUS_DIR": str(tmp_path / "corpus"),
        "NETWORK_ALLOW": "127.0.0.0/8",
        "NETWORK_PORTS": str(web.port),
        "DOWNLOAD_DELAY": "1.5",
        "OPTOUT_PROFILE": "minimal",
        "STAGE_WORKERS": "0",
        "PROGRESS": "off",
    }
    done = scrapy("crawl", "corpus", "-a", f"url={base}/no/1,{base}/no/2,{base}/yes", settings=settings)
    assert done.returncode == 0, done.stderr[-3000:]
    assert [path for _, path in times] == list(routes)
    gaps = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(times)]
    assert min(gaps) > 1.4, gaps
