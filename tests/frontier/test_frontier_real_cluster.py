"""Three real servers in cluster mode: the client's promises, the state machine and a crawl, spread over their slots."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from crawler.frontier.adopt import adopt, reclaim
from crawler.frontier.budget import Budget, Spending, begin_from, limited_seeds
from crawler.frontier.claims import Claims, Identity
from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, Mode, Wire
from crawler.frontier.politeness import AddressRow
from crawler.frontier.script_source import SCRIPTS, script_source
from crawler.frontier.visits import visit_entry
from crawler.recrawl.visit import Intervals, Visit
from crawler.server.connection import Connection
from crawler.server.embedded import find_binary
from crawler.urls.canonicalize import Address
from crawler.urls.link import Link
from tests.frontier import test_frontier_client as client_suite
from tests.frontier.test_frontier_isolation import everything, fill
from tests.frontier.test_frontier_machine import FrontierMachine
from tests.support.linked_web import Web
from tests.support.ports import free_port
from tests.support.worker import Worker

SLOTS = 16384
OF_ONE_SERVER = {
    "test_a_server_that_evicts_is_refused_with_the_fix",  # changes the policy of one node only
    "test_an_absent_server_is_named_without_its_password",  # needs no server
    "test_all_keys_of_a_shard_share_one_cluster_slot",  # asks one server for slots; here crossing them would fail
}


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster of three: each owns a third of the slots, none has a replica."""
    with contextlib.ExitStack() as stack:
        ports = [free_port() for _ in range(3)]
        nodes = [stack.enter_context(node(tmp_path_factory.mktemp("node"), port)) for port in ports]
        for index, client in enumerate(nodes):
            first, last = index * SLOTS // 3, (index + 1) * SLOTS // 3 - 1
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            for port in ports[:index]:
                client.execute_command("CLUSTER", "MEET", "127.0.0.1", port, port - 5000)
        for client in nodes:
            until(lambda client=client: agrees(client))
        yield f"redis://127.0.0.1:{ports[0]}"


def agrees(client: redis.Redis) -> bool:
    """This node knows the owners of all slots, and all three nodes."""
    found = client.execute_command("CLUSTER", "INFO")
    text = str(found)
    return "ok" in text.partition("cluster_state")[2][:8] and len(client.execute_command("CLUSTER", "SLOTS")) == 3


@contextlib.contextmanager
def node(folder: Path, port: int) -> Iterator[redis.Redis]:
    options = (
        f"--port {port} --bind 127.0.0.1 --cluster-enabled yes --save --appendonly no --cluster-port {port - 5000}"
    )
    process = subprocess.Popen([find_binary(), *options.split()], cwd=folder, stdout=subprocess.DEVNULL)
    try:
        with contextlib.closing(redis.Redis(port=port)) as client:
            until(client.ping)
            yield client
    finally:
        process.terminate()
        process.wait()


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while True:
        with contextlib.suppress(redis.exceptions.ConnectionError):
            if condition():
                return
        assert time.monotonic() < deadline
        time.sleep(0.02)


CLIENT_TESTS = sorted(name for name in vars(client_suite) if name.startswith("test_") and name not in OF_ONE_SERVER)


@pytest.mark.parametrize("name", CLIENT_TESTS)
def test_what_holds_on_one_server_holds_on_the_cluster(name, request):
    test = getattr(client_suite, name)
    wanted = test.__code__.co_varnames[: test.__code__.co_argcount]
    test(**{fixture: request.getfixturevalue(fixture) for fixture in wanted})


