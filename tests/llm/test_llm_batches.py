"""`--batch`: sent once, found again whatever dies, taken once, and never more than its budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.dataset.annotate import Annotations
from crawler.dataset.exclude import Wish, withdraw
from crawler.llm import batch as batches
from crawler.operations.llm_judge import WORK
from crawler.operations.llm_questions import WORK as QUESTIONS
from crawler.storage.corpus.answers import LEDGER
from crawler.storage.files.place import Place
from tests.support.corpus_folder import Folder
from tests.support.model_batches import BatchServer, Lines
from tests.support.models import Say, judged
from tests.support.operations import answer_of

PROTOCOLS = ("anthropic", "openai")
ENDED = {"anthropic": "ended", "openai": "completed"}
PRICES = (
    "date: 2026-01-01\ncurrency: EUR\nmodels:\n"
    "  anthropic:small: {input: 1000, output: 10000, batch: 0.5}\n"
    "  openai:small: {input: 1000, output: 10000, batch: 0.5}\n"
)
ONE = (100 * 1_000 + 20 * 10_000) / 1e6 / 2


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer(lambda ask: judged(3), time.time()) as started:
        yield started


@pytest.fixture
def judge(folder: Folder, server: BatchServer, tmp_path: Path) -> Callable[..., Any]:
    (tmp_path / "prices.yaml").write_text(PRICES)

    def run(protocol: str, *more: object, budget: str = "900EUR") -> dict[str, Any]:
        words = ("--model", server.model(protocol), "--prices", tmp_path / "prices.yaml", "--budget", budget, "--batch")
        answer = answer_of(WORK, folder.path, *words, *more)
        return {**answer.facts, "problems": list(answer.problems)}

    return run


def rows(folder: Folder) -> int:
    return len(list(Annotations(Place(str(folder.path))).read("llm_judge_quality")))


def without_last_note(folder: Folder) -> None:
    """As it is after a death between the submit and the note of its id."""
    path = folder.path / LEDGER
    lines = path.read_bytes().splitlines(keepends=True)
    last = orjson.loads(lines.pop())
    assert (last["kind"], bool(last["id"])) == ("batch", True)
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_batch_is_sent_once_and_taken_by_the_same_command_at_its_price(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(4))
    first, second = judge(protocol), judge(protocol)
    assert (first["ended"], second["ended"], server.submitted) == ("waiting", "waiting", 1)
    assert "the same command takes its answers" in second["problems"][0]
    assert first["spent"] == second["spent"] > 4 * ONE
    server.ending, server.edit = ENDED[protocol], lambda lines: lines[::-1]
    last = judge(protocol)
    assert (last["ended"], last["problems"], rows(folder)) == ("done", [], 4)
    assert last["spent"] == pytest.approx(4 * ONE)
    assert not server.files
    assert (protocol == "openai") or not server.batches
    assert (judge(protocol)["known"], server.submitted) == (4, 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_death_between_submit_and_note_pays_nothing_twice_and_loses_no_answer(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(3))
    judge(protocol)
    without_last_note(folder)
    assert (judge(protocol)["ended"], server.submitted) == ("waiting", 1)
    server.ending = ENDED[protocol]
    assert (judge(protocol)["ended"], server.submitted, rows(folder)) == ("done", 1, 3)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_submit_whose_answer_is_lost_is_found_again(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(3))
    server.lose = "after"
    assert judge(protocol)["ended"] == "waiting"
    server.ending = ENDED[protocol]
    assert (judge(protocol)["ended"], server.submitted, rows(folder)) == ("done", 1, 3)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_batch_that_never_arrived_is_sent_anew_after_a_while_and_costs_nothing(
    folder: Folder, server: BatchServer, judge: Any, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.filled(range(3))
    server.lose = "before"
    assert (judge(protocol)["ended"], judge(protocol)["ended"], server.submitted) == ("waiting", "waiting", 0)
    monkeypatch.setattr(batches, "SETTLED_SECONDS", -1.0)
    assert (judge(protocol)["ended"], server.submitted, len(server.files)) == ("waiting", 1, int(protocol == "openai"))
    server.ending = ENDED[protocol]
    assert judge(protocol)["spent"] == pytest.approx(3 * ONE)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_missing_doubled_and_foreign_results_are_named_and_never_taken_for_answers(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(4))
    judge(protocol)

    def edit(lines: Lines) -> Lines:
        return [*lines[1:], lines[1], lines[1] | {"custom_id": "another-1"}]

    server.ending, server.edit = ENDED[protocol], edit
    found = judge(protocol)
    said = " ".join(found["problems"])
    assert "1 result missing, booked at the most" in said
    assert "1 result there twice" in said
    assert "1 result of another batch" in said
    assert (rows(folder), found["outcomes"]) == (3, {"answered": 3, "cut": 1})
    assert found["spent"] > 4 * ONE
    assert (server.submitted, judge(protocol)["ended"], server.submitted) == (1, "waiting", 2)


@pytest.mark.parametrize(
    ("protocol", "ending"),
    [("anthropic", "expired"), ("anthropic", "canceled"), ("anthropic", "errored"), ("openai", "expired"),
     ("openai", "cancelled"), ("openai", "failed")],
)  # fmt: skip
def test_what_expired_was_cancelled_or_failed_costs_nothing_and_is_sent_again(
    folder: Folder, server: BatchServer, judge: Any, protocol: str, ending: str
) -> None:
    folder.filled(range(2))
    judge(protocol)
    server.ending = ending
    found = judge(protocol)
    assert (found["spent"], found["rows"], found["problems"] != []) == (0.0, 0, True)
    server.ending = None
    assert (judge(protocol)["ended"], server.submitted) == ("waiting", 2)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_answer_about_a_page_that_was_withdrawn_meanwhile_is_not_taken(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(3))
    judge(protocol)
    withdraw(Place(str(folder.path)), Wish("a letter", urls=frozenset({"https://example.org/1"})), now=1.8e9)
    server.ending = ENDED[protocol]
    assert (judge(protocol)["ended"], rows(folder), server.files) == ("done", 2, {})


def test_a_batch_reserves_all_it_may_cost_before_it_is_sent(folder: Folder, server: BatchServer, judge: Any) -> None:
    folder.filled(range(12))
    found = judge("openai", budget="20EUR")
    assert 0 < found["spent"] <= 20
    assert 0 < found["unasked"] < 12
    (held,) = server.batches.values()
    assert len(held.lines) == 12 - found["unasked"]


def test_a_death_before_the_batch_was_written_down_costs_nothing(
    folder: Folder, server: BatchServer, judge: Any
) -> None:
    folder.filled(range(3))
    judge("openai")
    server.batches.clear()  # as if it had died before all of that
    path = folder.path / LEDGER
    kept = [line for line in path.read_bytes().splitlines(keepends=True) if orjson.loads(line)["kind"] == "intent"]
    path.write_bytes(b"".join(kept))
    server.ending = "completed"
    assert (judge("openai")["ended"], judge("openai")["spent"]) == ("waiting", pytest.approx(3 * ONE))
    assert (server.submitted, rows(folder)) == (2, 3)


def test_questions_go_out_as_one_batch_and_their_checks_as_another(
    folder: Folder, server: BatchServer, tmp_path: Path, kept: Any
) -> None:
    corpus = folder.opened()
    corpus.keep(kept(0, text="The kettle of Ada Smith holds 1.7 l.\nIt has been sold in Oslo since 1926.\n"))
    corpus.close()
    pair = {"passage": "The kettle of Ada Smith holds 1.7 l.", "question": "How much does it hold?", "answer": "1.7 l",
            "kind": "number", "difficulty": "easy"}  # fmt: skip
    check, pairs = orjson.dumps({"answer": "1.7 l", "yes_or_no": False}), orjson.dumps({"pairs": [pair]})
    server.script = lambda ask: Say((check if "QUESTION" in ask.user else pairs).decode())
    (tmp_path / "prices.yaml").write_text(PRICES)
    words = ("--model", server.model("openai"), "--prices", tmp_path / "prices.yaml", "--budget", "900EUR", "--batch")
    server.ending = "completed"
    ends = [answer_of(QUESTIONS, folder.path, *words, "--out", tmp_path / "pairs").facts for _ in range(3)]
    assert [(found["ended"], found["texts"]) for found in ends] == [("waiting", 0), ("waiting", 0), ("done", 1)]
    assert (server.submitted, server.files) == (2, {})
