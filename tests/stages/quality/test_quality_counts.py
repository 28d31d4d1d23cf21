"""Words, characters and tokens are those of the text as it is written, whatever was cut or redacted before."""

from __future__ import annotations

from crawler.config import from_mapping
from crawler.dataset.cuts import without
from crawler.document import Document
from crawler.stages.pii.stage import PiiStage
from crawler.stages.quality.stage import QualityStage
from crawler.stages.text.words import counts, recount
from crawler.storage.files.records import record_of
from crawler.urls.canonicalize import is_registrable

TEXT = "Write to jane.doe@mail-company.com or call +49 30 901 82 07 12 34 today, the office of the mill is open. " * 4


def the_counts(doc):
    return {name: getattr(doc, name) for name in ("word_count", "char_count", "token_estimate")}


def test_counts_follow_the_redacted_text():
    doc = Document("http://a.test/", text=TEXT, language="en")
    recount(doc)
    before = the_counts(doc)
    PiiStage(from_mapping({"PII_PERSON": "off"}).pii)(doc)
    assert doc.pii_span_count and the_counts(doc) == counts(doc.text)
    assert all(value < before[name] for name, value in the_counts(doc).items())


def test_counts_follow_the_lines_that_a_rule_set_cleaned():
    lines = ["The mill stands at the brook and grinds the corn of the whole valley in the autumn."] * 6
    doc = Document("http://a.test/", text="\n".join([*lines, "we use cookies, see our cookie policy"]), language="en")
    QualityStage(from_mapping({"QUALITY_RULES": "c4"}).quality)(doc)
    assert "cookie" not in doc.text and the_counts(doc) == counts(doc.text)


def test_counts_follow_a_cut():
    doc = Document("http://a.test/", text="one two three four five six")
    recount(doc)
    left = without(record_of(doc), [(1, 3)])
    assert left["text"] == "one four five six"
    assert {name: left[name] for name in counts("")} == {"word_count": 4, "char_count": 17, "token_estimate": 5}


def test_mail_goes_to_names_under_a_registry_private_suffixes_included():
    assert is_registrable("example.co.uk") and is_registrable("github.io")
    assert not is_registrable("co.uk") and not is_registrable("example.notatld")
