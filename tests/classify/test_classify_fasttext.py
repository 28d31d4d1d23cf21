"""Public models: files of every kind, written here with random weights, score as fastText's own library scores them."""

from __future__ import annotations

import random
import resource
import struct
from collections.abc import Callable
from pathlib import Path

import fasttext
import numpy as np
import pytest

from crawler.classify.fasttext_file import HS, NS, OVA, SOFTMAX, read
from crawler.config import from_mapping
from crawler.document import Document
from crawler.operations.classify_import import WORK
from crawler.problems import InputError
from crawler.stages.classify.stage import ClassifyStage
from tests.support.operations import answer_of

ODD = [*"abc", "other", "ño", "x"]
WORDS = ["rain", "roof", "Größe", "東京", "हिन्दी", "été", "the", ",", "a", "</s>"]
TEXTS = [
    "rain on the roof , a roof", "Größe und été\nनई 東京 unknown words the a a", "", "the",
    "__label__1 rain </s> roof roof", "@@1 the @@1 roof @@9 __label__9",
    " ".join(random.Random(4).choice([*WORDS[:-1], *ODD]) for _ in range(300)),
]  # fmt: skip


def model(loss: int, labels: int, *, runs: int = 2, letters: tuple[int, int] = (0, 0), quantised: bool = False,
          pruned: bool = False, mark: str = "__label__") -> bytes:  # fmt: skip
    """The bytes of a supervised model as fastText 12 writes them."""
    rng, dim, buckets = np.random.default_rng(loss * 10 + labels), 6, 40
    head = struct.pack("<14i", 793712314, 12, dim, 5, 5, 1, 5, runs, loss, 3, buckets, *letters, 100)
    head += struct.pack("<d", 1e-4)
    kept = {5: 0, 17: 1, 33: 2} if pruned else {}
    head += struct.pack("<3iqq", len(WORDS) + labels, len(WORDS), labels, 1000, len(kept) if pruned else -1)
    for at, word in enumerate(WORDS):
        head += word.encode() + b"\0" + struct.pack("<qb", 100 - at, 0)
    for at in range(labels):
        head += f"{mark}{at}".encode() + b"\0" + struct.pack("<qb", 50 - 7 * at, 1)
    head += b"".join(struct.pack("<ii", *pair) for pair in kept.items())
    rows = len(WORDS) + (len(kept) if pruned else buckets)
    out = struct.pack("<qq", labels, dim) + rng.normal(size=(labels, dim)).astype("<f4").tobytes()
    if not quantised:
        body = struct.pack("<qq", rows, dim) + rng.normal(size=(rows, dim)).astype("<f4").tobytes()
        return head + b"\0" + body + b"\0" + out
    codes = rng.integers(0, 256, (rows, 2), dtype=np.uint8)
    body = struct.pack("<?qqi", True, rows, dim, codes.size) + codes.tobytes()
    body += struct.pack("<4i", dim, 2, 4, 2) + rng.normal(size=dim * 256).astype("<f4").tobytes()
    body += rng.integers(0, 256, rows, dtype=np.uint8).tobytes() + struct.pack("<4i", 1, 1, 1, 1)
    body += rng.random(256).astype("<f4").tobytes()
    return head + b"\1" + body + b"\0" + out


