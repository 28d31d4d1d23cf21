"""The stage: scores on the record, a verdict where the card says so, equal everywhere; damaged files are a sentence."""

from __future__ import annotations

import io
import resource
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest

from crawler.classify.card import Said, card_of, save
from crawler.classify.examples import Examples, read_labels
from crawler.classify.explain import explain
from crawler.classify.train import train, usable
from crawler.config import ConfigError, from_mapping
from crawler.document import Document, DropReason
from crawler.documents.from_archive import document_from_archive
from crawler.problems import InputError
from crawler.spark.inputs import ARCHIVED, Input
from crawler.spark.partition import finish, judge
from crawler.stages.chain import Chain, problems
from crawler.stages.classify.model import Weights, open_classifier, packed
from crawler.stages.classify.stage import ClassifyStage
from crawler.stages.classify.words import PROBE, computed, features, words
from crawler.stages.models.file import ModelError
from crawler.stages.models.file import write as write_model
from crawler.storage.archive.reader import read_archive
from crawler.storage.files.shards import read_lines
from tests.classify.conftest import line_of, text_of
from tests.support.archives import exchange, html, write
from tests.support.process import scrapy


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """score.npz, drop.npz and hold.npz: the same weights, with another action on their cards."""
    folder = tmp_path_factory.mktemp("models")
    labels = [line_of(good, number) for number in range(30) for good in (True, False)]
    (folder / "labels.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in labels))
    read = Examples()
    read_labels([str(folder / "labels.jsonl")], read)
    made = train(usable(read, "judge more"))
    for action in ("score", "drop", "hold"):
        card, _ = card_of(made, Said(action, ("labels.jsonl",), "own", "2026-11-20", 0.5, action))
        save(folder / f"{action}.npz", card, made)
    return folder


def stage(models: Path, *names: str) -> ClassifyStage:
    return ClassifyStage(from_mapping({"CLASSIFIERS": ",".join(f"{one}:{models / one}.npz" for one in names)}).classify)


def page(text: str, language: str | None = "en") -> Document:
    return Document("https://e.org/", text=text, language=language)


def test_every_classifier_scores_and_only_one_whose_card_says_drop_rejects(models):
    good, bad = page(text_of(True, 99)), page(text_of(False, 99))
    both = stage(models, "score", "drop")
    assert both(good) is good and good.classifier_scores["score"] == good.classifier_scores["drop"] > 0.5
    verdict = both(bad)
    assert verdict.reason is DropReason.LOW_CLASSIFIER_SCORE and set(bad.classifier_scores) == {"score", "drop"}
    assert verdict.detail.startswith("drop: 0.") and verdict.detail.endswith("is below 0.5")
    assert stage(models, "score")(bad) is bad


def test_a_text_that_a_card_holds_goes_on_and_waits_unless_it_waits_already_or_is_rejected(models):
    from crawler.document import Drop

    bad = page(text_of(False, 99))
    assert stage(models, "hold")(bad) is bad and bad.verdict is None
    assert bad.hold == Drop("classify", DropReason.HELD_CLASSIFIER, bad.hold.detail)
    assert bad.hold.detail == f"hold: {bad.classifier_scores['hold']:.4f} is below 0.5"
    good = page(text_of(True, 99))
    assert stage(models, "hold")(good).hold is None
    waiting, before = page(text_of(False, 99)), Drop("pii", DropReason.HELD_PII, "a sign")
    waiting.hold = before
    assert stage(models, "hold")(waiting).hold is before
    assert stage(models, "hold", "drop")(page(text_of(False, 99))).reason is DropReason.LOW_CLASSIFIER_SCORE


def test_a_card_of_the_other_side_rejects_high_scores_and_is_no_worth_for_the_frontier(models, tmp_path):
    model = open_classifier(str(models / "drop.npz"))
    said = model.stored.card["classifier"] | {"side": "above"}
    card = model.stored.card | {"classifier": said}
    write_model(models / "above.npz", card, {"weights": model.weights}, PROBE.encode(), computed)
    good, bad = page(text_of(True, 99)), page(text_of(False, 99))
    above = stage(models, "above")
    assert above(bad) is bad and bad.unwanted == ["above"]
    verdict = above(good)
    assert verdict.reason is DropReason.HIGH_CLASSIFIER_SCORE and verdict.detail.endswith("is not below 0.5")


@pytest.mark.parametrize("language", ["ru", "und", None])
def test_a_text_in_a_language_that_the_model_does_not_know_has_no_score_and_no_verdict(models, language):
    doc = page(text_of(False, 99), language)
    assert stage(models, "drop")(doc) is doc and doc.classifier_scores == {}


def test_without_classifiers_nothing_happens_and_the_digest_is_as_it_was(models):
    doc = page(text_of(False, 99))
    assert ClassifyStage(from_mapping({}).classify)(doc) is doc and doc.classifier_scores == {}
    named = from_mapping({"CLASSIFIERS": f"a:{models}/score.npz"})
    assert "CLASSIFIERS" not in from_mapping({}).deciding()
    copy = models / "copy.npz"
    copy.write_bytes((models / "score.npz").read_bytes())
    assert named.digest == from_mapping({"CLASSIFIERS": f"a:{copy}"}).digest, "the content counts, not the path"
    assert named.digest != from_mapping({"CLASSIFIERS": f"a:{models}/drop.npz"}).digest


def test_chain_replay_and_batch_job_give_the_same_score_and_verdict(tmp_path, models):
    bad = text_of(False, 7).replace("\n- ", "</li><li>")
    pages = [
        exchange("https://e.org/one", html("one", words=400)),
        exchange("https://e.org/two", html("two", words=400)),
    ]
    archive = write(tmp_path / "pages.warc.gz", pages)
    setting = {"CLASSIFIERS": f"all:{models}/score.npz", "PII_PERSON": "off", "WORKER_ID": "w"}
    config = from_mapping(setting)
    chain = Chain(config)
    docs = [chain.run(document_from_archive(one, config)) for one in read_archive(str(archive))]
    scores = {doc.url: doc.classifier_scores for doc in docs}
    assert all(set(found) == {"all"} for found in scores.values()) and bad
    [judged, *_] = judge(config, [(0, Input(ARCHIVED, str(archive)))])
    batch = orjson.loads(finish(config, judged).json)
    assert batch["classifier_scores"] == scores[batch["url"]]
    folder = tmp_path / "corpus"
    words = ("-a", f"archive={archive}", "-s", f"CORPUS_DIR={folder}", "-s", "STAGE_WORKERS=1")
    done = scrapy("crawl", "replay", *words, settings={**setting, "PROGRESS": "off"}, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    records = [orjson.loads(line) for path in (folder / "shards").iterdir() for line in read_lines(path)]
    assert {record["url"]: record["classifier_scores"] for record in records} == scores


def test_layout_is_no_feature_and_every_script_has_words():
    plain = "Rain fell on roofs. People waited."
    for same in ("Rain  fell on roofs.\n\n\nPeople waited.", "- Rain fell on roofs.\n• People waited.", plain.upper()):
        assert [found.tolist() for found in features(same)] == [found.tolist() for found in features(plain)]
    assert words("हिन्दी में") == ["हिन्दी", "में"] and len(words("東京の天気は晴れです")) > 3
    assert words("cafe\u0301") == words("café") == ["café"]


def test_a_sign_is_the_same_word_whatever_scripts_stand_beside_it():
    for sign in "²½Ⓐ‿…“€ªß№→٣一_":
        assert words(f"{sign}a b{sign} हि")[:-1] == words(f"{sign}a b{sign}"), sign


def test_an_explanation_is_the_whole_score(models):
    weights = open_classifier(str(models / "score.npz")).weights
    said = explain(weights, text_of(False, 3), most=10_000)
    assert abs(said.bias + sum(part.adds for part in said.parts) - said.odds) < 1e-9
    assert any("cart" in part.names for part in said.parts[:60])


def test_weights_of_any_size_are_packed_to_within_half_a_unit():
    wide = np.array([1e-9, -3e5, 12.0, 0.0])
    made = packed(wide, 0.5)
    assert np.abs(made.weights * made.unit[0] - wide).max() <= made.unit[0] / 2
    assert np.abs(packed(np.zeros(2), 0.0).weights).max() == 0


def _huge(data: bytes) -> bytes:
    """The same file whose weights claim to be a terabyte."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            body = old.read(name)
            if name == "weights.weights.npy":
                header = b"{'descr': '<i2', 'fortran_order': False, 'shape': (1099511627776,), }"
                header = header.ljust(117) + b"\n"
                body = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 64
            new.writestr(name, body)
    return out.getvalue()


def _without(data: bytes, left_out: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if name != left_out:
                new.writestr(name, old.read(name))
    return out.getvalue()


DAMAGES = {
    "empty": lambda _: b"",
    "a text": lambda _: b"threshold: 0.5\n",
    "cut in the middle": lambda data: data[: len(data) // 2],
    "cut at the end": lambda data: data[:-9],
    "a flipped byte": lambda data: data[:2_000] + bytes([data[2_000] ^ 255]) + data[2_001:],
    "a zip of something": lambda _: _zip(),
    "without its weights": lambda data: _without(data, "weights.weights.npy"),
    "weights of a terabyte": _huge,
}


def _zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as new:
        new.writestr("readme.txt", "no model")
    return out.getvalue()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_is_one_sentence_before_the_first_page_in_bounded_memory(tmp_path, models, damage):
    path = tmp_path / "model.npz"
    path.write_bytes(DAMAGES[damage]((models / "score.npz").read_bytes()))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    [problem] = problems(from_mapping({"CLASSIFIERS": f"worth:{path}"}))
    assert problem.startswith(f"CLASSIFIERS=worth:{path}: model {path}: ") and "\n" not in problem
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_a_card_that_says_nonsense_is_refused(models, tmp_path):
    model = open_classifier(str(models / "score.npz"))
    from crawler.stages.models.file import write as write_model

    for wrong in (
        {"threshold": 7.0},
        {"action": "burn"},
        {"languages": []},
        {"threshold": "high"},
        {"threshold": None},
    ):
        card = {**model.stored.card, "classifier": {**model.stored.card["classifier"], **wrong}}
        path = tmp_path / "wrong.npz"
        write_model(path, card, {"weights": model.weights}, model.stored.probe, computed)
        with pytest.raises(ModelError, match="train it again"):
            open_classifier(str(path))
    odd = Weights(model.weights.weights[:1000], model.weights.unit, model.weights.bias)
    write_model(path, model.stored.card, {"weights": odd}, model.stored.probe, computed)
    with pytest.raises(ModelError, match="train it again"):
        open_classifier(str(path))


@pytest.mark.parametrize(
    ("value", "said"),
    [("worth", "expected name:path"), ("Worth:x", "expected name:path"), ("a:x,a:y", "two classifiers"),
     ("a:/none/x.npz", "cannot be read: No such file")],
)  # fmt: skip
def test_a_setting_that_names_no_classifier_is_a_sentence(value, said):
    with pytest.raises((ConfigError, InputError), match=said):
        from_mapping({"CLASSIFIERS": value})


def test_a_score_needs_less_than_a_millisecond_of_a_page(models):
    import time

    weights = open_classifier(str(models / "score.npz")).weights
    text = "\n".join(text_of(True, number) for number in range(9))[:5_000]
    weights.score(text)
    started = time.thread_time()
    for _ in range(50):
        weights.score(text)
    assert (time.thread_time() - started) / 50 < 0.003
    assert replace(weights).bits == 18
