"""A package outside the repository adds a signal, a rule set, formats and an identifier: real commands use them."""

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.places import PROJECT
from tests.support.site import Site

PACKAGE = Path(__file__).with_name("outside")


class Village(Site):
    """Page 1 refuses training by the invented meta, page 2 is in capitals, page 3 says yes to training."""

    def page(self, i: int) -> bytes:
        page = super().page(i)
        if i in (1, 3):
            said = b"no" if i == 1 else b"yes"
            return page.replace(b"<title>", b'<meta name="x-training" content="' + said + b'"><title>', 1)
        return re.sub(rb"(?<=<p>)[^<]+", lambda found: found[0].upper(), page) if i == 2 else page


class Installed:
    """The package in a folder that stands before the project on the path of every process."""

    def __init__(self, folder: Path, site: Village) -> None:
        self.folder, self.site = folder, site

    def scrapy(self, *words: str, without: bool = False) -> subprocess.CompletedProcess[str]:
        """A finished command; without: where the package is not installed."""
        path = [PROJECT] if without else [self.folder / "site", PROJECT]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "COLUMNS": "200"}
        return subprocess.run(
            [sys.executable, "-m", "scrapy", *words], env=environment, cwd=PROJECT, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip

    def crawl(self, spider: str, argument: str, corpus: Path, without: bool = False, **settings: object) -> Path:
        """A finished crawl with all the parts, or without the package."""
        parts = {"QUALITY_RULES": "shouting", "SHARD_FORMAT": "jsonl-xz", "LANGUAGE_IDENTIFIER": "vowels:0.99"}
        given: dict[str, object] = {
            "CORPUS_DIR": corpus, "NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": self.site.port, "DOWNLOAD_DELAY": 0,
            "STAGE_WORKERS": 1, "PII_PERSON": "off", "PROGRESS": "off", "FRONTIER_IDLE_SECONDS": 0.5,
            "NEARDUP_THRESHOLD": 1, "QUALITY_MIN_SCORE": 0, **({} if without else parts), **settings,
        }  # fmt: skip
        options = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
        done = self.scrapy("crawl", spider, "-a", argument, *options, without=without)
        assert done.returncode == 0, done.stderr
        return corpus


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("outside")
    shutil.copytree(PACKAGE, folder / "source")  # a build leaves its files beside the sources
    quiet = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", *quiet, "--target", str(folder / "site"), str(folder / "source")]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    site = Village(address="127.0.31.61", pages=5)
    site.start()
    yield Installed(folder, site)
    site.stop()


@pytest.fixture(scope="module")
def corpus(installed: Installed) -> Path:
    return installed.crawl("corpus", f"url={installed.site.url(0)}", installed.folder / "corpus")


def records(corpus: Path, kind: str) -> dict[str, dict[str, object]]:
    found = {}
    for path in (corpus / kind).glob("*.jsonl.xz"):
        for line in lzma.decompress(path.read_bytes()).splitlines():
            record = json.loads(line)
            found[record["url"].rpartition("/")[2]] = record
    return found


def verdicts(corpus: Path) -> dict[str, object]:
    rejected = {url: (r["stage"], r["reason"], r["detail"]) for url, r in records(corpus, "rejected").items()}
    return dict.fromkeys(records(corpus, "shards")) | rejected


def test_the_parts_decide_and_write_in_the_crawl(corpus: Path) -> None:
    found = verdicts(corpus)
    assert [url for url, verdict in found.items() if verdict is None] == sorted({"0", "3", "4"} & found.keys())
    assert found["1"] == ("optout", "optout", "x-training in meta: no")
    stage, reason, detail = found["2"]  # type: ignore[misc]
    assert (stage, reason) == ("quality", "shouting") and detail.startswith("capital_words 0.9")
    kept = records(corpus, "shards")
    assert {r["language_signals"]["vowels"][0]["language"] for r in kept.values()} == {"en"}  # type: ignore[index]
    assert all(r["quality_signals"]["capital_words"] < 0.5 for r in kept.values())  # type: ignore[index]


def test_an_outside_signal_that_allows_is_recorded_as_unknown(corpus: Path) -> None:
    signals = records(corpus, "shards")["3"]["optout_signals"]
    (said,) = [s for s in signals if s["protocol"] == "x-training"]  # type: ignore[attr-defined]
    assert (said["carrier"], said["value"], said["verdict"]) == ("meta", "yes", "unknown")


def test_a_replay_of_a_crawl_without_them_gives_the_same_verdicts_and_a_profile_may_name_the_threshold(
    installed: Installed, corpus: Path
) -> None:
    profiles = installed.folder / "profiles.yaml"
    profiles.write_text("loud:\n  based_on: prose\n  thresholds:\n    shouting.max_capitals: null\n")
    plain = installed.crawl(
        "corpus", f"url={installed.site.url(0)}", installed.folder / "plain", without=True, QUALITY_RULES=""
    )
    archive = f"archive={plain}/archive/*.warc.gz"
    again = installed.crawl("replay", archive, installed.folder / "again")
    assert verdicts(again) == verdicts(corpus)
    loud = installed.crawl(
        "replay", archive, installed.folder / "loud", QUALITY_PROFILES_FILE=profiles, QUALITY_PROFILE="loud"
    )
    assert verdicts(loud) == verdicts(corpus) | {"2": None}


def test_diagnose_says_what_another_threshold_would_keep(installed: Installed, corpus: Path) -> None:
    done = installed.scrapy("diagnose", str(corpus), "-s", "QUALITY_RULES=shouting", "-s", "QUALITY_MIN_SCORE=0")
    assert done.returncode == 0, done.stderr
    assert "shouting.max_capitals" in done.stdout


def test_optout_says_the_refusal_in_the_words_of_the_signal(installed: Installed) -> None:
    done = installed.scrapy(
        "optout", installed.site.url(1), "-s", "NETWORK_ALLOW=127.0.0.0/8", "-s", f"NETWORK_PORTS={installed.site.port}"
    )
    assert "the X-Training header or meta refuses" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("to", ["tsv", "jsonl-xz"])
def test_an_export_has_the_formats(installed: Installed, corpus: Path, to: str) -> None:
    out = installed.folder / f"export-{to}"
    done = installed.scrapy("dataset", "export", "--to", to, "--out", str(out), str(corpus))
    assert done.returncode == 0, done.stderr
    (file,) = (out / "data").iterdir()
    content = lzma.decompress(file.read_bytes()) if to == "jsonl-xz" else file.read_bytes()
    assert len(content.splitlines()) - (to == "tsv") == len(records(corpus, "shards"))


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("SHARD_FORMAT=tsv", "SHARD_FORMAT=tsv: no installed package has a format of this name that can be read back"),
        ("LANGUAGE_IDENTIFIER=vowels:many", "LANGUAGE_IDENTIFIER names vowels:many; expected a share of vowels"),
    ],
)
def test_a_part_that_cannot_be_used_stops_the_crawl_before_its_first_request(installed, tmp_path, setting, says):
    done = installed.scrapy(
        "crawl", "corpus", "-a", f"url={installed.site.url(0)}", "-s", f"CORPUS_DIR={tmp_path / 'x'}", "-s", setting,
        "-s", "NETWORK_ALLOW=127.0.0.0/8", "-s", f"NETWORK_PORTS={installed.site.port}",
    )  # fmt: skip
    assert done.returncode == 1 and says in done.stderr and "Traceback" not in done.stderr


def test_without_the_package_its_files_and_names_are_refused_by_name(installed: Installed, corpus: Path) -> None:
    done = installed.scrapy("dataset", "verify", str(corpus), without=True)
    assert done.returncode == 1
    assert "jsonl.xz: no format has files of such a name; install the package that adds it" in done.stdout + done.stderr
    archive = f"archive={corpus}/archive/*.warc.gz"
    done = installed.scrapy("crawl", "replay", "-a", archive, "-s", "QUALITY_RULES=shouting", without=True)
    assert done.returncode == 1 and "not shouting" in done.stderr
