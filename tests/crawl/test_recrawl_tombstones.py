"""Three generations of a site: what changed, moved, decayed or said no leaves the corpus; what only failed stays."""

from __future__ import annotations

import gzip
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from crawler.dataset.supersede import read_all_versions
from crawler.storage.files.place import Place
from tests.support import warm
from tests.support.changing_site import ChangingSite, Page
from tests.support.crawl import PROJECT, Crawl
from tests.support.once import made_once
from tests.support.serving import article

AGAIN = {"RECRAWL": 1, "RECRAWL_INTERVAL_SECONDS": 0, "RETRY_TIMES": 0}
NAMES = ("/steady", "/plain", "/changes", "/dies", "/to-root", "/part/page", "/soft", "/wall", "/shrinks", "/outage",
         "/refuses",
         "/renamed", "/twin-a", "/twin-b")  # fmt: skip
WALL = b"<html><head><title>Before you go on</title></head><body><p>We value your privacy. Accept all?</p></body>"
APOLOGY = """Sorry, the page you are looking for could not be found. It may have been moved, renamed or deleted.
Please check the address, or return to the home page and try again. If you followed a link on our own site we would like
to hear of it, so that we can put it in order; the address of the office stands at the foot of every page, and somebody
answers on weekdays."""
SOFT = f"<html><head><title>Page not found</title></head><body><h1>Page not found</h1><p>{APOLOGY}</p>".encode()


@dataclass
class Run:
    """What one crawl left: the current version of the corpus after it, and what it said."""

    kept: dict[str, dict[str, object]]
    rejected: dict[str, list[dict[str, object]]]
    counters: dict[str, int]
    out: str
    verified: int
    conditions: dict[str, dict[str, str]]


@dataclass
class Story:
    runs: list[Run]
    every_version: list[str]  # URLs of all kept records, older versions included
    raw: bytes  # everything in the archive, readable
    lineage: list[dict[str, object]]
    replayed: Run  # all three generations from the archive, into another folder


def short(site: ChangingSite, url: object) -> str:
    return str(url).removeprefix(site.url(""))


def crawl_once(site: ChangingSite, crawl: Crawl, **settings: object) -> Run:
    return run_once(site, crawl, {"url": site.url("/")}, **settings)


def run_once(site: ChangingSite, crawl: Crawl, arguments: dict[str, str], **settings: object) -> Run:
    done = crawl.run(arguments, NETWORK_PORTS=site.port, PROGRESS="auto", **settings)
    assert done.returncode == 0, done.stderr
    rejected: dict[str, list[dict[str, object]]] = {}
    for record in crawl.records("rejected"):
        rejected.setdefault(short(site, record["url"]), []).append(record)
    verified = warm.run(
        [sys.executable, "-m", "scrapy", "dataset", "verify", str(crawl.folder)],
        cwd=PROJECT,
        capture_output=True,
    )
    return Run(
        {short(site, record["url"]): record for record in crawl.records()},
        rejected,
        json.loads((crawl.folder / "manifest.json").read_text())["runs"][-1]["counters"],
        " ".join(done.stdout.split()),
        verified.returncode,
        {path: asked[0].conditions for path, asked in site.take_log().items()},
    )


def first_generation(site: ChangingSite) -> None:
    site.pages = {name: Page(article(name), etag=f'"{name} 1"') for name in NAMES}
    site.pages["/plain"].etag = None
    site.pages["/shrinks"] = Page(article("/shrinks", words=1200), etag='"shrinks 1"')
    site.pages["/twin-a"] = site.pages["/twin-b"] = Page(article("twins"), etag='"twins"')
    site.pages["/part/"] = Page(article("/part/"), etag='"part"')
    site.pages["/"] = Page(article("/", links=(*NAMES, "/part/")), etag='"home 1"')


