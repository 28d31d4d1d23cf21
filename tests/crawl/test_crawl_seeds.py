"""Seeds in real crawls: every kind of sitemap, names of pages, traps and caps, from the server's own log."""

import gzip
import json
from collections import Counter

import pytest

from crawler.observe.report.summary import summarise
from tests.support.serving import Handler, LoopbackServer, article

NEWS = "http://www.google.com/schemas/sitemap-news/0.9"


class Web(LoopbackServer):
    """Every loopback address is a site. `files` by path (or host and path); anything else named /p… is a page."""

    def __init__(self) -> None:
        super().__init__(SiteHandler)
        self.files: dict[str, tuple[str, bytes]] = {}
        self.links: dict[str, list[str]] = {}
        self.moved: dict[str, str] = {}
        self.asked: Counter[str] = Counter()


class SiteHandler(Handler):
    server: Web

    def respond(self) -> None:
        host = self.headers["Host"].partition(":")[0]
        self.server.asked[host + self.path] += 1
        if found := self.server.files.get(self.path):
            kind, body = found
            self.send(200, body, kind)
        elif target := self.server.moved.get(self.path, ""):
            self.send(302, headers={"Location": target})
        elif self.path.startswith("/p"):
            self.send(200, article(f"{host}{self.path}", links=tuple(self.server.links.get(self.path, ()))))
        else:
            self.send(404)


@pytest.fixture
def web():
    with Web() as server:
        yield server


