"""The second run: real crawls of a site that changes in between, read from the server's own log and from the corpus."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import redis

from crawler.server.embedded import EmbeddedServer
from crawler.storage.files.shards import read_lines
from tests.support.changing_site import Asked, ChangingSite, Page
from tests.support.crawl import Crawl
from tests.support.once import made_once
from tests.support.serving import Gate, article

NOON = "Sun, 01 Mar 2026 12:00:00 GMT"
ODD = "Sunday, 01-Mar-26 12:00:00 GMT"  # an obsolete form: to be sent back as it came
AGAIN = {"RECRAWL": 1, "RECRAWL_INTERVAL_SECONDS": 0}
PATHS = (
    "tag", "weak", "date", "odd-date", "both", "neither", "fickle", "star", "edited", "dead", "missing", "refuses",
    "renews", "insolent", "thin", "moved",
)  # fmt: skip


@dataclass
class Run:
    """One crawl: what it asked for, what it recorded, what it said."""

    log: dict[str, list[Asked]]
    kept: dict[str, dict[str, object]]
    rejected: dict[str, dict[str, object]]
    out: str
    counters: dict[str, int]


@dataclass
class Story:
    """What the runs did; `sizes` are the bodies as they are at the end."""

    base: str
    runs: list[Run]
    sizes: dict[str, int]


@dataclass
class Narrator:
    site: ChangingSite
    crawl: Crawl
    runs: list[Run] = field(default_factory=list)
    lines: Counter[str] = field(default_factory=Counter)  # records of each file that earlier runs wrote

    def run(self, **settings: object) -> None:
        done = self.crawl.run(
            {"url": self.site.url("/"), "sitemap": self.site.url("/map.xml")},
            NETWORK_PORTS=self.site.port,
            PROGRESS="auto",
            **settings,
        )
        assert done.returncode == 0, done.stderr
        manifest = json.loads((self.crawl.folder / "manifest.json").read_text())
        records = {kind: self.new_records(kind) for kind in ("shards", "rejected")}
        self.runs.append(
            Run(self.site.take_log(), *records.values(), done.stdout, manifest["runs"][-1]["counters"]),
        )

    def new_records(self, kind: str) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = {}
        for path in sorted(p for p in (self.crawl.folder / kind).glob("*.jsonl*") if "rewrite~" not in p.name):
            for line in list(read_lines(path))[self.lines[path.name + kind] :]:
                record = json.loads(line)
                found[str(record["url"]).removeprefix(self.site.url(""))] = record
                self.lines[path.name + kind] += 1
        return found


def sitemap(site: ChangingSite, entries: dict[str, str]) -> bytes:
    urls = "".join(f"<url><loc>{site.url(p)}</loc><lastmod>{when}</lastmod></url>" for p, when in entries.items())
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'.encode()


def first_site(site: ChangingSite) -> None:
    serial = itertools.count()
    pages = {f"/{name}": Page(article(name)) for name in PATHS}
    pages["/"] = Page(article("home", links=tuple(pages)))
    pages["/tag"].etag = '"t1"'
    pages["/weak"].etag = 'W/"w1"'
    pages["/date"].modified = NOON
    pages["/odd-date"].modified = ODD
    pages["/both"].etag, pages["/both"].modified = '"b1"', NOON
    pages["/fickle"].etag = lambda: f'"{next(serial)}"'
    pages["/star"].etag = "*"
    pages["/edited"] = Page(article("edited", words=600), etag='"e1"')
    pages["/dead"].etag = '"d1"'
    pages["/refuses"].etag = '"r1"'
    pages["/renews"].etag = '"n1"'
    pages["/thin"] = Page(b"<html lang=en><title>Thin</title><p>Nothing has come in yet.</p>", etag='"s1"')
    pages["/moved"] = Page(status=301, headers={"Location": "/tag"})
    pages["/map.xml"] = Page(sitemap(site, {"/listed": "2026-01-01"}), kind="application/xml", etag='"m1"')
    pages["/listed"] = Page(article("listed"), modified=NOON)
    site.pages |= pages


def change_site(site: ChangingSite) -> None:
    pages = site.pages
    pages["/new"] = Page(article("new"))
    pages["/heir"] = Page(article("edited", words=600))  # takes over what /edited said before
    pages["/"].body = article("home", links=(*(f"/{name}" for name in PATHS), "/new", "/heir"))
    text = pages["/edited"].body.decode()
    pages["/edited"] = Page(text.replace("</p>", " One more sentence.</p>", 1).encode(), etag='"e2"')
    pages["/dead"] = Page(status=410)
    pages["/missing"] = Page(status=404)
    pages["/refuses"].headers["X-Robots-Tag"] = "noai"
    pages["/renews"].etag = 'W/"n1"'  # the same tag to a weak comparison
    pages["/insolent"] = Page(status=304)


def tell(folder: Path) -> Story:
    """Five runs of the same command: first, changed site, interval not over, newer lastmod, nothing changed."""
    site = ChangingSite().start()
    told = Narrator(site, Crawl(folder))
    try:
        first_site(site)
        told.run()
        change_site(site)
        told.run(**AGAIN)
        told.run(RECRAWL=1)
        later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
        site.pages["/map.xml"] = Page(sitemap(site, {"/listed": later}), kind="application/xml", etag='"m2"')
        told.run(RECRAWL=1, RECRAWL_MIN_SECONDS=0)
        told.run(**AGAIN)
    finally:
        site.stop()
    return Story(site.url(""), told.runs, {path: len(page.body) for path, page in site.pages.items()})


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return made_once(tmp_path_factory, "recrawl", tell)


def conditions(run: Run, path: str) -> dict[str, str]:
    (asked,) = run.log[path]
    return asked.conditions


def test_the_first_run_asks_without_conditions_and_keeps_what_it_gets(story):
    first = story.runs[0]
    assert not any(asked.conditions for path in first.log.values() for asked in path)
    assert set(first.kept) == {"/", "/listed"} | {f"/{name}" for name in PATHS} - {"/thin", "/moved"}
    assert {path: r["reason"] for path, r in first.rejected.items()} == {"/thin": "too_short", "/moved": "redirected"}


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/tag", {"If-None-Match": '"t1"'}),
        ("/weak", {"If-None-Match": 'W/"w1"'}),
        ("/date", {"If-Modified-Since": NOON}),
        ("/odd-date", {"If-Modified-Since": ODD}),
        ("/both", {"If-None-Match": '"b1"', "If-Modified-Since": NOON}),
        ("/thin", {"If-None-Match": '"s1"'}),
        ("/listed", {"If-Modified-Since": NOON}),
    ],
)
def test_validators_are_sent_back_verbatim_and_a_304_is_recorded_as_unchanged(story, path, sent):
    second = story.runs[1]
    assert conditions(second, path) == sent
    assert second.log[path][0].status == 304
    record = second.rejected[path]
    assert (record["stage"], record["reason"], record["detail"]) == ("fetch", "unchanged", "HTTP 304")
    assert record["http_status"] == 304


@pytest.mark.parametrize("path", ["/neither", "/fickle", "/star"])
def test_without_usable_validators_the_hash_of_the_body_decides(story, path):
    second = story.runs[1]
    assert second.log[path][0].status == 200
    record = second.rejected[path]
    assert (record["reason"], record["detail"]) == ("unchanged", "same content hash")
    assert conditions(second, "/star") == conditions(second, "/neither") == {}
    assert record["content_hash"] == story.runs[0].kept[path]["content_hash"]


def test_what_is_unchanged_is_not_parsed(story):
    counters = story.runs[1].counters
    extracted = counters["stage/extraction/documents"]
    assert extracted == sum(path in ("/", "/new", "/heir", "/edited") for path in story.runs[1].log)
    assert "sitemap/files" not in counters
    assert counters["sitemap/unchanged"] == 1


def test_a_changed_page_passes_the_pipelines_again_and_is_no_duplicate_of_itself(story):
    before, after = story.runs[0].kept["/edited"], story.runs[1].kept["/edited"]
    assert "One more sentence" in str(after["text"])
    assert before["doc_id"] != after["doc_id"]
    assert after["etag"] == '"e2"'
    assert set(story.runs[1].kept) == {"/", "/edited", "/new"}


def test_the_record_tells_when_a_page_was_first_seen_and_when_it_changed(story):
    before, after = story.runs[0].kept["/edited"], story.runs[1].kept["/edited"]
    assert before["first_seen"] == before["last_changed"] == before["crawled_at"]
    assert str(after["first_seen"])[:19] == str(before["crawled_at"])[:19]
    assert after["last_changed"] == after["crawled_at"]
    assert (before["change_count"], after["change_count"]) == (0, 1)
    same = story.runs[1].rejected["/tag"]
    assert str(same["last_changed"])[:19] == str(story.runs[0].kept["/tag"]["crawled_at"])[:19]
    assert same["change_count"] == 0


def test_a_page_with_the_former_text_of_one_that_changed_little_is_still_its_duplicate(story):
    heir = story.runs[1].rejected["/heir"]
    assert heir["dup_of"] == story.base + "/edited"


@pytest.mark.parametrize("path", ["/dead", "/missing"])
def test_a_page_that_vanished_is_gone(story, path):
    record = story.runs[1].rejected[path]
    assert record["reason"] == "gone"
    assert record["change_count"] == 1
    assert story.runs[4].rejected[path]["change_count"] == 1  # gone still, not gone again
    assert conditions(story.runs[4], path) == {}


def test_an_opt_out_on_a_304_counts(story):
    record = story.runs[1].rejected["/refuses"]
    assert story.runs[1].log["/refuses"][0].status == 304
    assert record["reason"] == "optout"
    said = record["optout_signals"][0]
    assert (said["protocol"], said["carrier"], said["value"]) == ("x-robots-tag", "header", "noai")
    assert conditions(story.runs[4], "/refuses") == {}
    assert story.runs[4].rejected["/refuses"]["reason"] == "optout"


def test_a_304_that_nobody_asked_for_is_an_error(story):
    assert story.runs[1].rejected["/insolent"]["reason"] == "http_error"


def test_a_new_validator_on_a_304_replaces_the_old_one(story):
    assert conditions(story.runs[1], "/renews") == {"If-None-Match": '"n1"'}
    assert conditions(story.runs[4], "/renews") == {"If-None-Match": 'W/"n1"'}


def test_a_redirect_is_asked_again(story):
    assert story.runs[1].rejected["/moved"]["reason"] == "redirected"


def test_before_its_time_nothing_is_fetched_and_the_summary_says_when(story):
    third = story.runs[2]
    assert third.log == {}
    assert third.kept == third.rejected == {}
    assert third.counters["recrawl/due"] == 0
    pages = len(story.sizes)
    assert f"nothing was due; {pages} URLs wait for their next visit, the first from " in " ".join(third.out.split())


def test_a_sitemap_with_a_newer_lastmod_makes_its_page_due_at_once(story):
    fourth = story.runs[3]
    assert set(fourth.log) == {"/map.xml", "/listed"}
    assert conditions(fourth, "/map.xml") == {"If-None-Match": '"m1"'}
    assert fourth.log["/map.xml"][0].status == 200
    assert fourth.rejected["/listed"]["reason"] == "unchanged"


def test_every_url_is_asked_once_in_each_run(story):
    for run in story.runs:
        assert {path: len(asked) for path, asked in run.log.items()} == dict.fromkeys(run.log, 1)
    assert set(story.runs[1].log) == set(story.runs[4].log) == set(story.sizes)


def test_the_summary_of_a_second_run_counts_what_was_new_changed_unchanged_and_gone(story):
    counters = story.runs[1].counters
    unchanged = sum(r["reason"] == "unchanged" for r in story.runs[1].rejected.values())
    assert (counters["recrawl/new"], counters["recrawl/gone"]) == (2, 2)
    assert counters["recrawl/unchanged"] == unchanged + 1  # the redirect
    saved = sum(story.sizes[p] for p, a in story.runs[1].log.items() if a[0].status == 304 and p != "/map.xml")
    assert counters["recrawl/not_sent_bytes"] == saved - story.sizes["/refuses"]
    said = " ".join(story.runs[1].out.split())
    assert (
        f"2 new, {counters['recrawl/changed']} changed, {unchanged + 1} unchanged, 2 gone, 0 moved, 0 decayed, "
        "1 opted out, 1 failed" in said
    )


def test_an_unchanged_site_costs_a_fraction_of_the_bytes(story):
    first, last = (sum(a.sent for asked in story.runs[i].log.values() for a in asked) for i in (0, 4))
    untagged = sum(story.sizes[p] for p in ("/", "/neither", "/fickle", "/star", "/new", "/heir", "/refuses"))
    assert last == untagged
    assert last < 0.5 * first


# --- interruptions ---------------------------------------------------------------------------------------------------
@pytest.fixture
def chain() -> Iterator[ChangingSite]:
    """Thirty pages with entity tags, all linked from the first."""
    site = ChangingSite()
    names = [f"/p{n}" for n in range(30)]
    site.pages = {name: Page(article(name), etag=f'"{name}"') for name in names}
    site.pages["/p0"].body = article("/p0", links=tuple(names))
    site.start()
    yield site
    site.stop()


def wait_for(condition, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def acknowledged(folder) -> int:
    """URLs that the frontier of a running crawl counts as done."""
    with contextlib.closing(redis.Redis.from_url(EmbeddedServer(folder / "frontier").url)) as client:
        return int(client.hget("{crawl.0}:st", "done") or 0)


def test_a_second_run_that_is_killed_is_finished_by_the_third_without_asking_twice_for_what_was_done(crawl, chain):
    arguments = {"url": chain.url("/p0")}
    assert crawl.run(arguments, NETWORK_PORTS=chain.port).returncode == 0
    kept = crawl.urls()
    chain.take_log()
    gate = chain.gate = Gate(12)
    process = crawl.start(arguments, NETWORK_PORTS=chain.port, COMMIT_SECONDS=0.01, **AGAIN)
    gate.wait()
    wait_for(lambda: acknowledged(crawl.folder) >= 5)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    second = chain.take_log()
    gate.open()
    third_run = crawl.run(arguments, NETWORK_PORTS=chain.port, RECRAWL=1)
    assert third_run.returncode == 0, third_run.stderr
    third = chain.take_log()
    assert set(second) | set(third) == set(chain.pages)
    assert len(second) < len(chain.pages)
    assert {asked.status for log in (second, third) for path in log.values() for asked in path} == {304}
    twice = set(second) & set(third)
    assert len(twice) < len(second)  # only what was under way, or not yet acknowledged, when the worker died
    assert {str(r["url"]) for r in crawl.records("rejected")} == {chain.url(path) for path in chain.pages}
    assert crawl.urls() == kept


def test_a_site_that_is_down_during_a_recrawl_is_reported_and_comes_back_with_its_validators(crawl, chain):
    chain.pages = {f"/p{n}": Page(article(f"/p{n}"), etag=f'"p{n}"') for n in range(2)}
    arguments = {"url": ",".join(chain.url(path) for path in chain.pages)}
    assert crawl.run(arguments, NETWORK_PORTS=chain.port).returncode == 0
    for page in chain.pages.values():
        page.status = 500
    down = crawl.run(arguments, NETWORK_PORTS=chain.port, RETRY_TIMES=0, **AGAIN)
    assert down.returncode == 1
    assert "no page could be fetched" in down.stderr
    chain.take_log()
    for page in chain.pages.values():
        page.status = 200
    assert crawl.run(arguments, NETWORK_PORTS=chain.port, **AGAIN).returncode == 0
    found = {path: [asked.status for asked in log] for path, log in chain.take_log().items()}
    assert found == {"/p0": [304], "/p1": [304]}


def test_a_crawl_without_end_asks_again_when_a_page_is_due(crawl, chain):
    chain.pages = {"/p0": Page(article("/p0"), etag='"p0"')}
    settings = {"RECRAWL": 1, "RECRAWL_INTERVAL_SECONDS": 1, "RECRAWL_MIN_SECONDS": 1, "RECRAWL_MAX_SECONDS": 1}
    process = crawl.start({"url": chain.url("/p0")}, NETWORK_PORTS=chain.port, FRONTIER_IDLE_SECONDS=0, **settings)
    wait_for(lambda: sum(asked.path == "/p0" for asked in chain.log) >= 3)
    os.killpg(process.pid, signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert [asked.status for asked in chain.log if asked.path == "/p0"][:3] == [200, 304, 304]
