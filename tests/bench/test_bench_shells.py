"""The benches of the browser count what they say: false shells, drawn pages of the known site, processes left over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from bench.extraction import shells
from bench.faults.campaign import browsers_below, outlived
from bench.speed.browser import run as run_browser
from bench.web.known_site import build, page_html, shell_html
from bench.web.prose import prose
from crawler.browser.find import browser_path
from crawler.browser.watch import MARK
from crawler.config.browser import BrowserConfig

TEXT = tuple(prose("a page"))


def test_shells_are_counted_and_only_those_that_show_words_are_false(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {
        "page.html": page_html("page", TEXT),
        "bare.html": shell_html("bare", TEXT),
        "short.html": b"<html><body><p>A few words and nothing else.</p></body></html>",
    }
    for name, body in pages.items():
        (tmp_path / name).write_bytes(body)
    monkeypatch.setattr(shells, "CACHE", tmp_path / "none")
    monkeypatch.setattr(sys, "argv", ["shells", "--data", str(tmp_path), str(tmp_path)])
    assert shells.main() == 0
    out = capsys.readouterr().out
    assert f"{tmp_path}: 3 pages, 1 show little, 1 look like a shell, 0 of them show words\n    {tmp_path}/bare" in out
    worded = b"<html><body><p>menu</p><div id=root></div><script src=/react.js></script></body></html>"
    (tmp_path / "worded.html").write_bytes(worded)
    assert shells.main() == 1
    assert "4 pages, 2 show little, 2 look like a shell, 1 of them show words" in capsys.readouterr().out
    for name in [*pages, "worded.html"]:
        (tmp_path / name).unlink()
    assert shells.main() == 1  # nothing was counted


def test_every_fourth_page_of_the_known_site_is_a_shell_where_that_is_asked_for() -> None:
    bases = {"127.0.0.40": "http://127.0.0.40:1", "127.0.0.41": "http://127.0.0.41:1"}
    texts = (TEXT,) * 100
    plain, drawn = build(bases, 8, texts), build(bases, 8, texts, shells=4)
    assert plain.fates == drawn.fates
    for host in bases:
        bodies = [drawn.answers[host][f"/p/{n}"].body for n in range(8)]
        assert [b"<div id=root></div><script>" in body for body in bodies] == [n % 4 == 1 for n in range(8)]
    found = shells.count((f"p{n}", drawn.answers["127.0.0.40"][f"/p/{n}"].body) for n in range(8))
    assert (found.bare, found.with_words) == (["p1", "p5"], [])


def test_a_browser_process_that_outlives_its_worker_is_found() -> None:
    code = "import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', "
    code += f"'{MARK}x'], start_new_session=True); print(p.pid, flush=True); time.sleep(600)"
    worker = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    child = psutil.Process(int(worker.stdout.readline()))
    try:
        found = browsers_below(worker.pid)
        assert found == {child}
        worker.kill()
        worker.wait()  # its child holds the pipe
        assert outlived(found, seconds=0.2) == [child.pid]
        child.kill()
        assert outlived(found) == []
        assert browsers_below(worker.pid) == set()
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()
        child.kill()


def test_the_bench_of_the_browser_counts_pages_whose_own_text_is_in_the_result(tmp_path: Path) -> None:
    if browser_path(BrowserConfig()) is None:
        pytest.skip("no Chromium: scripts/setup-debian.sh installs one where it may")
    found = run_browser(2, 2, tmp_path)
    assert {name: found[name] for name in ("pages", "fast", "kept", "drawn", "found")} == {
        "pages": 2, "fast": 2, "kept": 4, "drawn": 2, "found": 2,
    }  # fmt: skip
    assert 0 <= found["fast_seconds"] <= found["seconds"]
