"""The network guard in a whole crawl: whatever leads to a closed address, in whatever spelling, nothing arrives."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.hostile.hostile_pages import article, html, page
from tests.middlewares.wire.policy_cases import to
from tests.support.corpus_crawl import crawl
from tests.support.loopback_web import FORBIDDEN, Answer, PolicyWeb

SPELLINGS = (
    FORBIDDEN,
    "2143813633",  # decimal
    "0x7fc80001",  # hex
    "0x7f.0xc8.0.1",
    "0177.0310.0.1",  # octal
    "127.200.1",  # short
    "127.13107201",
    "127.200.0.1.",  # with the root's dot
    "①②⑦.200.0.1",  # compatibility digits
    "[::ffff:127.200.0.1]",
    "[::ffff:7fc8:1]",
    "[::1]",
)
"""Each of them is an address of this machine on which something listens."""


@contextmanager
def listening_on_ipv6(port: int) -> Iterator[list[str]]:
    """Counts the connections to [::1]:port."""
    arrived: list[str] = []
    with socket.create_server(("::1", port), family=socket.AF_INET6) as server:
        server.settimeout(0.1)
        over = threading.Event()

        def accept() -> None:
            while not over.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                arrived.append("::1")
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield arrived
        over.set()
        thread.join()


def test_no_link_redirect_robots_txt_or_sitemap_leads_to_a_closed_address(tmp_path):
    with PolicyWeb() as web, listening_on_ipv6(web.port) as arrived:
        urls = [f"http://{host}:{web.port}/page" for host in SPELLINGS]
        here = f"http://127.4.0.1:{web.port}"
        lines = "".join(f"Sitemap: http://{host}:{web.port}/sitemap.xml\n" for host in SPELLINGS)
        links = "".join(f'<a href="{url}?linked">here</a>' for url in urls)
        ascii_urls = [url for url in urls if url.isascii()]
        redirects = {f"/to/{n}": to(f"{url}?redirected") for n, url in enumerate(ascii_urls)}
        pages = {
            "/robots.txt": Answer(body=lines.encode(), content_type="text/plain"),
            "/page": page(html(article("guard") + links)),
        }
        web.site("127.4.0.1", pages | redirects)
        web.site("127.4.0.2", {"/robots.txt": to("@forbidden@/robots.txt"), "/page": pages["/page"]})
        seeds = [*urls, f"{here}/page", *(here + path for path in redirects), f"http://127.4.0.2:{web.port}/page"]
        done = crawl(tmp_path / "corpus", seeds, web.port, CRAWLER_CONTACT="https://example.org/bot")

    assert done.returncode == 0, done.log[-3000:]
    assert set(web.connected) == {"127.4.0.1", "127.4.0.2"}
    assert arrived == []
    assert set(done.kept) == {f"{here}/page"}
    forbidden = {url for url, record in done.rejected.items() if record["reason"] == "network_forbidden"}
    closed = f"http://{FORBIDDEN}:{web.port}/page"
    assert {closed, f"{closed}?linked", f"{closed}?redirected"} <= forbidden
    assert done.rejected[f"http://127.4.0.2:{web.port}/page"]["reason"] == "hold_robots_unreachable"


def test_network_allow_opens_exactly_what_it_names(tmp_path):
    with PolicyWeb() as web:
        for address in (FORBIDDEN, "127.200.0.2"):
            web.site(address, {"/page": page(html(article(address)))})
        seeds = [f"http://{host}:{web.port}/page" for host in (FORBIDDEN, "127.200.0.2")]
        done = crawl(tmp_path / "corpus", seeds, web.port, NETWORK_ALLOW=f"{FORBIDDEN}/32")
    assert set(web.connected) == {FORBIDDEN}
    assert set(done.kept) == {f"http://{FORBIDDEN}:{web.port}/page"}
