"""Pages that mean harm in a browser: each has its reason, its neighbours are kept, and nothing is left running."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import psutil
import pytest

from tests.browser.conftest import crawl, drawn, page, prose
from tests.support.corpus_crawl import CorpusCrawl
from tests.support.loopback_web import FORBIDDEN, Answer, PolicyWeb

NEIGHBOURS = ("orchard", "windmill", "ferry", "quarry")
CRAWL_OF = "CRAWL_OF"
"""A variable that the processes of this crawl inherit, the browser's too: others may have browsers, as well."""
SHELL = "<div id=root></div>"
HOSTILE = {
    "/loop": "for (;;) {}",
    "/memory": "const all = []; for (;;) all.push(new Uint8Array(2 ** 24).fill(1));",
    "/asks-for-ever": "let n = 0; const ask = () => fetch('/data?' + n++).finally(() => setTimeout(ask, 20)); ask();",
    "/popups": "for (let n = 0; n < 50; n++) { const a = document.createElement('a'); a.href = '/popped'; "
    "a.target = '_blank'; document.body.append(a); a.click(); }",
    "/dialogs": "alert('a'); confirm('b'); prompt('c'); onbeforeunload = () => 'd';",
    "/download": "location.href = '/file.zip';",
    "/moves-to-a-forbidden-address": "location.href = '@forbidden@/secret';",
    "/moves-within": "location.href = '/found';",
    "/fetches-forbidden": "fetch('@forbidden@/secret').catch(() => {}); new WebSocket('ws://127.200.0.1:@port@/socket');"
    "navigator.sendBeacon('@forbidden@/beacon', 'x'); new Image().src = '@forbidden@/image';"
    "const p = new RTCPeerConnection({iceServers: [{urls: 'stun:127.200.0.1:@port@'}]}); p.createDataChannel('x');"
    "p.createOffer().then(o => p.setLocalDescription(o));",
    "/posts": "fetch('/data', {method: 'POST', body: 'x'}).catch(() => {});",
    "/large": "const s = 'y'.repeat(1000); const f = document.createElement('div'); f.textContent = s.repeat(1000);"
    "for (let n = 0; n < 200; n++) document.body.append(f.cloneNode(true));",
    "/long": "const f = document.createElement('div'); f.hidden = true; f.textContent = 'y'.repeat(11 * 2 ** 20);"
    "document.body.append(f);",
    "/frames": "document.body.innerHTML += '<iframe src=/framed></iframe>';",
    "/worker": "navigator.serviceWorker && navigator.serviceWorker.register('/sw.js').catch(() => {});",
    "/refuses-when-drawn": "document.head.innerHTML += '<meta name=robots content=noai>';"
    f"document.getElementById('root').innerHTML = '<p>{prose('secret')}</p>';",
}


@pytest.fixture(scope="module")
def stun() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.200.0.1", 0))
        yield listening


@pytest.fixture(scope="module")
def crawled(
    tmp_path_factory: pytest.TempPathFactory, stun: socket.socket
) -> Iterator[tuple[CorpusCrawl, PolicyWeb, str]]:
    port = str(stun.getsockname()[1])
    folder = tmp_path_factory.mktemp("hostile")
    with PolicyWeb() as web:
        routes = {
            path: page(f"{SHELL}<script>{code.replace('@port@', port)}</script>") for path, code in HOSTILE.items()
        }
        routes |= {
            "/data": Answer(body=b"{}", content_type="application/json"),
            "/found": page(f"<main><p>{prose('treasure')}</p></main>"),
            **{f"/kept-{name}": drawn(prose(name)) for name in NEIGHBOURS},
        }
        here = web.site("127.0.0.2", routes, there=FORBIDDEN)
        web.site(FORBIDDEN, {"/secret": page("secret")})
        done = crawl(
            folder / "corpus", web, [here + path for path in routes if path not in {"/data", "/found"}],
            timeout=420, BROWSER_TIMEOUT_SECONDS=90, BROWSER_CPU_SECONDS=12, BROWSER_MEMORY_MB=400,
            BROWSER_MAX_REQUESTS=20, NETWORK_ALLOW="127.0.0.0/9", environment={CRAWL_OF: str(folder)},
        )  # fmt: skip
        assert done.returncode == 0, done.log[-3000:]
        yield done, web, here


