"""SIGKILL at any step of writing: everything acknowledged is readable, nothing is there twice, nothing lies about."""

import subprocess
import sys

from bench.faults.torn import audit, corpus_of, write_pages
from tests.support.places import PROJECT


def written(folder):
    write_pages(corpus_of(folder, "w", "gzip"), 14, lambda number: None)
    return folder


def test_after_each_of_eight_kills_everything_acknowledged_is_readable():
    command = [sys.executable, "-m", "bench.faults.torn_writes", "--kills", "8"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 kills, 0 with something wrong" in done.stdout


def test_the_audit_is_content_with_what_a_whole_run_wrote(tmp_path):
    assert audit(written(tmp_path / "c"), 13) == []


def test_the_audit_notices_a_page_that_was_acknowledged_and_is_not_there(tmp_path):
    assert "lost although acknowledged: [14]" in audit(written(tmp_path / "c"), 14)


def test_the_audit_notices_a_damaged_archive_and_a_leftover(tmp_path):
    folder = written(tmp_path / "c")
    archive = sorted((folder / "archive").glob("*.warc.gz"))[0]
    content = bytearray(archive.read_bytes())
    content[-40] ^= 0xFF
    archive.write_bytes(content)
    (folder / "shards" / "x.part").touch()
    found = audit(folder, 13)
    assert any("SHA-256" in what for what in found) and "left behind: x.part" in found
