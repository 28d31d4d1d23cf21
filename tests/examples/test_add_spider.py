"""CONTRIBUTING, "Add a spider": made for text files of a folder, in the files that it names and no others."""

from __future__ import annotations

import json

import pytest

from crawler.storage.files.shards import read_lines
from demo.pages import load_web
from tests.examples.copied import Copied, files_of

SPIDER = '''"""`gristmill crawl letters -a folder=DIR`: every .txt file of a folder is judged like a page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Spider

from crawler.document import Document
from crawler.documents.begin import begin
from crawler.pipelines.segments import first_segment
from crawler.pool.pool import StagePool, pool_of
from crawler.runtime import config_of
from crawler.problems import InputError

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class LettersSpider(Spider):
    """Yields one document a file; every step after that exists."""

    name = "letters"
    pool: StagePool
    custom_settings = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}  # noqa: RUF012  # Scrapy's own declaration

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Read the arguments. Raises: InputError."""
        spider = super().from_crawler(crawler, *args)
        spider.config, spider.pool = config_of(crawler), pool_of(crawler)
        spider.folder = cls.check_arguments(kwargs)
        spider.hop = first_segment(crawler.settings)
        return spider

    @staticmethod
    def check_arguments(arguments: Mapping[str, Any]) -> Path:
        """The folder of `gristmill crawl letters`. Raises: InputError."""
        folder = Path(str(arguments.get("folder", "")))
        if not arguments.get("folder") or not folder.is_dir():
            raise InputError([f"-a folder={folder}: expected a folder with .txt files"])
        return folder

    async def start(self) -> AsyncIterator[Document]:
        """Judge one file after the other."""
        for path in sorted(self.folder.glob("*.txt")):
            url = f"https://letters.example/{path.name}"  # a record has an http(s) URL
            doc = begin(url, url, self.config)
            doc.html, doc.content_type = path.read_bytes(), "text/plain; charset=utf-8"
            yield await self.pool.run(doc, self.hop)
'''


@pytest.fixture
def with_spider(copied: Copied) -> Copied:
    copied.add("crawler/spiders/letters.py", SPIDER)
    return copied


def test_a_spider_is_these_files_and_makes_a_corpus(with_spider: Copied) -> None:
    copied = with_spider
    letters = copied.folder / "letters"
    letters.mkdir()
    pages = [page for page in load_web()["almanac"].pages.values() if page.expect == "kept"][:2]
    for number, page in enumerate(pages):
        (letters / f"{number}.txt").write_text(page.body, encoding="utf-8")
    (letters / "short.txt").write_text("Too short to keep.", encoding="utf-8")

    copied.scrapy("crawl", "letters", "-a", "folder=letters", "-s", "CORPUS_DIR=corpus", "-s", "PROGRESS=off",
                  "-s", "STAGE_WORKERS=1", "-s", "PII_PERSON=off")  # fmt: skip
    records = {
        kind: [json.loads(line) for file in (copied.folder / "corpus" / kind).glob("*") for line in read_lines(file)]
        for kind in ("shards", "rejected")
    }
    assert [record["url"].rpartition("/")[2] for record in records["shards"]] == ["0.txt", "1.txt"]
    assert [record["reason"] for record in records["rejected"]] == ["too_short"]
    assert "5 kept, 0 broken" in copied.lint_imports()
    assert copied.touched == files_of("Add a spider", "letters")


def test_a_wrong_argument_is_named_before_anything_starts(with_spider: Copied) -> None:
    with pytest.raises(AssertionError, match=r"expected a folder with \.txt files"):
        with_spider.scrapy("crawl", "letters", "-a", "folder=nowhere", "-s", "CORPUS_DIR=corpus")
    assert not (with_spider.folder / "corpus").exists()
