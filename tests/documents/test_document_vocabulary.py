"""What a reason and a document say about themselves, once, for every room."""

import dataclasses
import re
from pathlib import Path

import orjson
import pytest

from crawler.dataset.verify import is_final
from crawler.document import RECORD_FIELDS, Columns, Document, Drop, DropReason
from crawler.observe.report.reasons import markdown, meaning
from crawler.pipelines.settlement import hold_reason
from crawler.policy.explain import because
from crawler.storage.files.records import record_of

ROOT = Path(__file__).resolve().parents[2]
ASKS = re.compile(r"""startswith\(["']hold""")


def test_a_hold_is_named_as_one_and_weighs_as_one():
    for reason in DropReason:
        assert reason.is_hold == DropReason.holds(reason.value) == reason.value.startswith("hold_")
        assert not (reason.is_hold and reason.is_final)


def test_a_hold_of_a_later_version_is_one_too_and_a_kept_record_is_none():
    assert DropReason.of("hold_tomorrow") is None and DropReason.holds("hold_tomorrow")
    assert not any(DropReason.holds(reason) for reason in (None, "", "gone", "on_hold_", 1))


def test_whether_a_reason_is_a_hold_is_asked_in_one_place():
    modules = [path for room in ("crawler", "demo") for path in (ROOT / room).rglob("*.py")]
    asked = {str(path.relative_to(ROOT)) for path in modules if ASKS.search(path.read_text("utf-8"))}
    assert asked == {"crawler/document.py"}


def test_a_reason_of_another_version_is_none_and_weighs_like_a_verdict_on_the_page():
    assert DropReason.of("from_the_future") is None
    assert DropReason.of("gone") is DropReason.GONE is DropReason("gone")
    assert is_final("from_the_future") and is_final(None) and not is_final("hold_paused")


def test_only_holds_are_read_from_the_notes_of_a_frontier():
    assert hold_reason("hold_paused: by hand\ngone: 404\nhold_tomorrow: new") == (DropReason.HOLD_PAUSED, "by hand")
    assert hold_reason("gone: 404") == (DropReason.HOLD_RATE_LIMITED, "")


@pytest.mark.parametrize("reason", list(DropReason))
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
