"""A file or folder that the user may not use is one sentence with exit code 1, whichever command meets it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.places import PROJECT

CONTACT = ("-s", "CRAWLER_CONTACT=https://example.org/bot", "-s", "CORPUS_DIR=@out@", "-s", "PROGRESS=off")


@pytest.fixture
def hidden(tmp_path: Path) -> Iterator[Path]:
    """A folder that may not be entered, with a seed file, an archive and a corpus in it."""
    if os.geteuid() == 0 and shutil.which(warm.PLAIN[0]) is None:
        pytest.skip("root may read everything, and there is no setpriv (Debian: util-linux)")
    folder = tmp_path / "hidden"
    (folder / "corpus" / "shards").mkdir(parents=True)
    (folder / "corpus" / "manifest.json").write_text("{}")
    (folder / "seeds.txt").write_text("https://example.org/\n")
    (folder / "a.warc.gz").write_bytes(b"")
    folder.chmod(0)
    yield folder
    folder.chmod(0o700)


@pytest.mark.parametrize(
    "words",
    [
        ("crawl", "corpus", "-a", "seeds=@hidden@/seeds.txt", *CONTACT),
        ("crawl", "corpus", "-a", "url=https://example.org/", *CONTACT, "-s", "CORPUS_DIR=@hidden@/corpus"),
        ("crawl", "corpus", "-a", "url=https://example.org/", *CONTACT, "-s", "EVAL_SETS=@hidden@/seeds.txt"),
        ("crawl", "replay", "-a", "archive=@hidden@/a.warc.gz", *CONTACT),
        ("seed", "-a", "url=https://example.org/", "-s", "CORPUS_DIR=@hidden@/corpus"),
        ("report", "@hidden@/corpus"),
        ("diagnose", "@hidden@/corpus"),
        ("quarantine", "-s", "CORPUS_DIR=@hidden@/corpus"),
        ("frontier", "status", "-s", "CORPUS_DIR=@hidden@/corpus"),
        ("dataset", "verify", "@hidden@/corpus"),
        ("dataset", "repair", "@hidden@/corpus"),
    ],
    ids=lambda words: " ".join(word for word in words[:4] if "@" not in word),
)
def test_what_may_not_be_read_is_a_sentence_and_no_traceback(
    hidden: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    told = [word.replace("@hidden@", str(hidden)).replace("@out@", str(tmp_path / "out")) for word in words]
    command = [*(warm.PLAIN if os.geteuid() == 0 else []), sys.executable, "-m", "scrapy", *told]
    done = warm.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 1, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    (error,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "hidden" in error
    assert "ermission" in error
