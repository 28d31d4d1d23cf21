"""`gristmill fetch`, `view` and `shell` ask as the crawl asks, keep nothing, end when they are told, or say why not."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.conftest import process_environment, scrapy_process
from tests.support import warm
from tests.support.serving import Handler, article
from tests.support.site import Site


class Manners(Site):
    """A page, one that robots.txt forbids, redirects to both and to itself, and nothing else."""

    leads = {"/moved": "/p/0", "/to-forbidden": "/forbidden", "/loop": "/loop"}  # noqa: RUF012

    @property
    def base(self) -> str:
        return f"http://{self.address}:{self.port}"

    def serve(self, request: Handler) -> None:
        if (target := self.leads.get(request.path)) is None:
            super().serve(request)
        else:
            request.send(302, headers={"Location": target})

    def answer(self, path: str) -> tuple[int, bytes]:
        pages = {
            "/robots.txt": (200, b"User-agent: *\nDisallow: /forbidden\n"),
            "/p/0": (200, b"<html lang=en><title>Zero</title><p>The page itself.</p></html>"),
        }
        return pages.get(path, (404, b"nothing here"))


@pytest.fixture
def site() -> Iterator[Manners]:
    made = Manners(pages=2)
    made.start()
    yield made
    made.stop()


def allowed(site: Site) -> list[str]:
    settings = {"NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": site.port, "DOWNLOAD_DELAY": 0}
    return [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]


def asked(site: Site) -> list[str]:
    return [hit.path for hit in site.hits]


def test_fetch_prints_the_page_after_robots_txt_was_asked_and_leaves_nothing_behind(site, tmp_path):
    done = scrapy_process(tmp_path, "fetch", site.url(0), *allowed(site))
    assert (done.code, done.out) == (0, site.answer("/p/0")[1].decode() + "\n")
    assert asked(site)[0] == "/robots.txt" and asked(site)[-1] == "/p/0"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "options", "code", "out", "words"),
    [
        ("/moved", [], 0, "The page itself", ""),
        ("/moved", ["--no-redirect"], 1, "", "/moved redirects to BASE/p/0"),
        ("/to-forbidden", [], 1, "", "robots.txt disallows it"),
        ("/loop", [], 1, "", "loops back to BASE/loop"),
    ],
)
def test_a_redirect_is_followed_as_far_as_a_crawl_would_or_told(site, tmp_path, path, options, code, out, words):
    done = scrapy_process(tmp_path, "fetch", *options, f"{site.base}{path}", *allowed(site))
    assert (done.code, out in done.out) == (code, True)
    assert words.replace("BASE", site.base) in done.err
    assert "/forbidden" not in asked(site)


def test_fetch_shows_the_headers_that_went_and_came(site, tmp_path):
    done = scrapy_process(tmp_path, "fetch", "--headers", site.url(0), *allowed(site))
    assert done.code == 0
    assert "> User-Agent: CorpusBot/" in done.out and "< Content-Type: " in done.out
    assert "The page itself" not in done.out


@pytest.mark.parametrize("command", ["fetch", "view", "shell"])
def test_what_robots_txt_forbids_is_not_asked_and_the_rule_is_named(site, tmp_path, command):
    code = ["-c", "response"] if command == "shell" else []
    done = scrapy_process(tmp_path, command, f"{site.base}/forbidden", *code, *allowed(site))
    assert (done.code, done.out) == (1, "")
    assert "robots.txt disallows it" in done.err and "line 2: Disallow: /forbidden" in done.err
    assert f"`gristmill optout {site.base}/forbidden`" in done.err
    assert "/forbidden" not in asked(site)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "settings", "code", "words"),
    [
        ("BASE/missing", [], 1, "the page is gone"),
        ("https://example.org/", [], 1, "CRAWLER_CONTACT is not set"),
        ("BASE/p/0", ["-s", "NETWORK_PORTS=80"], 1, "in NETWORK_PORTS; --allow-local opens what is on this"),
        ("file:///etc/passwd", [], 2, "expected one http or https URL"),
        ("BASE/p/0", ["-s", "NEARDUP_ROWS=many"], 1, "NEARDUP_ROWS='many': expected a whole number"),
    ],
)
def test_why_a_page_is_not_fetched_is_a_sentence(site, tmp_path, url, settings, code, words):
    done = scrapy_process(tmp_path, "fetch", url.replace("BASE", site.base), *allowed(site), *settings)
    assert (done.code, done.out) == (code, "")
    assert words in done.err and "Traceback" not in done.err


def test_view_hands_the_page_to_the_browser(site, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\ncp "${{1#file://}}" {tmp_path}/seen.html\n')
    browser.chmod(0o755)
    done = scrapy_process(tmp_path, "view", site.url(0), *allowed(site), BROWSER=str(browser), TMPDIR=str(tmp_path))
    assert done.code == 0, done.err
    assert "The page itself." in (tmp_path / "seen.html").read_text()


def test_the_shell_evaluates_code_on_a_page(site, tmp_path):
    done = scrapy_process(tmp_path, "shell", site.url(0), "-c", "response.css('title::text').get()", *allowed(site))
    assert (done.code, done.out) == (0, "Zero\n")
    wrong = scrapy_process(tmp_path, "shell", "-c", "nonsense")
    assert (wrong.code, wrong.out) == (1, "")
    assert wrong.err == "error: -c nonsense: NameError: name 'nonsense' is not defined\n"
    assert list(tmp_path.iterdir()) == []


def test_in_the_console_pages_are_fetched_one_after_the_other_and_a_refusal_is_told(site, tmp_path):
    typed = f"fetch('{site.url(0)}')\nprint(response.status)\nfetch('{site.base}/forbidden')\nprint(response)\n"
    done = warm.run(
        [sys.executable, "-m", "scrapy", "shell", *allowed(site)],
        cwd=tmp_path,
        env=process_environment(SCRAPY_PYTHON_SHELL="python"),
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert "200\n" in done.stdout and "None\n" in done.stdout
    assert "robots.txt disallows it" in done.stderr
    assert list(tmp_path.iterdir()) == []


# --- a server that never answers --------------------------------------------------------------------------------------


@pytest.fixture
def silence() -> Iterator[tuple[int, threading.Event]]:
    """A port, and whether somebody has asked there."""
    come = threading.Event()
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(8)
        server.settimeout(60)
        held: list[socket.socket] = []

        def accept() -> None:
            try:
                while True:
                    held.append(server.accept()[0])
                    come.set()
            except OSError:
                return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], come
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    for connection in held:
        connection.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["fetch", "view", "shell", "optout"])
def test_a_command_that_waits_for_a_server_ends_at_the_first_signal(silence, tmp_path: Path, command, number):
    port, come = silence
    network = ["-s", "NETWORK_ALLOW=127.0.0.0/8", "-s", f"NETWORK_PORTS={port}"]
    process = warm.Popen(
        [sys.executable, "-m", "scrapy", command, f"http://127.0.0.1:{port}/", *network],
        cwd=tmp_path,
        env=process_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert come.wait(60)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 128 + number
    assert err.splitlines()[-1] == f"error: interrupted by {number.name}"
    assert "Traceback" not in out + err
    assert list(tmp_path.iterdir()) == []


class Prose(Manners):
    """The page itself is an article, one beside it has five words and an address."""

    def answer(self, path: str) -> tuple[int, bytes]:
        thin = b"<html lang=en><title>Thin</title><main><p>Write to jane.roe@meadow.example.</p></main></html>"
        return {"/p/0": (200, article("prose")), "/p/1": (200, thin)}.get(path, super().answer(path))


@pytest.fixture
def prose() -> Iterator[Prose]:
    made = Prose(pages=2)
    made.start()
    yield made
    made.stop()


def test_text_prints_what_would_be_kept_or_which_stage_says_no_and_leaves_nothing_behind(prose, tmp_path):
    kept = scrapy_process(tmp_path, "text", prose.url(0), *allowed(prose), "-s", "QUALITY_RULES=")
    assert kept.code == 0 and "<p>" not in kept.out and len(kept.out.split()) > 100, kept.err
    assert re.search(r"^kept: \d+ words, .* language en", kept.err, re.MULTILINE)
    thin = scrapy_process(tmp_path, "text", "--json", prose.url(1), *allowed(prose))
    answer = json.loads(thin.out)
    assert thin.code == 1 and not answer["kept"] and "jane.roe" not in thin.out + thin.err
    assert (answer["stage"], answer["reason"]) == ("extraction", "too_short") and "needs 50" in answer["detail"]
    assert "would not be kept: stage extraction, too_short" in thin.err
    refused = scrapy_process(tmp_path, "text", f"{prose.base}/forbidden", *allowed(prose))
    assert (refused.code, refused.out) == (1, "") and "line 2: Disallow: /forbidden" in refused.err
    assert list(tmp_path.iterdir()) == []
