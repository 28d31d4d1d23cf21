"""Pages that name another page as their original: it is found, nothing is lost for it, and no text is kept twice."""

from __future__ import annotations

import pytest

from tests.support.changing_site import ChangingSite, Page
from tests.support.crawl import Crawl
from tests.support.serving import article

CLAIMS = {  # page → (its text, what it names, is that linked from the start page as well?)
    "/chain/a": ("chain", "/chain/b"),
    "/chain/b": ("chain", "/chain/c"),
    "/chain/c": ("chain", None),
    "/loop/a": ("loop a", "/loop/b"),
    "/loop/b": ("loop b", "/loop/a"),
    "/home/1": ("home 1", "/"),
    "/home/2": ("home 2", "/"),
    "/home/3": ("home 3", "/"),
    "/lost/a": ("lost", "/lost/gone"),
    "/shut/a": ("shut", "/private/b"),
    "/refused/a": ("refused", "/refused/b"),
    "/refused/b": ("refused", None),
    "/other/a": ("other one", "/other/b"),
    "/other/b": ("other two", None),
    "/header/a": ("header", None),
    "/header/b": ("header", None),
    "/foreign": ("foreign", "http://127.0.0.9/foreign"),
    "/self": ("self", "/self"),
}
LINKED = [name for name in CLAIMS if name.startswith("/home") or name.endswith("/a") or name in ("/foreign", "/self")]


def page(path: str) -> Page:
    text, names = CLAIMS[path]
    body = article(text)
    if names is not None:
        body = body.replace(b"<head>", f'<head><link rel="canonical" href="{names}">'.encode(), 1)
    return Page(body)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    site = ChangingSite(pages={path: page(path) for path in CLAIMS})
    site.pages["/"] = Page(article("start", links=tuple(LINKED)))
    site.pages["/header/a"].headers["Link"] = '</header/b>; rel="canonical"'
    site.pages["/refused/b"].headers["X-Robots-Tag"] = "noai"
    site.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /private/\n", kind="text/plain")
    site.start()
    crawl = Crawl(tmp_path_factory.mktemp("canonical") / "corpus")
    done = crawl.run({"url": site.url("/")}, timeout=240, NETWORK_PORTS=site.port, NEARDUP_THRESHOLD=0.95)
    site.stop()
    assert done.returncode == 0, done.stderr

    def path_of(record):
        return str(record["url"]).removeprefix(site.url(""))

    kept = {path_of(r): r for r in crawl.records()}
    rejected = {path_of(r): r for r in crawl.records("rejected")}
    return site, kept, rejected


def test_what_is_named_is_found_although_nobody_links_to_it(crawled):
    site, kept, rejected = crawled
    asked = {entry.path for entry in site.log}
    assert {"/chain/b", "/chain/c", "/loop/b", "/other/b", "/header/b", "/lost/gone"} <= asked
    assert {*kept, *rejected} == {*CLAIMS, "/", "/lost/gone", "/private/b"}


def test_of_pages_with_one_text_exactly_one_is_kept(crawled):
    _, kept, rejected = crawled
    for group in (("/chain/a", "/chain/b", "/chain/c"), ("/header/a", "/header/b")):
        (survivor,) = [path for path in group if path in kept]
        assert {rejected[path]["dup_of"] for path in group if path in rejected} == {kept[survivor]["canonical_url"]}


def test_a_page_whose_original_cannot_be_had_stays(crawled):
    _, kept, rejected = crawled
    assert {"/lost/a", "/shut/a", "/refused/a"} <= set(kept)
    assert [rejected[path]["reason"] for path in ("/lost/gone", "/private/b", "/refused/b")] == [
        "gone",
        "robots_disallowed",
        "optout",
    ]


def test_pages_that_look_different_stay_whatever_they_name(crawled):
    _, kept, _ = crawled
    assert {"/home/1", "/home/2", "/home/3", "/", "/loop/a", "/loop/b", "/other/a", "/other/b"} <= set(kept)


def test_the_claim_is_in_the_record_and_the_identity_is_the_pages_own(crawled):
    site, kept, rejected = crawled
    records = {**kept, **rejected}
    for path, (_, names) in CLAIMS.items():
        record = records[path]
        assert record["canonical_url"] == record["url"] == site.url(path)
        if path not in ("/header/a", "/foreign"):
            assert record["canonical_link"] == (site.url(names) if names else None)
    assert records["/header/a"]["canonical_link"] == site.url("/header/b")
    assert records["/foreign"]["canonical_link"] is None
