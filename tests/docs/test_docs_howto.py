"""Every recipe of `docs/how-to.md` does what it says, and so does the tutorial."""

from __future__ import annotations

import gzip
import importlib.util
import json
import shutil
import uuid
from pathlib import Path

import pytest
import zstandard

from crawler.storage.files.shards import read_lines
from demo.run import served
from tests.docs.conftest import Desk
from tests.docs.recipes import TUTORIAL, Block, recipes


def test_every_recipe_has_a_test() -> None:
    source = Path(__file__).read_text("utf-8")
    assert [heading for heading in recipes() if f'"{heading}"' not in source] == []


def test_every_block_of_the_page_is_a_command_or_a_program() -> None:
    assert {block.language for blocks in recipes().values() for block in blocks} == {"sh", "python"}


def test_a_list_of_urls_is_crawled_with_the_links_of_its_hosts(desk: Desk) -> None:
    report, _ = desk.run("Crawl a list of URLs")
    everything = desk.web.urls("example.org") | desk.web.urls("example.net")
    assert set(desk.urls("corpus")) == everything
    assert f"{len(everything)}" in report
    assert {"report.html", "stats.json", "manifest.json"} <= {path.name for path in (desk.folder / "corpus").iterdir()}
    assert set(desk.urls("listed")) == {url for url in everything if url.endswith("/one")}


def test_two_workers_share_one_crawl_and_every_page_is_there_once(desk: Desk) -> None:
    *_, status = desk.run("Crawl from two machines without Kubernetes")
    everything = desk.web.urls("example.org") | desk.web.urls("example.net")
    assert desk.urls("corpus") == sorted(everything)
    assert {record["worker_id"] for record in desk.records("corpus")} <= {"first", "second"}
    workers = {run["worker_id"] for run in json.loads((desk.folder / "corpus/manifest.json").read_text())["runs"]}
    assert workers == {"first", "second"}
    assert desk.web.bases["example.org"] in status


def test_a_domain_is_gone_from_corpus_and_copy_and_stays_away(with_corpus: Desk) -> None:
    desk = with_corpus
    shutil.copytree(desk.folder / "corpus", desk.folder / "copy-of-corpus")
    desk.run("Remove a domain everywhere")
    for corpus in ("corpus", "copy-of-corpus"):
        assert set(desk.urls(corpus)) == desk.web.urls("example.net")
        log = (desk.folder / corpus / "withdrawals.jsonl").read_text()
        assert desk.web.bases["example.org"] in log
        assert "A. Owner" in log
    before = len(desk.web.hits)
    desk.block(*recipes()["Crawl a list of URLs"][0])
    assert not [hit for hit in desk.web.hits[before:] if desk.web.bases["example.org"] in hit]


def test_another_threshold_makes_another_corpus_and_the_difference_is_shown(with_corpus: Desk) -> None:
    desk = with_corpus
    diagnosis, difference = desk.run("Tune a threshold")
    assert "too_short" in diagnosis
    assert "EXTRACTION_MIN_WORDS" in diagnosis
    gained = set(desk.urls("looser")) - set(desk.urls("corpus"))
    assert gained
    assert {url.rpartition("/")[2] for url in gained} == {"short"}
    assert all(url in difference for url in gained)


def test_accounts_are_shown_and_gates_hold(with_corpus: Desk) -> None:
    accounts, checked = with_corpus.run("Hold a crawl to numbers")
    assert all(base.removeprefix("http://") in accounts for base in with_corpus.web.bases.values())
    assert "EUR" in accounts
    assert checked == "3 gates hold for corpus\n"


def test_pages_of_an_archive_become_a_corpus_and_known_texts_are_left_out(desk: Desk) -> None:
    two_machines = recipes()["Crawl from two machines without Kubernetes"]
    desk.block(*two_machines[0])  # the server that the recipe speaks of
    _archive(desk, desk.folder / "pages.warc.gz")
    first, _ = recipes()["Add pages that you already have"]
    desk.block(*first)
    everything = sorted(desk.web.urls("example.org"))
    assert desk.urls("from-archive") == everything
    known = desk.records("from-archive")[0]
    (desk.folder / "old.jsonl").write_text(json.dumps({"text": known["text"]}) + "\n")
    desk.run("Add pages that you already have")
    assert desk.urls("only-new") == [url for url in everything if url != known["url"]]
    assert {record["reason"] for record in desk.records("only-new", "rejected")} == {"exact_duplicate", "too_short"}