def second_generation(site: ChangingSite, owner: str) -> None:
    pages = site.pages
    pages["/changes"] = Page(article("/changes, another text"), etag='"changes 2"')
    pages["/dies"] = Page(status=404)
    pages["/to-root"] = Page(status=301, headers={"Location": "/"})
    pages["/part/page"] = Page(status=302, headers={"Location": "/part/"})
    pages["/soft"] = Page(SOFT)
    pages["/wall"] = Page(WALL)
    padding = b"<script>" + b"x = 1;\n" * 8_000 + b"</script>"
    pages["/shrinks"] = Page(article("/shrinks", words=300).replace(b"<body>", b"<body>" + padding), etag='"shrinks 2"')
    pages["/outage"].status = 500
    pages["/refuses"].etag = None
    pages["/refuses"].body = pages["/refuses"].body.replace(b"</head>", b'<meta name="robots" content="noai"></head>')
    pages["/renamed-to"] = Page(pages["/renamed"].body)
    pages["/renamed"] = Page(status=301, headers={"Location": "/renamed-to"})
    pages[owner] = Page(article("no twin any more"), etag='"single"')


def third_generation(site: ChangingSite) -> None:
    site.pages["/heir"] = Page(article("/changes"))  # the text that /changes showed at first
    site.pages["/changes"] = Page(article("/changes, a third text"), etag='"changes 3"')
    site.pages["/"] = Page(article("/", links=(*NAMES, "/part/", "/heir")), etag='"home 3"')
    site.pages["/outage"].status = 200


def tell(folder: Path) -> Story:
    site, crawl = ChangingSite().start(), Crawl(folder)
    try:
        first_generation(site)
        runs = [crawl_once(site, crawl)]
        (owner,) = {"/twin-a", "/twin-b"} & set(runs[0].kept)
        second_generation(site, owner)
        runs.append(crawl_once(site, crawl, **AGAIN))
        third_generation(site)
        runs.append(crawl_once(site, crawl, **AGAIN))
        every = [short(site, record["url"]) for record in read_all_versions(Place(str(folder)))]
        raw = b"".join(gzip.decompress(path.read_bytes()) for path in sorted((folder / "archive").glob("*.gz")))
        lineage = json.loads((folder / "manifest.json").read_text())["lineage"]
        again = Crawl(folder.with_name("tombstones-again"))
        replayed = run_once(site, again, {"archive": str(folder / "archive")}, spider="replay")
        return Story(runs, every, raw, lineage, replayed)
    finally:
        site.stop()


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return made_once(tmp_path_factory, "tombstones", tell)


def test_the_first_run_keeps_every_page_and_one_of_the_twins(story):
    assert set(NAMES) - set(story.runs[0].kept) in ({"/twin-a"}, {"/twin-b"})


@pytest.mark.parametrize(
    ("path", "reason", "detail"),
    [
        ("/dies", "gone", "404"),
        ("/soft", "gone", "soft_404"),
        ("/to-root", "moved", "redirects to"),
        ("/part/page", "moved", "redirects to"),
        ("/wall", "decayed", "too_short"),
        ("/shrinks", "decayed", "extraction yield"),
        ("/renamed", "redirected", "/renamed-to"),
        ("/refuses", "optout", "noai"),
    ],
)
def test_a_page_that_is_not_what_it_was_has_a_tombstone_and_its_document_leaves(story, path, reason, detail):
    second = story.runs[1]
    assert [record["reason"] for record in second.rejected[path]] == [reason]
    assert detail in str(second.rejected[path][0]["detail"])
    assert path in story.runs[0].kept
    assert path not in second.kept
    assert path not in story.runs[2].kept


def test_a_page_that_cannot_be_fetched_keeps_its_document(story):
    second = story.runs[1]
    assert "/outage" in second.kept
    assert {record["reason"] for record in second.rejected["/outage"]} == {"http_error"}
    assert story.runs[2].conditions["/outage"] == {"If-None-Match": '"/outage 1"'}
    assert "/outage" in story.runs[2].kept


def test_a_changed_page_is_in_the_corpus_once_with_its_latest_text(story):
    first, second, third = (run.kept["/changes"] for run in story.runs)
    assert len({record["doc_id"] for record in (first, second, third)}) == 3
    assert [record["change_count"] for record in (first, second, third)] == [0, 1, 2]
    assert third["last_changed"] == third["crawled_at"]
    assert {str(record["first_seen"])[:19] for record in (first, second, third)} == {str(first["crawled_at"])[:19]}


def test_older_versions_are_kept_in_the_lineage(story):
    assert story.every_version.count("/changes") >= 2
    assert [step["operation"] for step in story.lineage][-1] == "recrawl"


def test_each_run_leaves_a_corpus_that_verifies(story):
    assert [run.verified for run in story.runs] == [0, 0, 0]


