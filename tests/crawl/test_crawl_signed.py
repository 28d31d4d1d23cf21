"""Real crawls whose requests are signed, on sites that verify each of them (another library than ours)."""

from __future__ import annotations

import base64
import gzip
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from http_message_signatures import InvalidSignature
from warcio.archiveiterator import ArchiveIterator

from crawler.botauth.key import make_key, read_key
from tests.crawl.test_crawl_other_clock import SHIFTED
from tests.support.corpus_crawl import SETTINGS, CorpusCrawl
from tests.support.places import PROJECT
from tests.support.process import scrapy
from tests.support.serving import article
from tests.support.verifier import Answer, Message, VerifyingWeb, nonce_of, verify

AGENT = "https://bot.example.org/.well-known/http-message-signatures-directory"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    make_key(str(tmp_path / "bot-key.pem"))
    return tmp_path / "bot-key.pem"


@pytest.fixture
def web(key_file: Path) -> Iterator[VerifyingWeb]:
    with VerifyingWeb(read_key(str(key_file))) as running:
        yield running


def crawl(folder: Path, web: VerifyingWeb, seeds: list[str], *more: str, **settings: object) -> CorpusCrawl:
    """A crawl of these pages and what they lead to, to its end."""
    merged = SETTINGS | {"CORPUS_DIR": folder, "NETWORK_PORTS": web.port, "BOT_SIGNATURE_AGENT": AGENT} | settings
    found = scrapy("crawl", "corpus", "-a", f"url={','.join(seeds)}", *more, settings=merged)
    return CorpusCrawl(folder, found.stderr, found.returncode)


def failures(web: VerifyingWeb) -> list[tuple[str, str, str]]:
    return [(seen.host, seen.path, seen.error) for seen in web.log.seen if seen.error]


def two_sites(web: VerifyingWeb) -> list[str]:
    """A site with robots.txt (behind a redirect), a sitemap and a page that moved to another site."""
    there = web.site("127.0.0.3", {
        "/new": Answer(body=article("new")),
        "/robots-here": Answer(body=b"User-agent: *\nAllow: /\n", content_type="text/plain"),
    })  # fmt: skip
    here = web.site("127.0.0.2", {
        "/": Answer(body=article("home", links=("/page", "/moved"))),
        "/page": Answer(body=article("page")),
        "/listed": Answer(body=article("listed")),
        "/moved": Answer(302, headers=(("Location", "@there@/new"),)),
        "/robots.txt": Answer(302, headers=(("Location", "@there@/robots-here"),)),
        "/sitemap.xml": Answer(
            body=b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>@here@/listed</loc></url></urlset>',
            content_type="application/xml",
        ),
    }, there="127.0.0.3")  # fmt: skip
    return [here, there]


def test_every_request_of_a_crawl_is_verified_by_the_site_that_it_is_made_to(tmp_path, key_file, web):
    here, there = two_sites(web)
    done = crawl(
        tmp_path / "corpus", web, [f"{here}/", f"{there}/new"], "-a", f"sitemap={here}/sitemap.xml",
        BOT_SIGNATURE_KEY_FILE=key_file,
    )  # fmt: skip
    assert done.returncode == 0, done.log[-3000:]
    assert failures(web) == []
    assert {"/", "/page", "/listed", "/moved", "/robots.txt", "/sitemap.xml", "/ai.txt"} <= set(
        web.log.paths("127.0.0.2")
    )
    assert {"/new", "/robots-here", "/robots.txt", "/ai.txt"} <= set(web.log.paths("127.0.0.3"))
    assert set(done.kept) == {f"{here}/", f"{here}/page", f"{here}/listed", f"{there}/new"}


def test_no_signature_is_used_twice_and_none_reaches_a_host_that_it_was_not_made_for(tmp_path, key_file, web):
    here, there = two_sites(web)
    crawl(tmp_path / "corpus", web, [f"{here}/", f"{there}/new"], BOT_SIGNATURE_KEY_FILE=key_file)
    seen = web.log.seen
    assert (
        len({nonce_of(request.headers) for request in seen}) == len({r.headers["Signature"] for r in seen}) == len(seen)
    )
    hop = next(request for request in seen if request.path == "/robots-here")
    with pytest.raises(InvalidSignature):
        verify(Message(f"{here}/robots-here", hop.headers), *web.keys)


