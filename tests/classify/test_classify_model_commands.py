"""`classify card` and `explain`: the card is changed in a new file, an explanation says what a crawl does."""

from __future__ import annotations

import pytest

from crawler.document import Document, Drop, DropReason
from crawler.operations.classify_model import CARD, EXPLAIN
from crawler.operations.classify_train import WORK
from crawler.operations.declared import WrongCall
from crawler.problems import InputError
from crawler.stages.classify.model import open_classifier
from crawler.storage.files.records import record_of, rejection_of
from tests.classify.conftest import text_of
from tests.support.corpus_folder import Folder
from tests.support.operations import answer_of


@pytest.fixture
def model(labels, tmp_path) -> str:
    return str(answer_of(WORK, "worth", "--labels", labels(), "--out", tmp_path).facts["file"])


def test_a_threshold_goes_into_a_new_file_with_the_same_weights(model, tmp_path):
    before = open_classifier(model)
    answer_of(CARD, model, "--threshold", "0.3", "--action", "drop", "--out", tmp_path / "strict.npz")
    after = open_classifier(str(tmp_path / "strict.npz"))
    assert (after.threshold, after.action) == (0.3, "drop") and open_classifier(model).threshold == 0.5
    assert after.score(text_of(True, 77)) == before.score(text_of(True, 77))
    with pytest.raises(WrongCall, match="give --out"):
        answer_of(CARD, model, "--threshold", "0.3")


def test_a_page_of_a_corpus_is_explained_and_one_without_text_is_told(model, tmp_path):
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    kept = Document("https://k.example/", canonical_url="https://k.example/", text=text_of(True, 3), language="ru")
    corpus.keep(record_of(kept))
    gone = Document("https://r.example/", canonical_url="https://r.example/", language="en")
    corpus.reject(rejection_of(gone, Drop("quality", DropReason.LOW_QUALITY)))
    corpus.close()
    said = answer_of(EXPLAIN, model, "https://k.example/", "--corpus", folder.path).facts
    assert said["score"] > 0.5 and said["scored"] is False and said["language"] == "ru"
    assert said["parts"][0]["adds"] and said["parts"][0]["names"]
    with pytest.raises(InputError, match="its record has no text"):
        answer_of(EXPLAIN, model, "https://r.example/", "--corpus", folder.path)
    with pytest.raises(InputError, match="no record of this page"):
        answer_of(EXPLAIN, model, "https://x.example/", "--corpus", folder.path)
