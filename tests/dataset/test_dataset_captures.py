"""From an index of captures to a replay: a real server with archives of this project, ranges, pages of answers."""

from __future__ import annotations

import gzip
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from crawler.dataset import captures as module
from crawler.dataset.captures import Capture, about, captures, record_of, save
from crawler.operations.captures import WORK
from crawler.storage.archive.reader import Archive, ArchivedResponse
from crawler.storage.files.errors import StorageError
from tests.support.corpus_folder import Folder, exchange
from tests.support.operations import problems_of

PAGES = 5
INFO = about("https://index.example/CC-MAIN-2026-10-index", "https://data.example/", "*.example.org")


@pytest.fixture
def archived(tmp_path):
    """Five archived pages: the folder, and the lines of the index beside the archive."""
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    for number in range(PAGES):
        corpus.archive(exchange(number, status=404 if number == 3 else 200))
    corpus.close()
    (index,) = (folder.path / "archive").glob("*.cdxj")
    return folder, index


@pytest.fixture
def server(archived):
    """A CDXJ server with two captures a page, and the archive by ranges. `asked`: every query and range."""
    folder, index = archived
    lines = [json.loads(line[line.index("{") :]) for line in index.read_text().splitlines()]
    asked: list[str] = []
    busy: list[int] = []  # statuses of the next answers to page 1

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(b"", length=(folder.path / "archive" / self.path.rpartition("/")[2]).stat().st_size)

        def do_GET(self) -> None:
            where = urlsplit(self.path)
            if where.path == "/index" and busy and "page=1" in where.query:
                return self.answer(b"slow down", busy.pop())
            if where.path == "/index":
                return self.index({name: values[0] for name, values in parse_qs(where.query).items()})
            data = (folder.path / "archive" / where.path.rpartition("/")[2]).read_bytes()
            found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            assert found, "only ranges are asked for"
            asked.append(found[0])
            return self.answer(data[int(found[1]) : int(found[2]) + 1], 206)

        def index(self, query: dict[str, str]) -> None:
            asked.append(query.get("page", "pages"))
            status = query["filter"].removeprefix("=status:")
            hits = [
                line for line in lines if line["status"] == status and query["url"] in {"*.example.org", line["url"]}
            ]
            if not hits:
                said = {"https://nowhere.example/": b"<h1>Not Found</h1>"}
                self.answer(said.get(query["url"], b'{"message": "No Captures found"}'), 404)
            elif "showNumPages" in query:
                self.answer(json.dumps({"pages": (len(hits) + 1) // 2, "pageSize": 1, "blocks": 1}).encode())
            else:
                first = 2 * int(query["page"])
                self.answer("".join(json.dumps(hit) + "\n" for hit in hits[first : first + 2]).encode())

        def answer(self, body: bytes, status: int = 200, length: int | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.send_header("Accept-Ranges", "bytes")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            return

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{made.server_address[1]}", asked, busy
    made.shutdown()
    made.server_close()
    thread.join(5)


def urls(path) -> list[str]:
    return [found.url for found in Archive(str(path)) if isinstance(found, ArchivedResponse)]


def test_a_domain_is_asked_page_by_page_and_its_ranges_are_an_archive(server, tmp_path):
    base, asked, _ = server
    out = tmp_path / "site.warc.gz"
    done = save(captures(f"{base}/index", "*.example.org"), f"{base}/data/", out, INFO)
    assert (done.records, done.bytes, done.problems) == (4, out.stat().st_size, [])
    assert urls(out) == [f"https://example.org/{n}" for n in (0, 1, 2, 4)]
    assert [word for word in asked if not word.startswith("bytes")] == ["pages", "0", "1"]
    assert sum(word.startswith("bytes") for word in asked) == 4


def test_what_was_fetched_says_from_which_index_it_is(server, tmp_path):
    base, _, _ = server
    out = tmp_path / "site.warc.gz"
    save(captures(f"{base}/index", "*.example.org"), f"{base}/data/", out, INFO)
    archive = Archive(str(out))
    assert len(list(archive)) == 4
    assert archive.origin["is_part_of"] == "https://index.example/CC-MAIN-2026-10-index"
    assert archive.origin["software"].endswith("(dataset captures)")
    assert about("/home/me/site.cdxj", "archive", "*")["isPartOf"] == "site.cdxj"


def test_an_index_that_is_busy_is_asked_again_and_what_was_fetched_is_not_lost(server, tmp_path, monkeypatch):
    base, asked, busy = server
    monkeypatch.setattr(module, "PAUSES", (0.0, 0.0))
    busy += [503, 429]
    done = save(captures(f"{base}/index", "*.example.org"), f"{base}/data/", tmp_path / "site.warc.gz", INFO)
    assert (done.records, asked.count("0"), asked.count("1"), busy) == (4, 1, 1, [])
    busy += [503, 503, 503]
    with pytest.raises(StorageError, match="answers 503 Service Unavailable; try again later"):
        save(captures(f"{base}/index", "*.example.org"), f"{base}/data/", tmp_path / "again.warc.gz", INFO)


def test_an_index_that_is_not_there_is_not_said_to_have_no_captures(server):
    base, _, _ = server
    with pytest.raises(StorageError, match="answers 404 without a word on captures: check the name of the index"):
        list(captures(f"{base}/index", "https://nowhere.example/"))


def test_captures_of_which_none_can_be_had_are_told_once_and_counted(archived, tmp_path):
    _, index = archived
    given = ["--index", str(index), "--out", str(tmp_path / "x.warc.gz"), "--base", str(tmp_path / "nowhere"), "*"]
    first, rest = problems_of(WORK, *given)
    assert "nowhere" in first and rest == "and 3 more captures that could not be fetched"


def test_what_the_index_does_not_have_is_said_and_nothing_is_written(server, tmp_path, capsys):
    base, _, _ = server
    out = tmp_path / "none.warc.gz"
    given = ["--index", f"{base}/index", "--base", base]
    assert problems_of(WORK, *given, "--out", out, "https://other.example/") == [
        f"{base}/index: has no capture of https://other.example/ with status 200; nothing was written"
    ]
    assert problems_of(WORK, *given, "--out", "x.zip", "*.example.org") == [
        "--out x.zip: expected a name that ends in .warc.gz"
    ]
    assert problems_of(WORK, *given, "--out", out, "https://example.org/2") == []
    assert capsys.readouterr().out.endswith(f"gristmill crawl replay -a archive={out}\n")
    assert [p.name for p in tmp_path.iterdir() if "warc" in p.name] == ["none.warc.gz"]


def test_a_file_of_lines_and_a_folder_of_archives_do_as_well_and_the_replay_reads_them(crawl, archived, tmp_path):
    folder, index = archived
    out = tmp_path / "site.warc.gz"
    done = save(captures(str(index), "*"), str(folder.path / "archive"), out, INFO)
    assert (done.records, done.problems) == (4, [])
    replayed = crawl.run({"archive": str(out)}, spider="replay")
    assert replayed.returncode == 0, replayed.stderr
    assert len([*crawl.records(), *crawl.records("rejected")]) == 4


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        ("*", 4),
        ("*.example.org", 4),
        ("*.xample.org", 0),
        ("https://example.org/2", 1),
        ("http://example.org/2/", 1),
        ("example.org/*", 4),
        ("example.org/3", 0),
        ("example.org", 0),
    ],
)
def test_a_file_is_looked_up_as_a_server_would(archived, wanted, number):
    assert len(list(captures(str(archived[1]), wanted))) == number


def test_an_index_that_breaks_off_leaves_nothing_behind(archived, tmp_path):
    folder, index = archived
    broken = tmp_path / "broken.cdxj"
    broken.write_bytes(index.read_bytes() + b"org,example)/ 2026 {\n")
    with pytest.raises(StorageError, match="line 6: no line of a CDXJ index"):
        save(captures(str(broken), "*"), str(folder.path / "archive"), tmp_path / "x.warc.gz", INFO)
    assert not list(tmp_path.glob("x.*"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"offset": 3}, "no WARC record"),
        ({"length": 10}, "no WARC record"),
        ({"length": 10**6}, "bytes came"),
        ({"length": 0}, "expected a record of 1 to"),
        ({"filename": "none.warc.gz"}, "cannot be read"),
    ],
)
def test_a_range_that_is_no_whole_record_is_said_and_left_out(archived, change, why):
    folder, index = archived
    whole = next(captures(str(index), "*"))
    facts = {"url": whole.url, "filename": whole.filename, "offset": whole.offset, "length": whole.length}
    assert record_of(whole, str(folder.path / "archive")).startswith(b"\x1f\x8b")
    with pytest.raises(StorageError, match=why):
        record_of(Capture(**{**facts, **change}), str(folder.path / "archive"))


def test_a_record_that_unpacks_without_measure_is_said_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr("crawler.dataset.captures.MAX_UNPACKED", 10_000)
    bomb = gzip.compress(b"WARC/1.1\r\n" + bytes(1_000_000))
    (tmp_path / "bomb.warc.gz").write_bytes(bomb)
    with pytest.raises(StorageError, match="more than 10000 bytes unpacked"):
        record_of(Capture("https://example.org/", "bomb.warc.gz", 0, len(bomb)), str(tmp_path))


def test_an_index_that_is_none_is_refused_with_its_line(tmp_path):
    path = tmp_path / "index.cdxj"
    path.write_text('org,example)/ 2026 {"url": "https://example.org/", "filename": "a"}\n')
    with pytest.raises(StorageError, match="line 1: no line of a CDXJ index"):
        list(captures(str(path), "*"))
    with pytest.raises(StorageError, match="the index cannot be read"):
        list(captures(str(tmp_path / "none.cdxj"), "*"))


def test_an_archive_that_is_there_is_not_written_over(tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(b"mine")
    with pytest.raises(StorageError, match="exists already"):
        save(iter(()), "x", tmp_path / "a.warc.gz", INFO)
    assert (tmp_path / "a.warc.gz").read_bytes() == b"mine"