def test_a_release_is_a_corpus_with_its_documents(with_corpus: Desk) -> None:
    with_corpus.run("Publish a dataset")
    release = with_corpus.folder / "release"
    assert {"README.md", "croissant.json", "eu_summary.md", "manifest.json"} <= {
        path.name for path in release.iterdir()
    }
    assert with_corpus.urls("release") == with_corpus.urls("corpus")


@pytest.mark.parametrize("which", ["one run", "shards that differ in their nulls"])
@pytest.mark.parametrize("package", ["", "duckdb", "datasets", "polars", "pyarrow"])
def test_the_output_is_read_by_other_tools(with_corpus: Desk, package: str, which: str) -> None:
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed (make test installs it)")
    desk, block = with_corpus, _reading(package)
    (desk.folder / "corpus").rename(desk.folder / "release")
    if which != "one run":
        _differ_in_nulls(desk.folder / "release")
    if package == "datasets":
        desk.block("sh", "gristmill report --eu release")
    shown = desk.block(*block)
    if package == "duckdb":
        assert all(base in shown for base in desk.web.bases.values())
    else:
        assert any(url in shown for url in desk.urls("release"))
    assert package in {"", "duckdb"} or shown.strip().endswith(str(len(desk.urls("release"))))


def _reading(package: str) -> Block:
    """The program of the recipe that uses this package; "" = none of them."""
    known = ["duckdb", "datasets", "polars", "pyarrow"]
    used = {
        next((n for n in known if f"import {n}" in b.text or f"from {n}" in b.text), ""): b
        for b in recipes()["Read the output"]
    }
    assert set(used) == {"", *known}
    return used[package]


def _differ_in_nulls(folder: Path) -> None:
    """A shard before the others in which every field that may be empty is, in every record."""
    records = [json.loads(line) for path in sorted((folder / "shards").glob("*")) for line in read_lines(path)]
    for record in records:
        record["url"] += "?again"
        record |= {"title": None, "description": None, "author": None, "pub_date": None, "optout_signals": [],
                   "languages": [], "code_blocks": [], "redirects": [], "license_tag": None, "language_score": None,
                   "parts": {"start": [], "end": [], "type": []}}  # fmt: skip
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    (folder / "shards/0-empty.jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress(lines))


def test_the_tutorial_ends_in_an_export_and_every_number_that_it_names_is_printed(desk: Desk, tmp_path: Path) -> None:
    steps = recipes(TUTORIAL)
    with served(tmp_path) as server:
        port = str(server.ports[0])

        def shown(heading: str) -> str:
            """What the commands of a step print."""
            blocks = [block for block in steps[heading] if block.language == "sh"]
            assert blocks, heading
            return "".join(desk.block("sh", block.text.replace("8790", port)) for block in blocks)

        shown("2. Crawl one site")
        look = shown("3. Look")
        change = shown("4. Change a threshold")
        shown("5. Export")
    said = " ".join(TUTORIAL.read_text("utf-8").split())
    kept, stricter = set(desk.urls("corpus")), set(desk.urls("stricter"))
    assert f"{len(kept)} kept" in look and f"{len(kept)} pages are kept" in said
    assert "41 words, needs 50" in look and "41 words, needs 50" in said
    (lost,) = kept - stricter
    assert lost in change and lost.endswith("/quartz") and "1 page fewer is kept: the one about quartz" in said
    with gzip.open(desk.folder / "release" / "data" / "part-000000.jsonl.gz") as file:
        assert {json.loads(line)["url"] for line in file} == stricter == kept - {lost}
    assert (desk.folder / "release" / "README.md").exists()


def _archive(desk: Desk, path: Path) -> None:
    """The pages of one host as another program would archive them."""
    with gzip.open(path, "wb") as file:
        for place, html in desk.web.pages["example.org"].items():
            body = html.encode()
            http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
            head = (
                "WARC/1.1\r\nWARC-Type: response\r\n"
                f"WARC-Record-ID: <urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, place)}>\r\n"
                "WARC-Date: 2026-11-01T10:00:00Z\r\nContent-Type: application/http;msgtype=response\r\n"
                f"WARC-Target-URI: http://{desk.web.bases['example.org']}{place}\r\nContent-Length: {len(http)}\r\n\r\n"
            )
            file.write(head.encode() + http + b"\r\n\r\n")
