"""Who does not know the token sees nothing, and nobody else's page can make a browser do anything here."""

from __future__ import annotations

import argparse
import asyncio
import http.client
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crawler.commands import explore
from crawler.explore.app import PAGES
from crawler.explore.guard import MAX_BODY, MAX_QUERY, Guard
from crawler.frontier.client import Frontier
from crawler.urls.link import Link
from tests.explore.conftest import LIMIT, TOKEN, Desk
from tests.support import three_domains, warm
from tests.support.process import clean_environment

EVERY_PAGE = [f"/0{path}".replace("{key:int}", "1") for path, _ in PAGES]


@pytest.mark.parametrize("path", ["/", "/static/explore.css", "/nothing", *EVERY_PAGE])
def test_without_the_token_nothing_is_shown(desk: Desk, path: str) -> None:
    for cookie in ("", "explore_1=x", f"explore_{desk.port}=", f"explore_{desk.port}={TOKEN}", "é"):
        desk.cookie = cookie
        answer = desk.ask(path)
        assert (answer.status, "alder" in answer.body) == (403, False), cookie


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "%C3%A9", "%00"])
def test_a_wrong_token_is_refused_and_sets_no_cookie(desk: Desk, token: str) -> None:
    answer = desk.ask(f"/?token={token}")
    assert (answer.status, "set-cookie" in answer.headers) == (403, False)


def test_the_token_leaves_the_address_and_stays_in_a_cookie_that_no_script_and_no_other_site_can_use(
    desk: Desk,
) -> None:
    answer = desk.ask(f"/0/documents?where=state%3Dkept&token={TOKEN}", Cookie="")
    assert (answer.status, answer.headers["location"]) == (303, "/0/documents?where=state%3Dkept")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie


def test_a_redirect_never_leaves_this_server(desk: Desk) -> None:
    for path in ("//evil.example/", "///evil.example/", "/%5C%5Cevil.example/", "/\\evil.example"):
        location = desk.ask(f"{path}?token={TOKEN}").headers["location"]
        assert re.match(r"/([^/\\]|$)", location), location


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "192.0.2.1", "[::2]", "é"],
)
def test_another_host_is_refused_so_that_no_name_can_be_pointed_here(desk: Desk, host: str) -> None:
    assert desk.ask("/0/", Host=host).status in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "localhost:9", "127.0.0.1", "[::1]:8080", "LOCALHOST"])
def test_this_machine_may_be_called_by_its_names(desk: Desk, host: str) -> None:
    assert desk.ask("/0/", Host=host).status == 200


def test_a_wildcard_address_answers_to_addresses_and_not_to_names() -> None:
    guard = Guard(None, TOKEN, ["*"])  # type: ignore[arg-type]  # never asked
    assert guard._is_ours("192.0.2.1:80")
    assert not guard._is_ours("evil.example")


def test_a_post_needs_origin_and_csrf_token(desk: Desk) -> None:
    good = {"Origin": desk.base, "Content-Type": "application/x-www-form-urlencoded"}
    body = f"csrf={Guard.csrf_of(TOKEN)}"
    assert desk.ask("/0/documents", "POST", body, **good).status == 405  # passed the guard; this page takes no form
    for wrong in ("http://evil.example", "null", "", f"https://127.0.0.1:{desk.port}"):
        assert desk.ask("/0/documents", "POST", body, **good | {"Origin": wrong}).status == 403
    for wrong in ("", "csrf=", "csrf=x", f"csrf={TOKEN}"):
        assert desk.ask("/0/documents", "POST", wrong, **good).status == 403
    assert desk.ask("/0/documents", "POST", body + "&x=" + "y" * MAX_BODY, **good).status == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(desk: Desk, method: str) -> None:
    assert desk.ask("/0/", method).status == 405


@pytest.mark.parametrize(
    "path",
    [
        *("/static/../../etc/passwd", "/static/%2e%2e/%2e%2e/etc/passwd", "/static//etc/passwd", "/0/../../etc/passwd"),
        *("/0/%2e%2e/manifest.json", "/static/app.py", "/etc/passwd", "/1/", "/99999999999999999999/", "/-1/"),
    ],
)
def test_no_path_of_an_address_is_a_path_on_the_disk(desk: Desk, path: str) -> None:
    answer = desk.ask(path)
    assert (answer.status, "root:" in answer.body) == (404, False)