def test_a_second_try_is_signed_anew(tmp_path, key_file, web):
    tries: list[float] = []

    def fails_once(handler) -> None:
        tries.append(time.time())
        handler.send(503 if len(tries) == 1 else 200, b"" if len(tries) == 1 else article("late"))

    here = web.site("127.0.0.2", {"/": fails_once})
    done = crawl(
        tmp_path / "corpus", web, [f"{here}/"], BOT_SIGNATURE_KEY_FILE=key_file, FRONTIER_RETRY_BACKOFF_SECONDS=2
    )
    assert set(done.kept) == {f"{here}/"}, done.log[-3000:]
    assert failures(web) == []
    first, second = (r.headers["Signature-Input"] for r in web.log.seen if r.path == "/")
    created = [int(re.search(r"created=(\d+)", text)[1]) for text in (first, second)]
    assert created[1] > created[0]


def test_a_request_that_waits_for_its_turn_is_signed_when_it_leaves_and_for_as_long_as_the_setting_says(
    tmp_path, key_file, web
):
    here = web.site("127.0.0.2", {"/": Answer(body=article("a")), "/b": Answer(body=article("b"))})
    crawl(
        tmp_path / "corpus", web, [f"{here}/", f"{here}/b"],
        BOT_SIGNATURE_KEY_FILE=key_file, BOT_SIGNATURE_SECONDS=60, DOWNLOAD_DELAY=5, OPTOUT_PROFILE="minimal",
    )  # fmt: skip
    assert {"/robots.txt", "/", "/b"} <= {seen.path for seen in web.log.seen}
    assert failures(web) == []
    times = [re.search(r"created=(\d+).*expires=(\d+)", s.headers["Signature-Input"]).groups() for s in web.log.seen]
    assert {int(expires) - int(created) for created, expires in times} == {60}
    waited = [seen.at - int(created) for seen, (created, _) in zip(web.log.seen, times, strict=True)]
    assert max(waited) < 4, waited


def test_without_a_key_nothing_is_signed_and_nothing_says_so(tmp_path, web):
    here, _ = two_sites(web)
    done = crawl(tmp_path / "corpus", web, [f"{here}/"], BOT_SIGNATURE_AGENT="")
    assert done.returncode == 0, done.log[-3000:]
    assert not [name for seen in web.log.seen for name in seen.headers if name.lower().startswith("signature")]
    (run,) = json.loads((tmp_path / "corpus" / "manifest.json").read_text())["runs"]
    assert not [name for name in run["policy"] if name.startswith("signature")]


