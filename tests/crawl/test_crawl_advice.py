"""Advice is true: a crawl is brought into each state it can end in, what its output advises is carried out, and works.

No state is told from the test's own knowledge of it: the command that is carried out stands in what was printed.
"""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.process import options, scrapy
from tests.support.serving import DEADLINE, Gate, Handler, LoopbackServer, article, reset

PAGES = ("/", "/a", "/b", "/c")
SETTINGS: dict[str, object] = {
    "NETWORK_ALLOW": "127.0.0.0/8", "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 2, "STAGE_WORKERS": 0,
    "FRONTIER_IDLE_SECONDS": 0.3, "FRONTIER_RETRY_BACKOFF_SECONDS": 0.05, "FRONTIER_PATIENCE_SECONDS": 2,
    "RETRY_TIMES": 1, "PII_PERSON": "off", "QUALITY_RULES": "", "QUALITY_MIN_SCORE": 0, "NEARDUP_THRESHOLD": 1,
    "PROGRESS": "on",
}  # fmt: skip


class _Handler(Handler):
    def respond(self) -> None:
        site: World = self.server.world
        site.asked.append(self.path)
        if site.gate is not None and self.path in PAGES:
            site.gate.pass_through()
        answer = site.trouble(self.path)
        if answer == "gone":
            reset(self)
        elif answer is not None:
            self.send(int(answer), b"trouble", headers=site.headers)
        elif self.path == "/list.xml" and site.lists:
            self.send(200, site.lists.encode(), "application/xml")
        elif self.path in PAGES:
            self.send(200, article(f"story {PAGES.index(self.path)}", links=PAGES))
        else:
            self.send(404)


@dataclass
class World:
    """One site of four pages. `trouble` answers a status, "gone" (it hangs up), or None where all is well."""

    folder: Path
    trouble: Callable[[str], str | None] = lambda _path: None
    headers: dict[str, str] = field(default_factory=dict)
    gate: Gate | None = None
    lists: str = ""  # what the sitemap /list.xml says; there is none where it is empty
    asked: list[str] = field(default_factory=list)
    settings: dict[str, object] = field(default_factory=dict)
    server: LoopbackServer | None = None

    def start(self) -> World:
        self.server = LoopbackServer(_Handler, "127.0.0.1")
        self.server.world = self  # type: ignore[attr-defined]
        self.server.start()
        return self

    @property
    def url(self) -> str:
        assert self.server is not None
        return f"http://127.0.0.1:{self.server.port}/"

    @property
    def command(self) -> list[str]:
        """What a person types, and types again."""
        port = self.url.rpartition(":")[2].rstrip("/")
        given = SETTINGS | {"CORPUS_DIR": self.folder, "NETWORK_PORTS": port} | self.settings
        return ["crawl", "corpus", "-a", f"url={self.url}", *options(given)]

    def run(self, *more: str) -> subprocess.CompletedProcess[str]:
        self.asked.clear()
        return scrapy(*self.command, *more)

    def heal(self) -> None:
        self.trouble = lambda _path: None

    def kept(self) -> list[str]:
        found = scrapy("dataset", "query", "--format", "csv", self.folder, "SELECT url FROM documents ORDER BY url")
        return [line.removeprefix(self.url.rstrip("/")) for line in found.stdout.split()[1:]]

    def records(self) -> int:
        """Pages of the corpus, as `verify` counts them."""
        found = scrapy("dataset", "verify", self.folder)
        assert found.returncode == 0 and "ok:" in found.stdout, found.stdout + found.stderr
        pages = re.search(r"(\d+) pages once each|(\d+) records, each page exactly once", found.stdout)
        assert pages is not None, found.stdout
        return int(pages[1] or pages[2])


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "corpus").start()
    yield made
    assert made.server is not None
    made.server.stop()


def advised(said: str) -> list[list[str]]:
    """What the output says to type beside the same command, or instead of it (`gristmill …`)."""
    text = " ".join(re.sub(r"[│┃|]", " ", said).split())
    anew = r"the same command with (-s RECRAWL=1)[^;]*(-s RECRAWL_INTERVAL_SECONDS=0)"
    found = [" ".join(parts).split() for parts in re.findall(anew, text)]
    found += [["--retry-failed"] for _ in re.findall(r"the same command with --retry-failed", text)]
    found += [[] for _ in re.findall(r"run the same command again|the same command (?:continues|begins it)", text)]
    found += [["-s", "CRAWLER_CONTACT=bot@example.org"] for _ in re.findall(r"set CRAWLER_CONTACT", text)]
    found += [["INSTEAD", *shlex.split(one)] for one in re.findall(r"`gristmill (dataset [^`]+)`", text)]
    return found


