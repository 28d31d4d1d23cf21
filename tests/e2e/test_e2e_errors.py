"""Bad input gets a clear error before any request, and the exit code says so."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

URL = "http://127.0.0.1:9/"
LOOPBACK = ("-s", "NETWORK_ALLOW=127.0.0.0/8", "-s", "NETWORK_PORTS=9", "-s", "PROGRESS=off")


def crawl(scrapy, corpus: Path, *arguments: str):
    return scrapy("crawl", "corpus", "-s", f"CORPUS_DIR={corpus}", *LOOPBACK, *arguments)


def test_an_unknown_argument_is_named(scrapy, tmp_path: Path) -> None:
    done = crawl(scrapy, tmp_path / "c", "-a", f"ulr={URL}")
    assert done.code == 1
    assert "ulr" in done.output
    assert "Traceback" not in done.output


def test_a_missing_seed_file_is_named(scrapy, tmp_path: Path) -> None:
    done = crawl(scrapy, tmp_path / "c", "-a", f"seeds={tmp_path / 'nowhere.txt'}")
    assert done.code == 1
    assert "nowhere.txt" in done.output
    assert "Traceback" not in done.output


def test_every_bad_line_of_a_seed_file_is_reported_with_its_number(scrapy, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(f"# seeds\n{URL}\nnot a url\nftp://example.org/\n")
    done = crawl(scrapy, tmp_path / "c", "-a", f"seeds={seeds}")
    assert done.code == 1
    assert "seeds.txt" in done.output
    assert all(number in done.output for number in ("3", "4"))
    assert "Traceback" not in done.output


def test_a_malformed_allowlist_is_reported_with_its_line(scrapy, tmp_path: Path) -> None:
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text("- domain: example.org\n  tier: Z\n")
    done = crawl(scrapy, tmp_path / "c", "-a", f"allowlist={allowlist}")
    assert done.code == 1
    assert "allow.yaml" in done.output
    assert "tier" in done.output
    assert "Traceback" not in done.output


def test_all_unusable_settings_are_reported_together(scrapy, tmp_path: Path) -> None:
    done = crawl(scrapy, tmp_path / "c", "-a", f"url={URL}", "-s", "DOWNLOAD_DELAY=-1", "-s", "EXTRACTOR=magic")
    assert done.code == 1
    assert "DOWNLOAD_DELAY" in done.output
    assert "EXTRACTOR" in done.output
    assert "Traceback" not in done.output


def test_a_crawl_off_loopback_without_a_contact_is_refused(scrapy, tmp_path: Path) -> None:
    done = scrapy("crawl", "corpus", "-a", "url=https://example.org/", "-s", f"CORPUS_DIR={tmp_path / 'c'}")
    assert done.code == 1
    assert "CRAWLER_CONTACT" in done.output


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_output_folder_is_named(scrapy, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    done = crawl(scrapy, folder / "corpus", "-a", f"url={URL}")
    assert done.code == 1
    assert "locked" in done.output


def test_a_file_in_place_of_the_output_folder_is_named(scrapy, tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("I am a file.")
    done = crawl(scrapy, tmp_path / "corpus", "-a", f"url={URL}")
    assert done.code == 1
    assert str(tmp_path / "corpus") in done.output
    assert "Traceback" not in done.output


def test_a_folder_that_holds_something_else_is_left_alone(scrapy, tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "holiday.jpg").write_bytes(b"\xff\xd8")
    done = crawl(scrapy, folder, "-a", f"url={URL}")
    assert done.code == 1
    assert "photos" in done.output
    assert [f.name for f in folder.iterdir()] == ["holiday.jpg"]


def test_an_absent_redis_is_an_error_at_the_start(scrapy, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        done = crawl(scrapy, tmp_path / "c", "-a", f"url={URL}", "-s", f"REDIS_URL=redis://127.0.0.1:{port}/0")
    assert done.code == 1
    assert f"127.0.0.1:{port}" in done.output


def test_an_unreachable_seed_is_recorded(scrapy, tmp_path: Path) -> None:
    done = crawl(scrapy, tmp_path / "c", "-a", f"url={URL}", "-s", "RETRY_TIMES=0")
    assert done.code == 0, done.output
    assert "hold_robots_unreachable" in done.output
