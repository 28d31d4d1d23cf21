"""JSON that a page fetches for its own content is archived beside it, and read where it says more than the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.browser.capture import MAX_CAPTURES, Captures
from crawler.document import Capture
from crawler.seeds.allowlist import AllowlistEntry
from tests.browser.conftest import crawl, page, prose, replay
from tests.support.loopback_web import Answer, PolicyWeb

TEASER = " ".join(prose("potter").split()[:20])
APP = """fetch('/api%s').then(a => a.json()).then(d => {
    document.title = d.title;
    document.getElementById('root').innerHTML = '<main><h1>' + d.title + '</h1><p>' + d.teaser + '</p></main>'; })"""


def shell(path: str) -> Answer:
    return page(f"<div id=root></div><a href=/other>on</a><script>{APP % path}</script>")


def data(topic: str, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    found = {"title": "Drawn", "teaser": TEASER, "parts": [{"body": prose(topic)}, {"body": prose(f"{topic} guild")}]}
    return Answer(body=json.dumps(found).encode(), content_type="application/json", headers=headers)


def allowing(folder: Path, here: str, *patterns: str, more: str = "") -> Path:
    file = folder / "allow.yaml"
    file.write_text(
        f"- {{domain: '{here.removeprefix('http://')}', tier: A, licence: CC0, js: always,"
        f" js_capture: {json.dumps(patterns)}{more}}}\n"
    )
    return file


def records(folder: Path) -> list[tuple[str, dict[str, str], bytes]]:
    (archive,) = (folder / "archive").glob("*.warc.gz")
    with archive.open("rb") as file:
        return [(r.rec_type, dict(r.rec_headers.headers), r.content_stream().read()) for r in ArchiveIterator(file)]


def test_captured_json_is_the_source_where_it_says_more_and_stands_in_the_archive_by_itself(
    tmp_path: Path, web: PolicyWeb
) -> None:
    paths = ("/one", "/two", "/open")
    routes = {path: shell(path) for path in paths} | {f"/api{path}": data(path[1:]) for path in paths}
    here = web.site("127.0.0.2", routes)
    allowlist = allowing(tmp_path, here, "/api/one", "/api/two")
    done = crawl(tmp_path / "corpus", web, [here + path for path in paths], allowlist=allowlist)
    assert done.returncode == 0, done.log[-3000:]
    one, other = done.kept[f"{here}/one"], done.rejected.get(f"{here}/open") or done.kept[f"{here}/open"]
    assert one["text"].split("\n") == [prose("one"), "", prose("one guild")]  # the teaser is no sentence
    assert (one["method_used"], one["extractor"], one["title"]) == ("captured", "captured-json", "Drawn")
    assert one["render_signals"]["browser"]["captured"] == 1
    assert prose("open guild") not in other.get("text", "")  # not named: only what is drawn
    assert "captured" not in other["render_signals"]["browser"]
    assert [web.asked["127.0.0.2"].count(f"/api{path}") for path in paths] == [1, 1, 1]
    found = records(tmp_path / "corpus")
    pages = {fields["WARC-Record-ID"]: fields["WARC-Target-URI"] for kind, fields, _ in found if kind == "response"}
    captures = {f["WARC-Target-URI"]: (f, b) for kind, f, b in found if f.get("X-Crawl-Drawn") == "capture"}
    assert sorted(captures) == [f"{here}/api/one", f"{here}/api/two"]
    fields, body = captures[f"{here}/api/one"]
    assert pages[fields["WARC-Concurrent-To"]] == f"{here}/one"
    assert fields["X-Crawl-Licence"] == "CC0"
    assert json.loads(body)["parts"][0]["body"] == prose("one")
    index = "".join(path.read_text() for path in (tmp_path / "corpus" / "archive").glob("*.cdxj"))
    assert index.count('"url"') == len(paths)  # a capture is no page
    assert "/api/" not in index


def test_a_replay_without_a_browser_takes_the_same_text_from_the_archive(tmp_path: Path, web: PolicyWeb) -> None:
    here = web.site("127.0.0.2", {"/one": shell("/one"), "/api/one": data("one")})
    done = crawl(tmp_path / "corpus", web, [f"{here}/one"], allowlist=allowing(tmp_path, here, "/api/*"))
    again = replay(tmp_path / "again", tmp_path / "corpus", NETWORK_PORTS=web.port)
    assert again.returncode == 0, again.log[-3000:]
    first, second = done.kept[f"{here}/one"], again.kept[f"{here}/one"]
    assert first["method_used"] == "captured"
    assert {name for name in first if first[name] != second[name]} <= {"warc_file", "worker_id"}


@pytest.mark.parametrize(
    ("robots", "headers", "why"),
    [
        ("User-agent: *\nDisallow: /api/\n", (), "robots_disallowed"),
        ("User-agent: *\nAllow: /\n", (("X-Robots-Tag", "noai"),), "optout"),
    ],
)
def test_data_that_robots_txt_or_an_opt_out_refuses_are_neither_captured_nor_drawn(
    tmp_path: Path, web: PolicyWeb, robots: str, headers: tuple[tuple[str, str], ...], why: str
) -> None:
    here = web.site("127.0.0.2", {
        "/robots.txt": Answer(body=robots.encode(), content_type="text/plain"),
        "/one": shell("/one"), "/api/one": data("one", headers),
    })  # fmt: skip
    done = crawl(tmp_path / "corpus", web, [f"{here}/one"], allowlist=allowing(tmp_path, here, "/api/"))
    record = done.rejected[f"{here}/one"]
    assert record["render_signals"]["browser"]["refused"] == {why: 1}
    assert prose("one").encode() not in done.everything


def test_a_reservation_that_only_the_body_of_a_page_could_lift_holds_for_captured_data(
    tmp_path: Path, web: PolicyWeb
) -> None:
    here = web.site("127.0.0.2", {"/one": shell("/one"), "/api/one": data("one", (("tdm-reservation", "1"),))})
    done = crawl(tmp_path / "corpus", web, [f"{here}/one"], allowlist=allowing(tmp_path, here, "/api/"))
    assert done.rejected[f"{here}/one"]["reason"] == "optout"
    assert prose("one").encode() not in done.everything


def test_an_entry_captures_only_on_its_own_domain() -> None:
    entry = AllowlistEntry("a.org", "A", "CC0", js_capture=("/api/*.json$", "/graphql"))
    yes = ("https://a.org/api/x.json", "https://data.a.org/graphql?query=x", "https://a.org:8443/api/b/c.json")
    no = ("https://b.org/api/x.json", "https://a.org/api/x.xml", "https://nota.org/graphql", "data:application/json,1")
    assert [entry.captures(url) for url in (*yes, *no)] == [True] * 3 + [False] * 4
    assert not AllowlistEntry("a.org", "A", "CC0").captures(yes[0])


def test_what_is_captured_of_one_page_is_bounded_in_number_and_bytes() -> None:
    few, many = Captures(), Captures()
    for number in range(2):
        few.add(Capture(f"https://a.org/{number}", b"x" * 60), 100)
    few.add(Capture("https://a.org/0", b"x"), 100)
    for number in range(MAX_CAPTURES + 3):
        many.add(Capture(f"https://a.org/{number}", b"x"), 10_000)
    assert few.facts() == {"captured": 1, "captures_left_out": 1}
    assert many.facts() == {"captured": MAX_CAPTURES, "captures_left_out": 3}


def test_a_limit_of_bytes_leaves_the_page_as_it_was_drawn(tmp_path: Path, web: PolicyWeb) -> None:
    here = web.site("127.0.0.2", {"/one": shell("/one"), "/api/one": data("one")})
    allowlist = allowing(tmp_path, here, "/api/")
    done = crawl(tmp_path / "corpus", web, [f"{here}/one"], allowlist=allowlist, BROWSER_CAPTURE_BYTES=100)
    record = done.rejected.get(f"{here}/one") or done.kept[f"{here}/one"]
    assert record["render_signals"]["browser"]["captures_left_out"] == 1
    assert record["method_used"] == "js"


def test_a_stricter_replay_refuses_a_page_that_was_drawn_with_data_which_it_would_not_keep(
    tmp_path: Path, web: PolicyWeb
) -> None:
    """The headers of the data refuse under profile strict only; those of the page say nothing."""
    here = web.site("127.0.0.2", {"/one": shell("/one"), "/api/one": data("one", (("X-Robots-Tag", "noindex"),))})
    allowlist = allowing(tmp_path, here, "/api/")
    done = crawl(tmp_path / "corpus", web, [f"{here}/one"], allowlist=allowlist, OPTOUT_PROFILE="balanced")
    assert done.kept[f"{here}/one"]["method_used"] == "captured"
    again = replay(tmp_path / "again", tmp_path / "corpus", NETWORK_PORTS=web.port, OPTOUT_PROFILE="strict")
    assert again.rejected[f"{here}/one"]["reason"] == "optout"
