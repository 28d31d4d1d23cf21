"""`gristmill work`: real workers of one crawl, started, restarted and stopped together."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest

from tests.support import warm
from tests.support.places import PROJECT
from tests.support.serving import DEADLINE, Gate


class Team:
    """One `gristmill work` on the folder of `crawl`."""

    def __init__(self, crawl, site, workers: int = 2, **settings: object) -> None:
        usual = crawl.command({"url": site.url(0)}, {"NETWORK_PORTS": site.port, "LOG_LEVEL": "INFO", **settings})
        call = [sys.executable, "-m", "scrapy", "work", "corpus", "--workers", str(workers)]
        self.process = warm.Popen(
            [*call, *usual[usual.index("corpus") + 1 :]],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "COLUMNS": "120"},
        )
        crawl.processes.append(self.process)

    def workers(self) -> dict[str, psutil.Process]:
        """The processes of `gristmill crawl` below it, by WORKER_ID."""
        found = {}
        for process in psutil.Process(self.process.pid).children():
            with suppress(psutil.Error):  # it has just died
                if match := re.search(r" crawl .*WORKER_ID=(\S+)", " ".join(process.cmdline())):
                    found[match[1]] = process
        return found

    def wait_until(self, condition) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            assert self.process.poll() is None, self.end()
            assert time.monotonic() < end, "nothing happened in time"
            time.sleep(0.02)

    def end(self) -> tuple[str, str]:
        return self.process.communicate(timeout=DEADLINE)


def test_two_workers_share_a_site_and_the_command_ends_with_one_summary(crawl, make_site):
    site = make_site(pages=40)
    gate = site.gate = Gate(4)
    team = Team(crawl, site, WORKER_ID="team", CONCURRENT_REQUESTS=2, PROGRESS="auto")
    team.wait_until(lambda: gate.standing > 2)  # more than one worker may have under way: both are at work
    assert sorted(team.workers()) == ["team-1", "team-2"]
    gate.open()
    out, err = team.end()
    assert team.process.returncode == 0, err
    assert crawl.accounted() == sorted(site.urls())
    pages = [hit.path for hit in site.hits if hit.path.startswith("/p/")]
    assert len(pages) == len(set(pages)), "a page was fetched twice"
    assert out.count("kept") >= 1
    assert "team-1 | " in err
    assert "team-2 | " in err


def test_a_killed_worker_comes_back_under_its_name_and_nothing_is_lost(crawl, make_site):
    site = make_site(pages=40)
    gate = site.gate = Gate(12)
    team = Team(crawl, site, WORKER_ID="team", FRONTIER_LEASE_SECONDS=3)
    team.wait_until(lambda: gate.standing)
    first = team.workers()["team-1"]
    first.kill()
    team.wait_until(lambda: team.workers().get("team-1", first).pid != first.pid)
    gate.open()
    _, err = team.end()
    assert team.process.returncode == 0, err
    assert "team-1 | warning: it died (killed by SIGKILL); restarting in 1 s" in err
    assert set(crawl.accounted()) == site.urls()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_workers_with_what_they_have_and_the_same_command_continues(crawl, make_site, number):
    site = make_site(pages=60)
    gate = site.gate = Gate(10)
    team = Team(crawl, site)
    team.wait_until(lambda: gate.standing)
    below = psutil.Process(team.process.pid).children(recursive=True)
    team.process.send_signal(number)
    gate.open()
    _, err = team.end()
    assert team.process.returncode == 0, err
    assert psutil.wait_procs(below, timeout=DEADLINE)[1] == []
    again = Team(crawl, site)
    _, err = again.end()
    assert again.process.returncode == 0, err
    assert crawl.accounted() == sorted(site.urls())


def test_the_summary_of_all_workers_says_what_that_of_a_crawl_says(crawl, make_site):
    site = make_site(pages=60)
    gate = site.gate = Gate(10)
    team = Team(crawl, site, PROGRESS="auto", WORKER_ID="team")
    team.wait_until(lambda: gate.standing)
    team.process.send_signal(signal.SIGTERM)
    gate.open()
    out, err = team.end()
    assert team.process.returncode == 0, err
    judged = len(crawl.accounted())
    left = int(re.search(r"(?s)Stopped before its end\n +(\d+) URLs? waits? in the frontier", out)[1])
    assert judged < judged + left <= 60, "those that nobody has read yet have links that are not counted"
    assert Team(crawl, site).end()
    out, err = Team(crawl, site, PROGRESS="auto").end()
    assert "Nothing was judged in this run" in out, err
    assert "1 of 1 seed was known before this run" in out


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells children of their parent's death on Linux only")
def test_workers_end_by_themselves_when_the_supervisor_is_killed(crawl, make_site):
    site = make_site(pages=60)
    gate = site.gate = Gate(10)
    team = Team(crawl, site)
    team.wait_until(lambda: gate.standing)
    below = psutil.Process(team.process.pid).children(recursive=True)
    team.process.kill()
    team.end()
    gate.open()
    assert psutil.wait_procs(below, timeout=DEADLINE)[1] == []


def test_what_keeps_a_crawl_from_starting_is_said_once_and_no_worker_starts(crawl, make_site):
    site = make_site(pages=1)
    team = Team(crawl, site, DOWNLOAD_DELAY="soon", OPTOUT_PROFILE="none")
    out, err = team.end()
    assert team.process.returncode == 1
    assert err.count("error: DOWNLOAD_DELAY='soon'") == 1
    assert err.count("OPTOUT_PROFILE='none'") == 1
    assert "-1 | " not in err
    assert "Traceback" not in out + err
    assert site.hits == []


def test_a_page_that_cannot_be_reached_makes_the_command_fail_as_the_crawl_does(crawl, make_site):
    site = make_site(pages=1)
    site.stop()
    team = Team(crawl, site, workers=1, WORKER_ID="team", RETRY_TIMES=0, FRONTIER_RETRY_BACKOFF_SECONDS=0.1)
    _, err = team.end()
    assert team.process.returncode == 1
    assert "team-1 | error: no page could be fetched" in err
    assert "error: team-1 failed; see the messages above" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["corpus", "--workers", "0"], "expected a whole number from 1 up, not '0'"),
        (["replay"], "replay has no frontier that workers could share"),
        (["corps"], "did you mean corpus?"),
        ([], "name one spider"),
        (["corpus", "-a", "url"], "Invalid -a value"),
    ],
)
def test_a_wrong_call_is_a_sentence(scrapy, words, sentence):
    done = scrapy("work", *words)
    assert done.code == 2
    assert sentence in done.err
