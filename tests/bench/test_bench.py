"""The benches measure what they say: real servers, whole process trees, and a page that keeps its prose."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import pytest
import zstandard

from bench.speed import crawl
from bench.speed.measure import Cost, measured
from bench.web import realweb, webpages
from demo.outputs import read_access_log

BURN = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass\n"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two packages that are unpacked already."""
    found = {name: realweb.Package(name, "usr/share/doc/html") for name in ("one-doc", "two-doc")}
    for name in found:
        root = tmp_path / "cache" / name / "usr/share/doc/html"
        root.mkdir(parents=True)
        (root / "index.html").write_text(f"<h1>{name}</h1>")
    monkeypatch.setattr(realweb, "PACKAGES", found)
    monkeypatch.setattr(realweb, "CACHE", tmp_path / "cache")
    return list(found)


@pytest.fixture(params=["nginx", "http.server"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both servers, the first only where it is installed."""
    if request.param == "http.server":
        monkeypatch.setattr(realweb.shutil, "which", lambda *_, **__: None)
    elif not (realweb.shutil.which("nginx") or realweb.shutil.which("nginx", path="/usr/sbin")):
        pytest.skip("nginx is not installed")
    return str(request.param)


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as response:
        body: bytes = response.read()
    return body


def test_every_package_is_a_site_of_its_own_with_an_access_log(tmp_path: Path, packages, server: str) -> None:
    with realweb.serve(packages, tmp_path) as web:
        assert web.server == server
        assert [fetch(seed) for seed in web.seeds] == [b"<h1>one-doc</h1>", b"<h1>two-doc</h1>"]
        assert b"Disallow: /_sources/" in fetch(web.bases["two-doc"] + "/robots.txt")
        with pytest.raises(urllib.error.HTTPError, match="404") as caught:
            fetch(web.bases["one-doc"] + "/nowhere.html")
        caught.value.close()
    log = read_access_log(web.access_log)
    assert sorted((a.page, a.status) for a in log) == [
        ("/index.html", 200),
        ("/index.html", 200),
        ("/nowhere.html", 404),
        ("/robots.txt", 200),
    ]
    assert {f"http://{a.address}" for a in log} == set(web.bases.values())


def test_an_unknown_package_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(realweb.RealWebError, match="expected one of postgresql-doc-15"):
        realweb.unpacked("perl-doc", tmp_path)


def test_without_apt_the_error_says_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(realweb.shutil, "which", lambda *_, **__: None)
    with pytest.raises(realweb.RealWebError, match="apt-get and dpkg are needed"):
        realweb.unpacked("sqlite3-doc", tmp_path)


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux")
def test_the_cost_of_a_command_includes_its_children(tmp_path: Path) -> None:
    script = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN!r}])\n{BURN}"
    cost = measured([sys.executable, "-c", script], tmp_path / "out.log", tmp_path, limit_seconds=60)
    assert cost.code == 0
    assert cost.cpu_seconds > 0.5
    assert cost.seconds >= 0.8
    assert cost.peak_bytes > 2**20
    assert cost.shares["own"] > 0 and cost.shares["children"] > 0 and cost.shares["server"] == 0
    assert sum(cost.shares.values()) == pytest.approx(cost.cpu_seconds)


def test_a_command_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(TimeoutError, match="took longer than 0 s"):
        measured(command, tmp_path / "out.log", tmp_path, limit_seconds=0.2)


def result(name: str) -> crawl.Result:
    return crawl.Result(name, Cost(0, 20.0, 10.0, 2**28), 200, 10.0, Counter(kept=150, too_short=50))


def test_the_report_shows_rate_and_cost_of_each_set_of_pages() -> None:
    docs, web = (crawl.Served(name, "pages", "nginx", [result("ours")]) for name in crawl.SETS)
    costs = {"docs": {"parse": 0.001, "peer: recipe": 0.05}, "languages": {"parse": 0.002, "peer: recipe": 0.07}}
    text = crawl.report([docs, web], costs, pages=0)
    assert "| docs: ours | 200 | 20.0 | 50 | 256 MiB | 150 | 20 s |" in text
    assert "| web: ours | 200 | 20.0 | 50 | 256 MiB | 150 | 20 s |" in text
    assert "| CPU ms a page | docs | languages |\n|---|---|---|\n| parse | 1.0 | 2.0 |" in text
    assert "| peer: recipe | 50.0 | 70.0 |" in text


def test_the_report_says_whose_cpu_time_it_was_where_there_is_a_server() -> None:
    shares = {"own": 2.0, "children": 7.5, "server": 0.5}
    ours = dataclasses.replace(result("ours"), cost=Cost(0, 20.0, 10.0, 2**28, shares))
    text = crawl.report([crawl.Served("docs", "pages", "nginx", [ours, result("inline")])], {}, pages=0)
    assert "of ours (docs): Scrapy's process with its start 10.0, stage processes 37.5, Valkey 2.5." in text
    assert "CPU ms a page of inline" not in text


def test_pages_of_the_web_keep_their_own_addresses_and_lists_lead_to_them_all(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "pages-dev").mkdir(parents=True)
    page = "<html lang='{}'><head><title>x</title></head><body><a href='/next'>on</a></body></html>"
    english = [{"url": f"https://a.example/{i}?q=1&r=2", "html": page.format("en-GB")} for i in range(150)]
    others = [{"url": "https://b.example/", "html": page.format(language)} for language in ("de-AT", "en", "pl")]
    own = {"url": None, "html": page.format("fr")}
    for name, some in zip((*webpages.ENGLISH, *webpages.OTHERS), (english, others, [own], []), strict=True):
        lines = "".join(json.dumps(one) + "\n" for one in some)
        (data / name).write_bytes(zstandard.compress(lines.encode()))
    roots = webpages.write_sites(tmp_path / "sites", data)
    assert webpages.source(data) == "labelled pages of the web"
    assert len(list((roots["web"] / "p").iterdir())) == 150
    assert len(list((roots["languages"] / "p").iterdir())) == 2  # German and Polish: no English one, none without a URL
    assert '<head><base href="https://a.example/0?q=1&amp;r=2"><title>' in (roots["web"] / "p/0000.html").read_text()
    lists = re.findall(r'href="/(.*?)"', (roots["web"] / "index.html").read_text())
    links = [link for name in lists for link in re.findall(r'href="/(.*?)"', (roots["web"] / name).read_text())]
    assert len(lists) == 2
    assert sorted(links) == sorted(f"p/{path.name}" for path in (roots["web"] / "p").iterdir())


def test_pages_of_our_own_stand_in_where_the_data_are_absent(tmp_path: Path) -> None:
    roots = webpages.write_sites(tmp_path / "sites", tmp_path / "nowhere", pages=2)
    assert webpages.source(tmp_path / "nowhere") == "pages of our own making"
    first, again = ((root / "p/0001.html").read_text("utf-8") for root in roots.values())
    assert '<html lang="en">' in first and "consent-banner" in first
    assert '<html lang="en">' not in again


def test_writing_the_figures_keeps_the_prose_around_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(f"before\n{crawl.BEGIN}\nold\n{crawl.END}\nafter\n")
    monkeypatch.setattr(crawl, "PAGE", page)
    crawl.write("new")
    crawl.write("newer")
    assert page.read_text() == f"before\n{crawl.BEGIN}\nnewer\n{crawl.END}\nafter\n"


def test_the_page_in_the_repository_has_its_markers() -> None:
    text = crawl.PAGE.read_text("utf-8")
    assert text.index(crawl.BEGIN) < text.index(crawl.END)


def test_a_package_is_unpacked_into_a_cache_that_is_not_there_yet(tmp_path, monkeypatch):
    tools = tmp_path / "bin"
    tools.mkdir()
    scripts = {
        "apt-get": ': > "$2.deb"',  # apt-get download NAME
        "dpkg": 'mkdir "$3" && mkdir -p "$3/usr/share/doc/git/html"',  # dpkg -x FILE FOLDER: one folder, not two
    }
    for name, line in scripts.items():
        (tools / name).write_text(f"#!/bin/sh\n{line}\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    root = realweb.unpacked("git-doc", tmp_path / "bench" / ".cache")
    assert root == tmp_path / "bench/.cache/git-doc/usr/share/doc/git/html"
    assert root.is_dir()
