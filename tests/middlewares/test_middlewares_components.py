# ruff: noqa: N802 (the names are Twisted's)
"""Components alone: the start-up check, the resolver's memory, the lock on the connection, shared robots files."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Headers, Response
from scrapy.settings import Settings, default_settings
from twisted.internet.address import IPv4Address

from crawler import settings as project
from crawler.config import from_mapping
from crawler.document import Drop, DropReason
from crawler.downloader import resolver
from crawler.downloader.handler import ForbiddenAddressError, guarded_factory
from crawler.frontier.client import Frontier
from crawler.middlewares import defaults
from crawler.middlewares.addon import ComplianceError, GuardAddon, problems_of
from crawler.middlewares.control_files import MAX_PARSED_BYTES, ControlFiles, FileKind, authority_of, path_of
from crawler.middlewares.optout import OptOutMiddleware
from crawler.middlewares.optout_files import OptOutFiles
from crawler.middlewares.outcomes import Denied, Held, Redirected, TryLater
from crawler.middlewares.robots import RobotsMiddleware
from crawler.policy.network import NetworkRules
from crawler.policy.opt_out_files import read_required
from crawler.policy.robots import answer as robots_fetch
from crawler.policy.robots import parse as robots
from crawler.policy.robots.answer import Ages, Reading
from crawler.policy.signals import rsl
from crawler.policy.signals.base import Context
from crawler.scheduler.in_flight import InFlight
from crawler.scheduler.turns import Turns
from tests.support.frontier_shorthand import hands_of

ROBOTS = FileKind("robots", robots_fetch.read_robots, robots.parse)

RETRY = "scrapy.downloadermiddlewares.retry.RetryMiddleware"


def settings_with(**changes) -> Settings:
    settings = Settings({name: value for name, value in vars(project).items() if name.isupper()})
    for name, value in changes.items():
        merged = {**settings.getdict(name), **value} if isinstance(value, dict) else value
        settings.set(name, merged, priority="cmdline")
    return settings


# --- the start-up check ----------------------------------------------------------------------------------------------
def test_the_default_table_passes_the_start_up_check():
    GuardAddon().update_settings(settings_with())


@pytest.mark.parametrize("path", list(defaults.COMPLIANCE))
def test_a_missing_compliance_component_refuses_to_start_and_is_named(path):
    with pytest.raises(ComplianceError, match=path.rpartition(".")[2]):
        GuardAddon().update_settings(settings_with(DOWNLOADER_MIDDLEWARES={path: None}))


@pytest.mark.parametrize("name", ["Cookie", "authorization", "REFERER", "Proxy-Authorization"])
def test_a_header_that_the_guard_takes_off_cannot_be_added_behind_it(name):
    (problem,) = problems_of(settings_with(DEFAULT_REQUEST_HEADERS={name: "secret"}))
    assert problem.startswith(f"DEFAULT_REQUEST_HEADERS has {name}: ")
    assert "secret" not in problem
    assert list(problems_of(settings_with(DEFAULT_REQUEST_HEADERS={"Accept-Language": "en"}))) == []


@pytest.mark.parametrize("name, wanted", list(defaults.REQUIRED.items()))
def test_a_changed_safeguard_refuses_to_start_and_is_named(name, wanted):
    other = (not wanted) if isinstance(wanted, bool) else "scrapy.resolver.CachingThreadedResolver"
    (problem,) = problems_of(settings_with(**{name: other}))
    assert problem.startswith(f"{name} is ")


def test_components_out_of_order_refuse_to_start():
    swapped = {"crawler.middlewares.guard.GuardMiddleware": 201}
    (problem,) = problems_of(settings_with(DOWNLOADER_MIDDLEWARES=swapped))
    assert "order" in problem


def test_scrapys_own_retry_and_foreign_handlers_refuse_to_start():
    assert RETRY in " ".join(problems_of(settings_with(DOWNLOADER_MIDDLEWARES={RETRY: 550})))
    foreign = {"ftp": "scrapy.core.downloader.handlers.ftp.FTPDownloadHandler"}
    assert "'ftp'" in " ".join(problems_of(settings_with(DOWNLOAD_HANDLERS=foreign)))
    unguarded = {"https": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"}
    assert "'https'" in " ".join(problems_of(settings_with(DOWNLOAD_HANDLERS=unguarded)))


@pytest.mark.parametrize("path", sorted(defaults.REFUSED))
def test_what_is_refused_of_scrapy_stops_the_start_and_is_named(path):
    assert f"{path} has to be None" in " ".join(problems_of(settings_with(DOWNLOADER_MIDDLEWARES={path: 1})))


def test_scrapys_default_middlewares_are_refused_where_somebody_brings_them_back():
    base = default_settings.DOWNLOADER_MIDDLEWARES_BASE
    found = " ".join(problems_of(settings_with(DOWNLOADER_MIDDLEWARES_BASE=base)))
    assert {path for path in defaults.REFUSED if path in found} == defaults.REFUSED


def test_every_problem_is_reported_at_once():
    settings = settings_with(COOKIES_ENABLED=True, TELNETCONSOLE_ENABLED=True, DOWNLOADER_MIDDLEWARES={RETRY: 1})
    with pytest.raises(ComplianceError) as caught:
        GuardAddon().update_settings(settings)
    assert len(caught.value.problems) == 3


# --- opt-outs in headers ---------------------------------------------------------------------------------------------
def test_headers_are_judged_as_they_arrive_and_another_answer_by_its_own():
    middleware = OptOutMiddleware("corpusbot", "balanced", clock=lambda: 1_760_000_000.0)
    request = Request("https://www.site.example/")
    refusal = Headers({"X-Robots-Tag": "noai"})
    with pytest.raises(StopDownload):
        middleware.headers_received(refusal, request)
    with pytest.raises(Denied):
        middleware.process_response(request, Response(request.url, headers=refusal))
    assert middleware.process_response(request, Response(request.url)).status == 200
    with pytest.raises(Denied):  # nobody announced its headers
        middleware.process_response(request, Response(request.url, headers=refusal))
    signals = request.meta["evidence"].signals
    assert [found.value for found in signals] == ["noai", "noai"]


def test_what_was_said_of_an_answer_that_never_came_says_nothing_about_that_of_a_copy():
    middleware = OptOutMiddleware("corpusbot", "balanced", clock=lambda: 1_760_000_000.0)
    request = Request("https://www.site.example/")
    middleware.headers_received(Headers(), request)
    with pytest.raises(Denied):
        middleware.process_response(request.copy(), Response(request.url, headers={"X-Robots-Tag": "noai"}))


# --- outcomes --------------------------------------------------------------------------------------------------------
def test_every_outcome_is_an_ignored_request_with_a_readable_message():
    drop = Drop("robots", DropReason.HOLD_ROBOTS_UNREACHABLE, "robots.txt answered 503")
    outcomes = [Denied(drop), Held(drop, 7.0, "http://a"), TryLater(drop), Redirected("http://b/", permanent=True)]
    assert all(isinstance(outcome, IgnoreRequest) and str(outcome) for outcome in outcomes)


# --- resolver --------------------------------------------------------------------------------------------------------
class Receiver:
    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.complete = False

    def resolutionBegan(self, resolution) -> None: ...

    def addressResolved(self, address) -> None:
        self.addresses.append(address.host)

    def resolutionComplete(self) -> None:
        self.complete = True


class InlineReactor:
    """Runs what is meant for a thread at once; time-outs never come."""

    def getThreadPool(self):
        return self

    def callInThreadWithCallback(self, callback, function, *args, **kwargs) -> None:
        callback(True, function(*args, **kwargs))

    def callFromThread(self, function, *args) -> None:
        function(*args)

    def callLater(self, *_args):
        return self

    def active(self) -> bool:
        return False


@pytest.fixture
def resolve(monkeypatch):
    """`resolve(answers)` gives a function that looks `name.example` up at a time of the test's choosing."""

    def make(answers, rules):
        sequence = iter(answers)
        monkeypatch.setattr(resolver, "_look_up", lambda host: next(sequence))
        now = [0.0]
        guarded = resolver.GuardedResolver(InlineReactor(), rules, 10.0, clock=lambda: now[0])

        def at(seconds: float) -> list[str]:
            now[0] = seconds
            receiver = Receiver()
            guarded.resolveHostName(receiver, "Name.example", 80)
            assert receiver.complete
            return receiver.addresses

        return at

    return make