@pytest.mark.parametrize(
    ("path", "reason", "detail"),
    [
        ("/loop", "browser_timeout", "more than 12 s of CPU time"),
        ("/memory", "browser_crashed", "more than 400 MiB of memory"),
        ("/large", "browser_crashed", "more than 400 MiB of memory"),  # 200 MB that are laid out
        ("/long", "too_large", "more than 10485760 characters in the browser"),
        ("/asks-for-ever", "no_text", ""),
        ("/popups", "no_text", ""),
        ("/dialogs", "no_text", ""),
        ("/download", "redirected", "@here@/file.zip"),
        ("/moves-to-a-forbidden-address", "off_scope", "redirects to @forbidden@/secret"),
        ("/moves-within", "redirected", "@here@/found"),
        ("/fetches-forbidden", "no_text", ""),
        ("/posts", "no_text", ""),
        ("/frames", "no_text", ""),
        ("/worker", "no_text", ""),
        ("/refuses-when-drawn", "optout", "meta-robots in meta: robots: noai"),
    ],
)
def test_each_hostile_page_has_its_reason(
    crawled: tuple[CorpusCrawl, PolicyWeb, str], path: str, reason: str, detail: str
) -> None:
    done, web, here = crawled
    found = done.rejected[here + path]
    expected = detail.replace("@here@", here).replace("@forbidden@", web.base(FORBIDDEN))
    assert (found["reason"], found["detail"] if detail else "") == (reason, expected)


def test_their_neighbours_are_kept_and_what_a_script_leads_to_is_a_page_of_its_own(
    crawled: tuple[CorpusCrawl, PolicyWeb, str],
) -> None:
    done, _, here = crawled
    assert sorted(done.kept) == sorted([f"{here}/found", *(f"{here}/kept-{name}" for name in NEIGHBOURS)])
    assert done.kept[f"{here}/found"]["redirects"] == [f"{here}/moves-within"]


def test_what_was_refused_stands_on_the_record_by_name(crawled: tuple[CorpusCrawl, PolicyWeb, str]) -> None:
    done, _, here = crawled

    def refused(path: str) -> dict[str, int]:
        return done.rejected[here + path]["render_signals"]["browser"].get("refused", {})

    assert refused("/fetches-forbidden") == {"forbidden": 1, "image": 1, "method": 1, "websocket": 1}
    assert refused("/posts") == {"method": 1}
    assert refused("/frames") == {"frame": 1}
    assert refused("/dialogs")["dialog"] == 3
    assert refused("/popups") == {"popup": 50}
    assert set(refused("/asks-for-ever")) == {"too_many"}
    assert done.rejected[f"{here}/asks-for-ever"]["render_signals"]["browser"]["requests"] == 20


def test_nothing_reaches_a_forbidden_address_whatever_the_page_tries(
    crawled: tuple[CorpusCrawl, PolicyWeb, str], stun: socket.socket
) -> None:
    _, web, _ = crawled
    assert FORBIDDEN not in web.connected
    assert set(web.asked) == {"127.0.0.2"}
    stun.setblocking(False)
    with pytest.raises(BlockingIOError):
        stun.recv(1)  # WebRTC goes over UDP, past any proxy


def test_the_text_of_a_page_that_opts_out_when_drawn_is_on_no_disk(
    crawled: tuple[CorpusCrawl, PolicyWeb, str],
) -> None:
    done, _, _ = crawled
    assert b"keeper of the secret" not in done.everything


def test_the_site_is_asked_for_no_document_a_second_time_and_for_no_frame(
    crawled: tuple[CorpusCrawl, PolicyWeb, str],
) -> None:
    _, web, _ = crawled
    asked = web.asked["127.0.0.2"]
    assert [path for path in HOSTILE if asked.count(path) != 1] == []
    assert not {"/framed", "/popped", "/sw.js"} & set(asked)
    assert sum(path.startswith("/data?") for path in asked) == 20


def test_no_process_of_the_browser_is_left(crawled: tuple[CorpusCrawl, PolicyWeb, str]) -> None:
    assert crawled[0].returncode == 0
    folder = str(crawled[0].folder.parent)

    def left() -> list[list[str]]:
        running = [p.info for p in psutil.process_iter(["name", "cmdline", "environ"])]
        return [p["cmdline"] for p in running if "chrom" in p["name"] and (p["environ"] or {}).get(CRAWL_OF) == folder]

    end = time.monotonic() + 20  # the handler of crashes ends a moment after the browser
    while left() and time.monotonic() < end:
        time.sleep(0.1)
    assert left() == []