def test_manifest_and_archive_say_by_whom_requests_were_signed_and_what_was_sent(tmp_path, key_file, web):
    here, _ = two_sites(web)
    crawl(tmp_path / "corpus", web, [f"{here}/"], BOT_SIGNATURE_KEY_FILE=key_file)
    keyid = read_key(str(key_file)).keyid
    (run,) = json.loads((tmp_path / "corpus" / "manifest.json").read_text())["runs"]
    assert (run["policy"]["signature_agent"], run["policy"]["signature_keyid"]) == (AGENT, keyid)
    sent = {seen.path: seen.headers for seen in web.log.seen}
    (archive,) = (tmp_path / "corpus" / "archive").glob("*.warc.gz")
    archived = {}
    with archive.open("rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type == "request":
                archived[record.rec_headers.get_header("WARC-Target-URI")] = record.http_headers
            if record.rec_type == "warcinfo":
                assert keyid.encode() in record.content_stream().read()
    for name in ("Signature", "Signature-Input", "Signature-Agent"):
        assert archived[f"{here}/page"].get_header(name) == sent["/page"][name]


def test_a_replay_of_a_signed_crawl_needs_no_key(tmp_path, key_file, web):
    here, _ = two_sites(web)
    first = crawl(tmp_path / "corpus", web, [f"{here}/"], BOT_SIGNATURE_KEY_FILE=key_file)
    settings = SETTINGS | {"CORPUS_DIR": tmp_path / "again", "BOT_SIGNATURE_KEY_FILE": tmp_path / "gone.pem"}
    again = scrapy(
        "crawl", "replay", "-a", f"archive={tmp_path}/corpus/archive/*.warc.gz",
        settings=settings | {"BOT_SIGNATURE_AGENT": AGENT},
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert set(CorpusCrawl(tmp_path / "again", again.stderr, 0).kept) == set(first.kept)


def encodings(key_file: Path) -> list[bytes]:
    """The private key in every form in which it could slip out."""
    private = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
    raw = private.private_bytes_raw()
    der = base64.b64decode("".join(key_file.read_text().splitlines()[1:-1]))
    return [
        raw, raw.hex().encode(), raw.hex().upper().encode(), base64.b64encode(raw)[:-1],
        base64.urlsafe_b64encode(raw).rstrip(b"="), base64.b64encode(der), repr(raw).encode()[2:-1],
    ]  # fmt: skip


def everything(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The bytes of all files, and of what is packed in them."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            yield path, data
            if path.suffix == ".gz":
                yield path, gzip.decompress(data)


def test_nothing_of_the_private_key_is_in_anything_that_a_crawl_writes(tmp_path, key_file, web):
    here, _ = two_sites(web)
    log = tmp_path / "debug.log"
    done = crawl(
        tmp_path / "corpus", web, [f"{here}/", f"{here}/gone"], "--logfile", str(log), "-L", "DEBUG",
        BOT_SIGNATURE_KEY_FILE=key_file, SHARD_FORMAT="jsonl.gz", LOG_JSON=1,
    )  # fmt: skip
    assert done.returncode == 0
    report = scrapy("report", "--html", "--eu", tmp_path / "corpus")
    assert report.returncode == 0, report.stderr
    assert f"in the name of {AGENT}" in (tmp_path / "corpus" / "eu_summary.md").read_text()
    shown = [(log, log.read_bytes()), (Path("output"), (done.log + report.stdout + report.stderr).encode())]
    searched = [*everything(tmp_path / "corpus"), *shown]
    assert log.stat().st_size > 1000
    assert any(read_key(str(key_file)).keyid.encode() in data for _, data in searched)
    forms = encodings(key_file)
    assert [path for path, data in searched if any(form in data for form in forms)] == []
    assert any(form in key_file.read_bytes() for form in forms)  # they would be found


def test_a_key_that_is_replaced_while_workers_run_is_used_from_the_next_start(tmp_path, key_file, web):
    first = read_key(str(key_file))

    def replaces(handler) -> None:
        key_file.unlink()
        make_key(str(key_file))
        handler.send(200, article("a", links=("/b",)))

    here = web.site("127.0.0.2", {"/a": replaces, "/b": Answer(body=article("b"))})
    done = crawl(tmp_path / "corpus", web, [f"{here}/a"], BOT_SIGNATURE_KEY_FILE=key_file)
    assert set(done.kept) == {f"{here}/a", f"{here}/b"}, done.log[-3000:]
    assert failures(web) == []
    second = read_key(str(key_file))
    assert second.keyid != first.keyid
    web.keys = (second,)
    web.site("127.0.0.3", {"/c": Answer(body=article("c"))})
    web.log.seen.clear()
    crawl(tmp_path / "corpus", web, [f"{web.base('127.0.0.3')}/c"], BOT_SIGNATURE_KEY_FILE=key_file)
    assert "/c" in web.log.paths("127.0.0.3")
    assert failures(web) == []
    runs = json.loads((tmp_path / "corpus" / "manifest.json").read_text())["runs"]
    assert [run["policy"]["signature_keyid"] for run in runs] == [first.keyid, second.keyid]


@pytest.mark.parametrize("shift", [-3600, 3600])
def test_a_worker_whose_own_clock_is_wrong_signs_with_the_time_of_the_frontier(
    tmp_path, key_file, web, monkeypatch, shift
):
    (tmp_path / "sitecustomize.py").write_text(SHIFTED.format(shift=shift))
    here = web.site("127.0.0.2", {"/": Answer(body=article("a"))})
    settings = SETTINGS | {"CORPUS_DIR": tmp_path / "corpus", "NETWORK_PORTS": web.port, "BOT_SIGNATURE_AGENT": AGENT}
    done = scrapy(
        "crawl", "corpus", "-a", f"url={here}/", settings=settings | {"BOT_SIGNATURE_KEY_FILE": key_file},
        PYTHONPATH=f"{tmp_path}:{PROJECT}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "/" in web.log.paths("127.0.0.2")
    assert failures(web) == []


def test_two_workers_sign_with_one_key(tmp_path, key_file, web):
    here = web.site("127.0.0.2", {f"/{n}": Answer(body=article(n)) for n in range(8)})
    settings = SETTINGS | {"CORPUS_DIR": tmp_path / "corpus", "NETWORK_PORTS": web.port, "BOT_SIGNATURE_AGENT": AGENT}
    settings |= {"BOT_SIGNATURE_KEY_FILE": key_file, "CONCURRENT_REQUESTS": 2}
    seeds = ",".join(f"{here}/{n}" for n in range(8))
    done = scrapy("work", "corpus", "--workers", "2", "-a", f"url={seeds}", settings=settings)
    assert done.returncode == 0, done.stderr[-3000:]
    assert {f"/{n}" for n in range(8)} <= set(web.log.paths("127.0.0.2"))
    assert failures(web) == []
    runs = json.loads((tmp_path / "corpus" / "manifest.json").read_text())["runs"]
    assert [run["policy"]["signature_keyid"] for run in runs] == [read_key(str(key_file)).keyid] * 2


# --- what cannot be signed is told before the first request ----------------------------------------------------------


def test_everything_that_is_wrong_is_told_at_once_and_nothing_is_asked(tmp_path, key_file, web):
    here, _ = two_sites(web)
    key_file.write_text("")
    done = crawl(tmp_path / "corpus", web, [f"{here}/"], BOT_SIGNATURE_KEY_FILE=key_file, DOWNLOAD_DELAY="soon")
    assert done.returncode == 1
    assert f"BOT_SIGNATURE_KEY_FILE={str(key_file)!r}: the file is empty" in done.log
    assert "DOWNLOAD_DELAY='soon'" in done.log
    done = crawl(
        tmp_path / "corpus", web, [f"{here}/"], BOT_SIGNATURE_KEY_FILE=tmp_path / "none", BOT_SIGNATURE_AGENT=""
    )
    assert done.returncode == 1
    assert "the file cannot be read: No such file or directory" in done.log
    assert "BOT_SIGNATURE_AGENT is not set: give the URL of the published key" in done.log
    wrong = {"BOT_SIGNATURE_KEY_FILE": tmp_path / "none", "BOT_SIGNATURE_AGENT": "http://bot.example.org/"}
    done = crawl(tmp_path / "corpus", web, [f"{here}/"], **wrong)
    assert (done.returncode, done.log.count("BOT_SIGNATURE_AGENT")) == (1, 1), "what is set is not said to be missing"
    assert web.log.seen == []


def test_an_agent_without_a_key_is_told(tmp_path, web):
    here, _ = two_sites(web)
    done = crawl(tmp_path / "corpus", web, [f"{here}/"])
    assert done.returncode == 1
    assert "BOT_SIGNATURE_KEY_FILE is not set: gristmill botkey new FILE makes a key" in done.log
    assert web.log.seen == []


@pytest.mark.parametrize("command", ["fetch", "optout", "view"])
def test_commands_that_ask_for_one_page_check_the_key_first(web, command):
    here, _ = two_sites(web)
    settings = {"NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": web.port, "BOT_SIGNATURE_AGENT": AGENT}
    done = scrapy(command, f"{here}/page", settings=settings)
    assert done.returncode in {1, 2}
    assert "BOT_SIGNATURE_KEY_FILE is not set" in done.stderr
    assert web.log.seen == []


def test_a_page_that_is_looked_at_alone_is_signed_like_a_crawl(tmp_path, key_file, web):
    here, _ = two_sites(web)
    settings = {"NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": web.port, "BOT_SIGNATURE_AGENT": AGENT}
    settings |= {"BOT_SIGNATURE_KEY_FILE": key_file, "DOWNLOAD_DELAY": 0}
    done = scrapy("fetch", f"{here}/page", settings=settings)
    assert done.returncode == 0, done.stderr
    assert "/page" in web.log.paths("127.0.0.2")
    assert failures(web) == []


def test_a_crawl_of_another_name_cannot_borrow_the_agent(tmp_path, key_file, web):
    """The verifier holds the key of the directory; a user agent alone, or another key, is not enough."""
    make_key(str(tmp_path / "other.pem"))
    here, _ = two_sites(web)
    crawl(tmp_path / "corpus", web, [f"{here}/"], BOT_SIGNATURE_KEY_FILE=tmp_path / "other.pem")
    assert web.log.seen
    assert all(seen.error for seen in web.log.seen)


def test_a_worker_without_the_signature_joins_a_crawl_that_has_one(tmp_path, key_file, web):
    """A signature decides nothing about a page: keys are changed one worker after the other."""
    here, there = two_sites(web)
    crawl(tmp_path / "corpus", web, [f"{here}/"], BOT_SIGNATURE_KEY_FILE=key_file)
    done = crawl(tmp_path / "corpus", web, [f"{there}/new"], BOT_SIGNATURE_AGENT="")
    assert done.returncode == 0, done.log[-3000:]
    runs = json.loads((tmp_path / "corpus" / "manifest.json").read_text())["runs"]
    assert ["signature_keyid" in run["policy"] for run in runs] == [True, False]
