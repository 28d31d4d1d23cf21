"""A text that was withdrawn by an earlier version of the program stays withdrawn."""

import pytest

from crawler.config import DedupConfig
from crawler.dataset.refused import Refusals
from crawler.dataset.text_prints import SCHEME, decoded, printed
from crawler.document import Document
from crawler.stages.fingerprint import OLDER_VERSION

TEXT = "The 1.5 mills – of the river ﬂow -5 times a year, " + "and nobody knows why they do it at all. " * 3


def line_of(text, scheme, version):
    made = printed(text, version)
    return {
        "kind": "text", "number": 1, "doc_id": made.doc_id, "signature": made.encoded, "shingles": made.shingles,
        "scheme": scheme,
    }  # fmt: skip


def refusals(scheme, version):
    wish = {"kind": "withdrawal", "number": 1, "time": "2026-01-01T00:00:00Z", "urls": ["https://example.org/"]}
    found = Refusals()
    found.add([{**wish, "reach": "texts"}, line_of(TEXT, scheme, version)], "log")
    return found


@pytest.mark.parametrize("version", [OLDER_VERSION, 3])
def test_a_text_of_either_version_of_the_fingerprints_is_refused(version):
    scheme = SCHEME.replace("/3/", f"/{version}/", 1)
    assert printed(TEXT, OLDER_VERSION).doc_id != printed(TEXT).doc_id
    known = refusals(scheme, version)
    page = Document(url="https://elsewhere.test/", text=TEXT)
    assert known.of_document(page, DedupConfig()).what == "text"
    assert known.of_record({"url": "https://elsewhere.test/", "text": TEXT}).what == "text"
    other = Document(url="https://elsewhere.test/", text="Another text of another author. " * 9)
    assert known.of_document(other, DedupConfig()) is None


def test_a_print_of_a_version_that_nobody_knows_is_an_error():
    made = printed(TEXT)
    with pytest.raises(ValueError, match="its scheme is"):
        decoded(SCHEME.replace("/3/", "/1/", 1), made.doc_id, made.encoded, made.shingles)
