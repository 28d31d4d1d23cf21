"""A page in a real browser: what it asks for is signed for the host that gets it, and the page learns nothing of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.botauth.key import make_key, read_key
from tests.browser.conftest import crawl, page, prose, script
from tests.support.loopback_web import Answer
from tests.support.verifier import VerifyingWeb

AGENT = "https://bot.example.org/.well-known/http-message-signatures-directory"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    make_key(str(tmp_path / "bot-key.pem"))
    return tmp_path / "bot-key.pem"


@pytest.fixture
def web(key_file: Path) -> Iterator[VerifyingWeb]:
    with VerifyingWeb(read_key(str(key_file))) as running:
        yield running


def test_scripts_and_data_of_a_page_are_signed_for_the_host_that_is_asked_for_them(
    tmp_path: Path, key_file: Path, web: VerifyingWeb
) -> None:
    app = """fetch('@there@/moved.json').then(async answer => {
        const data = await answer.json(), names = [...answer.headers.keys()];
        document.getElementById('root').innerHTML = '<main><p>' + data.text + '</p><p>' + names + '</p></main>'; });"""
    text = json.dumps({"text": prose("cooper")}).encode()
    free = (("Access-Control-Allow-Origin", "*"),)
    web.site("127.0.0.3", {
        "/moved.json": Answer(302, headers=(("Location", "@there@/data.json"), *free)),
    }, there="127.0.0.4")  # fmt: skip
    web.site("127.0.0.4", {"/data.json": Answer(body=text, content_type="application/json", headers=free)})
    here = web.site("127.0.0.2", {
        "/": page("<div id=root></div><script src=/app.js></script>"),
        "/app.js": script(app),
    }, there="127.0.0.3")  # fmt: skip
    done = crawl(
        tmp_path / "corpus", web, [f"{here}/"], BOT_SIGNATURE_KEY_FILE=key_file, BOT_SIGNATURE_AGENT=AGENT
    )  # fmt: skip
    kept = done.kept[f"{here}/"]["text"]
    assert prose("cooper") in kept, done.log[-3000:]
    assert "signature" not in kept.lower()  # the names of the headers that the page was answered with
    assert [(seen.path, seen.error) for seen in web.log.seen if seen.error] == []
    for host, path in (("127.0.0.2", "/app.js"), ("127.0.0.3", "/moved.json"), ("127.0.0.4", "/data.json")):
        assert path in web.log.paths(host)
    assert len({seen.headers["Signature"] for seen in web.log.seen}) == len(web.log.seen)


def test_a_page_cannot_sign_in_the_name_of_the_crawler_or_of_anybody(
    tmp_path: Path, key_file: Path, web: VerifyingWeb
) -> None:
    """Headers that a page's script sets are not passed on, so no request carries a signature that is not ours."""
    headers = """{'Signature-Agent': 'evil="https://evil.example"', Signature: 'evil=:AA==:'}"""
    app = f"""fetch('/data.json', {{headers: {headers}}}).then(a => a.text())
        .then(() => {{ document.getElementById('root').innerHTML = '<p>{prose("glover")}</p>'; }});"""
    here = web.site("127.0.0.2", {
        "/": page(f"<div id=root></div><script>{app}</script>"),
        "/data.json": Answer(body=b"{}", content_type="application/json"),
    })  # fmt: skip
    done = crawl(
        tmp_path / "corpus", web, [f"{here}/"], BOT_SIGNATURE_KEY_FILE=key_file, BOT_SIGNATURE_AGENT=AGENT
    )  # fmt: skip
    assert prose("glover") in done.kept[f"{here}/"]["text"], done.log[-3000:]
    assert "/data.json" in web.log.paths("127.0.0.2")
    assert {seen.headers["Signature-Agent"] for seen in web.log.seen} == {f'sig1="{AGENT}"'}
    assert [seen.path for seen in web.log.seen if seen.error] == []
