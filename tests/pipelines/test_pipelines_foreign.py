"""What a pipeline says that is not part of this project, and a spider that is one under another name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.exceptions import DropItem

from crawler.dataset.supersede import is_failure
from crawler.dataset.verify import is_final
from crawler.document import Reason
from crawler.pipelines.foreign import MAX_NAMES, ForeignVerdicts
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_records
from tests.support.places import PROJECT
from tests.support.site import Site

SETTINGS = """
from crawler.settings import *

SPIDER_MODULES = [*SPIDER_MODULES, "mine.spiders"]
ITEM_PIPELINES = {**ITEM_PIPELINES, "mine.pipes.NoRivers": 350, "mine.pipes.TooWet": 650}
"""
SPIDER = """
from crawler.spiders.corpus import CorpusSpider


class Mine(CorpusSpider):
    name = "mine"
"""
PIPES = r"""
from scrapy.exceptions import DropItem


class NoRivers:
    async def process_item(self, item):
        if item.url.endswith("/1"):
            raise DropItem("talks of a\x1b[31m gaffer\n" + "x" * 600)
        return item


class Wet(DropItem):
    reason = "too_wet"


class TooWet:
    def process_item(self, item):
        if item.url.endswith("/2"):
            raise Wet("all water")
        return item
"""


class Post(Site):
    """Page 1 names an address."""

    def page(self, i: int) -> bytes:
        return super().page(i).replace(b"</p>", b" Write to anna.berg@mountain-post.net today.</p>", 1)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "mine").mkdir()
    for name, text in {"__init__": "", "settings": SETTINGS, "spiders": SPIDER, "pipes": PIPES}.items():
        (folder / "mine" / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def scrapy(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "mine.settings"}
    environment["PYTHONPATH"] = os.pathsep.join((str(project), str(PROJECT)))
    command = [sys.executable, "-m", "scrapy", *words, "-s", f"CORPUS_DIR={project / 'corpus'}"]
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("command", ["crawl", "work"])
def test_a_spider_under_another_name_is_checked_like_the_one_it_is(project: Path, command: str) -> None:
    settings = ("-s", "PII_MODELS=de:no_such_model", "-s", "LANGUAGE=de")
    done = scrapy(project, command, "mine", "-a", "urls=http://127.0.0.1/", *settings)
    assert done.returncode == 1
    assert "unknown setting LANGUAGE; did you mean LANGUAGES?" in done.stderr
    assert "no_such_model" in done.stderr and "urls: unknown argument" in done.stderr and "Traceback" not in done.stderr
    assert not (project / "corpus").exists()


def test_a_dropped_item_is_a_final_verdict_with_the_pipelines_name_and_words(project: Path) -> None:
    site = Post(address="127.0.31.61", pages=4)
    site.start()
    try:
        given = {"NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": site.port, "DOWNLOAD_DELAY": 0, "STAGE_WORKERS": 1,
                 "PII_PERSON": "off", "PROGRESS": "off", "FRONTIER_IDLE_SECONDS": 0.5}  # fmt: skip
        words = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
        done = scrapy(project, "crawl", "mine", "-a", f"url={site.url(0)}", *words)
    finally:
        site.stop()
    assert done.returncode == 0, done.stderr
    place = Place(str(project / "corpus"))
    files = [entry for entry in place.manifest()["files"] if entry["kind"] == "rejected"]
    found = {r["url"].rpartition("/")[2]: r for entry in files for r in read_records(place, entry["path"])}
    assert {url: (r["stage"], r["reason"]) for url, r in found.items()} == {
        "1": ("pipelines", "custom:no_rivers"), "2": ("pipelines", "custom:too_wet"),
    }  # fmt: skip
    assert found["1"]["detail"].startswith("talks of a [31m gaffer x") and len(found["1"]["detail"]) == 512
    assert found["2"]["detail"] == "all water"
    for record in found.values():
        assert "anna.berg" not in record["text"] and "Write to" in record["text"]
        assert is_final(record["reason"]) and not is_failure(record["reason"])


def test_a_reason_that_is_no_name_is_not_taken_and_the_words_stand_on_one_line() -> None:
    error = DropItem("a\nb\x00c")
    error.reason = "Too wet!"  # type: ignore[attr-defined]
    verdict = ForeignVerdicts().verdict(error)
    assert (verdict.reason.value, verdict.detail) == ("custom:pipeline", "a b c")
    error.reason = 7  # type: ignore[attr-defined]
    assert ForeignVerdicts().verdict(error).reason == "custom:pipeline"


def test_so_many_names_are_told_apart_and_no_more() -> None:
    verdicts = ForeignVerdicts()
    for number in range(MAX_NAMES + 5):
        error = DropItem("")
        error.reason = f"kind_{number}"  # type: ignore[attr-defined]
        reason = verdicts.verdict(error).reason
    assert reason == "custom:other"
    assert isinstance(reason, Reason) and reason.is_final and reason.keeps_text
    error.reason = "kind_1"  # type: ignore[attr-defined]
    assert verdicts.verdict(error).reason == "custom:kind_1"
