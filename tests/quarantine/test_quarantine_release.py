"""A release by hand, followed to its end: the advice that the command prints brings the pages back."""

import re
import shlex
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench.web.prose import prose
from crawler.dataset.supersede import read_latest
from crawler.quarantine.releases import RELEASES, Releases, note_release, releases_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from tests.quarantine.test_quarantine_crawl import on as scrapy
from tests.quarantine.test_quarantine_crawl import verdicts

PAGES, RICH = 30, 15
ADDRESS = "127.0.31.7"


class Handler(BaseHTTPRequestHandler):
    """Pages /p/0 …; from the 15th on a layout with long scripts, and as much prose as before. Validators are sent."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        match = re.fullmatch(r"/p/(\d+)", self.path)
        body = b""
        if match is not None:
            script = f"<script>{'var layout = 1;' * 4000}</script>" if int(match[1]) >= RICH else ""
            text = "".join(f"<p>{p}</p>" for p in prose(match[1], words=180))
            body = f"<html lang=en><head><title>P</title>{script}</head><main>{text}</main></html>".encode()
        asked = self.headers.get("If-None-Match")
        status = 404 if match is None else 304 if asked == f'"{match[1]}"' else 200
        self.send_response(status)
        if match is not None:
            self.send_header("ETag", f'"{match[1]}"')
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(0 if status == 304 else len(body)))
        self.end_headers()
        if status != 304:
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A crawl that set pages aside, and what the release of its domain printed."""
    site = ThreadingHTTPServer((ADDRESS, 0), Handler)
    site.daemon_threads = True
    threading.Thread(target=site.serve_forever, args=(0.05,), daemon=True).start()
    port = site.server_address[1]
    folder = tmp_path_factory.mktemp("release")
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"http://{ADDRESS}:{port}/p/{n}\n" for n in range(PAGES)))
    arguments = ("crawl", "corpus", "-a", f"seeds={seeds}")
    settings = {"corpus": folder / "corpus", "NETWORK_PORTS": port, "RECRAWL_INTERVAL_SECONDS": 0}
    assert scrapy(*arguments, **settings).returncode == 0
    before = verdicts(folder / "corpus")
    archive = f"archive={folder / 'corpus' / 'archive'}"
    assert scrapy("crawl", "replay", "-a", archive, corpus=folder / "before").returncode == 0
    assert verdicts(folder / "before") == before
    done = scrapy("quarantine", "--release", f"{ADDRESS}:{port}", corpus=folder / "corpus")
    assert done.returncode == 0, done.stderr
    yield folder, before, done.stdout, lambda: scrapy(*arguments, **settings, RECRAWL=1)
    site.shutdown()
    site.server_close()


def set_aside(found):
    return {url for url, reason in found.items() if reason == "yield_quarantine"}


def test_a_domain_that_gives_what_it_always_gave_is_not_said_to_be_released(tmp_path):
    site = ThreadingHTTPServer((ADDRESS, 0), Handler)
    site.daemon_threads = True
    threading.Thread(target=site.serve_forever, args=(0.05,), daemon=True).start()
    port = site.server_address[1]
    corpus = tmp_path / "corpus"
    arguments = ("crawl", "corpus", "-a", f"url=http://{ADDRESS}:{port}/p/0")
    assert scrapy(*arguments, corpus=corpus, NETWORK_PORTS=port).returncode == 0
    done = scrapy("quarantine", "--release", f"{ADDRESS}:{port}", corpus=corpus)
    site.shutdown()
    site.server_close()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{ADDRESS}:{port} is not in quarantine; ")


def test_the_replay_that_it_advises_keeps_what_was_set_aside(released, tmp_path):
    _, before, said, _ = released
    assert len(set_aside(before)) >= 5
    words = shlex.split(re.search(r"scrapy (crawl replay .*?);", said)[1])
    assert words[-1] == "CORPUS_DIR=NEW_DIR"
    done = scrapy(*words[:-2], corpus=tmp_path / "again")
    assert done.returncode == 0, done.stderr
    after = verdicts(tmp_path / "again")
    assert set_aside(after) == set() and after.keys() == before.keys()
    assert {after[url] for url in set_aside(before)} == {"kept"}
    assert {url: reason for url, reason in after.items() if url not in set_aside(before)} == {
        url: reason for url, reason in before.items() if url not in set_aside(before)
    }


def test_the_crawl_that_it_advises_asks_for_them_in_full_and_keeps_them(released):
    folder, before, said, crawl_again = released
    assert "-s RECRAWL=1" in said
    done = crawl_again()
    assert done.returncode == 0, done.stderr
    kept = [record["url"] for record in read_latest(Place(str(folder / "corpus")))]
    assert set_aside(before) <= set(kept) and len(kept) == len(set(kept))


def test_a_release_covers_what_was_fetched_before_it_and_only_its_domain(tmp_path):
    place = Place(str(tmp_path))
    note_release(place, "a.test", 1_767_225_600.0)
    note_release(place, "a.test", 1_767_225_500.0)
    note_release(place, "b.test", 1_767_225_600.0)
    assert releases_of(place) == {"a.test": "2026-01-01T00:00:00.000Z", "b.test": "2026-01-01T00:00:00.000Z"}
    known, archive = Releases(), f"{tmp_path}/archive/x.warc.gz"
    assert not known.knows(archive)
    known.read(archive)
    assert known.covers(archive, "a.test", "2025-12-31T23:59:59.999Z")
    assert not known.covers(archive, "a.test", "2026-01-01T00:00:00.001Z")
    assert not known.covers(archive, "c.test", "2025-12-31T23:59:59.999Z")
    known.read("/elsewhere/x.warc.gz")
    assert not known.covers("/elsewhere/x.warc.gz", "a.test", "2025-01-01T00:00:00.000Z")


def test_a_damaged_file_of_releases_is_one_sentence(tmp_path):
    (tmp_path / RELEASES).write_text('{"domain": 1}\n')
    with pytest.raises(StorageError, match=r"releases\.jsonl: cannot be read .* restore it"):
        releases_of(Place(str(tmp_path)))
