"""What a reason and a document say about themselves, once, for every room."""

import dataclasses
import pickle
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from crawler import document
from crawler.dataset.verify import is_final
from crawler.document import RECORD_FIELDS, Columns, Document, Drop, DropReason, Reason, register
from crawler.observe.reasons import markdown, meaning
from crawler.pipelines.settlement import hold_reason
from crawler.policy.explain import because
from crawler.storage.files.records import record_of

ROOT = Path(__file__).resolve().parents[2]
ASKS = re.compile(r"""startswith\(["']hold""")


def test_a_hold_is_named_as_one_and_weighs_as_one():
    for reason in Reason.known():
        assert reason.is_hold == Reason.holds(reason.value) == reason.value.startswith("hold_")
        assert not (reason.is_hold and reason.is_final)


def test_a_hold_of_a_later_version_is_one_too_and_a_kept_record_is_none():
    assert Reason.of("hold_tomorrow").is_hold and Reason.holds("hold_tomorrow")
    assert not any(Reason.holds(reason) for reason in (None, "", "gone", "on_hold_", 1))


def test_whether_a_reason_is_a_hold_is_asked_in_one_place():
    modules = [path for room in ("crawler", "demo") for path in (ROOT / room).rglob("*.py")]
    asked = {str(path.relative_to(ROOT)) for path in modules if ASKS.search(path.read_text("utf-8"))}
    assert asked == {"crawler/document.py"}


def test_a_reason_of_another_version_keeps_its_name_and_weighs_like_a_verdict_on_the_page():
    unknown = Reason.of("from_the_future")
    assert (unknown.value, unknown.is_final, unknown.keeps_text) == ("from_the_future", True, False)
    assert Reason.of("gone") is DropReason.GONE
    assert is_final("from_the_future") and is_final(None) and not is_final("hold_paused")


def test_a_reason_is_the_same_one_in_another_process():
    custom = Reason.custom("too_wet")
    assert pickle.loads(pickle.dumps(DropReason.GONE)) is DropReason.GONE
    assert vars(pickle.loads(pickle.dumps(custom))) == vars(custom)
    assert dataclasses.asdict(Drop("pipelines", custom))["reason"] == "custom:too_wet"
    there = "import pickle, sys; print(pickle.load(sys.stdin.buffer).keeps_text)"
    foreign = pickle.dumps(Reason("of_a_package", keeps_text=True))
    done = subprocess.run([sys.executable, "-c", there], input=foreign, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"True\n"


def test_a_reason_is_declared_once_and_has_a_name(monkeypatch):
    monkeypatch.setattr("crawler.document._KNOWN", dict(document._KNOWN))
    assert register([Reason("of_a_package", "One.")]) == register([Reason("of_a_package", "One.")]) == []
    assert Reason.of("of_a_package").meaning == "One." and Reason.known()[-1] == "of_a_package"
    assert "declared already" in register([Reason("of_a_package", "Another.")])[0]
    assert "declared already" in register([Reason("gone", "Mine.")])[0]
    for name in ("Gone", "gone with", "", "hold_mine", "custom:mine", "g" * 49):
        assert "not a name of a reason" in register([Reason(name)])[0]
    assert Reason.of("gone") is DropReason.GONE


def test_only_holds_are_read_from_the_notes_of_a_frontier():
    assert hold_reason("hold_paused: by hand\ngone: 404\nhold_tomorrow: new") == (DropReason.HOLD_PAUSED, "by hand")
    assert hold_reason("gone: 404") == (DropReason.HOLD_RATE_LIMITED, "")


@pytest.mark.parametrize("reason", Reason.known())
def test_report_documentation_and_answers_take_their_words_from_the_reason(reason):
    assert meaning(reason.value) == reason.meaning
    assert f"| `{reason.value}` | {reason.meaning} |\n" in markdown()
    if reason not in (DropReason.ROBOTS_DISALLOWED, DropReason.OPTOUT):  # answered with what was read there
        [sentence] = because(Drop("any", reason), [], "", "default")
        assert sentence == (reason.clause or f"it would be rejected as {reason.value}")


def test_what_a_document_carries_beside_its_columns_reaches_no_record():
    own = {f.name for f in dataclasses.fields(Document)} - {f.name for f in dataclasses.fields(Columns)}
    assert {"html", "tree", "verdict", "lease_token"} <= own
    record = record_of(Document("http://a.test/"))
    assert list(record) == list(RECORD_FIELDS) and not own & set(record)
    assert own & set(orjson.loads(orjson.dumps(record))) == set()
