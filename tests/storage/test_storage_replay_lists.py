"""Lists of archives as Common Crawl publishes them: packed, with paths that begin at the root of their server."""

from __future__ import annotations

import gzip
import http.server
import threading
from functools import partial

import pytest

from crawler.storage.archive.reader import Archive
from crawler.storage.archive.remote import expand
from crawler.storage.files.errors import StorageError
from tests.support.corpus_folder import Folder, exchange

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
    assert expand(f"{CRAWL}/warc.paths.gz") == paths


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
