"""Bad input gets a clear error: what, where, what to do; nothing is lost; the exit code is not 0."""

import os
import shutil
import signal
import subprocess

import pytest

from crawler.server.embedded import EmbeddedServer
from tests.support.crawl import read_until
from tests.support.serving import DEADLINE, Gate


def fails(done, *words):
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def test_an_unknown_argument_is_named_with_the_one_that_was_meant(crawl):
    fails(crawl.run({"urls": "http://127.0.0.1/"}), "urls", "did you mean 'url'")


def test_all_wrong_settings_and_arguments_are_shown_at_once(crawl):
    done = crawl.run({"url": "not a url"}, SHARD_FORMAT="csv", NEARDUP_THRESHOLD="2")
    fails(done, "SHARD_FORMAT", "NEARDUP_THRESHOLD", "not a url")


def test_a_misspelt_setting_is_named_with_the_one_that_was_meant(crawl):
    done = crawl.run({"url": "http://127.0.0.1/"}, NEARDUP_TRESHOLD="0.9", MY_OWN_SETTING="1")
    fails(done, "NEARDUP_TRESHOLD", "did you mean NEARDUP_THRESHOLD?")
    assert "MY_OWN_SETTING" not in done.stderr


def test_a_malformed_seed_file_is_reported_with_file_and_line(crawl, tmp_path):
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("# ours\nhttp://127.0.0.1/a\nnonsense here\n")
    fails(crawl.run({"seeds": str(seeds)}), f"{seeds}:3", "nonsense here")


def test_a_malformed_allowlist_is_reported_with_file_and_line(crawl, tmp_path):
    allowlist = tmp_path / "allowlist.yaml"
    allowlist.write_text("- domain: example.org\n  tier: C\n")
    fails(crawl.run({"allowlist": str(allowlist)}), str(allowlist), "tier")


def test_nothing_to_crawl_is_an_error_that_says_what_to_give(crawl):
    fails(crawl.run({}), "-a url=")


def test_a_foreign_folder_is_refused_and_left_alone(crawl):
    crawl.folder.mkdir()
    (crawl.folder / "thesis.doc").write_text("mine")
    fails(crawl.run({"url": "http://127.0.0.1/"}), "CORPUS_DIR")
    assert [p.name for p in crawl.folder.iterdir()] == ["thesis.doc"]


def test_an_absent_redis_is_an_error_before_any_request(crawl):
    done = crawl.run({"url": "http://127.0.0.1/"}, REDIS_URL="redis://127.0.0.1:1/0")
    fails(done, "127.0.0.1:1")
    assert done.returncode == 1


def test_a_crawl_off_loopback_without_a_contact_is_refused(crawl):
    fails(crawl.run({"url": "http://example.org/"}, NETWORK_ALLOW=""), "CRAWLER_CONTACT")


def test_an_unreachable_seed_is_named_and_the_exit_code_says_so(crawl):
    done = crawl.run({"url": "http://127.0.0.1:1/x"}, NETWORK_PORTS="1", RETRY_TIMES=0)
    assert done.returncode != 0
    assert "127.0.0.1:1" in done.stderr + done.stdout
    assert crawl.urls("rejected") == ["http://127.0.0.1:1/x"]


def test_a_redis_that_goes_and_comes_back_loses_nothing(crawl, make_site, tmp_path):
    site = make_site(pages=40)
    gate = site.gate = Gate(15)
    server = EmbeddedServer(tmp_path / "server")
    url = server.start()
    worker = crawl.start({"url": site.url(0)}, REDIS_URL=url, NETWORK_PORTS=site.port)
    gate.wait()
    server.stop()
    gate.open()
    read_until(worker, "is unreachable")
    assert worker.poll() is None, "the crawl did not wait for its server"
    assert server.start() == url
    _, err = worker.communicate(timeout=DEADLINE)
    server.stop()
    assert worker.returncode == 0, err
    assert crawl.accounted() == sorted(site.urls())


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("a disk of a known size can be mounted by root only")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_stops_the_crawl_and_leaves_what_was_acknowledged_readable(crawl, make_site, redis_url, small_disk):
    site = make_site(pages=200)
    crawl.folder = small_disk / "corpus"
    settings = {"REDIS_URL": redis_url, "NETWORK_PORTS": site.port, "SHARD_FORMAT": "jsonl", "ARCHIVE": False}
    full = crawl.run({"url": site.url(0)}, **settings)
    assert full.returncode != 0
    assert "No space left on device" in full.stderr
    kept = crawl.urls()
    assert 0 < len(kept) < 200
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    again = crawl.run({"url": site.url(0)}, **settings)
    assert again.returncode == 0, again.stderr
    assert set(kept) <= set(crawl.urls())
    assert crawl.accounted() == sorted(site.urls())


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_leaves_a_corpus_that_the_same_command_completes(crawl, make_site, times):
    site = make_site(pages=40)
    gate = site.gate = Gate(15)
    settings = {"NETWORK_PORTS": site.port, "FRONTIER_LEASE_SECONDS": 3, "LOG_LEVEL": "INFO"}
    worker = crawl.start({"url": site.url(0)}, **settings)
    gate.wait()
    worker.send_signal(signal.SIGINT)
    read_until(worker, "Received SIGINT")
    if times == 2:
        worker.send_signal(signal.SIGINT)
        read_until(worker, "Received SIGINT")
    gate.open()
    _, err = worker.communicate(timeout=DEADLINE)
    assert (worker.returncode == 0) == (times == 1), err
    done = crawl.run({"url": site.url(0)}, **settings)
    assert done.returncode == 0, done.stderr
    assert set(crawl.accounted()) == site.urls()
    if times == 1:  # who was forced may have written what it could not acknowledge any more: `verify --fix` removes it
        assert crawl.accounted() == sorted(site.urls())