def urlset(*links: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{link}</loc></url>' for link in links)}</urlset>".encode()


def index(*links: str) -> bytes:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{link}</loc></sitemap>' for link in links)}</sitemapindex>".encode()


def test_every_kind_of_sitemap_is_followed_whatever_its_type_depth_limit_or_encoding(crawl, web, tmp_path):
    base = f"http://127.0.0.8:{web.port}"
    news = f'<urlset xmlns:n="{NEWS}"><url><loc>{base}/p/news</loc><n:news><n:title>x</n:title></n:news></url></urlset>'
    atom = f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="{base}/p/atom"/></entry></feed>'
    rss = f"<rss><channel><item><link>{base}/p/rss</link></item></channel></rss>"
    utf16 = f'<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>{base}/p/utf16</loc></url></urlset>'
    lines = "\ufeff" + f"{base}/p/text\n{base}/p/text?ref=list\nhttp://127.0.0.9:{web.port}/p/elsewhere\n"
    hostile = f'<!DOCTYPE u [<!ENTITY e "x">]><urlset><url><loc>{base}/p/&e;</loc></url></urlset>'
    names = ("i1.xml", "text.txt", "rss", "atom", "news", "utf16.xml", "cut.xml.gz", "hostile", "html")
    robots = "User-agent: *\nDisallow: /private\n" + "".join(f"Sitemap: /{name}\n" for name in names)
    web.files = {
        "/robots.txt": ("text/plain", robots.encode()),
        "/i1.xml": ("text/html", index("/i2.xml")),
        "/i2.xml": ("application/xml", index("/i3.xml")),
        "/i3.xml": ("application/xml", index("/deep.xml.gz", "/deep-index.xml")),
        "/deep.xml.gz": ("application/x-gzip", gzip.compress(urlset(f"{base}/p/deep"))),
        "/deep-index.xml": ("application/xml", index("/too-deep.xml")),
        "/text.txt": ("application/octet-stream", lines.encode()),
        "/rss": ("image/png", rss.encode()),
        "/atom": ("application/json", atom.encode()),
        "/news": ("", news.encode()),
        "/utf16.xml": ("text/xml; charset=iso-8859-1", utf16.encode("utf-16")),
        "/cut.xml.gz": ("application/x-gzip", gzip.compress(urlset(f"{base}/p/cut", "/p/lost"))[:-8]),
        "/hostile": ("text/xml", hostile.encode()),
        "/html": ("text/html", b"<!DOCTYPE html><html><a href='/p/never'>x</a></html>"),
    }
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text(f'- {{domain: "127.0.0.8:{web.port}", tier: A, licence: CC0-1.0, tracking: [ref]}}\n')
    done = crawl.run({"allowlist": str(allowlist)}, NETWORK_PORTS=str(web.port), DEPTH_LIMIT=1)
    assert done.returncode == 0, done.stderr
    pages = {path.removeprefix("127.0.0.8") for path in web.asked if "/p/" in path}
    assert pages >= {f"/p/{name}" for name in ("deep", "text", "rss", "atom", "news", "utf16", "cut")}
    assert pages <= {f"/p/{name}" for name in ("deep", "text", "rss", "atom", "news", "utf16", "cut", "lost")}
    assert set(web.asked.values()) == {1}
    assert "127.0.0.8/too-deep.xml" not in web.asked
    assert "declares entities of its own: refused" in done.stderr
    assert "an HTML page, expected a sitemap" in done.stderr
    assert {str(r["license_tag"]) for r in crawl.records()} == {"CC0-1.0"}
    assert summarise(str(crawl.folder)).left_out == {"outside: off_scope": 1}


def test_a_page_has_one_name_wherever_a_tracking_parameter_turns_up(crawl, web, tmp_path):
    """In a seed, a link and a redirect; the parameters come from the allowlist and from the setting.

    It is asked for as it was found first, and once.
    """
    base = f"http://127.0.0.8:{web.port}"
    web.links = {"/p/0?from=me&mode=z": ["/p/1?from=a", "/p/1?from=b&mode=x", "/p/2?id=1&mode=y", "/p/3", "/p/4"]}
    web.moved = {"/p/3": "/p/1?from=c", "/p/4": "/p/4?mode=again", "/p/4?mode=again": "/p/4"}
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text(
        f'- {{domain: "127.0.0.8:{web.port}", tier: A, licence: CC0-1.0, discovery: links, tracking: [From]}}\n'
    )
    done = crawl.run(
        {"url": f"{base}/p/0?from=me&mode=z", "allowlist": str(allowlist)},
        NETWORK_PORTS=str(web.port),
        FRONTIER_TRACKING_PARAMS="127.0.0.8:mode",
    )
    assert done.returncode == 0, done.stderr
    assert {path.removeprefix("127.0.0.8"): n for path, n in web.asked.items() if "/p/" in path} == dict.fromkeys(
        ("/p/0?from=me&mode=z", "/p/1?from=a", "/p/2?id=1&mode=y", "/p/3", "/p/4", "/p/4?mode=again"), 1
    )
    asked = {str(r["canonical_url"]): str(r["url"]).removeprefix(base) for r in crawl.records()}
    assert asked == {
        f"{base}/p/0": "/p/0?from=me&mode=z",
        f"{base}/p/1": "/p/1?from=a",
        f"{base}/p/2?id=1": "/p/2?id=1&mode=y",
    }
    refused = {str(r["canonical_url"]): r["reason"] for r in crawl.records("rejected")}
    assert refused[f"{base}/p/3"] == "redirected"
    assert refused[f"{base}/p/4"] == "too_many_redirects"  # its two spellings lead to each other


def test_traps_and_limits_are_counted_by_kind_and_reach_the_report(crawl, web, tmp_path):
    base = f"http://127.0.0.8:{web.port}"
    traps = {
        "too_deep": "/p" + "/".join(f"/{n}" for n in range(21)),
        "repeated_segment": "/p/a/a/a",
        "too_many_parameters": "/p?" + "&".join(f"a{n}=1" for n in range(13)),
        "calendar": "/p/calendar/1999/01",
        "too_long": "/p/" + "x" * 2100,
    }
    web.links = {"/p/0": [*traps.values(), "http://127.0.0.9/p/out", "/p/1"], "/p/1": ["/p/2", "/p/0"]}
    web.links["/p/"] = [f"/p/capped{n}" for n in range(5)]
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text(
        f'- {{domain: "127.0.0.10:{web.port}", tier: A, licence: x, discovery: links, include: [/p/], max_pages: 3}}\n'
    )
    seeds = {"url": f"{base}/p/0", "allowlist": str(allowlist)}
    done = crawl.run(seeds, NETWORK_PORTS=str(web.port), DEPTH_LIMIT=1, PROGRESS="auto")
    assert done.returncode == 0, done.stderr
    asked = {path for path in web.asked if "/p" in path}
    assert {path for path in asked if "capped" not in path} == {"127.0.0.8/p/0", "127.0.0.8/p/1", "127.0.0.10/p/"}
    assert len([path for path in asked if "capped" in path]) == 2
    left_out = {f"trap: {kind}": 1 for kind in traps} | {"outside: off_scope": 1, "cap: depth": 2, "cap: pages": 3}
    assert summarise(str(crawl.folder)).left_out == left_out
    assert "trap: calendar" in done.stdout
    counters = json.loads((crawl.folder / "manifest.json").read_text())["runs"][0]["counters"]
    assert counters["frontier/trapped/calendar"] == 1
