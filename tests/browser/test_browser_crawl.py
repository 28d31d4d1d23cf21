"""A crawl with a real Chromium: pages that scripts draw are read, and nothing else goes through the browser."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.browser.find import NAMES
from tests.browser.conftest import crawl, drawn, page, prose, replay, script
from tests.support.loopback_web import Answer, PolicyWeb


def test_a_page_that_a_script_draws_is_read_and_an_ordinary_one_is_not_rendered(tmp_path: Path, web: PolicyWeb) -> None:
    here = web.site("127.0.0.2", {
        "/": drawn(prose("lighthouse")),
        "/plain": page(f"<main><p>{prose('harbour')}</p></main><script src=/app.js></script>"),
        "/app.js": script("document.title = 'never run'"),
    })  # fmt: skip
    done = crawl(tmp_path / "corpus", web, [f"{here}/", f"{here}/plain"])
    assert done.returncode == 0, done.log[-3000:]
    lighthouse, harbour = done.kept[f"{here}/"], done.kept[f"{here}/plain"]
    assert lighthouse["text"].endswith(prose("lighthouse"))
    assert (lighthouse["method_used"], harbour["method_used"]) == ("js", "fast")
    assert lighthouse["render_signals"]["shell"]["empty_root"] == "root"
    assert lighthouse["render_signals"]["browser"]["settled"] is True
    assert "/app.js" not in web.asked["127.0.0.2"]
    assert web.asked["127.0.0.2"].count("/") == 1  # the browser draws what was fetched


def test_each_browser_of_the_system_draws_the_same_text(tmp_path: Path, web: PolicyWeb) -> None:
    here = web.site("127.0.0.2", {"/": drawn(prose("lighthouse"))})
    for path in filter(None, map(shutil.which, NAMES)):
        done = crawl(tmp_path / Path(path).name, web, [f"{here}/"], BROWSER_PATH=path)
        assert done.kept[f"{here}/"]["text"].endswith(prose("lighthouse")), f"{path}: {done.log[-3000:]}"


def test_scripts_and_data_are_fetched_by_the_crawler_and_scripts_once_for_all_pages(
    tmp_path: Path, web: PolicyWeb
) -> None:
    app = """fetch('/data' + location.pathname + '.json').then(a => a.json()).then(d => {
        document.getElementById('app').innerHTML = '<main><p>' + d.text + '</p></main>'; });"""
    shell = page(
        "<div id=app></div><img src=/picture.png><script src=/app.js></script>", "<link rel=stylesheet href=/style.css>"
    )
    topics = ("cooper", "glover", "tanner")
    here = web.site("127.0.0.2", {
        "/app.js": script(app),
        **{f"/{name}": shell for name in topics},
        **{f"/data/{name}.json": Answer(body=f'{{"text": "{prose(name)}"}}'.encode(), content_type="application/json")
           for name in topics},
    })  # fmt: skip
    done = crawl(tmp_path / "corpus", web, [f"{here}/{name}" for name in topics])
    assert {record["text"] for record in done.kept.values()} == {prose(name) for name in topics}
    asked = web.asked["127.0.0.2"]
    assert asked.count("/app.js") == 1
    assert [asked.count(f"/data/{name}.json") for name in topics] == [1, 1, 1]
    assert not {"/picture.png", "/style.css", "/favicon.ico"} & set(asked)
    refused = [record["render_signals"]["browser"]["refused"] for record in done.kept.values()]
    assert refused == [{"image": 1}] * 3


def test_late_text_is_awaited_where_the_allowlist_names_its_selector_and_a_page_is_scrolled_while_it_grows(
    tmp_path: Path, web: PolicyWeb
) -> None:
    late = f"setTimeout(() => {{ document.body.innerHTML = '<main id=late><p>{prose('smith')}</p></main>' }}, 2500)"
    scroll = f"""let n = 0; const more = () => {{ if (n < 3) document.getElementById('root').insertAdjacentHTML(
        'beforeend', '<p style="height:2000px">' + {[prose(f"miller {n}") for n in range(3)]!r}[n++] + '</p>') }};
        more(); addEventListener('scroll', more)"""
    here = web.site("127.0.0.2", {
        "/late": page(f"<div id=root></div><script>{late}</script>"),
        "/scroll": page(f"<div id=root></div><script>{scroll}</script>"),
    })  # fmt: skip
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text(
        f"- {{domain: '{here.removeprefix('http://')}', tier: A, licence: CC0,"
        " js_wait_selector: 'main#late, #root p'}\n"
    )
    done = crawl(tmp_path / "corpus", web, [f"{here}/late", f"{here}/scroll"], allowlist=allowlist)
    assert done.kept[f"{here}/late"]["text"] == prose("smith")
    text = done.kept[f"{here}/scroll"]["text"]
    assert [prose(f"miller {n}") in text for n in range(3)] == [True] * 3


def test_open_shadow_roots_and_frames_without_an_address_are_read_where_they_stand_and_replayed_alike(
    tmp_path: Path, web: PolicyWeb
) -> None:
    shadow = f"""class Story extends HTMLElement {{ connectedCallback() {{
            this.attachShadow({{mode: 'open'}}).innerHTML = '<style>p {{}}</style><section><slot></slot>'
                + '<story-end></story-end><a href=/further>on</a></section>'; }} }}
        class End extends HTMLElement {{ connectedCallback() {{ const root = this.attachShadow({{mode: 'open'}});
            setTimeout(() => {{ root.innerHTML = '<p>{prose("end")}</p>'; }}, 300); }} }}
        customElements.define('story-end', End); customElements.define('story-text', Story);
        document.getElementById('root').innerHTML = '<story-text><p>{prose("slot")}</p></story-text>';"""
    frames = f"""const root = document.getElementById('root'), inner = document.createElement('iframe');
        root.innerHTML = '<p>{prose("before")}</p><iframe srcdoc="<p>{prose("srcdoc")}</p>"></iframe><iframe></iframe>'
            + '<p>{prose("after")}</p><iframe src=/apart></iframe>';
        const written = root.querySelectorAll('iframe')[1].contentDocument;
        written.open(); written.write('<body><h2>Inside</h2><p>{prose("written")}</p>'); written.close();"""
    here = web.site("127.0.0.2", {
        "/shadow": page(f"<div id=root></div><script>{shadow}</script>"),
        "/frames": page(f"<div id=root></div><script>{frames}</script>"),
        "/apart": page(f"<main><p>{prose('apart')}</p></main>"),
        "/further": page(f"<main><p>{prose('further')}</p></main>"),
    })  # fmt: skip
    done = crawl(tmp_path / "corpus", web, [f"{here}/shadow", f"{here}/frames"])
    assert sorted(done.kept) == [f"{here}/{name}" for name in ("apart", "frames", "further", "shadow")]
    text = done.kept[f"{here}/shadow"]["text"]
    assert text.index(prose("slot")) < text.index(prose("end"))
    text = done.kept[f"{here}/frames"]["text"]
    places = [text.index(prose(name)) for name in ("before", "srcdoc", "written", "after")]
    assert places == sorted(places)
    assert prose("apart") not in text
    assert done.kept[f"{here}/frames"]["render_signals"]["browser"]["refused"] == {"frame": 1}
    again = replay(tmp_path / "again", tmp_path / "corpus", NETWORK_PORTS=web.port)
    assert {url: r["text"] for url, r in again.kept.items()} == {url: r["text"] for url, r in done.kept.items()}


def test_a_page_whose_library_changes_what_lists_can_do_is_drawn_like_any_other(tmp_path: Path, web: PolicyWeb) -> None:
    """Old versions of Prototype put a `reduce` of their own into every list."""
    library = "Array.prototype.reduce = function() { return this.length > 1 ? this : this[0]; };"
    library += "Array.prototype.map = Array.prototype.reverse = () => null; delete Element.prototype.getHTML;"
    frame = f"root.innerHTML += '<iframe srcdoc=\"<p>{prose('srcdoc')}</p>\"></iframe>';"
    here = web.site(
        "127.0.0.2",
        {"/": drawn(prose("weaver"), more=f"const root = document.getElementById('root'); {library}{frame}")},
    )
    done = crawl(tmp_path / "corpus", web, [f"{here}/"])
    text = done.kept[f"{here}/"]["text"]
    assert text.index(prose("weaver")) < text.index(prose("srcdoc"))


def test_hash_routes_are_pages_where_the_allowlist_says_so_and_nowhere_else(tmp_path: Path, web: PolicyWeb) -> None:
    texts = {name: prose(name) for name in ("start", "smith", "miller")}
    routed = f"""const texts = {texts!r}, draw = () => {{
            const name = location.hash.replace(/^#!?[/]?/, '') || 'start';
            document.getElementById('root').innerHTML = '<main><p>' + texts[name] + '</p></main>'
                + '<a href="#/smith">smith</a> <a href="#!miller">miller</a> <a href="#root">up</a>'; }};
        addEventListener('hashchange', draw); draw();"""
    shell = page(f"<div id=root></div><script>{routed}</script>")
    here = web.site("127.0.0.2", {"/app": shell})
    there = web.site("127.0.0.3", {"/app": drawn(prose("another"), more="root.innerHTML += '<a href=#/smith>on</a>'")})
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text(
        f"- {{domain: '{here.removeprefix('http://')}', tier: A, licence: CC0, discovery: links, js_routes: hash}}\n"
        f"- {{domain: '{there.removeprefix('http://')}', tier: A, licence: CC0, discovery: links}}\n"
    )
    done = crawl(tmp_path / "corpus", web, [f"{here}/app#/start", f"{there}/app#/start"], allowlist=allowlist)
    wanted = {f"{here}/app#/start": "start", f"{here}/app#/smith": "smith", f"{here}/app#!miller": "miller"}
    assert {url: r["text"] for url, r in done.kept.items() if url.startswith(here)} == {
        url: texts[name] for url, name in wanted.items()
    }
    assert [url for url in done.kept if url.startswith(there)] == [f"{there}/app"]
    assert not any("#" in url for url in done.rejected)
    assert [path for path in web.asked["127.0.0.2"] if path.startswith("/app")] == ["/app"] * 3
    again = replay(tmp_path / "again", tmp_path / "corpus", NETWORK_PORTS=web.port)
    assert sorted(again.kept) == sorted(done.kept)


def test_a_page_is_looked_at_after_the_seconds_that_the_allowlist_asks_for(tmp_path: Path, web: PolicyWeb) -> None:
    late = f"setTimeout(() => {{ document.body.innerHTML = '<main><p>{prose('smith')}</p></main>' }}, 2500)"
    here = web.site("127.0.0.2", {"/late": page(f"<div id=root></div><script>{late}</script>")})
    allowlist = tmp_path / "allow.yaml"
    entry = f"domain: '{here.removeprefix('http://')}', tier: A, licence: CC0"
    allowlist.write_text(f"- {{{entry}, js_wait: 3}}\n")
    done = crawl(tmp_path / "corpus", web, [f"{here}/late"], allowlist=allowlist)
    assert done.kept[f"{here}/late"]["text"] == prose("smith")


def test_the_archive_holds_both_and_a_replay_without_a_browser_writes_the_same_records(
    tmp_path: Path, web: PolicyWeb
) -> None:
    here = web.site("127.0.0.2", {
        "/": drawn(prose("weaver")),
        "/plain": page(f"<main><p>{prose('potter')}</p></main>"),
        "/loop": page("<div id=root></div><script>for (;;) {}</script>"),
    })  # fmt: skip
    done = crawl(tmp_path / "corpus", web, [f"{here}/", f"{here}/plain", f"{here}/loop"], BROWSER_CPU_SECONDS=3)
    again = replay(tmp_path / "again", tmp_path / "corpus", NETWORK_PORTS=web.port, BROWSER_CPU_SECONDS=3)
    assert again.returncode == 0, again.log[-3000:]
    assert "playwright" not in again.log
    own = {"warc_file", "worker_id"}
    for kind in ("kept", "rejected"):
        first, second = getattr(done, kind), getattr(again, kind)
        assert sorted(first) == sorted(second)
        for url, record in first.items():
            assert {name for name in record if record[name] != second[url][name]} <= own
    assert sorted(done.kept) == [f"{here}/", f"{here}/plain"]
    assert done.rejected[f"{here}/loop"]["reason"] == "browser_timeout"


def test_the_drawn_page_stands_beside_its_response_for_any_reader(tmp_path: Path, web: PolicyWeb) -> None:
    here = web.site("127.0.0.2", {"/": drawn(prose("baker"))})
    crawl(tmp_path / "corpus", web, [f"{here}/"])
    (archive,) = (tmp_path / "corpus" / "archive").glob("*.warc.gz")
    with archive.open("rb") as file:
        records = [(r.rec_type, r.rec_headers, r.content_stream().read()) for r in ArchiveIterator(file)]
    ((_, response, sent),) = [r for r in records if r[0] == "response"]
    ((_, resource, dom),) = [r for r in records if r[0] == "resource"]
    assert resource["WARC-Concurrent-To"] == response["WARC-Record-ID"]
    assert resource["WARC-Target-URI"] == f"{here}/"
    assert b"<h1>Drawn</h1></main>" not in sent
    assert prose("baker") in dom.decode()
    assert b"<main>" in dom


def test_pages_that_wait_for_the_browser_do_not_hold_up_the_others(tmp_path: Path, web: PolicyWeb) -> None:
    """A site of shells, each slow to draw, and a site of ordinary pages: the ordinary ones are through first."""
    slow = "setTimeout(() => { document.getElementById('root').innerHTML = '<p>' + %r + '</p>' }, 300);"
    names = [f"{word}{n}" for word in ("cedar", "alder", "maple", "hazel", "rowan") for n in "abcd"]
    shells = {f"/{name}": page(f"<div id=root></div><script>{slow % prose(name)}</script>") for name in names}
    plain = {f"/{name}": page(f"<main><p>{prose('plain ' + name)}</p></main>") for name in names}
    drawn_site, plain_site = web.site("127.0.0.2", shells), web.site("127.0.0.3", plain)
    seeds = [drawn_site + path for path in shells] + [plain_site + path for path in plain]
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text(f"- {{domain: '{drawn_site.removeprefix('http://')}', tier: A, licence: CC0, js: always}}\n")
    done = crawl(
        tmp_path / "corpus", web, seeds, allowlist=allowlist, BROWSER_CONCURRENCY=1, DOWNLOAD_DELAY=0.1, timeout=300
    )
    assert set(seeds) <= set(done.kept | done.rejected)
    assert {record["method_used"] for url, record in done.kept.items() if url.startswith(drawn_site)} == {"js"}
    assert [web.asked["127.0.0.2"].count(path) for path in shells] == [1] * 20  # none was fetched to be given back
    manifest = json.loads((tmp_path / "corpus" / "manifest.json").read_bytes())
    assert manifest["runs"][0]["counters"]["browser/waited"] > 0


@pytest.mark.parametrize(
    ("path", "robots", "headers", "why"),
    [
        ("/api/text", "User-agent: *\nDisallow: /api/\n", (), "robots_disallowed"),
        ("/api/text", "User-agent: *\nAllow: /\n", (("X-Robots-Tag", "noai"),), "optout"),
        ("/api/text", "User-agent: *\nAllow: /\n", (("tdm-reservation", "1"),), "optout"),
        ("/app.js", "User-agent: *\nDisallow: /*.js$\n", (), "robots_disallowed"),
    ],
)
def test_what_a_page_asks_for_and_the_site_refuses_is_not_drawn(
    tmp_path: Path, web: PolicyWeb, path: str, robots: str, headers: tuple[tuple[str, str], ...], why: str
) -> None:
    """The text that a page shows is that of its data, and a script may carry it as well."""
    draw = "document.getElementById('root').innerHTML = '<main><p>%s</p></main>'"
    asks = "<script>fetch('/api/text').then(a => a.text()).then(t => { " + draw % "' + t + '" + " })</script>"
    here = web.site("127.0.0.2", {
        "/robots.txt": Answer(body=robots.encode(), content_type="text/plain"),
        "/data": page(f"<div id=root></div>{asks}"),
        "/script": page("<div id=root></div><script src=/app.js></script>"),
        "/api/text": Answer(body=prose("refused").encode(), content_type="text/plain", headers=headers),
        "/app.js": script(draw % prose("refused")),
    })  # fmt: skip
    shell = f"{here}/script" if path == "/app.js" else f"{here}/data"
    done = crawl(tmp_path / "corpus", web, [shell])
    assert done.returncode == 0, done.log[-3000:]
    assert done.rejected[shell]["render_signals"]["browser"]["refused"] == {why: 1}
    assert prose("refused").encode() not in done.everything
    assert (path in web.asked["127.0.0.2"]) == bool(headers)


def test_a_page_keeps_the_text_that_it_has_drawn_wherever_its_script_leads_afterwards(
    tmp_path: Path, web: PolicyWeb
) -> None:
    """And at once: what is no request (a mail, another program) or breaks off the load is not waited for."""
    form = "const form = document.createElement('form'); form.action = '/found'; document.body.append(form);"
    leaves = {
        "at-once": "location = '/found';",
        "later": "setTimeout(() => location = '/found', 700);",
        "again": "setTimeout(() => location.reload(), 700);",
        "again-and-again": "setInterval(() => location.reload(), 100);",
        "back": "setTimeout(() => history.back(), 700);",
        "mail": "location = 'mailto:keeper@example.org';",
        "program": "location = 'example-program://open';",
        "empty": "location = 'about:blank';",
        "stop": "window.stop();",
        "sends": form + "form.method = 'post'; form.submit();",
    }
    routes = {f"/{name}": drawn(prose(name), more=code) for name, code in leaves.items()}
    here = web.site("127.0.0.2", {**routes, "/found": page(f"<main><p>{prose('treasure')}</p></main>")})
    done = crawl(tmp_path / "corpus", web, [here + path for path in routes], BROWSER_TIMEOUT_SECONDS=20)
    assert done.returncode == 0, done.log[-3000:]
    assert done.rejected == {}
    assert sorted(done.kept) == sorted([f"{here}/found", *(f"{here}/{name}" for name in leaves)])
    assert all(prose(name) in done.kept[f"{here}/{name}"]["text"] for name in leaves)
    browser = {name: done.kept[f"{here}/{name}"]["render_signals"]["browser"] for name in leaves}
    assert {name for name in leaves if browser[name].get("moved_to") == f"{here}/found"} == {"at-once", "later"}
    assert {name for name in leaves if not browser[name]["settled"]} == set()
    assert browser["sends"]["refused"] == {"method": 1}
    assert web.asked["127.0.0.2"].count("/found") == 1  # as a link, from the crawler


def test_links_stand_on_the_url_that_a_script_has_given_to_the_document(tmp_path: Path, web: PolicyWeb) -> None:
    link = "document.body.insertAdjacentHTML('beforeend', '<a href=next>A link that stands on the address</a>');"
    names = {
        "push": f"history.pushState({{}}, '', '/deep/er/page'); {link}",
        "replace": f"{link} history.replaceState({{}}, '', '/other/');",
        "later": f"{link} setTimeout(() => history.pushState({{}}, '', '/late/'), 300);",
        "hash": f"location.hash = '#/deep/er/page'; {link}",
        "based": f"document.head.insertAdjacentHTML('beforeend', '<base href=/base/>'); {link}"
        " history.pushState({}, '', '/deep/er/page');",
    }
    routes = {f"/{name}": drawn(prose(name), more=code) for name, code in names.items()}
    found = {"/deep/er/next", "/other/next", "/late/next", "/next", "/base/next"}
    here = web.site("127.0.0.2", {**routes, **{path: page(f"<main><p>{prose(path)}</p></main>") for path in found}})
    done = crawl(tmp_path / "corpus", web, [here + path for path in routes])
    assert done.returncode == 0, done.log[-3000:]
    assert {path for path in web.asked["127.0.0.2"] if path.endswith("/next")} == found
    assert done.kept[f"{here}/push"]["render_signals"]["browser"]["renamed"] == f"{here}/deep/er/page"
    assert "renamed" not in done.kept[f"{here}/hash"]["render_signals"]["browser"]


def test_where_a_form_that_a_script_sends_would_lead_is_no_address(tmp_path: Path, web: PolicyWeb) -> None:
    send = "const f = document.createElement('form'); f.method = 'post'; f.action = '/sent'; document.body.append(f);"
    here = web.site("127.0.0.2", {
        "/": page(f"<div id=root></div><script>{send} f.submit()</script>"),
        "/sent": page(f"<main><p>{prose('sent')}</p></main>"),
    })  # fmt: skip
    done = crawl(tmp_path / "corpus", web, [f"{here}/"])
    record = done.rejected[f"{here}/"]
    assert (record["reason"], record["render_signals"]["browser"]["refused"]) == ("no_text", {"method": 1})
    assert "/sent" not in web.asked["127.0.0.2"]


def test_a_page_that_loads_itself_again_has_no_text_and_did_not_crash(tmp_path: Path, web: PolicyWeb) -> None:
    here = web.site("127.0.0.2", {"/again": page("<div id=root></div><script>location.reload()</script>")})
    done = crawl(tmp_path / "corpus", web, [f"{here}/again"])
    record = done.rejected[f"{here}/again"]
    assert record["reason"] == "no_text"
    assert record["render_signals"]["browser"]["refused"] == {"navigation": 1}


def test_a_page_whose_data_did_not_come_is_a_failure_and_no_page_without_text(tmp_path: Path, web: PolicyWeb) -> None:
    def hang_up(handler: Any) -> None:
        handler.close_connection = True

    here = web.site("127.0.0.2", {
        "/shell": page("<div id=root></div><script>fetch('/data').then(a => a.text()).then(t => root.innerHTML = t)"
                       "</script>"),
        "/whole": drawn(prose("weaver"), more="fetch('/data');"),
        "/data": hang_up,
    })  # fmt: skip
    done = crawl(tmp_path / "corpus", web, [f"{here}/shell", f"{here}/whole"])
    record = done.rejected[f"{here}/shell"]
    assert (record["reason"], record["detail"]) == ("browser_incomplete", "requests without an answer (failed: 1)")
    assert list(done.kept) == [f"{here}/whole"]
    again = replay(tmp_path / "again", tmp_path / "corpus", NETWORK_PORTS=web.port)
    assert again.rejected[f"{here}/shell"]["reason"] == "browser_incomplete"