def test_a_name_is_believed_for_a_while_and_checked_again_at_every_look_up(resolve):
    at = resolve([["8.8.8.8"], ["127.0.0.1"], ["9.9.9.9"]], NetworkRules())
    assert at(0) == ["8.8.8.8"]
    assert at(resolver.FOUND_SECONDS - 1) == ["8.8.8.8"]
    assert at(resolver.FOUND_SECONDS + 1) == []
    assert "127.0.0.1" in resolver.refusals["name.example"]
    assert at(3 * resolver.FOUND_SECONDS) == ["9.9.9.9"]
    assert "name.example" not in resolver.refusals


@pytest.mark.parametrize(
    ("literal", "address"),
    [(given, "8.8.8.8") for given in ("8.8.8.8", "0x08080808", "134744072", "010.8.8.8")]
    + [("2001:4860:4860:0::8888", "2001:4860:4860::8888")],
)
def test_an_address_is_no_name_and_nobody_is_asked_for_it(monkeypatch, literal, address):
    monkeypatch.setattr(resolver, "_look_up", lambda host: pytest.fail(f"{host} was looked up"))
    receiver = Receiver()
    resolver.GuardedResolver(InlineReactor(), NetworkRules(), 10.0).resolveHostName(receiver, literal, 80)
    assert (receiver.complete, receiver.addresses) == (True, [address])


