"""What leaves the corpus leaves its images in the same call: replaced and gone pages, lifetimes, ended licences."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from crawler.dataset.lifetimes import Lifetimes
from crawler.frontier.client import Frontier
from crawler.images.folder import Folder
from crawler.images.withdraw import withdraw_from_images
from crawler.operations import exclude, expire, supersede
from crawler.operations import images as operation
from crawler.operations.declared import WrongCall
from crawler.server.embedded import EmbeddedServer
from crawler.storage.files.place import Place
from tests.images import pictures as p
from tests.images.hosts import figure, images, jpeg, page, rows_in
from tests.images.test_images_life import everything, kept
from tests.support.corpus_crawl import crawl
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.operations import answer_of

AGAIN = {"RECRAWL": 1, "RECRAWL_MIN_SECONDS": 0, "RECRAWL_INTERVAL_SECONDS": 0, "RETRY_TIMES": 0}
NAMES = ("gone", "lapsed", "old", "stays")
ENTRY = "- {domain: '%s', expires: %s}\n"


@pytest.fixture
def web() -> Iterator[PolicyWeb]:
    with PolicyWeb() as web:
        yield web


def in_the_frontier(corpus: Path, what: Callable[[Frontier], Awaitable[bool]]) -> None:
    async def main(url: str) -> None:
        frontier = Frontier(url, "crawl")
        await frontier.open()
        assert await what(frontier)
        await frontier.close()

    with EmbeddedServer(corpus / "frontier") as url:
        asyncio.run(main(url))


def outcomes(out: Path) -> dict[str, str]:
    return {row["page_url"].rpartition("/")[2]: row["outcome"] for row in rows_in(out)}


def test_each_image_leaves_when_its_page_or_its_licence_does_without_another_call(web, tmp_path):
    hosts = {name: f"127.6.0.{number}" for number, name in enumerate(NAMES, 1)}
    pages = {name: web.site(each, {"/x": jpeg(p.picture(name))}) + "/x" for name, each in hosts.items()}
    routes = {f"/{name}": page(n, figure(url, f"The {name} view")) for n, (name, url) in enumerate(pages.items())}
    site = web.site("127.6.1.1", routes)
    allowlist = tmp_path / "allow.yaml"

    def grant(lapsed: str) -> None:
        ends = dict.fromkeys(NAMES, "2099-01-01") | {"lapsed": lapsed}
        entries = "".join(ENTRY % (f"{hosts[name]}:{web.port}", ends[name]) for name in NAMES)
        allowlist.write_text(f"defaults: {{tier: A, licence: CC0-1.0}}\ndomains:\n{entries}")

    grant("2099-01-01")
    seeds = [f"{site}/{name}" for name in NAMES]
    corpus, out = crawl(tmp_path / "corpus", seeds, web.port).folder, tmp_path / "out"
    scope = f"{hosts['stays']}:{web.port}"
    in_the_frontier(corpus, lambda frontier: frontier.control.pause(scope))
    code, answer, log = images(corpus, out, web.port, "--allowlist", str(allowlist))
    assert (code, answer["outcomes"]) == (0, {"kept": 3, "waiting": 1}), log
    assert web.asked[hosts["stays"]] == []
    in_the_frontier(corpus, lambda frontier: frontier.control.resume(scope))
    code, _, log = images(corpus, out, web.port, "--allowlist", str(allowlist))
    assert (code, set(kept(out).values())) == (0, set(NAMES)), log

    web.sites["127.6.1.1"] = {**routes, "/gone": Answer(410)}
    done = crawl(tmp_path / "corpus", seeds, web.port, **AGAIN)
    assert done.returncode == 0, done.log[-2000:]
    assert outcomes(out)["gone"] == "page_gone"
    assert set(kept(out).values()) == set(NAMES) - {"gone"}
    assert b"The gone view" not in everything(out)

    grant("2020-01-01")
    answer = answer_of(exclude.WORK, corpus, "--again", CORPUS_DIR=str(corpus))
    assert (answer.problems, answer.facts["images"]) == ([], {str(out): 1})
    assert outcomes(out)["lapsed"] == "licence_expired"

    lives = {"DOCUMENT_TTL_DAYS": "*:1000", "CORPUS_DIR": str(corpus)}
    assert answer_of(expire.WORK, corpus, **lives).facts["images"] == {str(out): 0}
    place = Place(str(corpus))
    (left,) = withdraw_from_images(place, Lifetimes.of(["*:1000"]), now=4e9)  # some decades later
    assert (left.samples, left.problem) == (2, "")
    assert set(outcomes(out).values()) == {"page_gone", "licence_expired"}
    assert json.loads((out / "images.json").read_text())["counts"] == {"documents": 0, "references": 4}

    grant("2099-01-01")
    code, _, log = images(corpus, out, web.port, "--allowlist", str(allowlist), REDIS_URL="redis://127.0.0.1:9")
    assert (code, "redis://127.0.0.1:9" in log) == (1, True), log
    asked = {name: len(web.asked[each]) for name, each in hosts.items()}
    code, answer_again, log = images(corpus, out, web.port, "--allowlist", str(allowlist))
    assert (code, set(kept(out).values())) == (0, set(NAMES) - {"gone"}), log
    assert answer_again["samples"] == 3
    assert len(web.asked[hosts["gone"]]) == asked["gone"]

    counted = answer_of(operation.WORK, corpus, "--dry-run", "--domain", "127.6.9.9", CORPUS_DIR=str(corpus)).facts
    assert (counted["pages"], counted["left_out"]) == (0, {"of another domain": 3})
    code, _, log = images(corpus, out, web.port, "--domain", "127.6.1.1")
    assert (code, "was begun with domains []; give these again, or another --out" in log) == (1, True), log
    with pytest.raises(WrongCall, match="expected a domain such as"):
        answer_of(operation.WORK, corpus, "--dry-run", "--domain", "https:///x", CORPUS_DIR=str(corpus))

    allowlist.unlink()
    problems = answer_of(supersede.WORK, corpus, CORPUS_DIR=str(corpus)).problems
    assert [f"{out}: its allowlist cannot be read" in problem for problem in problems] == [True]
    assert len(kept(out)) == 3
    with Folder(out).at_work():
        (problem,) = answer_of(supersede.WORK, corpus, CORPUS_DIR=str(corpus)).problems
    assert "another process is at work there; wait for its end; images that have to leave may still be in it" in problem
