"""`gristmill seed` on a real Valkey: what it adds, what it refuses, what it says, and that workers share one scope."""

import asyncio
import itertools
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.frontier.operate import Order, act
from crawler.frontier.overview import overview
from crawler.frontier.seeding import SeedResult, SharedScope, join_scope, seed_frontier
from crawler.problems import InputError
from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.arguments import plan_of
from crawler.seeds.plan import plan_seeds
from crawler.seeds.scope import Scope, ScopeError
from crawler.server.embedded import EmbeddedServer
from crawler.urls.link import Link
from tests.support.frontier_shorthand import ack, reserve
from tests.support.places import PROJECT

T = TypeVar("T")
_serial = itertools.count()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with EmbeddedServer(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest.fixture
def crawl() -> str:
    return f"seed{os.getpid()}-{next(_serial)}"


def with_frontier(server: str, crawl: str, work: Callable[[Frontier], Awaitable[T]], limits: Limits | None = None) -> T:
    async def main() -> T:
        frontier = Frontier(server, crawl, limits)
        await frontier.open()
        try:
            return await work(frontier)
        finally:
            await frontier.close()

    return asyncio.run(main())


def seed(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(PROJECT), str(Path(__file__).parent)])
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "seed_command_settings", "PYTHONPATH": path}
    command = [sys.executable, "-W", "error", "-m", "scrapy", "seed", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


async def leased(frontier: Frontier) -> list[tuple[str, str, int]]:
    batch = await frontier.lease(10)
    return sorted((lease.url, lease.kind, lease.link.priority) for lease in batch.leases)


def test_seeds_reach_the_shared_frontier_once(server: str, crawl: str, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("https://a.org/1\nhttps://b.org/2\n")
    arguments = ["-a", "seeds=seeds.txt", "-a", "sitemap=https://c.org/s.xml"]
    settings = ["-s", f"REDIS_URL={server}", "-s", f"CRAWL_ID={crawl}"]
    first = seed(*arguments, *settings, folder=tmp_path)
    assert (first.returncode, first.stdout, first.stderr) == (0, "3 added, 0 known before, 0 refused\n", "")
    second = seed("-a", "url=https://a.org/1,https://a.org/3", *settings, folder=tmp_path)
    assert (second.returncode, second.stdout, second.stderr) == (0, "1 added, 1 known before, 0 refused\n", "")
    scope = Scope.from_json(with_frontier(server, crawl, lambda frontier: frontier.shared.scope_get()) or "")
    assert scope == Scope(frozenset({"a.org", "b.org"}), frozenset({"c.org"}))
    assert with_frontier(server, crawl, leased) == [
        ("https://a.org/1", "page", 100),
        ("https://b.org/2", "page", 100),
        ("https://c.org/s.xml", "sitemap", 1000),
    ]
    assert list(tmp_path.iterdir()) == [tmp_path / "seeds.txt"]


def test_a_seed_of_a_domain_that_was_purged_or_withdrawn_is_refused_with_the_way_back(
    server: str, crawl: str, tmp_path: Path
) -> None:
    settings = ["-s", f"REDIS_URL={server}", "-s", f"CRAWL_ID={crawl}"]
    seed("-a", "url=https://a.org/1", *settings, folder=tmp_path)
    with_frontier(server, crawl, lambda frontier: act(frontier, Order("purge", domain="a.org", yes=True)))
    done = seed("-a", "url=https://a.org/2", *settings, folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "0 added, 0 known before, 1 refused (blocked 1)\n")
    assert done.stderr.startswith("error: https://a.org/2: blocked, since its domain was purged, which is for good, or")
    assert "`gristmill dataset exclude --undo ENTRY --reason … CORPUS_DIR` takes that back" in done.stderr


def test_without_a_server_the_folder_of_the_corpus_gets_the_seeds(crawl: str, tmp_path: Path) -> None:
    done = seed("-a", "url=https://a.org/", "-s", "CORPUS_DIR=out", "-s", f"CRAWL_ID={crawl}", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 added, 0 known before, 0 refused\n", "")
    with EmbeddedServer(tmp_path / "out" / "frontier") as url:
        assert with_frontier(url, crawl, leased) == [("https://a.org/", "page", 100)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-a", "url=b.org"], "error: url: expected an http(s) URL, found 'b.org'; did you mean 'https://b.org'?\n"),
        (["-a", "urls=https://b.org/"], "error: urls: unknown argument; did you mean 'url'?\n"),
        (["-a", "seeds=none.txt"], "error: seeds=none.txt: no such file: check the path (now in {folder})\n"),
        (
            [],
            "error: nothing to seed: "
            "give -a url=…, -a sitemap=…, -a seeds=FILE, -a allowlist=FILE, -a api=FILE or -a oai=…\n",
        ),
        (
            ["-a", "url=https://b.org/", "-s", "DOWNLOAD_DELAY=-1"],
            "error: DOWNLOAD_DELAY='-1': expected at least 0\n",
        ),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = seed(*arguments, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message.format(folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_profile_that_nobody_has_defined_is_refused_before_any_worker_judges_by_it(
    server: str, crawl: str, tmp_path: Path
) -> None:
    entry = "- {domain: a.org, tier: A, licence: CC0-1.0, sitemaps: ['https://a.org/s.xml'], profile: ours}\n"
    (tmp_path / "allow.yaml").write_text(entry)
    settings = ["-s", f"REDIS_URL={server}", "-s", f"CRAWL_ID={crawl}"]
    done = seed("-a", "allowlist=allow.yaml", *settings, folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: allowlist, line 1, a.org: there is no quality profile 'ours'; known: ")
    assert with_frontier(server, crawl, leased) == []
    (tmp_path / "profiles.yaml").write_text("ours:\n  based_on: prose\n")
    known = seed("-a", "allowlist=allow.yaml", *settings, "-s", "QUALITY_PROFILES_FILE=profiles.yaml", folder=tmp_path)
    assert (known.returncode, known.stdout, known.stderr) == (0, "1 added, 0 known before, 0 refused\n", "")


def test_a_server_that_does_not_answer_is_an_error_and_no_traceback(tmp_path: Path) -> None:
    done = seed("-a", "url=https://b.org/", "-s", "REDIS_URL=redis://127.0.0.1:1", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_stored_allowlist_refuses_what_it_excludes(server: str, crawl: str, tmp_path: Path) -> None:
    (tmp_path / "allow.yaml").write_text("- {domain: a.org, tier: A, licence: x, exclude: [/private]}")
    settings = ["-s", f"REDIS_URL={server}", "-s", f"CRAWL_ID={crawl}"]
    assert seed("-a", "allowlist=allow.yaml", *settings, folder=tmp_path).returncode == 0
    done = seed("-a", "url=https://a.org/private,https://a.org/", *settings, folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout == "1 added, 0 known before, 1 refused (path_excluded 1)\n"
    assert done.stderr == "error: https://a.org/private: path_excluded\n"


def test_a_page_cap_is_reported_as_refused(server: str, crawl: str) -> None:
    plan = plan_seeds(url="https://a.org/1,https://a.org/2,https://a.org/3")
    sown = with_frontier(server, crawl, lambda frontier: seed_frontier(frontier, plan), Limits(max_pages=2))
    assert (sown.added, sown.seen, dict(sown.refused)) == (2, 0, {"capped": 1})
    assert sown.examples == ["https://a.org/3: capped"]
    assert str(SeedResult(added=1)) == "1 added, 0 known before, 0 refused"


def test_workers_that_join_together_lose_no_rule(server: str, crawl: str) -> None:
    async def join_all(frontier: Frontier) -> list[Scope]:
        scopes = [Scope(link_hosts=frozenset({f"h{n}.org"})) for n in range(20)]
        return await asyncio.gather(*(join_scope(frontier, scope) for scope in scopes))

    joined = with_frontier(server, crawl, join_all)
    everything = frozenset(f"h{n}.org" for n in range(20))
    assert (
        Scope.from_json(with_frontier(server, crawl, lambda frontier: frontier.shared.scope_get()) or "").link_hosts
        == everything
    )
    assert max(len(scope.link_hosts) for scope in joined) == 20
    assert with_frontier(server, crawl, lambda frontier: join_scope(frontier, Scope())).link_hosts == everything


def test_a_running_worker_learns_the_rules_that_were_added_meanwhile(server: str, crawl: str) -> None:
    async def scenario(frontier: Frontier) -> None:
        worker = SharedScope(frontier, await join_scope(frontier, Scope(link_hosts=frozenset({"a.org"}))))
        await join_scope(frontier, Scope(link_hosts=frozenset({"b.org"})))
        assert not (await worker.covering("https://a.org/")).follows_links("https://b.org/")  # nothing asked for yet
        assert (await worker.covering("https://b.org/x")).follows_links("https://b.org/x")
        assert worker.scope.link_hosts == {"a.org", "b.org"}
        assert not (await worker.covering("https://c.org/")).knows("https://c.org/")

    with_frontier(server, crawl, scenario)


def test_the_delay_of_an_allowlist_entry_holds_for_every_worker(server: str, crawl: str) -> None:
    entries = (
        AllowlistEntry("a.org", "A", "x", delay=0.5),
        AllowlistEntry("law.a.org", "A", "x", delay=30.0),
        AllowlistEntry("127.0.0.1:8001", "A", "x"),
    )
    pages = ["https://www.a.org/1", "https://www.a.org/2", "http://127.0.0.1:8001/1", "http://127.0.0.1:8001/2"]

    async def scenario(frontier: Frontier) -> list[float]:
        await join_scope(frontier, Scope(entries=entries))
        await frontier.put([Link(url) for url in pages])
        first = {lease.url: lease for lease in (await frontier.lease(10)).leases}
        assert len(first) == 2
        await ack(frontier, [(lease.token, 0.0) for lease in first.values()])
        return sorted([await reserve(frontier, url) - frontier.now() for url in (pages[0], pages[2])])

    short, long = with_frontier(server, crawl, scenario, Limits(delay=1.0))
    assert short <= 1.0
    assert 25.0 < long <= 30.0


def test_a_delay_that_leaves_the_allowlist_no_longer_holds_and_that_of_robots_txt_does(server: str, crawl: str) -> None:
    async def scenario(frontier: Frontier) -> None:
        await join_scope(frontier, Scope(entries=(AllowlistEntry("a.org", "A", "x", delay=30.0),)))
        await frontier.politeness.set_delay("a.org", 5.0, "robots")
        assert await delay_of(frontier) == 30.0
        await join_scope(frontier, Scope())  # a worker that joins brings no entries of its own
        assert await delay_of(frontier) == 30.0
        await join_scope(frontier, Scope(entries=(AllowlistEntry("a.org", "A", "x"),)))
        assert await delay_of(frontier) == 5.0

    async def delay_of(frontier: Frontier) -> float:
        await frontier.put([Link("https://a.org/")])
        (view,) = (await overview(frontier, domain="a.org")).scopes
        return view.delay

    with_frontier(server, crawl, scenario)


def test_a_damaged_scope_stops_the_seeding(server: str, crawl: str) -> None:
    with_frontier(server, crawl, lambda frontier: frontier.shared.scope_set("{}"))
    with pytest.raises(ScopeError, match="seed the crawl again"):
        with_frontier(server, crawl, lambda frontier: seed_frontier(frontier, plan_seeds(url="https://a.org/")))


def test_discovery_alone_is_nothing_to_seed() -> None:
    with pytest.raises(InputError, match="nothing to seed"):
        plan_of({"discovery": "links"})