def test_an_address_has_an_end(desk: Desk) -> None:
    assert desk.ask("/0/documents?q=" + "x" * MAX_QUERY).status == 414
    assert desk.ask("/" + "9" * 5000 + "/").status == 414


@pytest.mark.parametrize("path", ["/nothing", "/static/explore.js", *EVERY_PAGE])
def test_every_answer_forbids_scripts_in_the_page_and_everything_from_elsewhere(desk: Desk, path: str) -> None:
    headers = desk.ask(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy.partition("sandbox")[0] or "sandbox" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def _contents(corpus: Path) -> dict[Path, bytes]:
    """Every file but the index, which is made where it is missing."""
    files = (path for path in corpus.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if path.relative_to(corpus).parts[0] != "index"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_address_and_a_signal_ends_it_without_a_trace(
    tmp_path: Path, number: signal.Signals
) -> None:
    three_domains.fill(tmp_path / "corpus")
    before = _contents(tmp_path / "corpus")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = warm.Popen(
        [sys.executable, "-m", "scrapy", "explore", "--no-open", "--token", TOKEN, "corpus"],
        cwd=tmp_path,
        env=clean_environment(SCRAPY_SETTINGS_MODULE="crawler.settings", TMPDIR=str(scratch)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        found = re.fullmatch(rf"http://127\.0\.0\.1:(\d+)/\?token={TOKEN}", address)
        assert found, process.communicate()
        desk = Desk(int(found[1]))
        desk.enter()
        assert desk.ask("/0/").status in (200, 503)
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, err) == (0, "")  # "Ctrl-C ends it", and so it did
    assert TOKEN not in out
    assert list(scratch.iterdir()) == []
    assert _contents(tmp_path / "corpus") == before


def begin(folder: Path, *words: str, **environment: str) -> subprocess.Popen[str]:
    """The command, running; it has printed its address where it will."""
    with (folder / "stderr").open("w") as said:
        return subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "scrapy", "explore", *words],
            cwd=folder,
            env=clean_environment(SCRAPY_SETTINGS_MODULE="crawler.settings", **environment),
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )


def ends(process: subprocess.Popen[str], folder: Path) -> None:
    """It ends; otherwise the failure says where each of its threads is."""
    try:
        process.wait(2 * LIMIT)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        process.wait(LIMIT)
        pytest.fail(f"it goes on: {(folder / 'stderr').read_text()}")


@pytest.mark.parametrize("opens", [True, False])
def test_a_browser_is_opened_unless_it_is_not_wanted_and_the_folder_is_that_of_the_settings(
    tmp_path: Path, opens: bool
) -> None:
    three_domains.fill(tmp_path / "mine")
    (tmp_path / "browser").write_text('#!/bin/sh\necho "$1" > opened.tmp && mv opened.tmp opened\n')
    (tmp_path / "browser").chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["--port", str(port), "-s", "CORPUS_DIR=mine", *([] if opens else ["--no-open"])]
    process = begin(tmp_path, *words, BROWSER=str(tmp_path / "browser"))
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith(f"http://127.0.0.1:{port}/?token=")
        assert len(address.rpartition("=")[2]) >= 32
        deadline = time.monotonic() + LIMIT
        while opens and not (tmp_path / "opened").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert Desk(port).ask("/0/").status == 403
        process.send_signal(signal.SIGINT)
        ends(process, tmp_path)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, (tmp_path / "stderr").read_text()
    assert (tmp_path / "opened").exists() == opens
    if opens:
        assert (tmp_path / "opened").read_text().strip() == address


def test_a_signal_ends_the_command_while_somebody_watches_the_live_page(tmp_path: Path) -> None:
    three_domains.fill(tmp_path / "corpus")
    process = begin(tmp_path, "--no-open", "--token", TOKEN, "corpus")
    try:
        assert process.stdout is not None
        desk = Desk(int(re.findall(r":(\d+)/", process.stdout.readline())[0]))
        desk.enter()
        connection = http.client.HTTPConnection("127.0.0.1", desk.port, timeout=LIMIT)
        connection.request("GET", "/0/live/stream", headers={"Cookie": desk.cookie})
        stream = connection.getresponse()
        assert stream.readline().startswith(b"data: ")
        process.send_signal(signal.SIGINT)
        assert stream.read().endswith(b"\n\n"), "the reader has whole events to the last"
        connection.close()
        ends(process, tmp_path)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, (tmp_path / "stderr").read_text()) == (0, "")


