"""What is written about a page, and what never is."""

import orjson
import pytest

from crawler.document import RECORD_FIELDS, Document, Drop, DropReason, Reason, Signal
from crawler.storage.files.records import TEXT_FIELDS, encode, record_of, rejection_of

SECRET = "the words of the page"


def test_a_kept_record_has_every_field_in_the_documented_order(document):
    line = encode(record_of(document(1)))
    assert list(orjson.loads(line)) == list(RECORD_FIELDS)
    assert line.endswith(b"}\n") and line.count(b"\n") == 1


def test_signals_are_written_with_protocol_carrier_value_and_verdict(document):
    record = orjson.loads(encode(record_of(document(1, optout_signals=[Signal("noai", "meta", "noai", "disallow")]))))
    assert record["optout_signals"] == [{"protocol": "noai", "carrier": "meta", "value": "noai", "verdict": "disallow"}]


@pytest.mark.parametrize("reason", Reason.known())
def test_a_rejection_carries_text_only_where_the_reason_allows_it(document, reason):
    doc = document(1, text=SECRET, title=SECRET, description=SECRET, author=SECRET)
    line = encode(rejection_of(doc, Drop("some", reason)))
    assert (SECRET.encode() in line) == reason.keeps_text


@pytest.mark.parametrize(
    "reason", [DropReason.OPTOUT, DropReason.ROBOTS_DISALLOWED, DropReason.TOO_SHORT, DropReason.STAGE_ERROR]
)
def test_policy_and_personal_data_rejections_never_carry_text(reason):
    assert not reason.keeps_text


def test_the_reasons_of_language_quality_and_duplicates_may_carry_text():
    assert all(
        r.keeps_text for r in (DropReason.LANGUAGE_UNKNOWN, DropReason.DUP_LINE_FRAC, DropReason.EXACT_DUPLICATE)
    )


@pytest.mark.parametrize("changes", [{"text_allowed": False}, {"done": ["quality"]}, {}])
def test_text_stays_out_before_policy_and_redaction_or_where_the_setting_is_off(document, changes):
    doc = document(1, text=SECRET, title=SECRET, **changes)
    record = rejection_of(doc, Drop("quality", DropReason.LOW_QUALITY), with_text=bool(changes))
    assert not set(TEXT_FIELDS) & set(record)


def test_a_rejection_of_a_page_that_was_never_fetched_says_where_and_why():
    record = rejection_of(Document(url="http://a.test/x"), Drop("policy", DropReason.OPTOUT, "d" * 600))
    assert (record["url"], record["canonical_url"]) == ("http://a.test/x", "http://a.test/x")
    assert (record["stage"], record["reason"], len(record["detail"])) == ("policy", "optout", 512)


def test_lone_surrogates_become_replacement_characters_instead_of_losing_the_page(document):
    record = orjson.loads(encode(record_of(document(1, text="a\ud800b", quality_signals={"\udfff": ["\ud83d\ude00"]}))))
    assert record["text"] == "a\ufffdb"
    assert record["quality_signals"] == {"\ufffd": ["😀"]}


def test_numbers_that_json_cannot_carry_become_null(document):
    assert orjson.loads(encode(record_of(document(1, quality_score=float("nan")))))["quality_score"] is None


def test_a_value_without_json_form_is_an_error_and_not_a_silent_string(document):
    with pytest.raises(TypeError):
        encode(record_of(document(1, quality_signals={"x": object()})))
