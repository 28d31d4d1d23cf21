"""Opt-out files on the wire: fetched once, obeyed before the page is asked for, held where unreadable."""

from __future__ import annotations

TDM = b'[{"location": "/", "tdm-reservation": 1}]'
RSL = b'<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>%s</license></content></rsl>'


def test_files_of_the_host_stop_a_page_before_it_is_asked_for(web, crawl):
    plain = {"content_type": "text/plain"}
    licence = web.reply(body=RSL % b'<prohibits type="usage">ai-train</prohibits>', content_type="application/rsl+xml")
    sites = {
        "ai.txt": {"/ai.txt": web.reply(body=b"User-Agent: *\nDisallow: /\n", **plain)},
        "trust.txt": {"/trust.txt": web.reply(body=b"datatrainingallowed=no\n", **plain)},
        "trust.txt in": {"/.well-known/trust.txt": web.reply(body=b"datatrainingallowed=no\n", **plain)},
        "trust.txt in well-known: datatrainingallowed=no": {
            "/trust.txt": web.reply(body=b"datatrainingallowed=yes\n", **plain),
            "/.well-known/trust.txt": web.reply(body=b"datatrainingallowed=no\n", **plain),
        },
        "rsl": {"/robots.txt": web.reply(body=b"License: /licence.xml\n", **plain), "/licence.xml": licence},
    }
    bases = {
        name: web.site(f"127.0.0.{number}", {"/page": web.reply(), **routes})
        for number, (name, routes) in enumerate(sites.items(), start=2)
    }
    found = crawl([f"{base}/page" for base in bases.values()])["outcomes"]
    for name, base in bases.items():
        outcome = found[f"{base}/page"]
        assert (outcome["outcome"], outcome["reason"]) == ("Denied", "optout"), (name, outcome)
        assert outcome["detail"].startswith(name)
        assert "/page" not in web.asked(base)


def test_a_reservation_in_the_tdm_file_travels_with_the_page_and_files_are_fetched_once(web, crawl):
    file = web.reply(body=TDM, content_type="application/json")
    routes = {"/.well-known/tdmrep.json": file, "/a": web.reply(), "/b": web.reply()}
    base = web.site("127.0.0.2", routes)
    found = crawl([f"{base}/a", f"{base}/b"])["outcomes"]
    for path in ("/a", "/b"):
        assert found[base + path]["outcome"] == "page"
        assert ["tdmrep", "well-known", "1", "disallow"] in found[base + path]["signals"]
    asked = [
        *("/.well-known/tdmrep.json", "/.well-known/trust.txt"),
        "/a",
        "/ai.txt",
        "/b",
        "/robots.txt",
        "/trust.txt",
    ]
    assert sorted(web.asked(base)) == asked


def test_an_unreadable_file_holds_the_host_and_a_front_page_in_its_place_does_not(web, crawl):
    sites = {
        "broken": {"/.well-known/tdmrep.json": web.reply(body=b"[{", content_type="application/json")},
        "error": {"/ai.txt": web.reply(500, b"")},
        "well-known": {"/.well-known/trust.txt": web.reply(503, b"")},
        "licence": {"/robots.txt": web.reply(body=b"License: /gone.xml\n", content_type="text/plain")},
    }
    bases = [
        web.site(f"127.0.0.{number}", {"/page": web.reply(), **routes})
        for number, routes in enumerate(sites.values(), start=2)
    ]
    soft = web.site(
        "127.0.0.9",
        dict.fromkeys(
            ("/page", "/ai.txt", "/trust.txt", "/.well-known/tdmrep.json", "/.well-known/trust.txt"), web.reply()
        ),
    )
    found = crawl([f"{base}/page" for base in [*bases, soft]])["outcomes"]
    for base in bases:
        assert found[f"{base}/page"]["reason"] == "hold_control_file", found[f"{base}/page"]
        assert "/page" not in web.asked(base)
    assert found[f"{soft}/page"]["outcome"] == "page"


def test_a_file_that_robots_txt_disallows_is_not_fetched(web, crawl):
    rules = web.reply(body=b"User-agent: *\nDisallow: /.well-known/\nDisallow: /*.txt$\n", content_type="text/plain")
    base = web.site("127.0.0.2", {"/robots.txt": rules, "/page": web.reply()})
    assert crawl([f"{base}/page"])["outcomes"][f"{base}/page"]["outcome"] == "page"
    assert web.asked(base) == ["/robots.txt", "/page"]
