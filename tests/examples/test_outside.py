"""A package outside the repository adds a stage: installed beside the project, with nothing of the project changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_records
from tests.support.places import PROJECT
from tests.support.site import Site

PACKAGE = Path(__file__).with_name("outside")
RIVERS = b" The river meets another river, and where a third river joins them, the great river begins."

ELSEWHERE = """
from dataclasses import replace
from crawler.config import from_mapping
from crawler.stages.chain import Chain

try:
    Chain(replace(from_mapping(), stages=("rivers",)))
except LookupError as error:
    print(error)
"""
"""What a process does that is handed the configuration of a crawl with the stage, and has no such package."""


class Riverside(Site):
    """Page 1 speaks of four rivers."""

    def page(self, i: int) -> bytes:
        return super().page(i).replace(b"</p>", RIVERS + b"</p>", 1) if i == 1 else super().page(i)


@dataclass
class Installed:
    """A folder with the package, put before the project on the path of every process."""

    folder: Path

    def scrapy(self, *words: str, path: tuple[Path, ...] | None = None, **variables: str) -> tuple[int, str, str]:
        """Exit code, output and errors of a command that starts in the first of the folders."""
        folders = (self.folder, PROJECT) if path is None else path
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), **variables}
        environment |= {"SCRAPY_SETTINGS_MODULE": "crawler.settings"}
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", *words], env=environment, cwd=folders[0], capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    source, folder = tmp_path_factory.mktemp("source") / "outside", tmp_path_factory.mktemp("installed")
    shutil.copytree(PACKAGE, source)  # a build leaves its files beside the sources
    quiet = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", *quiet, "--target", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return Installed(folder)


@pytest.fixture(scope="module")
def site() -> Iterator[Riverside]:
    made = Riverside(address="127.0.31.60", pages=4)
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def corpus(installed: Installed, site: Riverside) -> Path:
    """Crawled with the stage, in stage processes."""
    folder = installed.folder / "corpus"
    code, _, errors = installed.scrapy("crawl", "corpus", "-a", f"url={site.url(0)}", *options(folder, site))
    assert code == 0, errors
    return folder


def options(folder: Path, site: Riverside, **settings: object) -> list[str]:
    usual = {
        "CORPUS_DIR": folder, "NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": site.port, "DOWNLOAD_DELAY": 0,
        "STAGE_WORKERS": 1, "PII_PERSON": "off", "PROGRESS": "off", "FRONTIER_IDLE_SECONDS": 0.5,
    }  # fmt: skip
    return [word for name, value in {**usual, **settings}.items() for word in ("-s", f"{name}={value}")]


def records(folder: Path, kind: str) -> dict[str, dict[str, object]]:
    place = Place(str(folder))
    files = [entry["path"] for entry in place.manifest()["files"] if entry["kind"] == kind]
    return {record["url"].rpartition("/")[2]: record for path in files for record in read_records(place, path)}


def test_the_stage_decides_in_the_crawl_and_its_column_and_text_are_in_the_record(corpus: Path) -> None:
    kept, rejected = records(corpus, "shards"), records(corpus, "rejected")
    assert {url: record["river_count"] for url, record in kept.items()} == {"0": 0, "2": 0, "3": 0}
    (record,) = rejected.values()
    assert [record[name] for name in ("stage", "reason", "detail", "river_count")] == [
        "rivers", "too_many_rivers", "4 rivers", 4,
    ]  # fmt: skip
    assert "great river" in str(record["text"])
    assert list(kept["0"])[-1] == "river_count"


def test_a_replay_with_another_limit_judges_anew_and_has_another_digest(
    installed: Installed, corpus: Path, site: Riverside
) -> None:
    again = installed.folder / "again"
    archive = f"archive={corpus}/archive/*.warc.gz"
    given = options(again, site, SHARD_FORMAT="parquet")
    code, _, errors = installed.scrapy("crawl", "replay", "-a", archive, *given, CRAWLER_RIVER_MOST="4")
    assert code == 0, errors
    kept = records(again, "shards")
    assert {url: record["river_count"] for url, record in kept.items()} == {"0": 0, "1": 4, "2": 0, "3": 0}
    assert kept["0"]["config_digest"] != records(corpus, "shards")["0"]["config_digest"]


def test_its_settings_are_known_checked_and_found_where_they_are_misspelt(installed: Installed) -> None:
    assert installed.scrapy("settings", "--get", "RIVER_MOST", CRAWLER_RIVER_MOST="7")[1] == "7\n"
    code, _, errors = installed.scrapy(
        "crawl", "replay", "-a", "archive=none", "-s", "RIVER_MOSTT=1", "-s", "RIVER_MOST=-1", "-s", "RIVER_WORDS="
    )
    assert code == 1
    assert "unknown setting RIVER_MOSTT; did you mean RIVER_MOST?" in errors
    assert "RIVER_MOST='-1': expected at least 0" in errors
    assert "RIVER_WORDS is empty: name a word that counts as a river" in errors
    assert not (installed.folder / "corpus" / "again").exists()


def test_diagnose_knows_the_reason_by_its_sentence(installed: Installed, corpus: Path) -> None:
    code, found, errors = installed.scrapy("diagnose", str(corpus), "--json")
    assert code == 0, errors
    (reason,) = (one for one in json.loads(found)["reasons"] if one["reason"] == "too_many_rivers")
    assert (reason["stage"], reason["count"]) == ("rivers", 1)


def test_without_the_package_its_corpus_is_read_and_its_configuration_is_refused(
    installed: Installed, corpus: Path
) -> None:
    code, found, errors = installed.scrapy("diagnose", str(corpus), "--json", path=(PROJECT,))
    assert code == 0, errors
    assert "too_many_rivers" in {one["reason"] for one in json.loads(found)["reasons"]}
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout == "no package here has the stage rivers: install it in every environment\n"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('Column("river_count"', 'Column("text"', "the record has a column text already; give yours another name"),
        ('"int64"', '"int"', "of kind 'int': expected a name, and one of string, int64"),
        ('Reason("too_many_rivers"', 'Reason("too_short"', "the reason too_short is declared already"),
        ('after="quality"', 'after="fingerprint"', "after='fingerprint' is not a stage with a pipeline"),
        ('setting("RIVER_MOST"', 'setting("LANGUAGES"', "the setting LANGUAGES is declared twice"),
        ("from dataclasses import", "import no_such_module\nfrom dataclasses import", "cannot be loaded"),
        ('Stage(\n    "rivers"', 'Stage(\n    "streams"', "calls itself streams; give both the same name"),
    ],
)
def test_a_declaration_that_cannot_hold_keeps_every_crawl_from_starting(
    installed: Installed, tmp_path: Path, old: str, new: str, problem: str
) -> None:
    shutil.copytree(installed.folder, tmp_path / "changed", ignore=shutil.ignore_patterns("corpus", "again"))
    module = tmp_path / "changed" / "gristmill_example" / "rivers.py"
    assert module.read_text("utf-8").count(old) == 1
    module.write_text(module.read_text("utf-8").replace(old, new), encoding="utf-8")
    path = (tmp_path / "changed", PROJECT)
    words = f"CORPUS_DIR={tmp_path / 'corpus'}"
    code, _, errors = installed.scrapy("crawl", "corpus", "-a", "url=http://127.0.0.1/", "-s", words, path=path)
    assert code == 1 and problem in errors, errors
    assert not (tmp_path / "corpus").exists()
