"""A corpus folder that changes in the middle of a crawl: a sentence, exit code 1, and nothing that was left is lost."""

import os
import shutil
import subprocess
import time

import pytest

from tests.support import warm
from tests.support.places import PROJECT
from tests.support.serving import DEADLINE, Gate

PAGES = 60

pytestmark = pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which(warm.PLAIN[0]) is None,
    reason="root may write everything, and there is no setpriv (Debian: util-linux)",
)


def wait_for_records(folder):
    deadline = time.monotonic() + DEADLINE
    while not any(folder.glob("*.part")):
        assert time.monotonic() < deadline, "no page was recorded"
        time.sleep(0.02)


def remove(folder):
    """At once: a file that the crawl makes meanwhile would keep a folder."""
    gone = folder.with_name(f"{folder.name}-gone")
    folder.rename(gone)
    shutil.rmtree(gone)


@pytest.fixture
def changed_midway(crawl, make_site, redis_url):
    """A crawl during which `change(folder)` is called; what it said, how it ended, and the site."""

    def run(change):
        site = make_site(pages=PAGES)
        gate = site.gate = Gate(PAGES // 2)
        settings = {"REDIS_URL": redis_url, "NETWORK_PORTS": site.port}
        command = crawl.command({"url": site.url(0)}, settings)
        prefix = warm.PLAIN if os.geteuid() == 0 else []
        process = warm.Popen([*prefix, *command], cwd=PROJECT, stderr=subprocess.PIPE, text=True)
        crawl.processes.append(process)
        gate.wait()
        wait_for_records(crawl.folder / "shards")
        change(crawl.folder)
        gate.open()
        _, err = process.communicate(timeout=DEADLINE)
        return process.returncode, err, site, settings

    return run


@pytest.mark.parametrize("part", [".", "shards", "archive", "manifest.d"])
@pytest.mark.parametrize("mode", [0, 0o555], ids=["hidden", "read only"])
def test_permissions_that_are_taken_away_stop_the_crawl_with_a_sentence(changed_midway, crawl, part, mode):
    returncode, err, site, settings = changed_midway(lambda folder: (folder / part).chmod(mode))
    (crawl.folder / part).chmod(0o755)
    assert returncode == 1, err
    assert "Traceback" not in err
    (error,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert str(crawl.folder) in error
    assert "Permission denied. What was committed stays readable; free space or fix permissions" in error
    again = crawl.run({"url": site.url(0)}, **settings)
    assert again.returncode == 0, again.stderr
    assert set(crawl.accounted()) == site.urls()  # what was written and not acknowledged may be there twice


@pytest.mark.parametrize("part", [".", "shards", "archive"])
def test_a_folder_that_is_removed_takes_no_page_with_it_that_comes_later(changed_midway, crawl, part):
    returncode, err, site, settings = changed_midway(lambda folder: remove(folder / part))
    assert returncode == 1, err
    assert "Traceback" not in err
    (error,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert "it was removed while it was being written, and its records are lost" in error
    assert "another CRAWL_ID fetches all of them again" in error
    again = crawl.run({"url": site.url(0)}, **settings)
    assert again.returncode == 0, again.stderr
    assert len(set(crawl.accounted())) >= PAGES // 2


def test_a_ledger_that_is_removed_is_told_as_that_and_loses_nothing(changed_midway, crawl):
    returncode, err, site, settings = changed_midway(lambda folder: remove(folder / "manifest.d"))
    assert returncode == 1, err
    assert "Traceback" not in err
    (error,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert "It was removed, or a folder above it, while it was in use: restore it from a copy" in error
    again = crawl.run({"url": site.url(0)}, **settings)
    assert again.returncode == 0, again.stderr
    assert set(crawl.accounted()) == site.urls()  # what was written and not acknowledged may be there twice
