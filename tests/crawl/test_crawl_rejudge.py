"""Other settings reach the pages of a corpus from its own archive, in one step, as a replay would judge them."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections import Counter
from typing import Any

import pytest

from crawler.config import from_mapping
from crawler.dataset.rejudge import rejudge as untold
from crawler.stages.classify.model import open_classifier
from crawler.storage.files.place import Place
from tests.classify.conftest import line_of
from tests.support import warm
from tests.support.crawl import Crawl
from tests.support.places import PROJECT
from tests.support.process import clean_environment, options, scrapy
from tests.support.serving import Handler, LoopbackServer, article

HOST = "127.0.42.7"
OF_THE_RUN = ("crawl_id", "worker_id", "warc_file")
BEFORE = {"EXTRACTION_MIN_WORDS": 50, "NEARDUP_THRESHOLD": 1, "QUALITY_MIN_SCORE": 0, "QUALITY_RULES": ""}
SHORT = {**BEFORE, "EXTRACTION_MIN_WORDS": 200}
STAGES = {"STAGE_WORKERS": 0, "PII_PERSON": "off"}


class _Handler(Handler):
    server: Web

    def respond(self) -> None:
        self.server.asked.append(self.path)
        status, body, headers = self.server.pages.get(self.path, (404, b"", {}))
        self.send(status, body, headers=headers)


class Web(LoopbackServer):
    """Six pages and what links to nothing: lengths from 70 words to 300, an exact copy, a refusal, a missing page."""

    def __init__(self) -> None:
        super().__init__(_Handler, HOST)
        links = ("/short", "/long", "/other", "/copy", "/refused", "/missing")
        self.asked: list[str] = []
        self.pages: dict[str, tuple[int, bytes, dict[str, str]]] = {
            "/": (200, article("root", links=links, title="The root"), {}),
            "/short": (200, thin("short"), {}),
            "/long": (200, article("long", title="The long one"), {}),
            "/other": (200, article("other", title="Another one"), {}),
            "/copy": (200, article("long", title="The long one"), {}),
            "/refused": (200, article("refused", title="Refused"), {"X-Robots-Tag": "noai"}),
        }


FINNISH = (
    "<html lang=fi><title>Mylly</title><main><h1>Vanha mylly</h1><p>Kylän vanha mylly seisoo joen rannalla. Isäni "
    "jauhoi siellä viljaa joka syksy, kun sato oli korjattu pellolta ja illat alkoivat pimetä. Vesi pyöritti "
    "suurta ratasta yötä päivää, eikä kukaan nukkunut ennen kuin viimeinen säkki oli täynnä.</p><p>Talvella joki "
    "jäätyi, ja mylly oli hiljaa kevääseen asti. Silloin korjattiin kivet, voideltiin akselit ja kerrottiin tarinoita "
    "takkatulen ääressä. Nykyään siellä on pieni kahvila, jossa kesäisin tarjoillaan tuoretta leipää ja "
    "mustikkapiirakkaa kaikille, jotka kulkevat tietä pitkin kohti merta.</p></main></html>"
)
"""Our own text; no model for names is installed in its language."""


def thin(seed: str) -> bytes:
    """A page of about eighty words."""
    words = article(seed).split(b"<p>")[1].split(b"</p>")[0].split()[:80]
    return b"<html lang=en><title>Short</title><main><p>" + b" ".join(words) + b".</p></main></html>"


@pytest.fixture
def web():
    with Web() as server:
        yield server


@pytest.fixture
def crawl(tmp_path, web):
    made = Crawl(tmp_path / "corpus", {"NETWORK_PORTS": web.port, **BEFORE, **STAGES})
    done = made.run({"url": f"http://{HOST}:{web.port}/"})
    assert done.returncode == 0, done.stderr
    yield made
    for process in made.processes:
        if process.poll() is None:
            process.kill()
            process.communicate()


def rejudge(crawl: Crawl, **settings: object) -> dict[str, Any]:
    done = scrapy("dataset", "rejudge", "--json", crawl.folder, settings=given(crawl) | settings)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def given(crawl: Crawl) -> dict[str, object]:
    return {"NETWORK_ALLOW": "127.0.0.0/8", "DOWNLOAD_TIMEOUT": 300, **crawl.settings}


def everything(crawl: Crawl) -> list[dict[str, Any]]:
    found = [record for kind in ("shards", "rejected", "held/pii", "held/yield") for record in crawl.records(kind)]
    return sorted(found, key=lambda record: (str(record["canonical_url"]), str(record["crawled_at"])))


def verdicts(crawl: Crawl) -> dict[str, str]:
    return {str(r["url"]).rpartition("/")[2]: str(r.get("reason", "kept")) for r in everything(crawl)}


def is_whole(crawl: Crawl) -> None:
    done = scrapy("dataset", "verify", crawl.folder)
    assert done.returncode == 0 and re.search("each page exactly once|pages once each", done.stdout), (
        done.stdout + done.stderr
    )


def test_a_version_judged_again_is_what_a_replay_with_these_settings_makes(crawl, tmp_path):
    assert verdicts(crawl)["short"] == "kept" and set(Counter(verdicts(crawl).values())) >= {"kept", "exact_duplicate"}
    answer = rejudge(crawl, **SHORT)
    assert answer["corpus_version"] == 2 and answer["lost"] == 1 and answer["gained"] == 0
    assert verdicts(crawl)["short"] == "too_short"
    again = Crawl(tmp_path / "again", crawl.settings)
    done = again.run({"archive": str(crawl.folder / "archive")}, spider="replay", **SHORT)
    assert done.returncode == 0, done.stderr
    replayed = {record["canonical_url"]: plain(record) for record in everything(again)}
    here = {record["canonical_url"]: plain(record) for record in everything(crawl) if record["warc_file"]}
    assert here == replayed
    is_whole(crawl)


def plain(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in OF_THE_RUN}


def test_what_was_lost_comes_back_with_the_settings_before_and_its_text_belongs_to_it_again(crawl):
    before = [plain(record) for record in everything(crawl)]
    rejudge(crawl, **SHORT)
    answer = rejudge(crawl)
    assert answer["gained"] == 1 and answer["corpus_version"] == 3
    assert [plain(record) for record in everything(crawl)] == before
    is_whole(crawl)


def test_only_what_the_settings_can_change_is_judged_and_the_answer_says_how_many(crawl):
    answer = rejudge(crawl, LANGUAGE_MIN_SCORE=0.1)
    archived = [record for record in everything(crawl) if record["warc_file"]]
    read = [record for record in archived if record.get("stage") not in {"fetch", "optout", "parse", "extraction"}]
    assert answer["judged"] == len(read) and answer["same"] == len(archived) - len(read)
    assert {record["config_digest"] for record in archived} == {read[0]["config_digest"]}
    is_whole(crawl)


@pytest.mark.parametrize("settings", [{}, {"DOWNLOAD_TIMEOUT": 7, "RETRY_TIMES": 1, "NETWORK_PORTS": "80,443"}])
def test_settings_that_judge_nothing_make_no_version(crawl, settings):
    before = (crawl.folder / "manifest.json").read_bytes()
    answer = rejudge(crawl, **settings)
    assert (answer["judged"], answer["corpus_version"]) == (0, None)
    assert (crawl.folder / "manifest.json").read_bytes() == before


def test_what_stands_in_a_file_that_a_setting_names_reaches_the_pages(crawl, tmp_path):
    (text,) = [record["text"] for record in crawl.records("shards") if record["url"].endswith("/other")]
    tests, profiles = tmp_path / "exam.jsonl", tmp_path / "profiles.yaml"
    tests.write_text(json.dumps({"question": text}))
    settings = {**BEFORE, "EVAL_SETS": tests}
    assert rejudge(crawl, **settings)["lost"] == 1
    assert verdicts(crawl)["other"] == "contaminated"
    profiles.write_text("long:\n  thresholds:\n    gopher_quality.min_words: 200\n")
    settings |= {"QUALITY_RULES": "gopher_quality", "QUALITY_PROFILE": "long", "QUALITY_PROFILES_FILE": profiles}
    assert rejudge(crawl, **settings)["lost"] == 1
    assert verdicts(crawl)["short"] == "gopher_short_doc"
    profiles.write_text("long:\n  thresholds:\n    gopher_quality.min_words: 20\n")
    assert rejudge(crawl, **settings)["gained"] == 1
    is_whole(crawl)


def test_a_new_classifier_reaches_the_pages_and_says_what_it_says_of_their_texts(crawl, tmp_path):
    labels = tmp_path / "labels.jsonl"
    lines = [line_of(good, number) for number in range(30) for good in (True, False)]
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = scrapy("classify", "train", "taste", "--labels", labels, "--out", tmp_path, "--action", "drop")
    assert made.returncode == 0, made.stderr
    model = open_classifier(str(tmp_path / "taste.npz"))
    kept = {record["url"]: model.score(record["text"]) >= model.threshold for record in crawl.records("shards")}
    rejudge(crawl, **BEFORE, CLASSIFIERS=f"taste:{tmp_path / 'taste.npz'}")
    after = {record["url"]: record for record in everything(crawl) if record["url"] in kept}
    assert {url: "reason" not in record for url, record in after.items()} == kept
    assert all(record["classifier_scores"] for record in after.values())
    is_whole(crawl)


def test_the_frontier_goes_on_and_fetches_nothing_again(crawl, web):
    rejudge(crawl, **SHORT)
    asked = len(web.asked)
    web.pages["/new"] = 200, thin("new"), {}
    done = crawl.run({"url": f"http://{HOST}:{web.port}/new"}, **SHORT)
    assert done.returncode == 0, done.stderr
    assert [verdicts(crawl)[name] for name in ("short", "new")] == ["too_short", "too_short"]
    assert {path for path in web.asked[asked:] if path in web.pages} == {"/new"}
    is_whole(crawl)


def test_a_rejudging_that_is_killed_changes_nothing_and_is_repeated(crawl):
    before = {path: path.read_bytes() for path in sorted((crawl.folder / "shards").iterdir())}
    manifest = (crawl.folder / "manifest.json").read_bytes()
    command = [sys.executable, "-m", "crawler.commands.gristmill", "dataset", "rejudge", str(crawl.folder)]
    process = warm.Popen(
        [*command, *options(given(crawl) | SHORT)], cwd=PROJECT, env=clean_environment(), start_new_session=True
    )
    mark = crawl.folder / ".rejudge" / "state.json"
    while not mark.exists():
        assert process.poll() is None, "it ended before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert {path: path.read_bytes() for path in sorted((crawl.folder / "shards").iterdir())} == before
    assert (crawl.folder / "manifest.json").read_bytes() == manifest
    is_whole(crawl)
    assert rejudge(crawl, **SHORT)["lost"] == 1
    assert not (crawl.folder / ".rejudge").exists()


def test_it_is_refused_while_a_worker_holds_the_corpus(crawl, web):
    from crawler.config import from_mapping
    from crawler.storage.corpus.corpus import Corpus

    worker = Corpus(from_mapping({"CORPUS_DIR": str(crawl.folder), "WORKER_ID": "other"}))
    worker.open()
    try:
        done = scrapy("dataset", "rejudge", crawl.folder, settings=given(crawl) | SHORT)
    finally:
        worker.close()
    assert done.returncode == 1 and "is at work" in done.stderr
    assert verdicts(crawl)["short"] == "kept"


def test_pages_whose_archive_has_expired_keep_their_verdict_and_are_counted(crawl):
    kept = len(crawl.records())
    assert scrapy("dataset", "expire", "--older-than", "0.0000001", crawl.folder).returncode == 0
    answer = rejudge(crawl, **SHORT)
    assert (answer["judged"], answer["corpus_version"]) == (0, None) and answer["expired"] >= kept
    assert verdicts(crawl)["short"] == "kept"


def test_a_withdrawn_page_stays_withdrawn(crawl, web):
    url = f"http://{HOST}:{web.port}/other"
    done = scrapy("dataset", "exclude", "--url", url, "--reason", "asked", "--yes", crawl.folder, settings=given(crawl))
    assert done.returncode == 0, done.stderr
    rejudge(crawl, **SHORT)
    assert url not in [record["url"] for record in everything(crawl)]
    is_whole(crawl)


def test_the_duplicate_index_of_the_crawl_knows_what_is_kept_after_each_judging(crawl, web):
    assert rejudge(crawl, EXTRACTION_MIN_WORDS=5_000)["lost"] == 4
    assert rejudge(crawl)["gained"] == 4
    web.pages["/third"] = web.pages["/long"]
    assert crawl.run({"url": f"http://{HOST}:{web.port}/third"}).returncode == 0
    assert verdicts(crawl)["third"] == "exact_duplicate"
    is_whole(crawl)


def test_a_text_that_nothing_claims_any_more_is_kept_where_it_turns_up(crawl, web):
    rejudge(crawl, EXTRACTION_MIN_WORDS=150)
    assert verdicts(crawl)["short"] == "too_short"
    web.pages["/elsewhere"] = 200, thin("short"), {}
    settings = {"EXTRACTION_MIN_WORDS": 50, "CRAWL_RULES": "replace"}
    assert crawl.run({"url": f"http://{HOST}:{web.port}/elsewhere"}, **settings).returncode == 0
    assert verdicts(crawl)["elsewhere"] == "kept"


def test_the_same_command_tells_the_crawl_of_a_version_whose_maker_died_before(crawl, web):
    settings = given(crawl) | {"EXTRACTION_MIN_WORDS": 150}
    config = from_mapping(settings | {"CORPUS_DIR": str(crawl.folder)})
    place = Place(str(crawl.folder))
    made = untold(place, config, now=time.time())  # what is told to frontier and index comes after it
    assert made.version == 2 and verdicts(crawl)["short"] == "too_short"
    assert rejudge(crawl, EXTRACTION_MIN_WORDS=150)["corpus_version"] is None
    web.pages["/elsewhere"] = 200, thin("short"), {}
    again = {"EXTRACTION_MIN_WORDS": 50, "CRAWL_RULES": "replace"}
    assert crawl.run({"url": f"http://{HOST}:{web.port}/elsewhere"}, **again).returncode == 0
    assert verdicts(crawl)["elsewhere"] == "kept"


def test_after_a_second_visit_the_newest_version_of_each_page_is_judged_again_as_a_replay_does(crawl, web, tmp_path):
    again = {"RECRAWL": 1, "RECRAWL_INTERVAL_SECONDS": 0, "RECRAWL_MIN_SECONDS": 0}
    web.pages["/other"] = 200, article("other, changed", title="Another one, changed"), {}
    web.pages["/short"] = 404, b"", {}
    done = crawl.run({"url": f"http://{HOST}:{web.port}/"}, **again)
    assert done.returncode == 0, done.stderr
    settings = SHORT | {"RECRAWL_INTERVAL_SECONDS": 0, "RECRAWL_MIN_SECONDS": 0}
    answer = rejudge(crawl, **settings)
    other = Crawl(tmp_path / "again", crawl.settings)
    assert other.run({"archive": str(crawl.folder / "archive")}, spider="replay", **settings).returncode == 0
    last = {r["canonical_url"]: plain(r) for r in everything(other) if r.get("reason") != "unchanged"}
    here = {
        r["canonical_url"]: plain(r) for r in everything(crawl) if r.get("reason") != "unchanged" and r["warc_file"]
    }
    assert {url: record.get("reason") for url, record in here.items()} == {u: r.get("reason") for u, r in last.items()}
    for record in (*here.values(), *last.values()):
        if record.get("reason") == "gone":  # a crawl names the place of the page that was there, a replay its tombstone
            del record["warc_offset"], record["warc_record_id"]
    assert here == last
    assert answer["unreached"] == 0
    is_whole(crawl)


def test_pages_that_are_to_wait_for_a_person_go_to_held_and_come_back(crawl, web):
    web.pages["/finnish"] = 200, FINNISH.encode(), {}
    assert crawl.run({"url": f"http://{HOST}:{web.port}/finnish"}).returncode == 0
    assert verdicts(crawl)["finnish"] == "kept"
    answer = rejudge(crawl, PII_UNCOVERED="hold", PII_PERSON="all")
    assert [record["url"].rpartition("/")[2] for record in crawl.records("held/pii")] == ["finnish"]
    assert answer["held"] == 1
    back = rejudge(crawl)
    assert (back["gained"], crawl.records("held/pii"), verdicts(crawl)["finnish"]) == (1, [], "kept")
    is_whole(crawl)