def carry_out(world: World, said: str) -> subprocess.CompletedProcess[str]:
    """The first thing that is advised."""
    ways = advised(said)
    assert ways, f"nothing is advised: {said}"
    if ways[0][:1] == ["INSTEAD"]:
        return scrapy(*ways[0][1:])
    return world.run(*ways[0])


def down(_path: str) -> str:
    return "500"


def hangs_up(_path: str) -> str:
    return "gone"


def robots(status: str) -> Callable[[str], str | None]:
    return lambda path: status if path == "/robots.txt" else None


@pytest.mark.parametrize("trouble", [down, hangs_up, robots("500"), robots("gone")], ids=["500", "gone", "robots 500",
                                                                                            "robots gone"])  # fmt: skip
def test_what_an_outage_stopped_is_asked_for_again_by_the_same_command_and_fails_again_while_it_lasts(world, trouble):
    world.trouble = trouble
    first = world.run()
    assert first.returncode == 1 and "no page could be fetched" in first.stderr, first.stderr
    still = carry_out(world, first.stderr)
    assert still.returncode == 1 and "no page could be fetched" in still.stderr, still.stderr
    assert world.asked, "nothing was asked of a site whose outage may be over"
    assert "emptied or lost" not in first.stderr + still.stderr
    world.heal()
    healed = carry_out(world, still.stderr)
    assert healed.returncode == 0, healed.stderr
    assert world.kept() == sorted(PAGES)
    assert world.records() >= len(PAGES)
    idle = world.run()
    assert idle.returncode == 0 and "Nothing was judged in this run" in idle.stdout, idle.stdout + idle.stderr


def test_a_server_that_goes_away_in_the_middle_leaves_the_rest_to_the_same_command(world):
    world.trouble = lambda path: None if path in {"/robots.txt", "/"} or path not in PAGES else "gone"
    first = world.run("-s", "FRONTIER_BREAKER_FAILURES=2")
    assert world.kept() == ["/"]
    assert "hold_rate_limited" not in first.stdout, "no server has asked to wait"
    world.heal()
    again = world.run("-s", "FRONTIER_BREAKER_FAILURES=2")
    assert again.returncode == 0 and world.kept() == sorted(PAGES), again.stderr
    assert world.records() == len(PAGES)


def test_one_page_that_fails_on_a_site_that_answers_is_tried_again_by_the_option_that_is_named(world):
    world.trouble = lambda path: "500" if path == "/b" else None
    first = world.run()
    assert first.returncode == 0 and world.kept() == ["/", "/a", "/c"], first.stderr
    assert "1 URL failed at the last try" in first.stdout
    world.trouble = lambda path: "500" if path == "/b" else None
    same = world.run()
    assert (same.returncode, world.asked) == (0, []), "a site that answers is not asked for what it does not have"
    world.heal()
    again = carry_out(world, first.stdout)
    assert again.returncode == 0 and "1 URL went back to be tried again" in again.stderr, again.stderr
    assert world.kept() == sorted(PAGES) and world.records() == len(PAGES)
    assert "failed at the last try" not in again.stdout


def test_a_crawl_that_ended_well_ends_well_again_where_only_its_dead_host_fails_once_more_but_not_a_new_seed(world):
    dead = world.url.replace("127.0.0.1", "127.0.0.9")  # nothing listens there
    seeds = ["crawl", "corpus", "-a", f"url={world.url},{dead}", *world.command[4:]]
    first, same = scrapy(*seeds), scrapy(*seeds)
    assert (first.returncode, same.returncode) == (0, 0), first.stderr + same.stderr
    assert "tried again" in same.stderr
    other = scrapy(*seeds[:3], f"{seeds[3]},{dead}new", *seeds[4:])
    assert other.returncode == 1 and "no page could be fetched" in other.stderr, other.stdout + other.stderr


