"""`gristmill frontier` as a person types it, against a frontier with something in it and one with a live worker."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time

import pytest

from crawler.dataset.exclude import Wish, withdraw
from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.frontier.overview import overview
from crawler.frontier.unfinished import held
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from crawler.urls.link import Link
from tests.support import warm
from tests.support.corpus_folder import Folder, document
from tests.support.frontier_shorthand import ack, reserve
from tests.support.linked_web import Web
from tests.support.places import PROJECT
from tests.support.serving import DEADLINE
from tests.support.worker import Worker


@pytest.fixture
def scrapy_frontier(valkey_url, crawl_name):
    def run(*args: str, **settings: str) -> subprocess.CompletedProcess[str]:
        given = {"REDIS_URL": valkey_url, "CRAWL_ID": crawl_name, "DOWNLOAD_DELAY": "10", **settings}
        options = [part for name, value in given.items() if value for part in ("-s", f"{name}={value}")]
        return warm.run(
            [sys.executable, "-m", "scrapy", "frontier", *options, *args],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


@pytest.fixture
def filled(valkey_url, crawl_name) -> None:
    async def fill() -> None:
        frontier = Frontier(valkey_url, crawl_name, Limits())
        await frontier.open()
        await frontier.put([Link(f"https://deep.example/{i}") for i in range(50)])
        await frontier.put([Link("https://small.example/"), Link("https://held.example/")])
        await frontier.politeness.block("small.example", frontier.now() + 3600.0, "HTTP 429")
        for lease in (await frontier.lease(2)).leases:
            if lease.scope == "held.example":
                await frontier.hold(lease.token, frontier.now() + 3600.0, "robots.txt answers 503")
            else:
                await frontier.release([lease.token])
        await frontier.close()

    asyncio.run(fill())


def test_status_is_a_table_of_what_a_person_asks_first(scrapy_frontier, filled):
    done = scrapy_frontier("status")
    assert done.returncode == 0, done.stderr
    assert "queued 51 (1 of them wait for a later try)   leased 0" in done.stdout
    assert "on hold 1   done 0   failed 0" in done.stdout
    assert "  The crawl was stopped: 51 URLs wait; the same crawl command continues." in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    head, deep, small, remark, held = done.stdout.splitlines()[-5:]
    assert head.split() == [
        "queued",
        "leased",
        "done",
        "failed",
        "on",
        "hold",
        "own",
        "delay",
        "next",
        "turn",
        "domain",
    ]
    starts = [line.index(name) for line, name in ((deep, "deep."), (small, "small."), (held, "held."))]
    assert starts == [head.index("domain")] * 3
    assert deep.split()[:1] == ["50"]
    assert re.fullmatch(r"      blocked for (1 h|59 min \d+ s): HTTP 429", remark)
    assert held.split()[4] == "1"


def test_status_for_machines_counts_what_politeness_allows_not_the_depth_of_one_host(command, filled):
    def read(*words: str) -> dict:
        return json.loads(command("status", "--json", *words, DOWNLOAD_DELAY=10)[1])

    status = read()
    assert status["counts"]["queued"] == 51
    assert 0 < status["fetchable"] <= 6  # one a ten seconds
    assert [scope["scope"] for scope in status["scopes"]] == ["deep.example", "small.example", "held.example"]
    (only,) = read("--domain", "www.small.example")["scopes"]
    assert (only["blocked"], only["queued"]) == ("HTTP 429", 1)


def test_the_delay_of_a_domain_is_its_own_and_not_that_of_whoever_asks(command, filled, valkey_url, crawl_name):
    async def ask_for_seven_seconds() -> None:
        frontier = Frontier(valkey_url, crawl_name, Limits())
        await frontier.open()
        await frontier.politeness.set_delay("deep.example", 7.0, "robots:https://deep.example")
        await frontier.close()

    asyncio.run(ask_for_seven_seconds())
    for asked_with in (0, 3, 10):
        status = json.loads(command("status", "--json", DOWNLOAD_DELAY=asked_with)[1])
        assert {scope["scope"]: scope["delay"] for scope in status["scopes"]} == {
            "deep.example": 7.0,
            "small.example": 0.0,
            "held.example": 0.0,
        }
        deep, small, _, _ = command("status", DOWNLOAD_DELAY=asked_with)[1].splitlines()[-4:]
        assert deep.split()[5:7] == ["7", "s"] and small.split()[5] == "-"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pause", "--domain", "no domain"], "'no domain': expected a domain such as example.org"),
        (["pause", "--domain", "law.deep.example"], "'law.deep.example' shares one politeness scope with all of "
         "deep.example: use --domain deep.example"),
        (["resume", "--domain", "deep.example"], "deep.example is not paused"),
        (["status", "--domain", "other.example"], "other.example: the crawl “CRAWL” knows no URL of it"),
        (["purge", "--domain", "deep.example"], "purge removes 50 URLs of deep.example for good and refuses new ones: "
         "add --yes"),
        (["purge", "other.example"], "other.example: the crawl “CRAWL” knows no URL of it; with --yes it is refused "
         "from now on"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_an_error_that_says_what_to_do(command, filled, crawl_name, words, message):
    assert command(*words) == (1, "", f"error: {message.replace('CRAWL', crawl_name)}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["requeue", "all"],
            "argument what: invalid choice: 'all' (choose from 'failed', 'held', 'later', 'dead', 'parked')",
        ),
        (["requeue"], "name the URLs to try again, one of: failed, held, later, dead, parked"),
        (["stop"], "argument OPERATION: invalid choice: 'stop' (choose from 'status', 'export', 'pause', "
         "'resume', 'drain', 'requeue', 'purge')"),
        (["status", "now"], "unexpected 'now'"),
        (["pause", "a.example"], "unexpected 'a.example'"),
        (["purge"], "one of the arguments DOMAIN --domain is required"),
        (["purge", "a.example", "--domain", "b.example"], "argument --domain: not allowed with argument DOMAIN"),
        (["drain", "--domain", "a.example"], "--domain: no option of drain"),
        (["pause", "--reason", "x"], "--reason: no option of pause"),
        (["pause", "--top", "3"], "--top: no option of pause"),
        (["status", "--top", "-1"], "argument --top: expected a whole number from 0 up, not '-1'"),
    ],
)  # fmt: skip
def test_an_option_that_would_do_nothing_is_a_wrong_call(command, capsys, words, message):
    with pytest.raises(SystemExit) as ended:
        command(*words)
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.splitlines()[-1].partition("error: ")[2] == message


def test_a_missing_frontier_is_an_error_and_leaves_nothing_behind(scrapy_frontier, tmp_path):
    absent = scrapy_frontier("status", REDIS_URL="", CORPUS_DIR=str(tmp_path / "none"))
    assert absent.returncode == 1
    assert "holds no frontier" in absent.stderr
    assert not (tmp_path / "none").exists()


@pytest.fixture
def command(valkey_url, crawl_name, capsys):
    """The command inside this process: exit code, output, errors. Two seconds cheaper than a process of its own."""
    from scrapy.settings import Settings

    from crawler.commands.frontier import Command

    def run(*words: str, **settings: object) -> tuple[int, str, str]:
        import argparse

        made = Command()
        made.settings = Settings()
        given = {"REDIS_URL": valkey_url, "CRAWL_ID": crawl_name, "DOWNLOAD_DELAY": 0, **settings}
        made.settings.setdict(given, priority="cmdline")
        parser = argparse.ArgumentParser(conflict_handler="resolve")
        made.add_options(parser)
        options, rest = parser.parse_known_args(words)
        made.process_options(rest, options)
        made.run(rest, options)
        out, err = capsys.readouterr()
        return made.exitcode, out, err

    return run


def test_a_purged_domain_is_gone_and_dead_letters_come_back_by_reason_and_domain(
    command, filled, valkey_url, crawl_name
):
    assert command("purge", "deep.example", "--yes") == (
        0,
        "50 URLs of deep.example were removed; new ones are refused\n",
        "",
    )
    assert command("requeue", "held", "--domain", "small.example")[1] == "0 URLs went back into their queues\n"
    assert command("requeue", "held", "--reason", "ANSWERS 503")[1] == "1 URL went back into its queue\n"

    async def kill_three() -> None:
        frontier = Frontier(valkey_url, crawl_name, Limits(delay=0.0, tries=1))
        await frontier.open()
        await frontier.put([Link(f"https://{name}.example/") for name in ("a", "b", "c")])
        for lease in (await frontier.lease(9)).leases:
            why = "http_error" if lease.scope == "a.example" else "download_failed"
            await frontier.nack(lease.token, None, why)
            await ack(frontier, [(lease.token, None)])
        await frontier.close()

    asyncio.run(kill_three())
    status = json.loads(command("status", "--json")[1])
    assert (status["counts"]["dead"], status["reasons"]) == (4, {"download_failed": 3, "http_error": 1})
    assert {s["scope"]: s["failed"] for s in status["scopes"] if s["failed"]} == dict.fromkeys(
        ("a.example", "b.example", "c.example", "held.example"), 1
    )
    assert "failed for download_failed 3, http_error 1" in command("status")[1]
    assert command("requeue", "dead", "--reason", "http")[1] == "1 URL went back into its queue\n"
    assert command("requeue", "dead", "--domain", "https://b.example/x")[1] == "1 URL went back into its queue\n"
    assert command("purge", "c.example", "--yes")[0] == 0
    assert command("requeue", "dead")[1] == "1 URL went back into its queue\n"  # c's stays: its queue is closed
    status = json.loads(command("status", "--json")[1])
    assert (status["counts"]["dead"], status["counts"]["queued"]) == (1, 4)


def test_a_domain_nobody_knows_is_paused_and_said_to_be_unknown(command, filled):
    paused = "is paused: nothing is sent to it until it is resumed"
    assert command("pause", "--domain", "deep.example")[1] == f"deep.example {paused}\n"
    assert command("pause", "--domain", "dep.example") == (
        0, f"dep.example {paused}; the crawl knows no URL of it so far\n", ""
    )  # fmt: skip


def test_the_status_says_how_many_finished_pages_the_corpus_has_where_another_machine_had_the_rest(
    scrapy_frontier, valkey_url, crawl_name, tmp_path
):
    async def finish() -> None:
        frontier = Frontier(valkey_url, crawl_name, Limits())
        await frontier.open()
        await frontier.put([Link(f"https://h{n}.example/") for n in range(3)])
        await ack(frontier, [(lease.token, None) for lease in (await frontier.lease(3)).leases])
        await frontier.close()

    asyncio.run(finish())
    corpus = Folder(tmp_path / "corpus").opened(CRAWL_ID=crawl_name)
    for number in range(2):
        corpus.keep(record_of(document(number)))
    corpus.close()
    done = scrapy_frontier("status", CORPUS_DIR=str(tmp_path / "corpus"))
    said = " ".join(done.stdout.split())
    assert f"2 of the 3 finished are recorded in {tmp_path / 'corpus'}: other machines have the rest, or one" in said
    assert json.loads(scrapy_frontier("status", "--json", CORPUS_DIR=str(tmp_path / "corpus")).stdout)["recorded"] == 2
    elsewhere = scrapy_frontier("status", CORPUS_DIR=str(tmp_path / "none"))
    assert "are recorded in" not in elsewhere.stdout
    withdraw(Place(str(tmp_path / "corpus")), Wish("asked to", urls=frozenset({"https://example.org/1"})), now=1.8e9)
    assert "are recorded in" not in scrapy_frontier("status", CORPUS_DIR=str(tmp_path / "corpus")).stdout


def test_the_status_counts_no_page_that_was_given_up_as_missing(scrapy_frontier, valkey_url, crawl_name, tmp_path):
    async def finish() -> None:
        frontier = Frontier(valkey_url, crawl_name, Limits(tries=1))
        await frontier.open()
        await frontier.put([Link(f"https://h{n}.example/") for n in range(2)])
        done, failed = (await frontier.lease(2)).leases
        await frontier.nack(failed.token, None, "HTTP 500")
        await ack(frontier, [(done.token, None), (failed.token, None)])
        assert (await frontier.counts()).dead == 1
        await frontier.close()

    asyncio.run(finish())
    corpus = Folder(tmp_path / "corpus").opened(CRAWL_ID=crawl_name)
    corpus.keep(record_of(document(0)))
    corpus.close()
    done = scrapy_frontier("status", CORPUS_DIR=str(tmp_path / "corpus"))
    assert "are recorded in" not in done.stdout


def test_the_status_of_one_domain_shows_no_figures_of_the_whole_crawl(command, filled, crawl_name):
    whole, one = command("status")[1], command("status", "--domain", "deep.example")[1]
    assert "may be fetched within a minute" in whole
    title, blank, head, row = one.splitlines()
    assert (title, blank) == (f"crawl “{crawl_name}”", "") and head.split()[0] == "queued"
    assert "deep.example" in row and row.split()[0] == "50"


# --- a live worker ---------------------------------------------------------------------------------------------------


@pytest.fixture
def live(valkey_url, crawl_name, tmp_path):
    with Web(400) as web:
        web.behaviour = {f"/{n}": lambda _: (404, b"gone") for n in (3, 4, 5)}
        settings = {"REDIS_URL": valkey_url, "CRAWL_ID": crawl_name, "FRONTIER_IDLE_SECONDS": 0}
        worker = Worker(tmp_path / "work", web, DOWNLOAD_DELAY=0.05, RETRY_TIMES=0, **settings)
        yield worker
        worker.end()


def test_every_action_acts_on_a_crawl_that_runs(live, command):
    scope = live.web.url.removeprefix("http://")
    asked = live.web.paths

    def status() -> dict:
        code, out, err = command("status", "--json")
        assert code == 0, err
        return json.loads(out)

    live.until(lambda: len(asked()) > 25, "pages")
    view = status()
    assert [s["scope"] for s in view["scopes"]] == [scope]
    assert 0 < view["rate"] <= 20

    # one domain: nothing more is sent to it, and it goes on where it was
    assert command("pause", "--domain", scope)[:2] == (
        0,
        f"{scope} is paused: nothing is sent to it until it is resumed\n",
    )
    assert "already" in command("pause", "--domain", scope)[1]
    live.until(lambda: status()["scopes"][0]["busy"] == 0, "the requests under way end")
    before, begun = len(asked()), time.monotonic()
    assert "paused" in command("status")[1].splitlines()[-1]
    assert status()["scopes"][0]["paused"] is True
    live.until(lambda: time.monotonic() - begun > 0.5, "ten delays")
    assert len(asked()) == before
    assert command("resume", "--domain", scope)[0] == 0
    live.until(lambda: len(asked()) > before + 3, "pages after the domain was resumed")

    # all of it
    assert command("pause")[0] == 0
    live.until(lambda: status()["counts"]["leased"] == 0, "the leases end")
    view = status()
    (mine,) = view["scopes"]
    assert 0 < mine["done"] == view["counts"]["done"] <= len(asked())
    assert mine["failed"] == view["counts"]["dead"] == 3
    assert mine["queued"] + mine["done"] + mine["failed"] == view["counts"]["seen"] == 400
    before, begun = len(asked()), time.monotonic()
    live.until(lambda: time.monotonic() - begun > 0.5, "ten delays")
    assert len(asked()) == before
    assert status()["counts"]["mode"] == "pause"
    assert command("resume")[1] == "running\n"
    live.until(lambda: len(asked()) > before + 3, "pages after the crawl was resumed")

    # dead letters are tried again
    live.web.behaviour.clear()
    tried = asked().count("/3")
    assert command("requeue", "dead", "--reason", "404")[1] == "3 URLs went back into their queues\n"
    live.until(lambda: status()["counts"]["dead"] == 0, "no dead letters")

    # purged: what is under way ends, nothing else is asked
    assert command("purge", "--domain", scope)[0] == 1
    code, out, _ = command("purge", "--domain", scope, "--yes")
    assert code == 0
    assert int(out.split()[0]) > 100
    live.until(lambda: status()["counts"]["leased"] == 0, "the leases end")
    assert status()["counts"]["queued"] == 0
    assert asked().count("/3") in (tried, tried + 1)
    assert command("drain")[0] == 0
    assert live.process.wait(timeout=DEADLINE) == 0


def test_a_paused_domain_keeps_the_crawl_from_ending_and_its_block_holds_afterwards(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link("https://a.example/1"), Link("https://a.example/2")])
        await frontier.politeness.block("a.example", clock.now + 500.0, "HTTP 429")
        assert await frontier.control.pause("a.example")
        assert not await frontier.control.pause("a.example")
        clock.advance(100.0)
        assert (await frontier.lease(1)).leases == ()
        counts = await frontier.counts()
        assert (counts.pending, counts.paused) == (2, 2), "who pauses a domain means to go on with it"
        assert [why async for _, why, _ in held(frontier)] == ["hold_paused", "hold_paused"]
        await frontier.politeness.block("a.example", clock.now + 900.0, "HTTP 503")  # an answer that was under way
        assert await frontier.control.resume("a.example")
        assert not await frontier.control.resume("a.example")
        assert [why async for _, why, _ in held(frontier)] == ["HTTP 503", "HTTP 503"]
        clock.advance(899.0)
        assert (await frontier.lease(1)).leases == ()
        clock.advance(2.0)
        assert len((await frontier.lease(1)).leases) == 1

    frontier_run(scenario, patience=60.0)


def test_what_was_put_back_until_the_end_of_a_pause_comes_back_with_it(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link("https://a.example/1")])
        (lease,) = (await frontier.lease(1)).leases
        await frontier.control.pause("a.example")
        at = await reserve(frontier, "https://a.example/robots.txt")
        await frontier.nack(lease.token, at, "", counted=False)
        await frontier.control.resume("a.example")
        clock.advance(2.0)
        (again,) = (await frontier.lease(1)).leases
        assert (again.url, again.attempt) == (lease.url, 1)

    frontier_run(scenario, delay=1.0)


def test_a_pause_keeps_count_of_what_is_under_way(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link("https://a.example/1"), Link("https://a.example/2")])
        (lease,) = (await frontier.lease(1)).leases
        await frontier.control.pause("a.example")
        (view,) = (await overview(frontier)).scopes
        assert view.busy == 1
        await frontier.control.resume("a.example")
        assert (await frontier.lease(1)).leases == ()  # one at a time
        await frontier.finish([(lease.token, None)])
        assert (await overview(frontier)).scopes[0].busy == 0

    frontier_run(scenario, delay=0.0, concurrency=1)
