"""A source of JSON is crawled by the rules of every page, and its archive gives the same records again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpus_crawl import SETTINGS, CorpusCrawl
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.places import PROJECT
from tests.support.process import scrapy

HOST = "https://api.example.org"
EXAMPLE = PROJECT / "docs" / "examples" / "api.yaml"


def prose(topic: str, lines: int = 14) -> str:
    return " ".join(f"On day {n} the {topic} guild met and wrote down what the {topic} had cost." for n in range(lines))


def answer(data: object, kind: str = "application/json", **headers: str) -> Answer:
    return Answer(body=json.dumps(data).encode(), content_type=kind, headers=tuple(headers.items()))


def article(number: int, topic: str, **more: object) -> dict[str, object]:
    return {
        "id": number, "title": f"The <em>{topic}</em>", "link": f"@here@/read/{number}", "license": "CC-BY-4.0",
        "published": "2026-03-04T05:06:07Z", "authors": [{"name": "Ada Weber"}],
        "body": {"rendered": f"<p>{prose(topic)}</p><p>And so it ended.</p>"}, **more,
    }  # fmt: skip


TOPICS = {1: "cooper", 2: "glover", 3: "tanner", 4: "weaver", 5: "miller"}


def routes(**more: Answer) -> dict[str, Answer]:
    lists = {
        "/articles?page=1&per_page=2": answer([{"id": 1}, {"id": 2}]),
        "/articles?page=2&per_page=2": answer([{"id": 3}, {"id": 4}]),
        "/articles?page=3&per_page=2": answer([{"id": 5}, {"name": "no id"}]),
        "/articles?page=4&per_page=2": Answer(404),
    }
    records = {f"/articles/{n}": answer(article(n, topic)) for n, topic in TOPICS.items()}
    return lists | records | {f"/{name}": what for name, what in more.items()}


def spec(folder: Path, here: str, *changes: tuple[str, str]) -> Path:
    """The example of the documentation, for a site of this web."""
    text = EXAMPLE.read_text().replace(HOST, here)
    for old, new in (("items: results", 'items: ""'), *changes):
        assert old in text
        text = text.replace(old, new)
    file = folder / "api.yaml"
    file.write_text(text)
    return file


def run(folder: Path, web: PolicyWeb, *arguments: str, **more: object) -> CorpusCrawl:
    settings = SETTINGS | {"CORPUS_DIR": folder, "NETWORK_PORTS": web.port} | more
    found = scrapy("crawl", *arguments, settings=settings, timeout=120)
    return CorpusCrawl(folder, found.stderr, found.returncode)


def test_every_record_of_every_list_is_a_document_with_the_fields_that_the_file_names(tmp_path: Path) -> None:
    with PolicyWeb() as web:
        here = web.site("127.0.0.2", routes())
        done = run(tmp_path / "corpus", web, "corpus", "-a", f"api={spec(tmp_path, here)}")
        assert done.returncode == 0, done.log[-3000:]
        assert sorted(done.kept) == [f"{here}/articles/{n}" for n in TOPICS]
        cooper = done.kept[f"{here}/articles/1"]
        assert cooper["text"] == f"{prose('cooper')}\nAnd so it ended."
        assert (cooper["title"], cooper["author"], cooper["pub_date"]) == ("The cooper", "Ada Weber", "2026-03-04")
        assert (cooper["license_tag"], cooper["method_used"]) == ("CC-BY-4.0", "api")
        assert cooper["canonical_link"] == f"{here}/read/1"
        assert cooper["robots_status"] == "no_rules"
        assert "record 2: gives no address" in done.log
        asked = web.asked["127.0.0.2"]
        assert all(asked.count(f"/articles/{n}") == 1 for n in TOPICS)
        assert f"{here}/read/1" not in done.rejected
        again = run(tmp_path / "again", web, "replay", "-a", f"archive={tmp_path}/corpus/archive/*.warc.gz")
        assert len(web.asked["127.0.0.2"]) == len(asked)
    own = {"warc_file", "worker_id"}
    for url, record in done.kept.items():
        assert {name for name in record if record[name] != again.kept[url][name]} <= own


def test_robots_txt_and_opt_outs_hold_for_records_and_lists_of_a_source(tmp_path: Path) -> None:
    robots = Answer(body=b"User-agent: *\nDisallow: /articles/2\n", content_type="text/plain")
    more = {"robots.txt": robots, "articles/3": answer(article(3, "tanner"), **{"X-Robots-Tag": "noai"})}
    with PolicyWeb() as web:
        here = web.site("127.0.0.2", routes(**more))
        done = run(tmp_path / "corpus", web, "corpus", "-a", f"api={spec(tmp_path, here)}")
        assert "/articles/2" not in web.asked["127.0.0.2"]
    assert sorted(done.kept) == [f"{here}/articles/{n}" for n in (1, 4, 5)]
    assert done.rejected[f"{here}/articles/2"]["reason"] == "robots_disallowed"
    assert done.rejected[f"{here}/articles/3"]["reason"] == "optout"
    assert prose("tanner").encode() not in done.everything


@pytest.mark.parametrize(
    ("body", "kind", "reason"),
    [
        (b"{", "application/json", "not_text"),
        (b'{"title": "x"}', "application/vnd.api+json", "no_text"),
        (b"[1]", "application/json", "no_text"),
        (b"\x89PNG", "image/png", "not_text"),
        (b'{"body": {"rendered": "' + b"<b>" * 30_000 + b'"}}', "application/json", "hostile_html"),
    ],
)
def test_a_record_that_cannot_be_read_has_its_reason(tmp_path: Path, body: bytes, kind: str, reason: str) -> None:
    with PolicyWeb() as web:
        here = web.site("127.0.0.2", routes(**{"articles/1": Answer(body=body, content_type=kind)}))
        done = run(tmp_path / "corpus", web, "corpus", "-a", f"api={spec(tmp_path, here)}")
    assert done.returncode == 0, done.log[-3000:]
    assert done.rejected[f"{here}/articles/1"]["reason"] == reason
    assert len(done.kept) == len(TOPICS) - 1


def test_json_elsewhere_is_no_page_and_plain_text_fields_are_kept_as_they_stand(tmp_path: Path) -> None:
    lines = f"{prose('cooper')}\n\n{prose('glover')}"
    with PolicyWeb() as web:
        here = web.site("127.0.0.2", routes(**{"articles/1": answer(article(1, "x", summary=lines))}))
        file = spec(tmp_path, here, ("html: body.rendered", "text: summary"), ("most: 500", "most: 1"))
        seeds = ("-a", f"url={here}/data.json")
        web.sites["127.0.0.2"] = {**web.sites["127.0.0.2"], "/data.json": answer({"summary": lines})}
        done = run(tmp_path / "corpus", web, "corpus", "-a", f"api={file}", *seeds)
        assert "/articles?page=2&per_page=2" not in web.asked["127.0.0.2"]  # one list, no more
    assert done.kept[f"{here}/articles/1"]["text"] == lines
    assert done.kept[f"{here}/articles/1"]["extractor"] == "api"
    assert done.rejected[f"{here}/data.json"]["reason"] == "not_text"


ISSUES = """\
list: @here@/repos/a/b/issues?per_page=1
pages: {by: header}
record: "@here@/repos/a/b/issues/{number}"
fields: {title: title, markdown: body, author: user.login}
accept: application/vnd.github+json
credential: {from: "env:ISSUES_TOKEN"}
"""
SECRET = "ghp_0123456789abcdef"


def of_github(here: str, seen: list[tuple[str, str, str]]) -> dict[str, Callable[[Any], None]]:
    """Lists by a Link header on another path, 401 without the key; `seen`: path, key and Accept of each request."""
    pages: dict[str, tuple[object, str]] = {
        "/repos/a/b/issues?per_page=1": ([{"number": 1}], f'<{here}/repositories/9/issues?page=2>; rel="next"'),
        "/repositories/9/issues?page=2": ([{"number": 2}], f'<{here}/repos/a/b/issues?per_page=1>; rel="first"'),
        "/repos/a/b/issues/1": ({"number": 1, "title": "One", "body": f"# Head\n\n**{prose('cooper')}**"}, ""),
        "/repos/a/b/issues/2": ({"number": 2, "title": "Two", "body": prose("glover")}, ""),
    }

    def answer_to(handler: Any) -> None:
        key, (data, link) = handler.headers.get("Authorization", ""), pages[handler.path]
        seen.append((handler.path, key, handler.headers.get("Accept", "")))
        body = json.dumps(data).encode()
        handler.send_response(200 if key == f"Bearer {SECRET}" else 401)
        handler.send_header("Content-Type", "application/json; charset=utf-8")
        handler.send_header("Content-Length", str(len(body)))
        if link:
            handler.send_header("Link", link)
        handler.end_headers()
        handler.wfile.write(body)

    return dict.fromkeys(pages, answer_to)


def test_a_key_goes_with_each_request_of_its_source_and_into_nothing_that_the_crawl_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str, str]] = []
    with PolicyWeb() as web:
        here = web.base("127.0.0.2")
        web.site("127.0.0.2", of_github(here, seen))
        (tmp_path / "api.yaml").write_text(ISSUES.replace("@here@", here))
        lacking = run(tmp_path / "none", web, "corpus", "-a", f"api={tmp_path}/api.yaml")
        assert lacking.returncode == 1 and "variable ISSUES_TOKEN is not set" in lacking.log and not seen
        monkeypatch.setenv("ISSUES_TOKEN", SECRET)
        done = run(tmp_path / "corpus", web, "corpus", "-a", f"api={tmp_path}/api.yaml")
    assert done.returncode == 0, done.log[-3000:]
    assert sorted(done.kept) == [f"{here}/repos/a/b/issues/{n}" for n in (1, 2)]
    assert {(key, accept) for _, key, accept in seen} == {(f"Bearer {SECRET}", "application/vnd.github+json")}
    assert done.kept[f"{here}/repos/a/b/issues/1"]["text"].splitlines() == ["Head", prose("cooper")]
    assert SECRET.encode() not in done.everything


def test_a_source_whose_first_list_cannot_be_read_ends_the_crawl_with_a_sentence(tmp_path: Path) -> None:
    with PolicyWeb() as web:
        here = web.site("127.0.0.2", {"/articles?page=1&per_page=2": answer({"error": "moved"})})
        done = run(tmp_path / "corpus", web, "corpus", "-a", f"api={spec(tmp_path, here)}")
    assert done.returncode != 0
    assert "expected a list of records" in done.log


def test_a_bad_file_is_told_before_anything_starts(tmp_path: Path) -> None:
    with PolicyWeb() as web:
        here = web.site("127.0.0.2", {})
        file = spec(tmp_path, here, ("by: page", "by: pages"))
        done = run(tmp_path / "corpus", web, "corpus", "-a", f"api={file}")
        assert web.connected == []
    assert done.returncode != 0
    assert (
        f"{file}:13:14: pages.by: expected one of none, page, offset, cursor, link, header, found 'pages'" in done.log
    )


def test_a_crawl_of_a_source_that_was_stopped_goes_on_without_the_file(tmp_path: Path) -> None:
    with PolicyWeb() as web:
        here = web.site("127.0.0.2", routes())
        file = spec(tmp_path, here)
        first = run(tmp_path / "corpus", web, "corpus", "-a", f"api={file}", CLOSESPIDER_ITEMCOUNT=1,
                    DOWNLOAD_DELAY=0.5)  # fmt: skip
        file.unlink()
        assert 0 < len(first.kept) < len(TOPICS)
        done = run(tmp_path / "corpus", web, "corpus")
    urls = [record["url"] for record in done._records("shards")]
    assert sorted(urls) == [f"{here}/articles/{n}" for n in TOPICS]


def test_lists_that_their_server_breaks_off_fail_the_crawl_and_a_number_beyond_the_last_ends_it(tmp_path: Path) -> None:
    with PolicyWeb() as web:
        sites = routes() | {"/articles?page=2&per_page=2": Answer(401)}
        here = web.site("127.0.0.2", sites)
        denied = run(tmp_path / "denied", web, "corpus", "-a", f"api={spec(tmp_path, here)}")
        web.site("127.0.0.2", {**routes(), "/lists": answer({"next": "/more", "rows": [{"id": 1}]})})
        file = tmp_path / "links.yaml"
        file.write_text(f"list: {here}/lists\nitems: rows\npages: {{by: link, at: next}}\n"
                        f"record: {here}/articles/{{id}}\nfields: {{html: body.rendered}}\n")  # fmt: skip
        elsewhere = run(tmp_path / "links", web, "corpus", "-a", f"api={file}")
    assert denied.returncode == 1 and "access_denied, HTTP 401" in denied.log
    assert sorted(denied.kept) == [f"{here}/articles/{n}" for n in (1, 2)]
    assert elsewhere.returncode == 1 and "the next list is none of this source: '/more'" in elsewhere.log
    assert sorted(elsewhere.kept) == [f"{here}/articles/1"]
