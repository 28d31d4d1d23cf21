"""A page that has not changed may be reserved since: by a file of its host, or by a header beside its 304."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.changing_site import ChangingSite, Page
from tests.support.serving import article

AGAIN = {"RECRAWL": 1, "RECRAWL_INTERVAL_SECONDS": 0}
OVERRULED = article("overruled").replace(b"<title>", b'<meta name="tdm-reservation" content="0"><title>')


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    site = ChangingSite()
    site.pages = {f"/{name}": Page(article(name), etag=f'"{name}"') for name in ("file", "header", "link", "open")}
    site.pages["/same-body"] = Page(article("same-body"))
    site.pages["/overruled"] = Page(OVERRULED, etag='"overruled"')
    site.start()
    yield site
    site.stop()


def test_a_page_that_was_reserved_since_its_last_visit_is_refused_although_it_is_unchanged(crawl, site):
    paths = list(site.pages)
    arguments = {"url": ",".join(map(site.url, paths))}
    watched = {"NETWORK_PORTS": site.port, "ROBOTS_MAX_AGE_SECONDS": 1}

    assert crawl.run(arguments, **watched).returncode == 0
    assert crawl.urls() == sorted(map(site.url, paths))

    reserved = [{"location": f"/{name}", "tdm-reservation": 1} for name in ("file", "same-body", "overruled")]
    site.pages["/.well-known/tdmrep.json"] = Page(json.dumps(reserved).encode(), kind="application/json")
    site.pages["/header"].headers["TDM-Reservation"] = "1"
    site.pages["/link"].headers["Link"] = '</licence.xml>; rel="license"; type="application/rsl+xml"'
    done = crawl.run(arguments, **watched, **AGAIN)

    assert done.returncode == 0, done.stderr
    assert crawl.urls() == sorted(map(site.url, ("/open", "/overruled")))
    refused = {str(r["url"]): r["reason"] for r in crawl.records("rejected") if r["reason"] != "unchanged"}
    assert refused == {site.url(f"/{name}"): "optout" for name in ("file", "header", "link", "same-body")}