def test_whether_names_are_answered_is_asked_of_the_name_that_was_answered_last(monkeypatch):
    asked: list[str] = []

    def look_up(host):
        asked.append(host)
        return ["8.8.8.8"]

    async def ends(names):
        guarded = resolver.GuardedResolver(InlineReactor(), NetworkRules(), 10.0)
        for name in names:
            await guarded.addresses_of(name)
        return await guarded.looks_up()

    monkeypatch.setattr(resolver, "_look_up", look_up)
    assert asyncio.run(ends([])) is None and asyncio.run(ends(["127.0.0.1"])) is None and not asked
    assert asyncio.run(ends(["a.example", "b.example", "127.0.0.1"])) is True
    assert asked == ["a.example", "b.example", "b.example"]


def test_a_name_without_an_address_is_asked_again_soon_and_is_not_called_forbidden(resolve):
    at = resolve([[], ["8.8.8.8"]], NetworkRules())
    assert at(0) == []
    assert "name.example" not in resolver.refusals
    assert at(resolver.MISSING_SECONDS - 1) == []
    assert at(resolver.MISSING_SECONDS + 1) == ["8.8.8.8"]


def test_the_memory_of_names_is_bounded():
    memory = resolver.Bounded()
    for number in range(resolver.MAX_NAMES + 10):
        memory[str(number)] = number
    assert len(memory) == resolver.MAX_NAMES
    assert "9" not in memory


def test_a_connection_to_a_forbidden_address_gets_no_protocol():
    factory = guarded_factory(NetworkRules())(lambda: None, "test")
    with pytest.raises(ForbiddenAddressError, match=r"10\.0\.0\.1"):
        factory.buildProtocol(IPv4Address("TCP", "10.0.0.1", 80))
    assert factory.buildProtocol(IPv4Address("TCP", "8.8.8.8", 80)) is not None


