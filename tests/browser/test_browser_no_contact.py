"""Without a contact nothing off this machine is asked: that one request is refused and told, and the crawl goes on."""

from __future__ import annotations

from pathlib import Path

from tests.browser.conftest import crawl, drawn, page, prose
from tests.support.loopback_web import Answer, PolicyWeb

AWAY = "http://93.184.216.34"


def test_a_page_that_asks_for_addresses_elsewhere_costs_these_requests_alone(tmp_path: Path, web: PolicyWeb) -> None:
    port, text = web.port, prose("lighthouse")
    more = f"""for (const path of ['/cdn.js', '/data.json']) fetch('{AWAY}:{port}' + path).catch(() => 0);
        const frame = document.createElement('iframe'); frame.src = '{AWAY}:{port}/frame';
        document.body.append(frame);"""
    head = f"<script src={AWAY}:{port}/cdn.js></script><link rel=preload as=script href={AWAY}:{port}/p.js>"
    links = "".join(f"<a href={where}>on</a>" for where in (f"{AWAY}:{port}/page", "/moved", "/plain"))
    here = web.site("127.0.0.2", {
        "/": drawn(text + links, more=more),
        "/cdn": page(f"<main><p>{prose('harbour')}</p></main>", head),
        "/moved": Answer(302, headers=(("Location", f"{AWAY}:{port}/page"),)),
        "/plain": page(f"<main><p>{prose('tanner')}</p></main>"),
    })  # fmt: skip
    robots = Answer(302, headers=(("Location", f"{AWAY}:{port}/robots.txt"),))
    there = web.site("127.0.0.3", {"/robots.txt": robots, "/": page(f"<main><p>{prose('cooper')}</p></main>")})
    done = crawl(tmp_path / "corpus", web, [f"{here}/", f"{here}/cdn", f"{there}/"], PROGRESS="on")
    assert done.returncode == 0, done.log[-3000:]
    assert set(done.kept) == {f"{here}/", f"{here}/cdn", f"{here}/plain"}
    assert done.rejected[f"{here}/moved"]["reason"] == "off_scope"
    held = done.rejected[f"{there}/"]
    assert held["reason"] == "hold_no_contact" and "CRAWLER_CONTACT" in held["detail"]
    refused = done.kept[f"{here}/"]["render_signals"]["browser"]["refused"]
    assert refused["hold_no_contact"] == 2 and refused["frame"] == 1
    assert f"{AWAY}:{port} is not asked" in done.log and done.log.count("is not asked") == 1