def test_a_robots_txt_that_was_denied_is_asked_for_again_by_what_is_advised(world):
    world.trouble = robots("403")
    world.run()
    assert world.kept() == []
    known = world.run()
    assert known.returncode == 0 and "keeps its verdict" in known.stdout, known.stdout
    world.heal()
    again = carry_out(world, known.stdout)
    assert again.returncode == 0 and world.kept() == sorted(PAGES), again.stderr
    assert world.records() == len(PAGES)


def test_a_crawl_that_has_finished_says_how_its_pages_are_fetched_again(world):
    assert world.run().returncode == 0
    idle = world.run()
    assert idle.returncode == 0 and world.asked == []
    again = carry_out(world, idle.stdout)
    assert again.returncode == 0 and set(PAGES) <= set(world.asked)
    assert world.kept() == sorted(PAGES)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_crawl_that_is_killed_or_stopped_is_continued_by_the_same_command(world, number):
    import sys

    from tests.support import warm
    from tests.support.places import PROJECT
    from tests.support.process import clean_environment

    world.gate = Gate(2)
    process = warm.Popen(
        [sys.executable, "-m", "scrapy", *world.command], cwd=PROJECT, env=clean_environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    world.gate.wait()
    process.send_signal(number)
    world.gate.open()
    out, err = process.communicate(timeout=DEADLINE)
    world.gate = None
    if number == signal.SIGTERM:
        assert process.returncode == 0 and "the same crawl command continues" in out, out + err
    again = world.run()
    assert again.returncode == 0 and world.kept() == sorted(PAGES), again.stderr
    assert world.records() == len(PAGES)


def test_a_frontier_that_was_emptied_is_rebuilt_and_one_that_only_holds_is_not_called_lost(world):
    world.trouble = robots("500")
    assert world.run().returncode == 1
    shutil.rmtree(world.folder / "frontier")
    held = world.run()
    assert held.returncode == 1 and "emptied or lost" not in held.stderr
    world.heal()
    assert world.run().returncode == 0
    shutil.rmtree(world.folder / "frontier")
    rebuilt = world.run()
    assert rebuilt.returncode == 0 and "the frontier is rebuilt: 4 finished URLs" in rebuilt.stderr, rebuilt.stderr
    assert world.records() == len(PAGES)


def test_a_second_crawl_of_another_name_leaves_each_page_once(world):
    assert world.run().returncode == 0
    assert world.run("-s", "CRAWL_ID=second").returncode == 0
    assert world.records() == len(PAGES) and world.kept() == sorted(PAGES)


def test_a_server_that_asks_to_wait_is_left_alone_until_then_and_the_exit_code_says_so_each_time(world):
    world.trouble, world.headers = (lambda path: "503" if path in PAGES else None), {"Retry-After": "3600"}
    first = world.run()
    assert first.returncode == 1 and "tried again from" in first.stderr, first.stderr
    world.heal()
    second = world.run()
    assert second.returncode == 1 and "tried again from" in second.stderr and world.asked == [], second.stderr


def test_a_sitemap_that_cannot_be_read_fails_every_run_until_what_is_advised_reads_it(world):
    listed = "<urlset><url><loc>{}</loc></url></urlset>"
    command = [*world.command[:3], f"sitemap={world.url}list.xml", *world.command[4:]]
    first, second = scrapy(*command), scrapy(*command)
    for done in (first, second):
        assert done.returncode == 1 and "a requested sitemap could not be read" in done.stderr, done.stderr
    assert "found nothing to do" in second.stderr
    world.lists = listed.format(f"{world.url}a")
    again = scrapy(*command, *advised(second.stderr)[0])
    assert again.returncode == 0 and "/a" in world.kept(), again.stderr
    assert scrapy(*command).returncode == 0


def test_the_command_that_looks_after_a_frontier_brings_back_what_failed_too(world):
    world.trouble = lambda path: "500" if path == "/b" else None
    world.run()
    done = scrapy("frontier", "requeue", "failed", "-s", f"CORPUS_DIR={world.folder}")
    assert done.returncode == 0 and "1 URL went back into its queue" in done.stdout, done.stderr
    world.heal()
    assert world.run().returncode == 0 and world.kept() == sorted(PAGES)


def test_an_option_that_a_replay_does_not_have_is_refused(world, tmp_path):
    done = scrapy("crawl", "replay", "-a", f"archive={tmp_path}/x.warc.gz", "--retry-failed")
    assert done.returncode == 2 or "no frontier" in done.stderr, done.stderr
