"""Archives on servers are read where they are: S3 and HTTP with ranges, only as far as they are needed."""

from __future__ import annotations

import errno
import gzip
import io
import random
import re
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice

import fsspec
import pytest

from crawler.storage.archive.places import expand
from crawler.storage.archive.reader import Archive, read_archive
from crawler.storage.archive.remote import READ_AHEAD, members_of, open_archive, size_of, sizes_of
from crawler.storage.files.errors import ArchiveError, StorageError
from tests.support.foreign import Writer


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """An archive of 40 incompressible pages, three times as large as one request."""
    chance, writer = random.Random(1), Writer()
    for number in range(40):
        writer.add(f"http://a.test/{number}", chance.randbytes(READ_AHEAD * 3 // 40))
    return writer.save(tmp_path_factory.mktemp("remote") / "x.warc.gz").read_bytes()


class Server:
    """One file over HTTP; `sent` counts its bytes before they leave. ranges: whether parts of it can be had.

    gives: bytes of the file that it gives; who asks for one behind them finds the connection closed, or with `says`
    this status. Only the last byte is there whatever happens: by it a reader learns whether there are ranges.
    """

    def __init__(self, content: bytes, *, ranges: bool = True, gives: int | None = None, says: int = 0) -> None:
        server, self.sent = self, 0
        self.gives = len(content) if gives is None else gives

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._head(200, len(content))

            def do_GET(self) -> None:
                found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")) if ranges else None
                start, end = (int(found[1]), min(int(found[2]) + 1, len(content))) if found else (0, len(content))
                server.sent += end - start
                is_probe = start == len(content) - 1
                if end > server.gives and says and not is_probe:
                    self._head(says, 0)
                    return
                self._head(206 if found else 200, end - start, start, end)
                self.wfile.write(content[start : end if is_probe else min(end, server.gives)])
                self.close_connection = end > server.gives and not is_probe

            def _head(self, status: int, size: int, start: int = 0, end: int = 0) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(size))
                if ranges:
                    self.send_header("Accept-Ranges", "bytes")
                if status == 206:
                    self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/x.warc.gz"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def serve():
    servers = []

    def start(content, **values):
        servers.append(Server(content, **values))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def urls(found):
    return [page.url for page in found]


def test_an_archive_over_http_is_read_from_front_to_back(serve, archive):
    server = serve(archive)
    assert urls(Archive(server.url)) == [f"http://a.test/{n}" for n in range(40)]
    assert size_of(server.url) == len(archive)
    assert server.sent < 2 * len(archive)


def test_a_server_without_ranges_is_read_in_one_stream(serve, archive):
    assert urls(Archive(serve(archive, ranges=False).url)) == [f"http://a.test/{n}" for n in range(40)]


@pytest.mark.parametrize("how", [{}, {"says": 503}, {"ranges": False}], ids=["torn", "503", "one stream"])
def test_a_server_that_goes_away_is_an_error_and_not_the_end_of_the_archive(serve, archive, how):
    """The page behind it would be lost: an archive that was read to its end is not read again."""
    server, found = serve(archive, gives=len(archive) * 2 // 3, **how), []
    with pytest.raises(
        StorageError, match=r"cannot be read to its end .*; what was read is recorded, the same command"
    ):
        found.extend(Archive(server.url))
    server.gives = len(archive)
    assert len(urls(Archive(server.url))) == 40


def test_a_disk_that_fails_in_the_middle_is_an_error_too(monkeypatch, tmp_path, archive):
    (tmp_path / "x.warc.gz").write_bytes(archive)

    class Failing(io.BytesIO):
        def read(self, size=-1):
            if self.tell() > len(archive) // 2:
                raise OSError(errno.EIO, "Input/output error")
            return super().read(size)

    monkeypatch.setattr("crawler.storage.archive.reader.open_archive", lambda *_args, **_names: Failing(archive))
    with pytest.raises(StorageError, match=r"cannot be read to its end .*Input/output error"):
        list(Archive(str(tmp_path / "x.warc.gz")))


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_wacz_on_a_server_is_read_where_it_is(serve, archive, packing):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as wacz:
        wacz.writestr("archive/x.warc.gz", archive)
    server = serve(buffer.getvalue())
    url = server.url.replace("x.warc.gz", "site.wacz")
    (name,) = members_of(url)
    assert name == f"{url}!/archive/x.warc.gz" and size_of(name) == len(archive)
    pages = list(Archive(name))
    assert urls(pages) == [f"http://a.test/{n}" for n in range(40)] == urls(read_archive(url))
    assert urls(Archive(name, start=pages[35].offset)) == urls(pages[35:])
    whole = serve(buffer.getvalue(), ranges=False).url.replace("x.warc.gz", "site.wacz")
    with pytest.raises(ArchiveError, match="gives no parts of a file, which a WACZ needs: fetch it first"):
        members_of(whole)


def test_only_what_is_read_is_fetched(serve, archive):
    server = serve(archive)
    first = list(islice(Archive(server.url), 2))
    assert len(first) == 2 and server.sent <= 2 * READ_AHEAD < len(archive)


def test_a_replay_that_goes_on_in_the_middle_does_not_fetch_the_beginning(serve, archive):
    pages = list(Archive(serve(archive).url))
    server = serve(archive)
    assert urls(Archive(server.url, start=pages[35].offset)) == urls(pages[35:])
    assert server.sent <= 2 * READ_AHEAD < len(archive)


def test_damage_in_a_remote_archive_costs_its_record_only(serve, archive):
    pages = list(Archive(serve(archive).url))
    broken = bytearray(archive)
    broken[pages[20].offset + 1000] ^= 0xFF
    found = list(Archive(serve(bytes(broken)).url))
    assert [item.offset for item in found] == [page.offset for page in pages]
    assert urls(found) == [*urls(pages[:20]), "", *urls(pages[21:])]


@pytest.fixture(scope="module")
def s3(archive):
    """A server of the S3 protocol (moto) with one bucket that everybody may read."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed (make test installs it)")
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed (make test installs it)")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    patch = pytest.MonkeyPatch()
    patch.setitem(fsspec.config.conf, "s3", {"endpoint_url": f"http://{host}:{port}"})
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        patch.delenv(name, raising=False)
    fs = s3fs.S3FileSystem(anon=False, key="test", secret="test")
    fs.mkdir("crawl")
    for name in ("b.warc.gz", "a.warc.gz", "other.json"):
        fs.pipe(f"crawl/segments/{name}", archive, ACL="public-read")
    fs.pipe("crawl/private.warc.gz", archive)
    yield "s3://crawl/segments"
    patch.undo()
    server.stop()


def test_archives_in_a_bucket_are_found_and_read_without_credentials(s3, archive):
    names = [f"{s3}/a.warc.gz", f"{s3}/b.warc.gz"]
    assert expand(f"{s3}/*.warc.gz", anonymous=True) == names
    assert expand(s3, anonymous=True) == names
    assert sizes_of(names, anonymous=True) == [len(archive)] * 2
    pages = list(Archive(names[0], anonymous=True))
    assert urls(pages) == [f"http://a.test/{n}" for n in range(40)]
    assert urls(Archive(names[1], start=pages[38].offset, anonymous=True)) == urls(pages[38:])


def test_a_bucket_or_file_that_is_not_there_is_one_sentence(s3):
    with pytest.raises(StorageError, match="no such archive"):
        expand(f"{s3}/none.warc.gz", anonymous=True)
    for name in ("s3://nowhere/none.warc.gz", "s3://crawl/private.warc.gz"):
        with pytest.raises(StorageError, match=f"{name}: cannot be opened"):
            list(Archive(name, anonymous=True))


def test_a_list_names_archives_of_every_kind_and_keeps_its_order(tmp_path, archive):
    (tmp_path / "x.warc.gz").write_bytes(archive)
    names = ["memory://b.warc.gz", f"{tmp_path}/*.gz", "https://example.org/x.warc.gz?sig=1", "memory://b.warc.gz"]
    (tmp_path / "all.paths").write_text("# two\n\n" + "\n".join(names) + "\n")
    assert expand(str(tmp_path / "all.paths")) == [names[0], str(tmp_path / "x.warc.gz"), names[2]]
    (tmp_path / "none.txt").write_text("# none\n")
    with pytest.raises(StorageError, match="names no archive"):
        expand(str(tmp_path / "none.txt"))


def test_a_file_system_that_is_not_installed_says_what_to_install():
    with pytest.raises(StorageError, match=r"adlfs"):
        open_archive("abfs://container/x.warc.gz")


def test_many_remote_archives_are_not_asked_for_their_sizes():
    assert sizes_of([f"https://example.org/{n}.warc.gz" for n in range(101)]) == [None] * 101


def test_a_page_of_a_single_member_is_whole(serve):
    content = gzip.compress(b"".join(gzip.decompress(r) for r in Writer().add("http://a.test/", b"<p>x</p>").records))
    assert [page.body for page in Archive(serve(content).url)] == [b"<p>x</p>"]


class Refusing(Server):
    """Answers nothing but one status."""

    def __init__(self, status: int) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/x.warc.gz"

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "there is no such archive"), (403, "the server answers 403"), (503, "the server answers 503")],
)
def test_what_a_server_answers_tells_an_absent_archive_from_one_that_is_not_given(status, words):
    server = Refusing(status)
    try:
        with pytest.raises(StorageError, match=words) as raised:
            expand(server.url)
    finally:
        server.close()
    assert ("no such archive" in str(raised.value)) == (status == 404)


def test_a_server_that_is_not_there_says_nothing_about_the_archive():
    server = Refusing(404)
    server.close()
    with pytest.raises(StorageError, match=r"the server cannot be asked .*is not known"):
        expand(server.url)
