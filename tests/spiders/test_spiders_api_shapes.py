"""The sources of the documentation, as their servers behave: lists, keys, limits, and a key that comes back."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from bench.web.prose import prose as paragraphs
from tests.support.corpus_crawl import SETTINGS, CorpusCrawl
from tests.support.loopback_web import PolicyWeb
from tests.support.places import PROJECT
from tests.support.process import scrapy

EXAMPLES = PROJECT / "docs" / "examples"
SECRET = "sec_0123/456789abcdef"
Heads = dict[str, str]
Said = tuple[int, Heads, Any]  # status, headers, JSON or bytes
Api = Callable[[Any], Said]


def prose(topic: str) -> str:
    return " ".join(paragraphs(topic))


class Server(dict[str, Any]):
    """The routes of a site: every path is answered by one function of the request."""

    def __init__(self, answers: Api) -> None:
        super().__init__()
        self._answers = answers

    def get(self, path: str, default: Any = None) -> Any:
        return default if path.endswith(".txt") or "/.well-known/" in path else self._send

    def _send(self, handler: Any) -> None:
        status, headers, data = self._answers(handler)
        if not status:
            handler.wfile.write(data)
            return
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        handler.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | headers).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


def run(folder: Path, web: PolicyWeb, file: Path, **more: object) -> CorpusCrawl:
    settings = SETTINGS | {"CORPUS_DIR": folder, "NETWORK_PORTS": web.port} | more
    found = scrapy("crawl", "corpus", "-a", f"api={file}", settings=settings, timeout=120)
    return CorpusCrawl(folder, found.stderr, found.returncode)


def example(folder: Path, name: str, **hosts: str) -> Path:
    """A file of the documentation, for hosts of this web."""
    text = (EXAMPLES / f"api-{name}.yaml").read_text()
    for name_, here in hosts.items():
        there = f"https://{name_.replace('_', '.')}"
        assert there in text
        text = text.replace(there, here)
    file = folder / f"{name}.yaml"
    file.write_text(text)
    return file


def test_courtlistener_is_read_by_cursors_with_its_token_and_waits_where_it_throttles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURTLISTENER_TOKEN", SECRET)
    asked, limits = Counter[str](), {"cursor=two": 429, "/opinions/2/": 403}
    with PolicyWeb() as web:
        here = web.base("127.0.0.2")

        def answers(handler: Any) -> Said:
            path = handler.path
            asked[path] += 1
            if handler.headers.get("Authorization") != f"Token {SECRET}":
                return 401, {}, {"detail": "Authentication credentials were not provided."}
            for part, status in limits.items():
                if part in path and asked[path] == 1:
                    return status, {"Retry-After": "1"}, {"detail": "Request was throttled."}
            if path.startswith("/api/rest/v4/opinions/?"):
                second = "cursor=two" in path
                onward = None if second else f"{here}{path}&cursor=two"
                return 200, {}, {"next": onward, "results": [{"id": 3}] if second else [{"id": 1}, {"id": 2}]}
            number = path.rstrip("/").rpartition("/")[2]
            return 200, {}, {"html_with_citations": f"<p>{prose('court ' + number)}</p>", "author_str": "Ada Weber"}

        web.site("127.0.0.2", Server(answers))
        done = run(tmp_path / "corpus", web, example(tmp_path, "courtlistener", www_courtlistener_com=here))
    assert done.returncode == 0, done.log[-3000:]
    assert sorted(done.kept) == [f"{here}/api/rest/v4/opinions/{n}/" for n in (1, 2, 3)]
    assert done.kept[f"{here}/api/rest/v4/opinions/2/"]["text"] == prose("court 2")
    assert {count for path, count in asked.items() if "two" in path or "/2/" in path} == {2}


def test_edgar_turns_away_who_gives_no_contact_and_its_filings_are_pages_by_accession_number(tmp_path: Path) -> None:
    folder = "/Archives/edgar/data/320193"
    recent = {"accessionNumber": ["0000320193-26-000106", "0000320193-26-000077"], "form": ["10-K", "10-Q"],
              "primaryDocument": ["aapl-20260926.htm", "aapl-20260627.htm"]}  # fmt: skip

    def data(handler: Any) -> Said:
        if "@" not in handler.headers.get("User-Agent", ""):
            return 403, {"Content-Type": "text/html"}, b"<h1>Your Request Originates from an Undeclared Tool</h1>"
        if handler.path == "/submissions/CIK0000320193.json":
            return 200, {}, {"cik": "320193", "filings": {"recent": recent, "files": []}}
        topic = "filing " + handler.path.rpartition("-")[2][:8]
        html = f"<!doctype html><title>Form</title><main><p>{prose(topic)}</p></main>"
        return (200 if handler.path.startswith(folder) else 404), {"Content-Type": "text/html"}, html.encode()

    with PolicyWeb() as web:
        lists, pages = web.base("127.0.0.2"), web.base("127.0.0.3")
        for address in ("127.0.0.2", "127.0.0.3"):
            web.site(address, Server(data))
        file = example(tmp_path, "edgar", data_sec_gov=lists, www_sec_gov=pages)
        nobody = run(tmp_path / "nobody", web, file)
        done = run(tmp_path / "corpus", web, file, CRAWLER_CONTACT="ada@example.org")
    assert nobody.returncode == 1 and "access_denied, HTTP 403" in nobody.log
    assert done.returncode == 0, done.log[-3000:]
    assert sorted(done.kept) == [f"{pages}{folder}/000032019326000077/aapl-20260627.htm",
                                 f"{pages}{folder}/000032019326000106/aapl-20260926.htm"]  # fmt: skip


def test_github_is_read_by_link_headers_and_asked_again_when_its_limit_of_requests_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    asked = Counter[str]()
    issues = "/repos/scrapy/scrapy/issues"
    with PolicyWeb() as web:
        here = web.base("127.0.0.2")

        def answers(handler: Any) -> Said:
            path = handler.path
            asked[path] += 1
            assert handler.headers["Authorization"] == f"Bearer {SECRET}"
            if path in ("/repositories/529502/issues?page=2", f"{issues}/1") and asked[path] == 1:
                used_up = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0"}
                return 403, used_up | {"X-RateLimit-Reset": str(int(time.time()) + 1)}, {"message": "rate limit"}
            left = {
                "X-RateLimit-Remaining": "0",
                "X-RateLimit-Reset": str(int(time.time()) + 9_999),
            }  # that was the last
            if path.startswith(f"{issues}?"):
                link = {"Link": f'<{here}/repositories/529502/issues?page=2>; rel="next"'}
                return 200, left | link, [{"number": 1}, {"number": 2}]
            if path.startswith("/repositories"):
                return 200, {}, [{"number": 3}]
            number = path.rpartition("/")[2]
            return 200, {}, {"number": int(number), "title": "One", "body": prose(f"issue {number}")}

        web.site("127.0.0.2", Server(answers))
        done = run(tmp_path / "corpus", web, example(tmp_path, "github", api_github_com=here))
    assert done.returncode == 0, done.log[-3000:]
    assert sorted(done.kept) == [f"{here}{issues}/{n}" for n in (1, 2, 3)]
    assert (asked[f"{issues}/1"], asked["/repositories/529502/issues?page=2"], asked[f"{issues}/2"]) == (2, 2, 1)


def test_a_key_that_a_server_repeats_reaches_nothing_that_the_crawl_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    issues, coded = "/repos/scrapy/scrapy/issues", quote(SECRET, safe="")
    spelled = [SECRET, coded, coded.lower(), SECRET.replace("/", "\\/"), f"\\u0073{SECRET[1:]}"]

    def said(number: str, key: str = SECRET) -> bytes:
        return b'{"title": "One", "body": "%s Your key: %s"}' % (prose(number).encode(), key.encode())

    with PolicyWeb() as web:
        here = web.base("127.0.0.2")
        more = f'<{here}/repositories/1/issues?page=2&access_token={coded}>; rel="next"'
        table: dict[str, Said] = {
            f"{issues}?state=closed&per_page=100": (200, {"Link": more}, [{"number": n} for n in range(1, 9)]),
            f"{issues}/2": (302, {"Location": f"{here}{issues}/22?token={SECRET}"}, b""),
            f"{issues}/3": (401, {"WWW-Authenticate": f"Bearer {SECRET}"}, {"detail": f"bad key {SECRET}"}),
            f"{issues}/4": (500, {}, {"detail": f"trace of {SECRET}"}),
            f"{issues}/5": (200, {"Content-Encoding": "gzip"}, gzip.compress(said("5"))),
            f"{issues}/6": (0, {}, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n" % SECRET.encode()),
            f"{issues}/7": (200, {"X-Robots-Tag": f"noai {SECRET}, noai", "ETag": f'"{SECRET}"'}, said("7")),
            f"{issues}/8": (200, {"Content-Type": f"image/{SECRET}"}, said("8")),
            f"{issues}/9": (200, {"ETag": f'"{SECRET}"', "Set-Cookie": f"key={coded}"}, said("9", " ".join(spelled))),
        }

        def answers(handler: Any) -> Said:
            if handler.path.startswith("/repositories"):
                return 200, {"Link": f'<{here}/{SECRET}?page=3>; rel="next"'}, [{"number": 9}]
            return table.get(handler.path, (200, {}, said(handler.path[-30:])))

        web.site("127.0.0.2", Server(answers))
        done = run(tmp_path / "corpus", web, example(tmp_path, "github", api_github_com=here))
        asked = web.asked["127.0.0.2"]
    assert {f"{here}{issues}/{n}" for n in (1, 5, 9)} <= done.kept.keys()
    assert done.kept[f"{here}{issues}/1"]["text"].endswith("Your key: KEY-REMOVED-KEY-REMOV")
    ends = {int(url[-1]): record["reason"] for url, record in done.rejected.items()}
    assert ends == {2: "redirected", 3: "access_denied", 4: "http_error", 6: "download_failed", 7: "optout",
                    8: "not_text"}  # fmt: skip
    assert any(path.startswith(f"{issues}/22?token=KEY-REMOVED") for path in asked)
    for way in spelled:
        assert way.encode() not in done.everything, way
        assert way not in " ".join(asked)
    assert "repeats the key that it was sent" in done.log
