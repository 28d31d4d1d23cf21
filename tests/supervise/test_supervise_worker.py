"""One place among the workers, with small real processes in it."""

import asyncio
import sys

import pytest

from crawler.config.limits import Limits
from crawler.supervise.supervisor import together
from crawler.supervise.worker import Backoff, State, Worker

QUICK = Backoff(first=0.01, most=0.04, steady=3600.0, tries=4)


class Place:
    """A worker whose process runs `script`: `fd` is its descriptor, `start` the number of its start."""

    def __init__(self, script: str, backoff: Backoff = QUICK) -> None:
        self.lines: list[str] = []
        self.script = script
        self.worker = Worker(
            "w-1", self.command, lambda name, line: self.lines.append(f"{name} | {line}"), backoff=backoff
        )

    def command(self, descriptor: int) -> list[str]:
        head = f"import json, os, sys; fd, start = {descriptor}, {self.worker.starts + 1}\n"
        head += "def tell(**c): os.write(fd, json.dumps(c).encode() + b'\\n')\n"
        return [sys.executable, "-c", head + self.script]

    def run(self) -> State:
        return asyncio.run(asyncio.wait_for(self.worker.run(), 60))


def test_a_process_that_ends_well_is_not_started_again():
    place = Place("print('hello')")
    assert place.run() is State.DONE
    assert place.worker.starts == 1
    assert place.lines == ["w-1 | hello"]


def test_one_that_dies_is_started_again_and_its_counters_count_on():
    place = Place(
        "tell(kept=3, pages=4, fetched=5, fetched_bytes=100, rejected={'quality/x': 2})\n"
        "sys.exit(0 if start == 3 else 9)"
    )
    assert place.run() is State.DONE
    assert place.worker.starts == 3
    assert place.lines == [
        "w-1 | warning: it died (exit code 9); restarting in 0.01 s",
        "w-1 | warning: it died (exit code 9); restarting in 0.02 s",
    ]
    whole = together([place.worker])
    assert (whole.kept, whole.pages, whole.fetched, whole.fetched_bytes) == (9, 12, 15, 300)
    assert whole.rejected == {"quality/x": 6}
    assert (whole.workers[0].judged, whole.workers[0].restarts, whole.workers[0].state) == (15, 2, "done")


@pytest.mark.parametrize(
    ("limits", "given"),
    [
        (Limits(pages=10), [10, 6, 2]),
        (Limits(kept=7), [7, 4, 1]),
        (Limits(kept=100, pages=8), [100, 97]),  # the pages end it
        (Limits(), [None] * 4),
    ],
)
def test_one_that_is_started_again_goes_on_within_the_limits_of_its_run(limits, given):
    place = Place(
        "print(sys.argv[2].partition('=')[2] if len(sys.argv) > 2 else None); sys.stdout.flush()\n"
        "tell(kept=3, pages=4); sys.exit(9)"
    )
    place.worker.limits = limits
    assert place.run() is (State.DONE if limits != Limits() else State.FAILED)
    assert [line for line in place.lines if "died" not in line] == [f"w-1 | {number}" for number in given]


def test_the_pauses_double_up_to_the_longest():
    assert [Backoff().pause(deaths) for deaths in (1, 2, 3, 4, 7, 20)] == [1, 2, 4, 8, 60, 60]


def test_one_that_dies_too_often_stays_down_and_says_so():
    place = Place("os.kill(os.getpid(), 9)")
    assert place.run() is State.FAILED
    assert place.worker.starts == QUICK.tries
    assert place.lines[-1] == "w-1 | error: it died 4 times in a row (killed by SIGKILL); it is not restarted"


def test_one_that_lived_long_enough_begins_anew_with_the_first_pause():
    place = Place("sys.exit(0 if start == 6 else 1)", Backoff(first=0.01, steady=0.0, tries=2))
    assert place.run() is State.DONE
    assert {line.rpartition(" in ")[2] for line in place.lines} == {"0.01 s"}


@pytest.mark.parametrize(
    ("end", "starts"),
    [
        ("finished='finished', fatal=''", 1),  # a sitemap could not be read: it said so
        ("finished='closespider_errorcount', fatal=''", 1),  # a limit that somebody asked for
        ("finished='memusage_exceeded', fatal=''", 4),
        ("finished='shutdown', fatal='the server is gone'", 4),
    ],
)
def test_a_crawl_that_is_over_is_not_started_again_however_it_ended(end, starts):
    place = Place(f"tell({end})\nsys.exit(1)")
    assert place.run() is State.FAILED
    assert place.worker.starts == starts


def test_it_stops_while_it_waits_for_its_next_start():
    place = Place("sys.exit(1)", Backoff(first=3600.0))

    async def main() -> State:
        running = asyncio.ensure_future(place.worker.run())
        while not place.lines:
            await asyncio.sleep(0.01)
        assert place.worker.state is State.WAITING
        place.worker.stop()
        return await asyncio.wait_for(running, 60)

    assert asyncio.run(main()) is State.DONE
    assert place.worker.starts == 1


def test_its_process_gets_sigterm_when_it_is_stopped():
    place = Place(
        "import signal, time\nsignal.signal(15, lambda *_: sys.exit(0))\nprint('ready', flush=True)\n"
        "while True: time.sleep(60)"
    )

    async def main() -> State:
        running = asyncio.ensure_future(place.worker.run())
        while "w-1 | ready" not in place.lines:
            await asyncio.sleep(0.01)
        place.worker.stop()
        return await asyncio.wait_for(running, 60)

    assert asyncio.run(main()) is State.DONE


@pytest.mark.parametrize(
    ("told", "code", "state"),
    [
        ("", 143, State.DONE),
        ("", 1, State.DONE),
        ("tell(kept=0)", 0, State.DONE),
        ("tell(kept=0)", 1, State.FAILED),
        ("tell(kept=0)", 143, State.DONE),  # its counters run, its crawl is still being opened
    ],
)
def test_one_that_is_stopped_before_its_crawl_began_has_not_failed(told, code, state):
    place = Place(
        f"import signal, time\nsignal.signal(15, lambda *_: os._exit({code}))\n{told}\nprint('ready', flush=True)\n"
        "while True: time.sleep(60)"
    )

    async def main() -> State:
        running = asyncio.ensure_future(place.worker.run())
        while "w-1 | ready" not in place.lines:
            await asyncio.sleep(0.01)
        place.worker.stop()
        return await asyncio.wait_for(running, 60)

    assert asyncio.run(main()) is state


def test_one_that_had_to_be_stopped_twice_was_cut_off():
    place = Place(
        "import signal, time\nasked = []\n"
        "def end(*_):\n asked.append(1)\n print('asked', flush=True)\n len(asked) > 1 and os._exit(143)\n"
        "signal.signal(15, end)\ntell(kept=0)\nprint('ready', flush=True)\nwhile True: time.sleep(60)"
    )

    async def main() -> State:
        running = asyncio.ensure_future(place.worker.run())
        for line in ("w-1 | ready", "w-1 | asked"):
            while line not in place.lines:
                await asyncio.sleep(0.01)
            place.worker.stop()
        return await asyncio.wait_for(running, 60)

    assert asyncio.run(main()) is State.FAILED


def test_lines_of_any_length_and_bytes_pass():
    place = Place("sys.stdout.buffer.write(b'a' * 250000 + b'\\n\\xff\\nlast')\ntell(kept='x')\nos.write(fd, b'{]\\n')")
    assert place.run() is State.DONE
    assert "".join(line.removeprefix("w-1 | ") for line in place.lines) == "a" * 250000 + "\ufffd" + "last"
