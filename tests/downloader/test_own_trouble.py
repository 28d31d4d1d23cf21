"""What this machine lacks is booked on nobody: the worker stops with one sentence, and its pages go back."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
import time

import pytest
import redis
from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError, DownloadFailedError
from twisted.internet.error import ConnectBindError, NoRouteError
from twisted.internet.error import TimeoutError as TxTimeoutError
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from crawler.downloader import own_trouble, reach, resolver
from crawler.downloader.own_trouble import OwnTrouble
from crawler.downloader.reach import DOUBT_SECONDS, OUTAGE_SECONDS, Reach, Whose
from crawler.scheduler.turned_away import PutBack
from crawler.trouble import of_this_machine, perhaps_of_this_machine
from tests.support.clock import FakeClock
from tests.support.serving import DEADLINE, Gate, Handler, LoopbackServer, article


def raised_from(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


LACKS = [
    OSError(errno.EMFILE, "Too many open files"),
    ConnectBindError(errno.EMFILE, "Too many open files"),
    raised_from(DownloadFailedError("x"), ResponseFailed([Failure(OSError(errno.ENFILE, "x"))])),
    raised_from(RuntimeError("x"), OSError(errno.ENOMEM, "x")),
    raised_from(RuntimeError("x"), raised_from(ValueError("y"), OSError(errno.ENOSPC, "x"))),
    OSError(errno.ENOBUFS, "x"),
    OSError(errno.EDQUOT, "x"),
]
PERHAPS = [
    NoRouteError(errno.ENETUNREACH, "x"),
    OSError(errno.EADDRNOTAVAIL, "x"),
    OSError(errno.ENETDOWN, "x"),
    socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
]
THEIRS = [
    DownloadConnectionRefusedError("x"),
    OSError(errno.ECONNREFUSED, "x"),
    OSError(errno.ECONNRESET, "x"),
    socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
    TxTimeoutError("x"),
    ValueError("24"),
]


def look_at(trouble: OwnTrouble, error: Exception, host: str = "a.example") -> float | None:
    """When the request is tried again; None where its host is judged."""
    try:
        asyncio.run(trouble.look_at(error, host))
    except PutBack as back:
        return back.not_before
    return None


@pytest.mark.parametrize("error", LACKS, ids=repr)
def test_what_only_this_machine_can_lack_stops_the_worker_at_once(error):
    said: list[str] = []
    assert look_at(OwnTrouble(said.append), error) is not None
    assert len(said) == 1
    assert "run the same command again" in said[0]


@pytest.mark.parametrize("error", THEIRS, ids=repr)
def test_what_a_host_does_is_judged_as_before(error):
    said: list[str] = []
    assert look_at(OwnTrouble(said.append), error) is None
    assert (said, of_this_machine(error), perhaps_of_this_machine(error)) == ([], None, None)


@pytest.mark.parametrize("error", PERHAPS, ids=repr)
def test_a_network_that_is_down_is_known_as_what_may_be_ours(error):
    assert of_this_machine(error) is None
    assert perhaps_of_this_machine(error) is not None


def test_errors_that_cause_each_other_are_looked_at_once():
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert of_this_machine(one) is None


def test_a_host_out_of_reach_is_judged_once_another_one_is_reached():
    clock = FakeClock()
    seen = Reach(clock)
    assert seen.missed("dead.example") is Whose.UNCLEAR
    seen.reached()  # at the same moment: says nothing yet
    clock.advance(0.5)
    assert seen.missed("other.example") is Whose.UNCLEAR
    clock.advance(0.1)
    seen.reached()
    assert seen.missed("dead.example") is Whose.THEIRS
    assert seen.missed("other.example") is Whose.THEIRS


def test_a_host_without_a_witness_is_judged_after_some_seconds():
    clock = FakeClock()
    seen = Reach(clock)
    found = []
    for _ in range(int(DOUBT_SECONDS) + 1):
        found.append(seen.missed("dead.example"))
        clock.advance(1.0)
    assert found == [Whose.UNCLEAR] * int(DOUBT_SECONDS) + [Whose.THEIRS]


def test_several_hosts_out_of_reach_accuse_this_machine_which_stops_when_it_lasts():
    clock = FakeClock()
    seen = Reach(clock)
    for host in ("a", "b", "c", "d"):
        assert seen.missed(host) is Whose.UNCLEAR
    found = set()
    for _ in range(int(OUTAGE_SECONDS) - 1):
        clock.advance(1.0)
        found.add(seen.missed("a"))
    assert found == {Whose.UNCLEAR}, "nobody is judged meanwhile"
    clock.advance(1.0)
    assert seen.missed("b") is Whose.OURS


def test_an_outage_that_passes_stops_nothing():
    clock = FakeClock()
    seen = Reach(clock)
    for host in ("a", "b", "c"):
        seen.missed(host)
    clock.advance(OUTAGE_SECONDS - 1)
    seen.reached()
    clock.advance(2.0)
    assert seen.missed("a") is Whose.UNCLEAR


@pytest.mark.parametrize(("knows", "judged"), [(True, True), (False, False)])
def test_a_name_that_nobody_looks_up_is_compared_with_one_that_was_known(monkeypatch, knows, judged):
    """One domain whose name servers are broken says "try again", too."""
    monkeypatch.setitem(resolver.unanswered, "a.example", socket.gaierror(socket.EAI_AGAIN, "x"))
    said: list[str] = []

    async def control() -> bool:
        return knows

    found = look_at(OwnTrouble(said.append, control), CannotResolveHostError("x"))
    assert (found is None) is judged
    assert said == []


def test_a_host_out_of_reach_is_judged_after_an_answer_of_another_one(monkeypatch):
    monkeypatch.setattr(own_trouble, "has_route", lambda: True)
    said: list[str] = []
    trouble, error = OwnTrouble(said.append), OSError(errno.ENETUNREACH, "Network is unreachable")
    assert look_at(trouble, error) is not None
    trouble.answered()
    assert look_at(trouble, error) is None and said == []


def test_a_machine_without_any_route_is_accused_by_its_first_host(monkeypatch):
    monkeypatch.setattr(own_trouble, "has_route", lambda: False)
    clock, said = FakeClock(), []
    trouble = OwnTrouble(said.append)
    trouble._hosts = Reach(clock)
    no_route = NoRouteError(errno.ENETUNREACH, "x")
    assert look_at(trouble, no_route) is not None
    clock.advance(reach.OUTAGE_SECONDS + 1)
    assert look_at(trouble, no_route) is not None
    assert len(said) == 1
    assert "no host can be reached" in said[0]


class ManySites(LoopbackServer):
    """Every address of 127.0.0.0/8 is a site of one page; answers wait at the gate."""

    def __init__(self, gate: Gate) -> None:
        class Answers(Handler):
            def respond(self) -> None:
                gate.pass_through()
                found = self.path == "/page"
                self.send(200 if found else 404, article(self.address) if found else b"")

        super().__init__(Answers)


def test_a_worker_out_of_descriptors_judges_no_site(crawl, tmp_path):
    gate, before = Gate(0), resource.getrlimit(resource.RLIMIT_NOFILE)
    with ManySites(gate) as web:
        urls = [f"http://127.0.4.{n}:{web.port}/page" for n in range(60)]
        (tmp_path / "seeds.txt").write_text("\n".join(urls))
        common = {"NETWORK_PORTS": web.port, "CONCURRENT_REQUESTS": 60, "OPTOUT_PROFILE": "minimal",
                  "FRONTIER_LEASE_SECONDS": 15}  # fmt: skip
        worker = crawl.start({"seeds": str(tmp_path / "seeds.txt")}, **common)
        gate.wait(10)
        resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (20, before[1]))
        gate.open()
        _, said = worker.communicate(timeout=DEADLINE)
        assert worker.returncode == 1, said
        assert said.count("error: ") == 1, said
        assert "no file descriptor left" in said
        assert "Traceback" not in said, said
        assert crawl.records("rejected") == []
        done = crawl.run({"seeds": str(tmp_path / "seeds.txt")}, **common)
        assert done.returncode == 0, done.stderr
        assert set(crawl.accounted()) == set(urls), "nothing was left out, and nothing held for an hour"


def test_a_password_that_is_changed_stops_the_worker_with_one_sentence(crawl, make_site, redis_url):
    site = make_site(pages=30)
    gate = site.gate = Gate(6)
    server = redis.Redis.from_url(redis_url)
    server.execute_command("ACL", "SETUSER", "worker", "on", ">one", "~*", "+@all")
    common = {"NETWORK_PORTS": site.port, "FRONTIER_LEASE_SECONDS": 2}
    address = redis_url.replace("unix://", "unix://worker:{}@")
    worker = crawl.start({"url": site.url(0)}, REDIS_URL=address.format("one"), **common)
    gate.wait(2)
    server.execute_command("ACL", "SETUSER", "worker", "resetpass", ">two")
    server.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    gate.open()
    _, said = worker.communicate(timeout=DEADLINE)
    assert worker.returncode == 1, said
    assert said.count("error: ") == 1, said
    assert "refuses the password" in said
    assert "one@" not in said, "no secret is shown"
    assert "Traceback" not in said
    assert crawl.records("rejected") == []
    time.sleep(2.5)  # the leases that could not be given back: their time is what is waited for
    done = crawl.run({"url": site.url(0)}, REDIS_URL=address.format("two"), **common)
    assert done.returncode == 0, done.stderr
    assert set(crawl.accounted()) == site.urls()


@pytest.mark.parametrize("lack", [None, OSError(errno.EMFILE, "Too many open files")])
def test_a_look_up_that_failed_for_want_of_a_descriptor_says_so_and_another_as_it_is(monkeypatch, lack):
    class Socket:
        def __init__(self) -> None:
            if lack is not None:
                raise lack

        def close(self) -> None: ...

    unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def refuse(*_words: object) -> None:
        raise unknown

    monkeypatch.setattr(resolver.socket, "getaddrinfo", refuse)
    monkeypatch.setattr(resolver.socket, "socket", Socket)
    with pytest.raises(OSError) as caught:  # which one is asked below
        resolver._look_up("nowhere.example")
    assert caught.value is (lack or unknown)