def test_every_script_runs_and_all_keys_of_each_are_in_the_slot_of_its_shard(valkey_url, crawl_name, monkeypatch):
    """A server in cluster mode refuses a script that leaves its slot: it is enough that every one of them has run."""
    shared = {
        "head",
        "tally",
        "common",
        "pausing",
        "visits",
        "lazy",
        "requests",
        "shapes",
        "focus",
        "value",
        "parameters",
        "outcomes",
    }
    wanted = {path.stem for path in SCRIPTS.glob("*.lua")} - shared
    names = {script_source(name).sha: name for name in wanted}
    ran: set[str] = set()
    run_script = Connection.script

    async def noted(connection, script, prefix, args):
        answer = await run_script(connection, script, prefix, args)
        ran.add(names[script.sha])
        return answer

    async def scenario() -> None:
        frontier = Frontier(valkey_url, crawl_name, Limits(delay=0.0, concurrency=9, tries=2, shards=5, max_queued=1))
        await frontier.open()
        await fill(frontier)
        await everything(frontier)
        await frontier.control.set_mode(Mode.RUN)
        await frontier.put([Link(f"https://v{n}.example/") for n in range(20)])
        for lease in (await frontier.lease(20)).leases:
            await frontier.finish([(lease.token, Wire(frontier.now(), 0.1))])
            visit = Visit(int(frontier.now()), 1, 1, b"x" * 16, reusable=True)
            await frontier.settle([(lease.token, Wire(frontier.now(), 0.1), visit_entry(lease.url, visit))])
        due = await frontier.visits.due(Intervals(0.0, 0.0, 0.0))
        assert await frontier.visits.sweep(Intervals(0.0, 0.0, 0.0)) == due > 0
        assert await frontier.visits.hasten([("https://v1.example/", frontier.now() + 9.0)]) == 0
        again = await frontier.visits.recall(await frontier.lease(9))
        assert await frontier.respell(again.leases[0].token, again.leases[0].link)
        assert await adopt(frontier, [(Address("https://adopted.example/"), b"")]) == 1
        assert await frontier.run("forgive", 0, ["v1.example"]) == 0
        assert await Budget(frontier, ("fetched:9",), 1.0, 0.0).ask(3, 0, Spending()) == (3, "")
        await begin_from(frontier, Spending(fetched=1), {"v1.example": Spending(fetched=1)})
        of_seed = Budget(frontier, ("seed.kept:9",), 1.0, 0.0, "v1.example")
        assert await of_seed.ask(0, 0, Spending(kept=9)) == (0, "seed.kept:9")
        assert await limited_seeds(frontier) == {"v1.example": "kept: 9"}
        assert not await frontier.control.unpurge("v1.example")
        ((_, slot),) = await frontier.politeness.ask_addresses([AddressRow("line", "192.0.2.1", 0.5, "v1.example")])
        assert slot
        await Claims(frontier, Identity("w", "0123456789abcdef")).enter()
        await frontier.put([Link(f"https://w{n}.example/") for n in range(9)])
        mine = [lease for lease in (await frontier.lease(9)).leases if "01234567" in lease.token]
        assert await reclaim(frontier, "01234567") == len(mine) > 0
        cluster = frontier.connection.redis
        for shard in range(5):
            prefix = frontier.prefix(shard)
            keys = [key async for key in cluster.scan_iter(f"{prefix}*", count=1000)]
            slots = {await cluster.cluster_keyslot(key.decode()) for key in [*keys, prefix.encode()]}
            assert len(keys) > 5
            assert len(slots) == 1
        await frontier.close()

    monkeypatch.setattr(Connection, "script", noted)
    asyncio.run(scenario())
    assert ran == wanted


def test_the_state_machine_runs_on_the_cluster(valkey_url):
    FrontierMachine.url = valkey_url
    profile = settings(
        max_examples=5,
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(FrontierMachine, settings=profile)


def test_the_shards_of_a_crawl_live_on_all_nodes(valkey_url, crawl_name):
    async def scenario() -> set[str]:
        frontier = Frontier(valkey_url, crawl_name, Limits(delay=0.0, shards=8))
        await frontier.open()
        await frontier.put([Link(f"https://{n}.example/") for n in range(200)])
        cluster, homes = frontier.connection.redis, set()
        for shard in range(8):
            key = frontier.prefix(shard) + "ready"
            assert await cluster.zcard(key) > 0
            homes.add(cluster.get_node_from_key(key).name)
        leases = (await frontier.lease(200)).leases
        assert len({lease.url for lease in leases}) == 200
        await frontier.close()
        return homes

    assert len(asyncio.run(scenario())) == 3


def test_a_crawl_over_eight_shards_fetches_every_page_once_and_ends(valkey_url, crawl_name, tmp_path):
    with contextlib.ExitStack() as stack:
        webs = [stack.enter_context(Web(12)) for _ in range(4)]
        seeds = [f"{web.url}/0" for web in webs]
        settings_ = {"REDIS_URL": valkey_url, "CRAWL_ID": crawl_name, "FRONTIER_SHARDS": 8}
        worker = Worker(tmp_path, webs[0], spider={"seeds": seeds}, **settings_)
        stats = worker.wait()
        assert stats["finish_reason"] == "finished"
        assert sorted(worker.kept()) == sorted(f"{web.url}/{i}" for web in webs for i in range(12))
        for web in webs:
            assert sorted(web.paths()) == sorted(f"/{i}" for i in range(12))