def test_of_a_page_that_opted_out_neither_text_nor_raw_page_is_left(story):
    sentence = article("/refuses").split(b"<p>")[1][:60]
    assert article("/steady").split(b"<p>")[1][:60] in story.raw
    assert sentence not in story.raw
    assert "/refuses" not in story.every_version


def test_a_page_under_a_new_address_is_no_duplicate_of_the_old_one(story):
    assert "/renamed-to" in story.runs[1].kept


def test_a_text_that_its_page_shows_no_more_is_free_for_another(story):
    assert story.runs[2].kept["/heir"]["doc_id"] == story.runs[0].kept["/changes"]["doc_id"]


def test_a_duplicate_whose_owner_changed_is_judged_again_and_kept(story):
    assert {"/twin-a", "/twin-b"} <= set(story.runs[2].kept)


def test_an_unchanged_page_leaves_a_revisit_record_that_names_the_earlier_fetch(story):
    second, base = story.runs[1], story.runs[0].kept["/steady"]
    (line,) = (r for r in second.rejected["/steady"] if r["reason"] == "unchanged")
    records = [r for r in story.raw.split(b"WARC/1.1") if str(line["warc_record_id"]).encode() in r]
    (revisit,) = (r for r in records if b"WARC-Type: revisit" in r)
    assert b"revisit/server-not-modified" in revisit
    assert f"WARC-Refers-To-Date: {str(base['crawled_at'])[:19]}".encode() in revisit


def test_the_same_body_with_status_200_leaves_a_revisit_record_with_its_digest(story):
    assert story.runs[1].conditions["/plain"] == {}
    (line,) = (r for r in story.runs[1].rejected["/plain"] if r["reason"] == "unchanged")
    records = [r for r in story.raw.split(b"WARC/1.1") if str(line["warc_record_id"]).encode() in r]
    (revisit,) = (r for r in records if b"WARC-Type: revisit" in r)
    assert b"revisit/identical-payload-digest" in revisit
    digests = re.findall(rb"WARC-Payload-Digest: (\S+)", revisit)
    assert len(digests) == 1
    assert story.raw.count(digests[0]) >= 2  # the response it stands for has the same


def test_the_summary_counts_tombstones(story):
    counters = story.runs[1].counters
    assert (counters["recrawl/gone"], counters["recrawl/moved"], counters["recrawl/decayed"]) == (2, 2, 2)
    said = " ".join(story.runs[1].out.split())
    assert re.findall(r"2 gone, [^;]*? failed", said) == ["2 gone, 2 moved, 2 decayed, 1 opted out, 1 failed"]
    assert "not parsed again" in story.runs[1].out


def test_a_replay_of_all_generations_keeps_the_documents_that_the_crawls_kept(story):
    crawled, replayed = story.runs[2].kept, story.replayed.kept
    assert replayed.keys() == crawled.keys()
    own = {"warc_file", "worker_id", "config_digest"}
    differ = {
        (path, name): (crawled[path][name], replayed[path].get(name))
        for path in crawled
        for name in crawled[path].keys() - own
        if crawled[path][name] != replayed[path].get(name)
    }
    assert differ == {}


def test_a_replay_of_all_generations_rejects_pages_for_the_reasons_of_the_crawls(story):
    crawled, replayed = (
        {path: sorted(map(outcome, found)) for path, found in run.rejected.items()}
        for run in (story.runs[2], story.replayed)
    )
    (failed,) = (found for found in crawled["/outage"] if found[1] == "http_error")
    crawled["/outage"].remove(failed)  # an answer that says nothing of the page leaves nothing in the archive
    del crawled["/refuses"]  # every trace of it was erased
    assert replayed == crawled
    assert {"gone", "moved", "decayed", "redirected"} <= {o[1] for found in replayed.values() for o in found}


def outcome(record: dict[str, object]) -> tuple[object, ...]:
    """What a record says; of an unchanged page crawl and archive tell different details."""
    said = record["detail"] if record["reason"] != "unchanged" else ""
    history = (record["first_seen"], record["last_changed"], record["change_count"])
    return record["stage"], record["reason"], said, record["crawled_at"], *history


def test_a_corpus_made_by_replay_verifies_and_has_its_older_versions_set_aside(story):
    assert story.replayed.verified == 0
    assert story.replayed.counters["replay/later_versions"] > 0
    assert story.replayed.counters["replay/kind/tombstone"] >= 4