def test_what_holds_the_end_is_shown_and_the_process_ends_all_the_same(tmp_path: Path) -> None:
    three_domains.fill(tmp_path / "corpus")
    held = (
        "import threading; from scrapy.cmdline import execute; from crawler.commands import explore;"
        "from crawler.explore.catalogue import Catalogue; explore._END_SECONDS = explore._MORE_SECONDS = 0.5;"
        "Catalogue.close = lambda self: threading.Event().wait();"
        "execute(['scrapy', 'explore', '--no-open', 'corpus'])"
    )
    environment = clean_environment(SCRAPY_SETTINGS_MODULE="crawler.settings")
    with (tmp_path / "stderr").open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", held], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=said, text=True
        )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://")
        process.send_signal(signal.SIGINT)
        ends(process, tmp_path)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 1
    assert "most recent call first" in (tmp_path / "stderr").read_text()


@pytest.mark.parametrize("named", [True, False])
def test_a_crawl_on_a_cluster_is_watched_by_the_server_and_the_name_that_are_given(
    tmp_path: Path, redis_url: str, named: bool
) -> None:
    three_domains.fill(tmp_path / "corpus")

    async def queue() -> None:
        frontier = Frontier(redis_url, "far-away")
        await frontier.open()
        await frontier.put([Link(f"http://far-{n}.example/") for n in range(3)])
        await frontier.close()

    asyncio.run(queue())
    given = ["--redis-url", redis_url, "--crawl-id", "far-away"] if named else []
    process = begin(tmp_path, "--no-open", "--token", TOKEN, *given, "corpus")
    try:
        assert process.stdout is not None
        desk = Desk(int(re.findall(r":(\d+)/", process.stdout.readline())[0]))
        desk.enter()
        page = desk.page("/0/live")
        assert ("<dt>queued</dt><dd>3</dd>" in page, "far-2.example" in page) == (named, named)
        assert ("No crawl is running here" in page) != named
        assert desk.post("/0/live/order", action="pause").status == (200 if named else 409)
        process.send_signal(signal.SIGTERM)
        ends(process, tmp_path)
    finally:
        process.kill()
        process.communicate()


def test_without_its_packages_the_command_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setattr(explore, "find_spec", lambda name: None if name == "duckdb" else object())
    command = explore.Command()
    answer = command.work([], argparse.Namespace())
    assert (answer.code, answer.problems) == (1, ["duckdb: not installed; run pip install 'gristmill[explore]'"])


@pytest.fixture
def scrapy_explore(tmp_path: Path):
    three_domains.fill(tmp_path / "corpus")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return warm.run(
            [sys.executable, "-m", "scrapy", "explore", "--no-open", *words],
            cwd=tmp_path,
            env=clean_environment(SCRAPY_SETTINGS_MODULE="crawler.settings"),
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )

    return run


def test_a_port_that_is_taken_is_told(scrapy_explore) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = scrapy_explore("--port", str(port), "corpus")
    assert done.returncode == 1
    assert (
        done.stderr
        == f"error: --port {port}: 127.0.0.1:{port} cannot be used (Address already in use); choose another\n"
    )


def test_a_token_that_anybody_could_guess_is_refused(scrapy_explore) -> None:
    done = scrapy_explore("--token", "short", "corpus")
    assert (done.returncode, done.stderr.startswith("error: --token: expected 16 to 200")) == (2, True)
