"""Pages on the wire: opt-outs in headers, status, redirects, types, sizes, failures, and who is asking."""

from __future__ import annotations

import gzip
import time
from email.utils import formatdate

import pytest


@pytest.fixture
def outcomes(web, crawl):
    """`outcomes({path: reply})`: what became of each path of one site without robots.txt."""

    def run(routes, **settings):
        base = web.site("127.0.0.2", routes)
        found = crawl([f"{base}{path}" for path in routes], **settings)["outcomes"]
        return {path: found[f"{base}{path}"] for path in routes}

    return run


def test_headers_that_refuse_ai_use_stop_the_page_without_its_body(web, outcomes):
    def slow_body(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: noai\r\n\r\n<html>")
        handler.wfile.flush()
        handler.server.closing.wait(120)  # who waited for the body would end with a timeout, not with a verdict

    found = outcomes(
        {
            "/noai": web.reply(headers=[("X-Robots-Tag", "noai")]),
            "/noindex": web.reply(headers=[("X-Robots-Tag", "googlebot: nofollow, otherbot: noindex, *: noindex")]),
            "/other": web.reply(headers=[("X-Robots-Tag", "googlebot: noindex")]),
            "/usage": web.reply(headers=[("Content-Usage", "train-ai=n")]),
            "/signal": web.reply(headers=[("Content-Signal", "ai-train=no")]),
            "/slow": slow_body,
            "/past": web.reply(headers=[("X-Robots-Tag", "unavailable_after: 25 Jun 2010 15:00:00 GMT")]),
        }
    )
    for path in ("/noai", "/noindex", "/usage", "/signal", "/slow"):
        assert (found[path]["outcome"], found[path]["reason"]) == ("Denied", "optout"), path
    assert found["/other"]["outcome"] == "page"
    assert found["/other"]["signals"] == [["x-robots-tag", "header", "googlebot: noindex", "unknown"]]
    assert found["/past"]["reason"] == "gone"


def test_a_tdm_reservation_in_the_header_waits_for_the_body(web, outcomes):
    found = outcomes({"/page": web.reply(headers=[("TDM-Reservation", "1")])})
    assert found["/page"]["outcome"] == "page"
    assert found["/page"]["signals"] == [["tdmrep", "header", "1", "disallow"]]


def test_every_status_becomes_its_outcome(web, outcomes):
    wanted = {
        **dict.fromkeys((401, 402, 403, 451), ("Denied", "access_denied")),
        **dict.fromkeys((404, 410), ("Denied", "gone")),
        **dict.fromkeys((400, 204, 304, 206, 300, 418), ("Denied", "http_error")),
        **dict.fromkeys((500, 502, 408, 425, 429, 503), ("TryLater", "http_error")),
    }
    found = outcomes({f"/{status}": web.reply(status, b"") for status in wanted})
    assert {status: (found[f"/{status}"]["outcome"], found[f"/{status}"]["reason"]) for status in wanted} == wanted
    assert [status for status in wanted if found[f"/{status}"].get("host_wide")] == [429, 503]


def limit(left, end):
    return [("X-RateLimit-Remaining", left), ("X-RateLimit-Reset", str(end))]


def test_retry_after_is_read_as_seconds_or_date_and_blocks_the_host(web, outcomes):
    found = outcomes(
        {
            "/seconds": web.reply(429, b"", [("Retry-After", "120")]),
            "/date": web.reply(503, b"", [("Retry-After", formatdate(time.time() + 90, usegmt=True))]),
            "/past": web.reply(503, b"", [("Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT")]),
            "/now": web.reply(429, b"", [("Retry-After", "0")]),
            "/nonsense": web.reply(503, b"", [("Retry-After", "soon")]),
            "/denied": web.reply(403, b"", [("Retry-After", "0")]),
            "/throttled": web.reply(403, b"", [("Retry-After", "120")]),
            "/used-up": web.reply(403, b"", limit("0", int(time.time()) + 90)),
            "/used-up-long-ago": web.reply(403, b"", limit("0", 1_000_000_007)),
            "/short": web.reply(429, b"", limit("0", 90)),
            "/left": web.reply(403, b"", limit("7", 90)),
        }
    )
    for path in ("/throttled", "/used-up", "/short"):
        assert 60 < found[path]["not_before"] - time.time() <= 120, path
        assert (found[path]["reason"], found[path]["host_wide"]) == ("hold_rate_limited", True)
    assert found["/used-up-long-ago"]["not_before"] <= time.time() + 1
    assert [found[path]["reason"] for path in ("/denied", "/left")] == ["access_denied"] * 2
    assert 0 < found["/seconds"]["not_before"] - time.time() <= 120
    assert found["/seconds"]["reason"] == "hold_rate_limited"
    assert 60 < found["/date"]["not_before"] - time.time() <= 90
    for nothing_ahead in ("/nonsense", "/past", "/now"):  # so the host is slowed down
        assert found[nothing_ahead]["not_before"] is None
        assert found[nothing_ahead]["host_wide"]
        assert found[nothing_ahead]["reason"] == "http_error"


def test_a_redirect_is_not_followed_but_handed_back_with_its_absolute_target(web, outcomes):
    found = outcomes(
        {
            "/moved": web.reply(301, b"", [("Location", "/new?x=1")]),
            "/found": web.reply(302, b"", [("Location", "//other.example/a")]),
            "/raw": web.reply(302, b"", [("Location", "/caf\xe9")]),  # one byte, which is no UTF-8
            "/lost": web.reply(302, b""),
        }
    )
    assert found["/moved"]["target"] == f"http://127.0.0.2:{web.port}/new?x=1"
    assert found["/moved"]["permanent"] is True
    assert (found["/found"]["target"], found["/found"]["permanent"]) == ("http://other.example/a", False)
    assert found["/raw"]["target"] == f"http://127.0.0.2:{web.port}/caf%E9"
    assert found["/lost"]["reason"] == "http_error"
    assert "/new?x=1" not in web.asked("http://127.0.0.2:1")


def test_only_text_is_read_and_only_so_much_of_it(web, outcomes):
    def endless(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
        handler.wfile.flush()
        handler.server.closing.wait(30)

    found = outcomes(
        {
            "/html": web.reply(content_type="text/html; charset=utf-8"),
            "/xhtml": web.reply(content_type="application/xhtml+xml"),
            "/plain": web.reply(content_type="TEXT/PLAIN"),
            "/twice": web.reply(content_type="text/html, text/html; charset=utf-8"),
            "/untyped": web.reply(content_type=None),
            "/sheet": web.reply(content_type="application/vnd.visio"),
            "/silent": web.reply(body=b"\x7fELF" + b"x" * 100, content_type="application/octet-stream"),
            "/image": endless,
            "/declared": web.reply(body=b"x" * 20_000),
            "/bomb": web.reply(body=gzip.compress(b"x" * 3_000_000), headers=[("Content-Encoding", "gzip")]),
            "/broken": web.reply(body=b"\x1f\x8bnothing", headers=[("Content-Encoding", "gzip")]),
            "/unknown": web.reply(body=b"\x1f\x9d\x90\x00\x01\x02", headers=[("Content-Encoding", "compress")]),
            "/named": web.reply(headers=[("Content-Encoding", "utf-8")]),
            "/layers": web.reply(headers=[("Content-Encoding", ", ".join(["gzip"] * 6))]),
            "/zipped": web.reply(body=gzip.compress(b"<p>hello"), headers=[("Content-Encoding", "gzip")]),
        },
        DOWNLOAD_MAXSIZE=10_000,
    )
    for path in ("/html", "/xhtml", "/plain", "/twice", "/untyped", "/zipped", "/named"):
        assert found[path]["outcome"] == "page", (path, found[path])
    for path, reason in {
        "/sheet": "not_text",
        "/silent": "not_text",
        "/image": "not_text",
        "/declared": "too_large",
        "/bomb": "too_large",
        "/broken": "undecodable",
        "/unknown": "undecodable",
        "/layers": "undecodable",
    }.items():
        assert (found[path]["outcome"], found[path]["reason"]) == ("Denied", reason), (path, found[path])


def test_a_download_that_fails_is_tried_later_without_a_time_of_its_own(web, outcomes):
    cut = web.reply(body=b"half", headers=[("Content-Length", "4000")])

    def long_head(handler):
        """A complete answer: only its size speaks against it."""
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\nConnection: close\r\n")
        handler.wfile.write((b"X-Filler: " + b"x" * 1_000 + b"\r\n") * 3_000 + b"\r\nok")

    found = outcomes({"/reset": web.reset, "/hang": web.hang, "/cut": cut, "/head": long_head}, DOWNLOAD_TIMEOUT=2)
    for path, outcome in found.items():
        assert (outcome["outcome"], outcome["reason"]) == ("TryLater", "download_failed"), (path, outcome)
        assert outcome["not_before"] is None
        assert not outcome["host_wide"]
    assert "Timeout" in found["/hang"]["detail"]
    assert "Timeout" not in found["/head"]["detail"]


def test_every_request_says_who_asks_and_carries_no_cookie(web, crawl):
    seen = []

    def note(handler):
        seen.append(dict(handler.headers))
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\n\r\nok"
        )

    base = web.site("127.0.0.2", {"/robots.txt": note, "/a": note, "/b": note})
    crawl([f"{base}/a", f"{base}/b"], CRAWLER_CONTACT="https://example.org/bot", USER_AGENT="Mozilla/5.0")
    assert len(seen) == 3
    assert {headers["User-Agent"] for headers in seen} == {"CorpusBot/1.0.0 (+https://example.org/bot)"}
    assert not any({"Cookie", "Referer"} & headers.keys() for headers in seen)
