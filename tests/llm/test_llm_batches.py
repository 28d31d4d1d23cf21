"""`--batch`: sent once, found again whatever dies, taken once, and never more than its budget."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.dataset.annotate import Annotations
from crawler.dataset.exclude import Wish, withdraw
from crawler.llm import batch as batches
from crawler.observe.withdrawn import summary
from crawler.operations.llm_judge import WORK
from crawler.operations.llm_questions import WORK as QUESTIONS
from crawler.problems import InputError
from crawler.storage.corpus.answers import LEDGER
from crawler.storage.files.place import LLM_SPENT, Place
from tests.support.corpus_folder import Folder
from tests.support.model_batches import BatchServer, Lines
from tests.support.models import Say, judged
from tests.support.operations import answer_of

PROTOCOLS = ("anthropic", "google", "openai")
ENDED = {"anthropic": "ended", "google": "BATCH_STATE_SUCCEEDED", "openai": "completed"}
PRICES = (
    "date: 2026-01-01\ncurrency: EUR\nmodels:\n"
    "  anthropic:small: {input: 1000, output: 10000, batch: 0.5}\n"
    "  google:small: {input: 1000, output: 10000, batch: 0.5}\n"
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

    def run(protocol: str, *more: object, budget: str = "900EUR", batch: bool = True) -> dict[str, Any]:
        words = ["--model", server.model(protocol), "--prices", tmp_path / "prices.yaml", "--budget", budget, *more]
        answer = answer_of(WORK, folder.path, *words, *["--batch"] * batch)
        return {**answer.facts, "problems": list(answer.problems)}

    return run


def rows(folder: Folder) -> int:
    return len(list(Annotations(Place(str(folder.path))).read("llm_judge_quality")))


def taken(judge: Any, server: BatchServer, protocol: str, edit: Callable[[Lines], Lines]) -> tuple[dict[str, Any], str]:
    """What comes of a batch whose results the provider has changed, and the problems in one text."""
    judge(protocol)
    server.ending, server.edit = ENDED[protocol], edit
    found: dict[str, Any] = judge(protocol)
    return found, " ".join(found["problems"])


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
def test_a_death_between_the_deletion_at_the_provider_and_its_note_holds_up_nothing(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(3))
    judge(protocol)
    held, server.ending = dict(server.batches), ENDED[protocol]
    assert judge(protocol)["ended"] == "done"
    path = folder.path / LEDGER
    *lines, last = path.read_bytes().splitlines(keepends=True)
    assert orjson.loads(last)["kind"] == "batch"
    path.write_bytes(b"".join(lines))
    for left in (server.batches, held):  # its files are deleted first
        server.batches = left
        found = judge(protocol)
        assert (found["ended"], found["problems"], found["spent"]) == ("done", [], pytest.approx(3 * ONE))
        path.write_bytes(b"".join(lines))


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
    assert (judge(protocol)["ended"], server.submitted, len(server.files)) == (
        "waiting",
        1,
        int(protocol != "anthropic"),
    )
    server.ending = ENDED[protocol]
    assert judge(protocol)["spent"] == pytest.approx(3 * ONE)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_missing_doubled_and_foreign_results_are_named_and_never_taken_for_answers(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(4))
    found, said = taken(
        judge, server, protocol, lambda lines: [*lines[1:], lines[1], lines[1] | {"custom_id": "another-1"}]
    )
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


@pytest.mark.parametrize("ending", ["EXPIRED", "FAILED", "CANCELLED"])
def test_a_batch_of_gemini_without_results_may_be_paid_and_says_how_it_ended(
    folder: Folder, server: BatchServer, judge: Any, ending: str
) -> None:
    folder.filled(range(2))
    judge("google")
    server.ending = f"BATCH_STATE_{ending}"
    found = judge("google")
    assert (found["outcomes"], found["spent"]) == ({"cut": 2}, pytest.approx(found["booked"]))
    assert f"2 results missing (JOB_STATE_{ending}), booked at the most they may cost" in " ".join(found["problems"])
    assert (server.batches, server.files) == ({}, {})
    server.ending = None
    assert (judge("google")["ended"], server.submitted) == ("waiting", 2)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_smaller_sample_takes_all_answers_of_a_batch_that_is_under_way(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(5))
    judge(protocol)
    server.ending = ENDED[protocol]
    found = judge(protocol, "--sample", 1)
    assert (found["ended"], found["outcomes"], found["problems"], rows(folder)) == ("done", {"answered": 5}, [], 1)
    assert (judge(protocol)["known"], rows(folder), server.submitted) == (5, 5, 1)


def test_answers_of_a_batch_that_the_command_no_longer_asks_for_are_counted_and_named(
    folder: Folder, server: BatchServer, judge: Any
) -> None:
    folder.filled(range(2))
    judge("openai")
    server.ending = "completed"
    found = judge("openai", "--max-chars", 200, "--max-tokens", 99)
    assert "2 answers of a batch paid and not taken" in " ".join(found["problems"])
    assert found["spent"] > 2 * ONE


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
    assert found["ended"] == "budget"
    assert found["problems"][0].partition(":")[0] == "--budget"
    assert "was sent as" in found["problems"][1]
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
    (folder.path / LLM_SPENT).unlink()  # it is of a later moment
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


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_while_a_batch_is_under_way_nothing_is_asked_beside_it(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(3))
    spent = judge(protocol)["spent"]
    with pytest.raises(InputError, match=r"3 requests of this job are in a batch .* give --batch"):
        judge(protocol, batch=False)
    server.ending = ENDED[protocol]
    assert (spent > 3 * ONE, judge(protocol)["ended"], judge(protocol, batch=False)["known"]) == (True, "done", 3)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_results_that_cannot_be_read_are_counted_and_spoil_no_other(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(9))

    def edit(lines: Lines) -> Lines:
        names = [{"custom_id": line["custom_id"]} for line in lines]
        lines[7]["\u2028"] = "a line separator of Unicode"
        odd: Lines = [b"{no json", b'["a list"]', b'{"custom_id": 7}']
        if protocol == "google":
            odd += [names[3] | {"response": "text"}, names[4] | {"other": "text"},
                    names[5] | {"response": {"candidates": {"0": 1}}}, names[6] | {"error": "text"}]  # fmt: skip
        elif protocol == "openai":
            odd += [names[3] | {"response": {"status_code": 200, "body": "text"}}, names[4] | {"response": "text"},
                    names[5] | {"response": {"status_code": 200, "body": {"choices": {"0": 1}}}},
                    names[6] | {"response": None, "error": "text"}]  # fmt: skip
        else:
            odd += [names[3] | {"result": {"type": "succeeded", "message": "text"}}, names[4] | {"result": "text"},
                    names[5] | {"result": {"type": "succeeded", "message": {"content": 1}}},
                    names[6] | {"result": {"type": "errored"}}]  # fmt: skip
        last = [json.dumps(line, ensure_ascii=False).encode() for line in lines[7:]]
        return odd + last

    found, said = taken(judge, server, protocol, edit)
    assert (found["ended"], rows(folder)) == ("done", 2)
    assert found["outcomes"] == {"answered": 2, "cut": 3, "garbled": 3, "rejected": 1}
    assert "3 results that cannot be read" in said
    assert "3 results missing, booked at the most" in said
    assert found["spent"] == pytest.approx(2 * ONE + found["booked"])
    assert found["booked"] > 6 * ONE


@pytest.mark.parametrize("protocol", ["google", "openai"])
@pytest.mark.parametrize("status", [400, 401, 403, 429])
def test_of_a_batch_that_was_refused_no_file_is_left(
    folder: Folder, server: BatchServer, judge: Any, status: int, protocol: str
) -> None:
    folder.filled(range(2))
    server.refuse = status
    try:
        assert judge(protocol)["spent"] == 0
    except InputError as error:
        assert f"HTTP {status}" in str(error)
    assert (server.files, server.deleted) == ({}, ["file-1"])


@pytest.mark.parametrize("protocol", ["google", "openai"])
@pytest.mark.parametrize("status", [401, 429])
def test_a_file_of_a_refused_batch_that_cannot_be_deleted_is_named(
    folder: Folder, server: BatchServer, judge: Any, status: int, protocol: str
) -> None:
    folder.filled(range(2))
    server.refuse, server.keeps = status, True
    try:
        said = " ".join(judge(protocol)["problems"])
    except InputError as error:
        said = str(error)
    assert f"not deleted at the provider: {'files/' * (protocol == 'google')}file-1" in said


def test_the_file_of_a_batch_that_is_not_listed_yet_stays_until_it_can_no_longer_come(
    folder: Folder, server: BatchServer, judge: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.filled(range(2))
    server.lose = "before"
    assert (judge("openai")["ended"], judge("openai")["ended"], len(server.files)) == ("waiting", "waiting", 1)
    monkeypatch.setattr(batches, "SETTLED_SECONDS", -1.0)
    server.keeps = True
    assert "not deleted at the provider: file-1" in " ".join(judge("openai")["problems"])


def test_a_lost_batch_whose_results_are_no_longer_there_is_booked_after_two_days(
    folder: Folder, server: BatchServer, judge: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.filled(range(2))
    judge("anthropic")
    without_last_note(folder)
    server.ending, server.archived = "ended", True
    monkeypatch.setattr(batches, "SETTLED_SECONDS", -1.0)
    assert (judge("anthropic")["ended"], judge("anthropic")["ended"]) == ("waiting", "waiting")
    monkeypatch.setattr(batches, "LOST_SECONDS", -1.0)
    found = judge("anthropic")
    assert found["outcomes"] == {"cut": 2}
    assert found["spent"] == found["booked"] > 2 * ONE
    assert "whose results are no longer there: booked at the most" in " ".join(found["problems"])


@pytest.mark.parametrize("protocol", ["google", "openai"])
def test_the_file_of_a_batch_that_its_provider_has_lost_is_deleted_there(
    folder: Folder, server: BatchServer, judge: Any, protocol: str
) -> None:
    folder.filled(range(2))
    judge(protocol)
    assert server.files
    server.batches.clear()
    assert judge(protocol)["ended"] == "done" and not server.files


def test_a_withdrawal_names_the_batch_that_holds_the_page_at_its_provider(
    folder: Folder, server: BatchServer, judge: Any
) -> None:
    folder.filled(range(3))
    judge("openai")
    wish = Wish("a letter", urls=frozenset({"https://example.org/1"}))
    for _ in range(2):  # told again by a call that repeats it
        said = summary(withdraw(Place(str(folder.path)), wish, now=1.8e9), [])
        assert "has 1 request with withdrawn pages in batch batch_1: cancel it there" in said
    server.ending = "completed"
    assert judge("openai")["ended"] == "done"
    assert "batch_1" not in summary(withdraw(Place(str(folder.path)), wish, now=1.8e9), [])
