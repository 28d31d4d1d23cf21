"""`gristmill dataset exclude` and `select` on a corpus that a real crawl made, and what later crawls do with it."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.dataset.exclude import refused_domains, withdrawals
from crawler.dataset.rewrite import read_files
from crawler.dataset.select import Selection
from crawler.dataset.select import select as select_records
from crawler.dataset.verify import verify
from crawler.operations import exclude, select
from crawler.operations.declared import Work, WrongCall
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_records
from tests.support import process
from tests.support.operations import problems_of
from tests.support.serving import Handler, LoopbackServer

STAYS, LEAVES = "127.0.5.2", "127.0.5.3"
# Our own text.
TEXT = """\
The {phrase} path leads along the stream and crosses it twice before the mill. In spring the lower
ford is under water, so people take the plank bridge that the parish repairs every autumn. Behind
the mill the ground rises, and the path divides where an old boundary stone stands among the
beeches. The left branch is the shorter one, but it is steep, and after rain the clay makes it slow.
The right branch goes round the hill and meets the road near the chapel, which is open on Sundays.
From there the bus takes a quarter of an hour to the station. Those who want to walk further can
follow the ridge as far as the quarry; it was given up long ago, and in the evening swallows nest in
its walls. There is water at the chapel and again at the quarry keeper's house, where the present
owner has put a tap beside the door. Dogs should be on a lead between March and July because of the
lapwings in the wet meadow below the {phrase} farm."""


class SiteHandler(Handler):
    server: Web

    def respond(self) -> None:
        host = self.address
        self.server.asked.append((host, self.path))
        if self.path not in {"/a", "/b"}:
            self.send(404)
            return
        phrase = f"{'heron' if host == STAYS else 'kestrel'}{self.path[1:]}"
        lines = TEXT.format(phrase=phrase).split(". ")
        turned = lines[::-1] if self.path == "/b" else lines
        paragraphs = "".join(f"<p>{'. '.join(turned[n : n + 4])}.</p>" for n in range(0, len(turned), 4))
        body = f"<html lang=en><title>{phrase}</title><main>{paragraphs}</main></html>"
        if host == LEAVES:
            body = body.replace("mill", "forge").replace("chapel", "harbour").replace("path", "causeway")
        self.send(200, body.encode())


class Web(LoopbackServer):
    def __init__(self) -> None:
        super().__init__(SiteHandler)
        self.asked: list[tuple[str, str]] = []


@pytest.fixture(scope="module")
def web():
    with Web() as server:
        yield server


def scrapy(web: Web, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    values = {"NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": web.server_address[1], "DOWNLOAD_DELAY": 0}
    values |= {"CORPUS_DIR": folder, "PROGRESS": "off", "STAGE_WORKERS": 0, "QUALITY_MIN_SCORE": 0}
    values |= {"NEARDUP_THRESHOLD": 1, "PII_PERSON": "off"}
    return process.scrapy(*arguments, settings=values)


def urls(web: Web, *hosts: str) -> str:
    return ",".join(f"http://{host}:{web.server_address[1]}/{page}" for host in hosts for page in "ab")


@pytest.fixture(scope="module")
def crawled(web, tmp_path_factory):
    folder = tmp_path_factory.mktemp("withdrawal") / "corpus"
    done = scrapy(web, folder, "crawl", "corpus", "-a", f"url={urls(web, STAYS, LEAVES)}")
    assert done.returncode == 0, done.stderr
    assert len(kept(folder)) == 4, done.stderr
    return folder


def kept(folder: Path) -> dict[str, Any]:
    place = Place(str(folder))
    return {r["url"]: r for entry in read_files(place) for r in read_records(place, entry["path"])}


def test_a_subset_is_a_corpus_of_its_own(web, crawled, tmp_path):
    out = tmp_path / "subset"
    arguments = ("--domain", f"{STAYS}:{web.server_address[1]}", "--where", "word_count>=100", "--language", "en")
    done = scrapy(web, crawled, "dataset", "select", *arguments, "--out", str(out), str(crawled))
    assert done.returncode == 0 and "2 of 4 documents" in done.stdout, done.stderr
    assert set(kept(out)) == {url for url in kept(crawled) if STAYS in url}
    assert not verify(Place(str(out))).damage
    run = orjson.loads((out / "manifest.json").read_bytes())["runs"][-1]
    assert run["selected_from"]["where"] == ["word_count>=100"] and run["selected_from"]["read"] == 4
    with pytest.raises(StorageError, match="expected an empty or new folder"):
        select_records(Place(str(crawled)), Place(str(out)), Selection(), max_bytes=1_000_000, now=0.0)


@pytest.mark.parametrize(
    ("work", "arguments", "words"),
    [
        (select, ["--out", "x", "--where", "wordcount>3"], "not a field of the record"),
        (select, ["--out", "x", "--where", "word_count"], "expected FIELD=VALUE"),
        (exclude, [], "use --domain, --licence or --allowlist"),
        (exclude, ["--domain", "a.example"], "--reason is missing"),
        (exclude, ["--domain", "https://a.example/", "--reason", "x"], "expected a domain such as example.org"),
    ],
)
def test_a_wrong_call_says_what_is_expected(crawled, work, arguments, words):
    with pytest.raises(WrongCall, match=re.escape(words)):
        called(work.WORK, crawled, *arguments)


def called(work: Work, folder, *arguments, **settings):
    return problems_of(work, *arguments, folder, **settings)


def test_where_the_frontier_does_not_answer_the_corpus_is_done_and_the_call_fails(three_domains, capsys):
    wish = ("--domain", "birch.example", "--reason", "a letter", "--yes")
    (problem,) = called(exclude.WORK, three_domains.path, *wish, REDIS_URL="redis://127.0.0.1:1/0")
    assert "the corpus was changed" in problem and "run the same command again" in problem
    assert {record["domain"] for record in three_domains.records()} == {"alder.example", "cedar.example"}
    assert called(exclude.WORK, three_domains.path, *wish) == []
    assert "there is no frontier here" in capsys.readouterr().out


def test_one_command_withdraws_what_an_allowlist_no_longer_grants(three_domains, tmp_path, capsys):
    allowlist = tmp_path / "allowlist.yaml"
    allowlist.write_text(
        "- {domain: alder.example, tier: A, licence: CC-BY-4.0}\n"
        "- {domain: cedar.example, tier: A, licence: CC-BY-4.0}\n"
    )
    assert called(exclude.WORK, three_domains.path, "--allowlist", str(allowlist), "--yes") == []
    assert {record["domain"] for record in three_domains.records()} == {"alder.example"}  # cedar was kept under CC0-1.0
    assert refused_domains(three_domains.place) == {"birch.example"}
    (wish,) = withdrawals(three_domains.place)
    assert wish["rule"] == f"allowlist sha256:{hashlib.sha256(allowlist.read_bytes()).hexdigest()}"
    assert "birch.example: never requested again" in capsys.readouterr().out


def test_without_a_yes_nothing_changes(web, crawled):
    domain = f"{LEAVES}:{web.server_address[1]}"
    before = (crawled / "manifest.json").read_bytes()
    done = scrapy(
        web, crawled, "dataset", "exclude", "--domain", domain, "--address-only", "--reason", "x", str(crawled)
    )
    assert done.returncode == 1 and "2 kept documents" in done.stdout and "add --yes" in done.stderr
    assert (crawled / "manifest.json").read_bytes() == before


def test_a_withdrawn_domain_is_gone_and_no_later_crawl_or_replay_brings_it_back(web, crawled, unpacked, tmp_path):
    archive = tmp_path / "old.warc.gz"
    archive.write_bytes(next((crawled / "archive").glob("*.warc.gz")).read_bytes())
    domain = f"{LEAVES}:{web.server_address[1]}"
    words = ("--domain", domain, "--address-only", "--reason", "letter", "--yes")  # the texts of both hosts are alike
    done = scrapy(web, crawled, "dataset", "exclude", *words, str(crawled))
    assert done.returncode == 0 and "2 documents and 2 raw pages are gone" in done.stdout, done.stderr
    assert "0 waiting URLs were dropped, 2 claims in the duplicate index are free again" in done.stdout
    assert {url for url in kept(crawled) if LEAVES in url} == set()

    web.asked.clear()
    other = scrapy(web, crawled, "crawl", "corpus", "-s", "CRAWL_ID=other", "-a", f"url={urls(web, LEAVES)}")
    replay = scrapy(web, crawled, "crawl", "replay", "-s", "CRAWL_ID=third", "-a", f"archive={archive}")
    assert (other.returncode, replay.returncode) == (0, 0), other.stderr + replay.stderr
    assert [path for host, path in web.asked if host == LEAVES] == []
    assert {url for url in kept(crawled) if LEAVES in url} == set()
    place = Place(str(crawled))
    reasons = [r["reason"] for e in read_files(place, ("rejected",)) for r in read_records(place, e["path"])]
    assert reasons.count("withdrawn") == 2  # in the replay; the other crawl names its seeds at the start
    found = verify(place)
    assert not found.damage and not found.surplus
    assert b"kestrel" not in unpacked(crawled)