# --- shared robots files ---------------------------------------------------------------------------------------------
class Store:
    """The frontier's store and the scheduler's gate, in memory, for several workers."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.lock = asyncio.Lock()
        self.shared = self

    async def get_blob(self, name):
        return self.blobs.get(name)

    async def put_blob(self, name, value, ttl):
        self.blobs[name] = value

    @asynccontextmanager
    async def single_flight(self, name, ttl=60.0):
        if self.lock.locked():
            async with self.lock:
                pass
            yield False
            return
        async with self.lock:
            yield True

    async def wait_turn(self, url):
        await asyncio.sleep(0)


class Host:
    """Answers robots.txt requests and counts them."""

    def __init__(self, *answers) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, request):
        self.asked.append(request.url)
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Response(request.url, status=answer[0], body=answer[1])


def worker(store: Store, host: Host, clock=lambda: 1_000.0) -> ControlFiles:
    return ControlFiles(ROBOTS, lambda: store, host, Ages(100.0, 10.0), clock=clock)


def test_several_workers_and_many_pages_fetch_robots_txt_once():
    async def scenario():
        store, host = Store(), Host((200, b"User-agent: *\nDisallow: /x\n"))
        workers = [worker(store, host) for _ in range(4)]
        found = await asyncio.gather(*(w.get("https://a.example/robots.txt") for w in workers for _ in range(5)))
        assert {record.reading for record, _ in found} == {Reading.RULES}
        assert all(parsed is not None and not parsed.decide("Bot", "/x").allowed for _, parsed in found)
        return host.asked

    assert asyncio.run(scenario()) == ["https://a.example/robots.txt"]


def test_an_expired_copy_is_fetched_again_and_an_error_sooner():
    now = [0.0]

    async def scenario():
        host = Host((503, b""), (200, b""), (200, b""))
        files = worker(Store(), host, clock=lambda: now[0])
        readings = []
        for seconds in (0.0, 9.0, 11.0, 100.0, 112.0):
            now[0] = seconds
            readings.append((await files.get("https://a.example/robots.txt"))[0].reading)
        return readings, len(host.asked)

    hold, rules = Reading.HOLD, Reading.RULES
    assert asyncio.run(scenario()) == ([hold, hold, rules, rules, rules], 3)


def test_a_lost_packet_is_asked_again_once_before_the_host_is_held():
    async def scenario(*answers):
        host = Host(*answers)
        record, _ = await worker(Store(), host).get("https://a.example/robots.txt")
        return record.reading, len(host.asked)

    assert asyncio.run(scenario(OSError("reset"), (404, b""))) == (Reading.NO_RULES, 2)
    assert asyncio.run(scenario(OSError("reset"))) == (Reading.HOLD, 2)
    assert asyncio.run(scenario((503, b""))) == (Reading.HOLD, 1)


def test_a_forbidden_host_is_the_pages_outcome_and_is_not_remembered_as_an_answer():
    forbidden = Denied(Drop("guard", DropReason.NETWORK_FORBIDDEN, "10.0.0.1"))

    async def scenario():
        store = Store()
        with pytest.raises(Denied):
            await worker(store, Host(forbidden)).get("https://a.example/robots.txt")
        return store.blobs

    assert asyncio.run(scenario()) == {}


def test_what_a_worker_remembers_is_bounded_in_bytes():
    async def scenario():
        store, host = Store(), Host((200, b"#" * 400_000))
        files = worker(store, host)
        for number in range(30):
            await files.get(f"https://a{number}.example/robots.txt")
        return sum(len(record.body) for record, _ in files._known.values()), len(files._known)

    kept, files = asyncio.run(scenario())
    assert kept <= MAX_PARSED_BYTES
    assert files == MAX_PARSED_BYTES // 400_000


def test_an_authority_and_a_path_are_cut_from_a_url():
    assert authority_of("https://A.example:8443/x?y") == "https://a.example:8443"
    assert [path_of(f"http://a.example{rest}") for rest in ("", "/", "/x?y=1", "?q", "/x?", "/x?y?z#?")] == [
        *("/", "/", "/x?y=1", "/?q", "/x?", "/x?y?z")
    ]


@pytest.mark.parametrize("url", ["mailto:owner@a.example", "data:text/xml,<rsl/>", "http://[bad", "ftp://a.example/l"])
def test_a_licence_whose_address_nobody_can_ask_holds_the_host(valkey_url, crawl_name, url):
    async def scenario():
        frontier = Frontier(valkey_url, crawl_name)
        await frontier.open()
        try:
            gate = Turns(frontier, InFlight(), hands_of(frontier, InFlight()))
            gate.shared, gate.wait_turn = frontier.shared, gate.wait
            kind = FileKind("rsl", read_required(rsl.unreadable), rsl.parse)
            host = Host((200, b"<rsl/>"))
            licences = OptOutFiles("strict", lambda _: ControlFiles(kind, lambda: gate, host, Ages()))
            licences._files = {}
            parsed = robots.parse(f"License: {url}\n".encode())
            with pytest.raises(Held, match="RSL licence"):
                await licences.signals("http://a.example", "/", parsed, Context("CorpusBot", "strict", 0.0))
            return host.asked
        finally:
            await frontier.close()

    assert asyncio.run(scenario()) == []


class Told:
    """A scheduler that notes which delays it is told; `epoch` is the server process that keeps them."""

    def __init__(self) -> None:
        self.epoch, self.delays, self.frontier, self.politeness = 0, list[float](), self, self

    def scope_of(self, url):
        return "a.example"

    async def set_delay(self, scope, seconds, source):
        self.delays.append(seconds)

    async def rest(self, scope, until):
        pass


def test_a_server_that_was_restarted_is_told_again_what_robots_txt_asks_for():
    async def scenario():
        told, announced = Told(), []

        async def announce(authority, urls):
            announced.extend(urls)

        class NoFiles:
            async def signals(self, *_):
                return []

        files = worker(Store(), Host((200, b"User-agent: *\nCrawl-delay: 7\nSitemap: /map.xml\n")))
        middleware = RobotsMiddleware(
            from_mapping(),
            files=files,
            optout_files=NoFiles(),
            scheduler=lambda: told,
            announce=announce,
            clock=lambda: 1_000.0,
        )
        for told.epoch in (0, 0, 1):
            await middleware.process_request(Request("https://a.example/page"))
        return told.delays, announced

    assert asyncio.run(scenario()) == ([7.0, 7.0], ["https://a.example/map.xml"] * 2)
