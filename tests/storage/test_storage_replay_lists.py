"""Lists of archives as Common Crawl publishes them: packed, with paths that begin at the root of their server."""

from __future__ import annotations

import gzip
import http.server
import threading
from functools import partial

import pytest

from crawler.storage.archive.places import expand
from crawler.storage.archive.reader import Archive
from crawler.storage.files.errors import StorageError
from tests.support.corpus_folder import Folder, exchange
from tests.support.foreign import Writer, page

CRAWL = "crawl-data/CC-MAIN-2026-10"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        return


@pytest.fixture
def mirror(tmp_path):
    """A tree as on data.commoncrawl.org, with two archives that this project wrote: its folder, its URL, its paths."""
    root, paths = tmp_path / "mirror", []
    for number in range(2):
        folder = Folder(tmp_path / f"corpus{number}")
        corpus = folder.opened()
        corpus.archive(exchange(number))
        corpus.close()
        (made,) = (folder.path / "archive").glob("*.warc.gz")
        target = root / CRAWL / "segments" / f"{number}" / "warc" / "part.warc.gz"
        target.parent.mkdir(parents=True)
        target.write_bytes(made.read_bytes())
        paths.append(str(target.relative_to(root)))
    (root / CRAWL / "warc.paths.gz").write_bytes(gzip.compress("\n".join(paths).encode()))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield root, f"http://127.0.0.1:{server.server_address[1]}", paths
    server.shutdown()
    server.server_close()
    thread.join(5)


def pages(names: list[str]) -> list[str]:
    return [found.url for name in names for found in Archive(name) if hasattr(found, "url")]


def test_a_list_on_a_server_names_files_from_the_root_of_that_server(mirror):
    _, url, paths = mirror
    names = expand(f"{url}/{CRAWL}/warc.paths.gz")
    assert names == [f"{url}/{path}" for path in paths]
    assert pages(names) == ["https://example.org/0", "https://example.org/1"]


def test_a_copy_of_the_tree_on_a_disk_is_read_alike_wherever_the_list_is_called_from(mirror, monkeypatch):
    root, _, paths = mirror
    assert pages(expand(str(root / CRAWL / "warc.paths.gz"))) == ["https://example.org/0", "https://example.org/1"]
    monkeypatch.chdir(root)
    assert expand(f"{CRAWL}/warc.paths.gz") == [str(root / path) for path in paths]


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_base_says_where_the_paths_of_a_list_begin_that_lies_elsewhere(mirror, tmp_path, slash):
    root, url, paths = mirror
    away = tmp_path / "wet.paths.gz"
    away.write_bytes((root / CRAWL / "warc.paths.gz").read_bytes())
    assert expand(str(away), base=url + slash) == [f"{url}/{path}" for path in paths]
    assert pages(expand(str(away), base=str(root) + slash)) == ["https://example.org/0", "https://example.org/1"]


def test_a_list_on_a_server_whose_paths_begin_nowhere_is_refused_with_what_to_do(mirror):
    root, url, _ = mirror
    (root / "elsewhere.paths.gz").write_bytes((root / CRAWL / "warc.paths.gz").read_bytes())
    with pytest.raises(StorageError, match="say where such paths begin, for Common Crawl with -a base=https://"):
        expand(f"{url}/elsewhere.paths.gz")


@pytest.mark.parametrize("keep", [30, 60])
def test_a_packed_list_that_ends_too_early_is_no_shorter_list(mirror, keep):
    root, url, _ = mirror
    path = root / CRAWL / "warc.paths.gz"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(StorageError, match="damaged or unfinished; fetch the list again"):
        expand(f"{url}/{CRAWL}/warc.paths.gz")


def test_the_replay_takes_the_list_and_its_base(crawl, mirror, tmp_path):
    root, url, _ = mirror
    away = tmp_path / "warc.paths.gz"
    away.write_bytes((root / CRAWL / "warc.paths.gz").read_bytes())
    done = crawl.run({"archive": str(away), "base": url}, spider="replay")
    assert done.returncode == 0, done.stderr
    found = [*crawl.records(), *crawl.records("rejected")]
    assert sorted(str(record["url"]) for record in found) == ["https://example.org/0", "https://example.org/1"]


def test_an_archive_has_one_name_however_it_is_given(tmp_path, monkeypatch):
    """A replay that goes on knows by the name what it has read: under a second one it would keep every page twice."""
    (tmp_path / "a").mkdir()
    name = str(Writer().add("http://a.test/", page(1)).save(tmp_path / "a" / "x.warc.gz"))
    monkeypatch.chdir(tmp_path)
    spellings = [
        "a/x.warc.gz",
        "./a/x.warc.gz",
        f"{tmp_path}/a/../a/x.warc.gz",
        f"file://{name}",
        f"{tmp_path}/a//x.warc.gz",
    ]
    (tmp_path / "list.txt").write_text("\n".join([*spellings, "a/*.warc.gz"]))
    assert [expand(spelling) for spelling in [*spellings, "a", "a/*.gz", "list.txt"]] == [[name]] * 8


def test_a_list_begins_behind_its_byte_order_mark_and_ends_its_lines_as_it_likes(tmp_path):
    (tmp_path / "list.txt").write_bytes(b"\xef\xbb\xbf/data/a.warc.gz\r\n# none\r\n/data/b.warc.gz\r\n")
    assert expand(str(tmp_path / "list.txt")) == ["/data/a.warc.gz", "/data/b.warc.gz"]


def test_a_list_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "list.txt").write_bytes("/data/a.warc.gz\n".encode("utf-16"))
    with pytest.raises(StorageError, match=r"list.txt: byte 0 is not UTF-8; save the list as UTF-8"):
        expand(str(tmp_path / "list.txt"))


@pytest.mark.parametrize("name", ["a[1].warc.gz", "a?b.warc.gz", "a*.warc.gz", "a b#c%20.warc.gz"])
def test_a_file_that_has_just_this_name_is_no_pattern(tmp_path, name):
    folder = tmp_path / "corpus [old]?"
    path = str(Writer().add("http://a.test/", page(1)).save(folder / name))
    (tmp_path / "list.txt").write_text(path)
    for place in (path, str(folder), str(tmp_path / "list.txt")):
        assert expand(place) == [path]
    assert pages([path]) == ["http://a.test/"]


def test_a_name_that_no_record_can_carry_is_refused(tmp_path):
    with pytest.raises(StorageError, match=r"\\xff\.warc\.gz: a name that is not UTF-8, .*; rename the file"):
        Archive(f"{tmp_path}/\udcff.warc.gz")
