"""A page that was withdrawn is asked for by no crawl and kept by none, on whatever way it would come back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from crawler import settings as project
from crawler.dataset.living import Living
from crawler.dataset.rewrite import records_in
from crawler.observe.report.recrawl import recrawl_of
from crawler.operations import exclude, registry
from crawler.storage.corpus.registry import Registry
from crawler.storage.corpus.version import register, tell_replayed
from crawler.storage.files.place import Place
from tests.support.crawl import Crawl
from tests.support.operations import answer_of
from tests.support.process import scrapy
from tests.support.serving import Handler, LoopbackServer, article
from tests.support.three_domains import everything

HOST, MIRROR = "127.0.7.2", "127.0.7.3"
SECRET = b"<p>In the afternoon the ferryman Osbert Thrumbleton waved to the people on the other bank.</p>"


class _Handler(Handler):
    server: Web

    def respond(self) -> None:
        web = self.server
        web.asked.append(f"{self.address}{self.path}")
        if self.path == "/to-a":
            self.send(302, headers={"Location": "/a"})
            return
        body = web.pages.get(f"{self.address}{self.path.partition('?')[0]}")
        self.send(404) if body is None else self.send(200, body)


class Web(LoopbackServer):
    def __init__(self) -> None:
        super().__init__(_Handler)
        self.asked: list[str] = []
        self.pages: dict[str, bytes] = {}


@pytest.fixture
def web():
    with Web() as server:
        page = article("a", title="Of the ferry").replace(b"</main>", SECRET + b"</main>")
        server.pages |= {f"{HOST}/a": page, f"{HOST}/b": article("b", title="Of the bridge")}
        yield server


@pytest.fixture
def crawl(tmp_path, web):
    quick = {"NETWORK_PORTS": web.port, "QUALITY_MIN_SCORE": 0, "STAGE_WORKERS": 0, "RECRAWL_INTERVAL_SECONDS": 0}
    return Crawl(tmp_path / "corpus", {**quick, "QUALITY_RULES": "", "RECRAWL_MIN_SECONDS": 0})


def url(web: Web, path: str, host: str = HOST) -> str:
    return f"http://{host}:{web.port}/{path}"


def run(crawl: Crawl, *urls: str, **settings: Any) -> str:
    done = crawl.run({"url": ",".join(urls)} if urls else {}, **settings)
    assert done.returncode == 0, done.stderr
    return done.stderr


def withdraw(crawl: Crawl, *words: str, folder: Path | None = None) -> dict[str, Any]:
    done = answer_of(exclude.WORK, *words, "--reason", "a letter", "--yes", folder or crawl.folder)
    assert not done.problems
    return dict(done.facts)


def asked(web: Web, path: str) -> bool:
    return any(one.partition("?")[0] == f"{HOST}/{path}" for one in web.asked)


def kept(crawl: Crawl) -> set[str]:
    return {record["url"] for record in records_in(Place(str(crawl.folder)))}


def reasons(crawl: Crawl) -> dict[str, str]:
    return {
        str(record["canonical_url"]): str(record["reason"])
        for record in records_in(Place(str(crawl.folder)), ("rejected",))
    }


def held(folder: Path) -> int:
    return answer_of(registry.LINEAGE, folder, "--withdrawn").code


def test_no_crawl_asks_for_a_withdrawn_page_and_no_copy_of_it_is_kept(crawl, web, tmp_path):
    run(crawl, url(web, "a"), url(web, "b"))
    assert kept(crawl) == {url(web, "a"), url(web, "b")}, reasons(crawl)
    shutil.copytree(crawl.folder / "archive", tmp_path / "foreign")
    done = withdraw(crawl, "--url", url(web, "a"))
    assert (done["kept"], done["raw"], done["forgotten"]["untold"]) == (1, 1, ())

    page = web.pages[f"{HOST}/a"]
    web.pages[f"{MIRROR}/copy"] = page.replace(b"Of the ferry", b"Taken over")
    web.pages[f"{MIRROR}/near"] = page.replace(b"afternoon", b"evening").replace(b"<h1>", b"<h1>Near: ")
    web.pages[f"{HOST}/a"] = article("changed", title="Of something else")
    web.asked.clear()
    run(crawl, RECRAWL=1)  # the frontier was told, and knows the page from before
    said = run(  # another one was not
        crawl,
        *(url(web, "a?utm_source=mail"), url(web, "a?"), url(web, "to-a"), url(web, "b")),
        *(url(web, "copy", MIRROR), url(web, "near", MIRROR)),
        CRAWL_ID="second",
    )
    assert not asked(web, "a") and asked(web, "to-a")
    assert kept(crawl) == {url(web, "b")}, reasons(crawl)
    assert "1 seed was withdrawn" in said and f"{url(web, 'a')} (its address: entry 1)" in said
    found = reasons(crawl)
    assert [found[url(web, path, MIRROR)] for path in ("copy", "near")] == ["withdrawn", "withdrawn"]
    assert found[url(web, "a")] == "withdrawn" and found[url(web, "to-a")] == "redirected"

    for archive in (tmp_path / "foreign", crawl.folder / "archive"):
        done = crawl.run({"archive": f"{archive}/*.warc.gz"}, spider="replay", CRAWL_ID=f"replay-{archive.parent.name}")
        assert done.returncode == 0, done.stderr
    assert url(web, "a") not in kept(crawl)
    assert b"Thrumbleton" not in everything(crawl.folder) and held(crawl.folder) == 0


def test_what_was_withdrawn_by_words_or_an_allowlist_is_refused_without_its_frontier(crawl, web, tmp_path):
    """The detour of an allowlist with an `exclude` path, and no word about the server that the crawl used."""
    run(crawl, url(web, "a"), url(web, "b"))
    (tmp_path / "allow.yaml").write_text(f"- {{domain: '{HOST}:{web.port}', tier: A, licence: X, exclude: [/a]}}\n")
    shutil.move(crawl.folder / "frontier", tmp_path / "elsewhere")
    done = withdraw(crawl, "--allowlist", str(tmp_path / "allow.yaml"))
    assert (done["kept"], done["refused"], done["forgotten"]["untold"]) == (1, [], ("crawl",))
    web.pages[f"{HOST}/a"] = article("changed", title="Of something else")
    shutil.move(tmp_path / "elsewhere", crawl.folder / "frontier")
    web.asked.clear()
    run(crawl, RECRAWL=1)
    run(crawl, url(web, "a"), CRAWL_ID="second")
    assert not asked(web, "a")
    assert kept(crawl) == {url(web, "b")} and held(crawl.folder) == 0


def test_a_copy_is_refused_whatever_the_crawl_calls_a_duplicate(crawl, web):
    run(crawl, url(web, "a"))
    withdraw(crawl, "--containing", "osbert THRUMBLETON")
    web.pages[f"{MIRROR}/copy"] = web.pages[f"{HOST}/a"]
    web.pages[f"{MIRROR}/near"] = web.pages[f"{HOST}/a"].replace(b"afternoon", b"evening")
    run(
        crawl, url(web, "copy", MIRROR), url(web, "near", MIRROR),
        CRAWL_ID="second", NEARDUP_THRESHOLD=1, NEARDUP_SHINGLE_WORDS=3,
    )  # fmt: skip
    assert kept(crawl) == set() and set(reasons(crawl).values()) == {"withdrawn"}
    assert b"Thrumbleton" not in everything(crawl.folder)


def test_a_copy_is_refused_where_a_pipeline_of_the_users_own_stands_between_the_stages(crawl, web):
    run(crawl, url(web, "a"))
    withdraw(crawl, "--url", url(web, "a"))
    web.pages[f"{MIRROR}/copy"] = web.pages[f"{HOST}/a"]
    between = json.dumps({**project.ITEM_PIPELINES, "tests.crawl.slow_pipeline.SlowPipeline": 250})
    run(crawl, url(web, "copy", MIRROR), CRAWL_ID="second", ITEM_PIPELINES=between)
    assert kept(crawl) == set() and reasons(crawl)[url(web, "copy", MIRROR)] == "withdrawn"


def test_after_it_was_taken_back_the_page_is_fetched_and_kept_again(crawl, web):
    run(crawl, url(web, "a"), url(web, "b"))
    withdraw(crawl, "--domain", f"{HOST}:{web.port}")
    assert kept(crawl) == set()
    done = answer_of(exclude.WORK, "--undo", "1", "--reason", "the wrong site", crawl.folder)
    assert not done.problems
    run(crawl, url(web, "a"), url(web, "c"), CRAWL_ID="second")
    assert kept(crawl) == {url(web, "a")} and held(crawl.folder) == 0
    web.pages[f"{HOST}/c"] = article("c")
    run(crawl, url(web, "c"))  # the frontier of the first crawl takes the domain again, too
    assert url(web, "c") in kept(crawl)


def test_a_page_that_was_taken_back_is_judged_in_full_by_a_recrawl_though_it_is_as_it_was(crawl, web):
    run(crawl, url(web, "a"), url(web, "b"))
    withdraw(crawl, "--url", url(web, "a"))
    assert not answer_of(exclude.WORK, "--undo", "1", "--reason", "the wrong page", crawl.folder).problems
    run(crawl, RECRAWL=1)
    assert kept(crawl) == {url(web, "a"), url(web, "b")}, reasons(crawl)


def test_a_recrawl_counts_withdrawn_pages_and_those_that_their_site_refuses_by_now_as_such(crawl, web):
    run(crawl, url(web, "a"), url(web, "b"))
    withdraw(crawl, "--url", url(web, "a"))
    web.pages[f"{HOST}/b"] = web.pages[f"{HOST}/b"].replace(b"<title>", b'<meta name="robots" content="noai"><title>')
    run(crawl, RECRAWL=1)
    found = recrawl_of(Place(str(crawl.folder)).manifest()["runs"])
    assert found is not None and (found.new, found.changed, found.opted_out, found.withdrawn) == (0, 0, 1, 1)
    assert found.findings().endswith("0 decayed, 1 opted out, 1 withdrawn")
    assert kept(crawl) == set()  # so the next version was made


def test_what_was_refused_before_a_replay_is_also_what_the_corpus_refuses_whose_archive_is_read(crawl, web, tmp_path):
    """A withdrawal that was cut off: its entry stands, the archive still has the page."""
    run(crawl, url(web, "a"), url(web, "b"))
    shutil.copytree(crawl.folder, tmp_path / "copy")
    withdraw(crawl, "--url", url(web, "a"))
    shutil.copy(crawl.folder / "withdrawals.jsonl", tmp_path / "copy" / "withdrawals.jsonl")
    other = Crawl(tmp_path / "other", crawl.settings)
    done = other.run({"archive": f"{tmp_path}/copy/archive/*.warc.gz"}, spider="replay")
    assert done.returncode == 0, done.stderr
    assert kept(other) == {url(web, "b")} and reasons(other)[url(web, "a")] == "withdrawn"


def test_a_replay_hears_of_what_the_corpus_of_its_archives_withdraws_later(crawl, web, tmp_path):
    run(crawl, url(web, "a"), url(web, "b"))
    other = Crawl(tmp_path / "other", crawl.settings)
    done = other.run({"archive": f"{crawl.folder}/archive/*.warc.gz"}, spider="replay")
    assert done.returncode == 0, done.stderr
    assert kept(other) == {url(web, "a"), url(web, "b")} and held(other.folder) == 0
    said = withdraw(crawl, "--url", url(web, "a"))
    assert str(tmp_path / "other") in str(said)
    assert {record["url"] for record in Living(Place(str(other.folder))).kept()} == {url(web, "b")}
    assert held(other.folder) == held(crawl.folder) == 1


def test_a_seeding_names_what_was_withdrawn_and_does_not_put_it(crawl, web):
    run(crawl, url(web, "a"))
    withdraw(crawl, "--url", url(web, "a"))
    seeds = f"url={url(web, 'a')}?,{url(web, 'b')}"
    done = scrapy("seed", "-a", seeds, "--json", settings={"CORPUS_DIR": crawl.folder, "CRAWL_ID": "second"})
    assert done.returncode == 1 and f"{url(web, 'a')}: withdrawn" in done.stderr
    assert json.loads(done.stdout)["refused"] == {"withdrawn": 1} and json.loads(done.stdout)["added"] == 1


def test_a_replay_stops_where_it_cannot_know_what_is_withdrawn_and_goes_on_after_the_repair(crawl, web, tmp_path):
    """Whatever that corpus was made of may have withdrawn a page, and its manifest alone names it."""
    run(crawl, url(web, "a"), url(web, "b"))
    (crawl.folder / "manifest.json").write_text("{")
    other = Crawl(tmp_path / "other", crawl.settings)
    replay = {"archive": f"{crawl.folder}/archive/*.warc.gz"}
    done = other.run(replay, timeout=60, spider="replay")
    assert done.returncode == 1 and kept(other) == set()
    assert f"`gristmill dataset repair {crawl.folder}` writes it again" in done.stderr, done.stderr
    assert scrapy("dataset", "repair", str(crawl.folder)).returncode == 0
    done = other.run(replay, timeout=60, spider="replay")
    assert done.returncode == 0, done.stderr
    assert kept(other) == {url(web, "a"), url(web, "b")}, reasons(other)
    assert str(other.folder) in str(withdraw(crawl, "--url", url(web, "a")))


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_a_replay_ends_well_though_the_corpus_of_its_archives_is_lost_meanwhile(crawl, web, tmp_path, caplog, content):
    run(crawl, url(web, "a"))
    other = Crawl(tmp_path / "other", crawl.settings)
    assert other.run({"archive": f"{crawl.folder}/archive/*.warc.gz"}, spider="replay").returncode == 0
    place, manifest = Place(str(other.folder)), crawl.folder / "manifest.json"
    manifest.unlink() if content is None else manifest.write_text(content)
    tell_replayed(place, register(place, live=True))
    assert ("cannot be told" in caplog.text) == (content is not None)


def test_a_replay_into_the_corpus_of_its_archives_is_no_child_of_it_however_it_is_spelled(crawl, web):
    run(crawl, url(web, "a"))
    done = crawl.run({"archive": f"{crawl.folder}/archive/*.warc.gz"}, spider="replay", CRAWL_ID="again")
    assert done.returncode == 0, done.stderr
    spelled = Place(f"{crawl.folder}/../{crawl.folder.name}/")
    tell_replayed(spelled, register(spelled, live=True))
    assert not Registry(spelled).children()