KINDS: dict[str, tuple[Callable[[], bytes], float]] = {
    "two classes": (lambda: model(SOFTMAX, 2), 1e-4),
    "five classes": (lambda: model(SOFTMAX, 5, runs=1), 1e-4),
    "runs of three words": (lambda: model(SOFTMAX, 2, runs=3), 1e-4),
    "runs of letters": (lambda: model(SOFTMAX, 3, letters=(2, 4)), 1e-4),
    "hierarchical": (lambda: model(HS, 7), 1e-4),
    "hierarchical of two": (lambda: model(HS, 2, letters=(1, 3)), 1e-4),
    "one against all": (lambda: model(OVA, 4), 1e-2),
    "labels with another mark": (lambda: model(SOFTMAX, 2, letters=(2, 4), mark="@@"), 1e-4),
    "negative samples": (lambda: model(NS, 3), 1e-2),
    "quantised": (lambda: model(SOFTMAX, 2, quantised=True), 1e-4),
    "quantised, pruned": (lambda: model(SOFTMAX, 4, letters=(2, 4), quantised=True, pruned=True), 1e-4),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_label_of_every_text_scores_as_the_library_scores_it(tmp_path, kind):
    make, near = KINDS[kind]
    path = tmp_path / "model.bin"
    path.write_bytes(make())
    library = fasttext.load_model(str(path))
    labels = library.predict("rain", k=-1, threshold=-1.0)[0]
    for label in labels:
        ours = read(path, label)
        for text in TEXTS:
            names, chances = library.predict(text.replace("\n", " "), k=-1, threshold=-1.0)
            theirs = dict(zip(names, chances, strict=True)).get(label, 0.0)
            assert ours.score(text) == pytest.approx(theirs, abs=near), (label, text)


def _at(data: bytes, place: int, form: str, value: int) -> bytes:
    return data[:place] + struct.pack(form, value) + data[place + struct.calcsize(form) :]


DAMAGES = {
    "empty": lambda _: b"",
    "a text": lambda _: b"once upon a time there was a model\n" * 9,
    "a zip": lambda _: b"PK\x03\x04" + bytes(300),
    "cut in the head": lambda data: data[:40],
    "cut in the dictionary": lambda data: data[:120],
    "cut in the matrix": lambda data: data[: len(data) - 200],
    "two billion words": lambda data: _at(_at(data, 64, "<i", 2_000_000_002), 68, "<i", 2_000_000_000),
    "a matrix of a terabyte": lambda data: data.replace(struct.pack("<qq", 50, 6), struct.pack("<qq", 1 << 37, 6), 1),
    "weights that are no numbers": lambda data: data[:-4] + struct.pack("<f", float("nan")),
    "unsupervised": lambda data: _at(data, 36, "<i", 2),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_one_sentence_in_bounded_memory(tmp_path, damage):
    path = tmp_path / "model.bin"
    path.write_bytes(DAMAGES[damage](model(SOFTMAX, 2)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError) as caught:
        read(path, "__label__0")
    [sentence] = caught.value.problems
    assert sentence.startswith(f"{path}: ") and "\n" not in sentence
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


def test_cut_anywhere_a_file_is_refused_and_never_half_read(tmp_path):
    whole, path = model(SOFTMAX, 3, letters=(2, 3), quantised=True, pruned=True), tmp_path / "model.ftz"
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError):
            read(path, "__label__0")


def test_an_imported_model_scores_in_a_crawl_and_an_unknown_label_is_named(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(model(SOFTMAX, 2))
    words = (path, "--name", "hq", "--label", "__label__1", "--language", "en", "--out", tmp_path)
    made = answer_of(WORK, *words)
    assert made.facts["columns"] == 1 and made.facts["rows"] == 50
    stage = ClassifyStage(from_mapping({"CLASSIFIERS": f"hq:{made.facts['file']}"}).classify)
    doc = Document("https://e.org/", text=TEXTS[1], language="en")
    stage(doc)
    assert doc.classifier_scores == {"hq": read(path, "__label__1").score(TEXTS[1])}
    with pytest.raises(InputError, match="it has __label__0, __label__1"):
        answer_of(WORK, path, "--name", "hq", "--label", "hq", "--language", "en", "--out", tmp_path)


def test_what_is_remembered_of_words_does_not_grow_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("crawler.stages.classify.fasttext._MOST_CACHED", 50)
    path = Path(tmp_path / "model.bin")
    path.write_bytes(model(SOFTMAX, 2, letters=(2, 4)))
    made = read(path, "__label__0")
    made.score(" ".join(f"word{number}" for number in range(500)))
    assert len(made._known) <= 50
