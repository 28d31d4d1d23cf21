"""Killed again and again, a job pays for no answer twice, repeats at most what was under way, and keeps its budget."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.dataset.annotate import Annotations
from crawler.storage.corpus.answers import LEDGER
from crawler.storage.files.place import Place
from tests.support import warm
from tests.support.corpus_folder import Folder
from tests.support.models import Ask, ModelServer, Say, Script, judged
from tests.support.places import PROJECT
from tests.support.process import clean_environment

PAGES, CONCURRENCY, KILLS = 30, 3, 4


class Killed:
    """Kills the process that asks once it has sent so many requests; the one that it waits for gets no answer."""

    def __init__(self, answer: Say) -> None:
        self.answer, self.asked = answer, Counter[str]()
        self.answered = Counter[str]()
        self._left, self._dying, self._turn = 10**9, threading.Event(), threading.Lock()

    def arm(self, requests: int) -> threading.Event:
        self._left, self._dying = requests, threading.Event()
        return self._dying

    def script(self, ask: Ask) -> Say:
        with self._turn:
            self.asked[ask.page] += 1
            self._left -= 1
            if self._left <= 0:
                self._dying.set()
                return Say(cut=True)
            self.answered[ask.page] += 1
        return self.answer


def lines(folder: Path) -> list[dict[str, Any]]:
    data = (folder / LEDGER).read_bytes()
    return [orjson.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]


def start(words: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.llm.judge_process", *words]
    return subprocess.Popen(
        command, cwd=PROJECT, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


@pytest.mark.parametrize("operation", ["judge", "extract"])
def test_no_kill_makes_anybody_pay_twice_or_more_than_the_budget(
    folder: Folder,
    serve: Callable[[Script], ModelServer],
    prices: Callable[..., str],
    tmp_path: Path,
    operation: str,
) -> None:
    folder.filled(range(PAGES))
    schema = tmp_path / "thing.json"
    schema.write_text('{"type": "object", "properties": {"page": {"type": "integer"}}}')
    more, name, answer = {
        "judge": ((), "llm_judge_quality", judged(3)),
        "extract": (("--schema", str(schema)), "llm_extract_thing", Say('{"page": null}')),
    }[operation]
    killed = Killed(answer)
    server = serve(killed.script)
    most = 900
    words = [operation, str(folder.path), "--model", server.model(), "--prices", prices(), *more]
    words += ["--budget", f"{most}EUR", "--concurrency", str(CONCURRENCY)]
    for round_ in range(KILLS):
        dying = killed.arm(2 + round_ % 4)
        process = start(words)
        assert dying.wait(60), process.communicate(timeout=10)[0].decode()
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    killed.arm(10**9)
    process = start(words)
    out = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 0, out

    written = lines(folder.path)
    intents = [line for line in written if line["kind"] == "intent"]
    answers = {line["call"]: line for line in written if line["kind"] == "answer"}
    finals = Counter(line["key"] for line in intents if answers.get(line["call"], {}).get("final"))
    assert len(finals) == PAGES
    assert set(finals.values()) == {1}, "a key was answered twice"
    assert len(intents) <= PAGES + KILLS * CONCURRENCY
    assert sum(killed.asked.values()) <= len(intents)
    spent = sum(Decimal(answers[n["call"]]["cost"] if n["call"] in answers else n["reserved"]) for n in intents)
    assert spent <= most
    rows = list(Annotations(Place(str(folder.path))).read(name))
    assert len(rows) == PAGES


def caught(pid: int) -> list[int]:
    """The signals that a process handles."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = int(status.split("SigCgt:")[1].split()[0], 16)
    return [number for number in range(1, 32) if mask >> (number - 1) & 1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_what_was_paid_written_down(
    folder: Folder, serve: Callable[[Script], ModelServer], prices: Callable[..., str], number: signal.Signals
) -> None:
    folder.filled(range(PAGES))
    begun, go_on = threading.Event(), threading.Event()

    def script(ask: Ask) -> Say:
        if ask.number == 5:
            begun.set()
            assert go_on.wait(60)
        return judged(2)

    server = serve(script)
    words = ["llm", "judge", str(folder.path), "--model", server.model(), "--prices", prices(), "--budget", "900EUR"]
    command = [sys.executable, "-m", "crawler.commands.gristmill", *words, "--concurrency", "1"]
    process = warm.Popen(
        command, cwd=PROJECT, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert begun.wait(60), process.communicate(timeout=10)
    process.send_signal(number)
    while number in caught(process.pid):  # it has heard it once another one would kill it
        time.sleep(0.01)
    go_on.set()
    out = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 128 + number, out
    assert "the same command continues" in out
    assert all(line["kind"] == "intent" or line["final"] for line in lines(folder.path))
    assert len(list(Annotations(Place(str(folder.path))).read("llm_judge_quality"))) == len(server.asks) == 5


def test_a_signal_waits_for_no_provider_that_hangs_and_says_what_nobody_knows(
    folder: Folder, serve: Callable[[Script], ModelServer], prices: Callable[..., str]
) -> None:
    folder.filled(range(PAGES))
    begun, go_on = threading.Event(), threading.Event()

    def script(ask: Ask) -> Say:
        if ask.number == 3:
            begun.set()
            go_on.wait(60)
        return judged(2)

    server = serve(script)
    words = ["llm", "judge", str(folder.path), "--model", server.model(), "--prices", prices(), "--budget", "900EUR"]
    command = [sys.executable, "-m", "crawler.commands.gristmill", *words, "--concurrency", "1"]
    process = subprocess.Popen(
        command, cwd=PROJECT, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert begun.wait(60), process.communicate(timeout=10)
        process.send_signal(signal.SIGTERM)
        out = process.communicate(timeout=30)[0]
    finally:
        go_on.set()
    assert process.returncode == 128 + signal.SIGTERM, out
    (reserved,) = {line["reserved"] for line in lines(folder.path) if line["kind"] == "intent"}
    assert "stopping: 5 s for 1 call under way" in out
    assert "1 call under way when it was stopped: nobody knows what came of" in out
    assert f"{Decimal(reserved):,.2f} EUR count as spent" in out
    assert len(list(Annotations(Place(str(folder.path))).read("llm_judge_quality"))) == 2
