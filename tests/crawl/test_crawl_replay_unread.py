"""One archive that cannot be read costs itself: it is named and counted, and every other one is read."""

from __future__ import annotations

import asyncio
import errno
import gzip
import io
import json
import zipfile
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard

from crawler.config import from_mapping
from crawler.spiders.replay import ReplaySpider
from crawler.storage.corpus.bookmarks import Bookmark
from crawler.storage.files.errors import ArchiveError
from tests.support.foreign import Writer, page
from tests.support.process import scrapy

MARK = b"\xef\xbb\xbf"
ERROR_PAGE = b"<!doctype html><html><body><h1>503 Service Unavailable</h1></body></html>"


def one(number: int) -> bytes:
    """A packed archive of one page."""
    return Writer().add(f"http://a.test/{number}", page(number)).records[0]


def wacz(path: Path, members: dict[str, bytes], packing: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


UNREAD = {
    "empty.warc.gz": b"",
    "error.warc.gz": ERROR_PAGE,
    "error-packed.warc.gz": gzip.compress(ERROR_PAGE),
    "noise.warc.gz": bytes(range(256)) * 400,
    "zeros.warc": bytes(70_000),
    "torn.warc.gz": one(90)[:-30],
    "utf16.warc": gzip.decompress(one(91)).decode("latin-1").encode("utf-16"),
    "dictionary.warc.zst": b"\x5d\x2a\x4d\x18\xff",
    "bomb.warc.zst": b"\x5d\x2a\x4d\x18" + (12).to_bytes(4, "little") + b"\x28\xb5\x2f\xfd12345678",
    "other.warc.bz2": b"BZh91AY&SY",
    "old.arc.gz": gzip.compress(b"filedesc://x.arc 0.0.0.0 20260101000000 text/plain 76\n1 0 x\n"),
    "no.wacz": b"PK\x03\x04 and nothing more",
}
"""Files of which no page comes."""


def lay_out(folder: Path) -> set[str]:
    """A folder with what can be read in odd forms beside everything in `UNREAD`; answers the pages in it."""
    folder.mkdir()
    for name, data in UNREAD.items():
        (folder / name).write_bytes(data)
    (folder / "plain.WARC").write_bytes(MARK + gzip.decompress(one(1)) + MARK + gzip.decompress(one(2)))
    (folder / "LOUD.WARC.GZ").write_bytes(one(3))
    (folder / "beginning-torn.warc.gz").write_bytes(one(92)[20:] + one(4))
    (folder / "mark.warc.gz").write_bytes(MARK + one(5))
    (folder / "end-torn.warc.gz").write_bytes(one(6) + one(93)[:-20])
    (folder / "frames.warc.zst").write_bytes(zstandard.compress(gzip.decompress(one(7))))
    (folder / "crashed.warc.gz.open").write_bytes(one(8))
    (folder / "wrong.warc").write_bytes(one(9))
    stored = {
        "datapackage.json": b"{}",
        "archive/b.warc.gz": one(11),
        "archive/a.warc.gz": one(10),
        "pages/p.jsonl": b"",
    }
    wacz(folder / "site.wacz", stored | {"archive/bad.warc.gz": b""})
    wacz(
        folder / "PACKED.WACZ", {"archive/a.warc": gzip.decompress(one(12)), "indexes/i.cdx": b""}, zipfile.ZIP_DEFLATED
    )
    (folder / "index.cdxj").write_bytes(b"")
    (folder / "notes.pdf").write_bytes(b"%PDF")
    return {f"http://a.test/{number}" for number in range(1, 13)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    folder = tmp_path_factory.mktemp("unread") / "archives"
    return folder, lay_out(folder)


def test_what_cannot_be_read_is_named_and_counted_and_everything_else_is_read(crawl, place):
    folder, pages = place
    done = crawl.run({"archive": str(folder)}, spider="replay", PROGRESS="on")
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert set(crawl.urls()) == pages
    bad = {*(str(folder / name) for name in UNREAD), f"{folder}/site.wacz!/archive/bad.warc.gz"}
    (run,) = json.loads((crawl.folder / "manifest.json").read_bytes())["runs"]
    assert set(run["unread"]) == bad
    assert run["counters"]["replay/archives_unread"] == len(bad)
    assert run["counters"]["replay/skipped/files"] == 1
    assert all(f"{name}: " in done.stderr for name in bad)
    assert f"{len(bad)} archives could not be read, or not to the end:" in done.stderr
    assert "notes.pdf" in done.stdout and f"Not read, or not to the end: {len(bad)} archives" in done.stdout
    again = crawl.run({"archive": str(folder)}, spider="replay")
    assert again.returncode == 1 and set(crawl.urls()) == pages and len(crawl.records()) == len(pages)


def test_what_an_archive_skipped_before_its_disk_failed_is_counted(monkeypatch, tmp_path):
    (name,) = Writer().add("dns:a.test", b"a.test. 300 IN A 127.0.0.1\n", kind="resource").records
    data = name + one(1) + one(2)
    until = len(data) - 10

    class Failing(io.BytesIO):
        def read(self, size=-1):
            if self.tell() == until:
                raise OSError(errno.EIO, "Input/output error")
            return super().read(until)

    monkeypatch.setattr("crawler.storage.archive.reader.open_archive", lambda *_args, **_names: Failing(data))
    path, counted = str(tmp_path / "a.warc.gz"), Counter()
    spider = ReplaySpider()
    spider.config, spider.plan = from_mapping({}), SimpleNamespace(anonymous=False)
    spider._judged = lambda _: None
    spider.crawler = SimpleNamespace(stats=SimpleNamespace(inc_value=lambda key, count: counted.update({key: count})))
    spider._sizes, spider._bytes_before = {path: len(data)}, 0

    async def read():
        return [step.judged async for step in spider._steps_of(path, Bookmark(0), set())]

    with pytest.raises(ArchiveError, match="cannot be read to its end"):
        asyncio.run(read())
    assert counted == {"replay/skipped/scheme/dns": 1} and spider._bytes_before == len(data)


def test_a_folder_of_which_nothing_can_be_read_is_no_success(crawl, tmp_path):
    (tmp_path / "bad").mkdir()
    for name in ("empty.warc.gz", "error.warc.gz"):
        (tmp_path / "bad" / name).write_bytes(UNREAD[name])
    done = crawl.run({"archive": str(tmp_path / "bad")}, spider="replay")
    assert done.returncode == 1 and "2 archives could not be read" in done.stderr, done.stderr


def test_an_empty_folder_and_one_without_archives_are_refused(tmp_path):
    for name in ("empty", "others"):
        (tmp_path / name).mkdir()
    (tmp_path / "others" / "notes.pdf").write_bytes(b"%PDF")
    for name in ("empty", "others"):
        done = scrapy("replay", tmp_path / name, "-s", f"CORPUS_DIR={tmp_path}/corpus")
        assert done.returncode == 1 and "no archive matches" in done.stderr, done.stderr
    assert "notes.pdf, for one, is none by its name" in done.stderr


def test_an_archive_that_is_mended_is_read_by_the_same_command_and_nothing_else_again(crawl, tmp_path):
    folder = tmp_path / "mended"
    folder.mkdir()
    (folder / "a.warc.gz").write_bytes(one(1))
    (folder / "b.warc.gz").write_bytes(b"")
    assert crawl.run({"archive": str(folder)}, spider="replay").returncode == 1
    (folder / "b.warc.gz").write_bytes(one(2))
    done = crawl.run({"archive": str(folder)}, spider="replay")
    assert done.returncode == 0, done.stderr
    assert crawl.urls() == ["http://a.test/1", "http://a.test/2"]


def test_a_list_whose_first_archive_is_gone_gives_all_others(crawl, tmp_path):
    (tmp_path / "b.warc.gz").write_bytes(one(2))
    (tmp_path / "list.txt").write_text(f"{tmp_path}/gone.warc.gz\n{tmp_path}/\udcff.warc.gz\n{tmp_path}/b.warc.gz\n"
                                       .replace("\udcff", "no"))  # fmt: skip
    done = crawl.run({"archive": str(tmp_path / "list.txt")}, spider="replay")
    assert done.returncode == 1 and "gone.warc.gz: cannot be opened" in done.stderr
    assert crawl.urls() == ["http://a.test/2"]


def test_a_name_that_no_record_can_carry_costs_its_own_archive_alone(crawl, tmp_path):
    folder = tmp_path / "names"
    folder.mkdir()
    Path(f"{folder}/\udcff.warc.gz").write_bytes(one(1))
    (folder / "b.warc.gz").write_bytes(one(2))
    done = crawl.run({"archive": str(folder)}, spider="replay")
    assert done.returncode == 1 and "a name that is not UTF-8" in done.stderr and "Traceback" not in done.stderr
    assert crawl.urls() == ["http://a.test/2"]


def test_a_page_from_a_wacz_is_shown_with_the_bytes_it_had(crawl, tmp_path):
    for name, packing in (("stored", zipfile.ZIP_STORED), ("packed", zipfile.ZIP_DEFLATED)):
        place = wacz(tmp_path / f"{name}.wacz", {"archive/data.warc.gz": one(1) + one(2)}, packing)
        crawl.folder = tmp_path / name
        done = crawl.run({"archive": str(place)}, spider="replay")
        assert done.returncode == 0, done.stderr
        record = next(r for r in crawl.records() if r["url"] == "http://a.test/2")
        assert (record["warc_file"], record["warc_offset"]) == (f"{place}!/archive/data.warc.gz", len(one(1)))
        shown = scrapy("dataset", "page", "--raw", crawl.folder, "http://a.test/2")
        assert shown.stdout.encode() == page(2), shown.stderr
