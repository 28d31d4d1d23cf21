"""A model's file: one format, one way to name it, and a sentence wherever it cannot be used."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crawler.stages.models import file as module
from crawler.stages.models.features import Features
from crawler.stages.models.file import ModelError, load, read, write
from crawler.stages.models.table import Table
from crawler.stages.models.trees import Trees

CARD = {
    "kind": "toy",
    "what": "tells",
    "data": "none",
    "licence": "Apache-2.0",
    "date": "2026-11-26",
    "figures": {"F1": 0.5},
}
FEATURES = (Features("text", 1, ("chars", "words"), np.array([[10.0, 2.0], [4.0, 1.0]], np.float32)),)
PROBE = b"ten chars"
TABLE = Table.of({7: 1, 3: -2})
SAID = Table.of({5: (1, 2, 3)}, 3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    where = tmp_path / "model.npz"
    write(where, CARD, {"table": TABLE, "said": SAID}, PROBE, computing(*FEATURES))
    return where


def computing(*features: Features) -> Any:
    def compute(probe: bytes) -> tuple[Features, ...]:
        assert probe == PROBE
        return features

    return compute


def refusal(name: object, kind: str = "toy", features: tuple[Features, ...] = FEATURES) -> str:
    with pytest.raises(ModelError) as caught:
        load(str(name), kind, computing(*features))
    return str(caught.value)


def test_a_model_is_read_back_as_it_was_written(path):
    stored = load(str(path), "toy", computing(*FEATURES))
    assert stored.part("table", Table).known == {3: -2, 7: 1}
    assert stored.part("said", Table).known == {5: (1, 2, 3)}
    assert stored.card["what"] == "tells" and stored.card["features"][0]["names"] == ["chars", "words"]


def test_the_same_model_is_the_same_bytes_and_another_feature_is_another_hash(path, tmp_path):
    again, other = tmp_path / "again.npz", tmp_path / "other.npz"
    write(again, CARD, {"table": TABLE, "said": SAID}, PROBE, computing(*FEATURES))
    swapped = replace(FEATURES[0], names=("words", "chars"))
    write(other, CARD, {"table": TABLE, "said": SAID}, PROBE, computing(swapped))
    assert again.read_bytes() == path.read_bytes()
    assert read(str(path)).digest == read(str(again)).digest != read(str(other)).digest


def test_an_empty_table_is_read_back_empty(tmp_path):
    write(tmp_path / "a.npz", CARD, {"table": Table.of({}), "said": Table.of({}, 3)}, PROBE, computing(*FEATURES))
    stored = read(str(tmp_path / "a.npz"))
    assert [stored.part(name, Table).known for name in ("table", "said")] == [{}, {}]


def test_a_package_carries_a_model_and_is_asked_by_its_name(path, tmp_path, monkeypatch):
    package = tmp_path / "of_others"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "toy-2.npz").write_bytes(path.read_bytes())
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert load("of_others:toy-2.npz", "toy", computing(*FEATURES)).digest == read(str(path)).digest
        assert "cannot be read" in refusal("of_others:toy-3.npz")
    finally:
        sys.modules.pop("of_others", None)
    assert "no_such_package" in refusal("no_such_package:model.npz")


def test_who_names_a_hash_gets_that_file_and_no_other(path):
    digest = read(str(path)).digest
    assert load(f"{path}#{digest[:12]}", "toy", computing(*FEATURES)).digest == digest
    assert load(f"{path}#{digest}", "toy", computing(*FEATURES)).digest == digest
    assert "instead of the requested one" in refusal(f"{path}#{'0' * 16}")


@pytest.mark.parametrize("where", ["gone.npz", "", "."])
def test_a_model_that_is_not_there_is_told_with_what_to_give(where, tmp_path):
    assert "give the path of a model's file, or package:file" in refusal(tmp_path / where)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_ends_early_is_damaged(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    assert "is damaged" in refusal(path)


def test_no_changed_byte_of_an_array_goes_unnoticed(path):
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02") - 20  # in the last array that is stored
    data[place] ^= 0xFF
    path.write_bytes(bytes(data))
    assert "is damaged" in refusal(path)


@pytest.mark.parametrize("arrays", [{"card": np.zeros(3, np.uint8)}, {"other": np.zeros(3)}, {"card": np.array([{}])}])
def test_an_npz_that_is_no_model_is_refused_and_nothing_in_it_is_run(arrays: dict[str, Any], tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    assert "not a model file" in refusal(tmp_path / "a.npz")


def test_a_card_without_its_arrays_or_of_other_shape_is_refused(path, tmp_path):
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    del arrays["features.text"]
    np.savez(tmp_path / "a.npz", **arrays)
    assert "features.text" in refusal(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", card=np.frombuffer(b'{"format": 1, "features": 3}', np.uint8))
    assert "not a model file" in refusal(tmp_path / "b.npz")


def test_a_model_of_another_kind_is_refused(path):
    assert refusal(path, "language") == f"model {path}: is of the kind 'toy', expected 'language'"


def test_a_part_that_is_missing_or_of_another_runtime_is_told(path):
    stored = read(str(path))
    with pytest.raises(ModelError, match="its part 'blocks' is missing, not Trees"):
        stored.part("blocks", Trees)
    with pytest.raises(ModelError, match="its part 'table' is Table, not Trees"):
        stored.part("table", Trees)


@dataclass(frozen=True)
class Older:
    keys: Any


def test_a_part_without_one_of_its_arrays_is_damage(tmp_path):
    Older.__name__ = "Table"
    write(tmp_path / "a.npz", CARD, {"table": Older(np.zeros(2, np.uint32))}, PROBE, computing(*FEATURES))
    with pytest.raises(ModelError, match=r"is damaged.*table\.values"):
        read(str(tmp_path / "a.npz")).part("table", Table)


def test_a_file_of_a_later_format_is_refused(path, monkeypatch):
    monkeypatch.setattr(module, "FORMAT", 2)
    write(path, CARD, {"table": TABLE}, PROBE, computing(*FEATURES))
    monkeypatch.undo()
    assert refusal(path).endswith("has format 2, this version reads 1: update it")


def test_a_small_file_that_would_unpack_into_too_much_is_refused(path, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    assert "the most is 100" in refusal(path)


@pytest.mark.parametrize(
    ("ours", "why"),
    [
        ({"names": ("words", "chars")}, "group text: chars where here is words, words where here is chars"),
        ({"names": ("chars",)}, "group text: words where here is nothing"),
        ({"version": 2}, "group text: version 1, here 2"),
        ({"group": "links"}, "groups text, here links"),
        ({"probe": FEATURES[0].probe[:, ::-1]}, "group text: other values on the probe in chars, words"),
        ({"probe": FEATURES[0].probe + np.array([0.0, 1.0])}, "group text: other values on the probe in words"),
        ({"probe": FEATURES[0].probe[:1]}, "group text: 2 rows on the probe, here 1"),
        ({"probe": FEATURES[0].probe * np.nan}, "group text: other values on the probe in chars, words"),
    ],
)
def test_a_model_for_other_features_is_refused_with_what_differs(path, ours, why):
    told = refusal(path, features=(replace(FEATURES[0], **ours),))
    assert f"trained on other features than this version computes ({why})" in told


def test_of_many_features_that_differ_five_are_named(tmp_path):
    wide = Features("text", 1, tuple("abcdefgh"), np.ones((1, 8)))
    write(tmp_path / "a.npz", CARD, {"table": TABLE}, PROBE, computing(wide))
    told = refusal(tmp_path / "a.npz", features=(replace(wide, probe=np.zeros((1, 8))),))
    assert "in a, b, c, d, e and 3 more)" in told


def test_the_last_bits_of_another_machine_are_no_other_meaning(path):
    near = replace(FEATURES[0], probe=FEATURES[0].probe * np.float32(1 + 1e-6))
    assert load(str(path), "toy", computing(near)).card["kind"] == "toy"


def test_a_model_without_features_asks_for_none(tmp_path):
    write(tmp_path / "a.npz", CARD, {"table": TABLE}, PROBE, computing())
    assert load(str(tmp_path / "a.npz"), "toy", computing()).part("table", Table).known == TABLE.known
    assert "groups none, here text" in refusal(tmp_path / "a.npz")
