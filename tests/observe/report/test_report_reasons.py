"""Every reason is documented, once, for people."""

import pytest

from crawler.document import Reason
from crawler.observe.reasons import markdown, meaning
from tests.support.places import PROJECT

DOCS = PROJECT / "docs"


@pytest.mark.parametrize("reason", Reason.known())
def test_every_reason_has_a_sentence(reason):
    assert reason.meaning.endswith(".") and len(reason.meaning) > 15


def test_the_documentation_lists_exactly_the_reasons_that_exist():
    assert markdown() in (DOCS / "reasons.md").read_text(encoding="utf-8")


def test_a_reason_of_another_version_has_no_sentence_and_is_no_error():
    assert meaning("from_the_future") == "" and meaning("gone")


def test_every_field_of_the_record_is_documented():
    from crawler.document import RECORD_FIELDS

    text = (DOCS / "record.md").read_text(encoding="utf-8")
    assert [name for name in RECORD_FIELDS if f"`{name}`" not in text] == []
