"""Transformers learn beside the character model; they go on where they were ended, here or on another machine."""

from __future__ import annotations

import ast
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from crawler.config import from_mapping
from crawler.operations.declared import WrongCall
from crawler.operations.trial import WORK
from crawler.problems import InputError
from crawler.storage.files.errors import StorageError
from crawler.trial import pack
from crawler.trial.difference import EQUAL, WORSE
from crawler.trial.pack import Wanted, asked
from crawler.trial.trial import ALL, CHARACTERS, run
from tests.support.operations import answer_of
from tests.support.places import PROJECT
from tests.trial.made import held_out, pages, with_menu, write

LEAST = {"layers": 1, "width": 32, "heads": 2, "context": 64, "batch": 4, "rate": 1e-2}
TOKENS = 20_000
SAMPLES = [[[one["text"] for one in pages(6, first=20 * side + 10 * seed)] for seed in range(2)] for side in range(2)]
KILLED = """
import os, signal, sys
sys.path.insert(0, os.getcwd())
import pathlib, transformer
lines = iter(range(40))
transformer.work(pathlib.Path.cwd(), lambda _: next(lines, None) is None and os.kill(os.getpid(), signal.SIGKILL))
"""
"""Works on the pack of its folder and dies in the second training."""
HELD = [one["text"] for one in pages(4, first=900)]


@pytest.fixture(autouse=True)
def least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "SIZES", {"least": LEAST, "tiny": LEAST})


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed (make trial installs it)")


def wanted(**where: Path) -> Wanted:
    return Wanted(("least",), TOKENS, **where)


def answered(**where: Path) -> dict[str, Any]:
    return asked(wanted(**where), SAMPLES, HELD, lambda _: None)


def ending_after(count: int) -> Callable[[str], None]:
    """Takes so many lines of progress."""
    left = iter(range(count))

    def tell(_: str) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    return tell


def edited(path: Path, **changes: Any) -> Path:
    """The answer with these values, and a sum that fits."""
    from crawler.trial.transformer import sum_of

    answer = json.loads(path.read_bytes()) | changes
    path.write_text(json.dumps(answer | {"sha256": sum_of(answer)}))
    return path


# --- learning --------------------------------------------------------------------------------------------------------
def test_a_model_that_has_read_more_of_a_language_is_surprised_less_by_it(torch, tmp_path):
    from crawler.trial import transformer

    transformer.repeatable()
    bits = []
    for tokens in (256, 60_000):
        shape = transformer.Shape(**LEAST, tokens=tokens)
        model = transformer.learned(SAMPLES[0][0], shape, 0, tmp_path / "a.pt", lambda _: None)
        (tmp_path / "a.pt").unlink(missing_ok=True)
        bits.append(sum(transformer.costs(model, HELD, shape)) / pack.sizes(HELD).sum())
    assert bits[1] < 0.6 * bits[0] < 8.5


def test_every_byte_of_a_text_is_asked_once_however_long_it_is(torch):
    from crawler.trial import transformer

    shape = transformer.Shape(**LEAST, tokens=1)
    model = transformer.Decoder(shape)
    for weight in model.parameters():
        torch.nn.init.zeros_(weight)
    texts = ["", "a", "b" * 63, "c" * 64, "ü" * 100, "d" * 1_000]
    found = transformer.costs(model, texts, shape)
    each = torch.log2(torch.tensor(257.0)).item()
    assert found == pytest.approx([size * each for size in pack.sizes(texts)], rel=1e-5)


def test_windows_take_each_part_once_before_any_again_and_go_on_anywhere(torch):
    from crawler.trial.transformer import Shape, _windows

    shape = Shape(**LEAST, tokens=1)
    stream = torch.arange(1_000, dtype=torch.int16)
    whole = [one.tolist() for one in islice(_windows(stream, shape, 3, 0), 40)]
    assert len({one[0] for one in whole[:14]}) == 14
    assert all(len(one) == 65 for one in whole)
    assert whole[17:] == [one.tolist() for one in islice(_windows(stream, shape, 3, 17), 23)]
    assert [len(one) for one in islice(_windows(stream[:20], shape, 0, 0), 3)] == [20, 20, 20]


# --- ended and called again ------------------------------------------------------------------------------------------
def test_a_training_that_is_ended_in_the_middle_goes_on_to_the_same_bits(torch, tmp_path, capsys):
    whole = answered(work=tmp_path / "whole")["least"]
    assert whole.shape == (2, 2, 4)

    for number in (3, 30):
        with pytest.raises(KeyboardInterrupt):
            asked(wanted(work=tmp_path / "parts"), SAMPLES, HELD, ending_after(number))
    assert list((tmp_path / "parts").glob("state-*/*.pt"))
    lines: list[str] = []
    again = asked(wanted(work=tmp_path / "parts"), SAMPLES, HELD, lines.append)
    assert (again["least"] == whole).all()
    assert "side 2, seed 1 (2 of 4): 5%" not in " ".join(lines), "it began again"
    assert "cannot be read" not in capsys.readouterr().err
    assert not list((tmp_path / "parts").glob("state-*/*.pt"))


def test_damaged_checkpoints_and_results_cost_time_but_change_nothing(torch, tmp_path, capsys):
    whole = answered(work=tmp_path / "work")["least"]
    (state,) = (tmp_path / "work").glob("state-*")
    (state / "least-1-0.json").write_bytes(b"[1.0, 2")
    (state / "least-1-0.pt").write_bytes(b"PK\x03\x04 cut")
    (state / "least-0-1.json").unlink()
    assert (answered(work=tmp_path / "work")["least"] == whole).all()
    assert "least-1-0.pt: cannot be read" in capsys.readouterr().err


# --- another machine -------------------------------------------------------------------------------------------------
def test_a_pack_is_trained_in_a_bare_folder_through_a_kill_and_its_answer_is_that_of_here(torch, tmp_path):
    assert answered(pack=tmp_path / "pack") == {}
    bare = Path(shutil.copytree(tmp_path / "pack", tmp_path / "elsewhere"))
    alone: dict[str, Any] = {"cwd": bare, "env": {"PATH": "/usr/bin:/bin"}, "timeout": 600, "capture_output": True}
    killed = subprocess.run([sys.executable, "-c", KILLED], **alone, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert list(bare.glob("state-*/*.pt")) and not (bare / "ANSWER.json").exists()
    done = subprocess.run([sys.executable, str(bare / "transformer.py")], **alone, check=False)
    assert done.returncode == 0, done.stderr
    there, here = answered(answer=bare / "ANSWER.json"), answered(work=tmp_path / "here")
    assert (there["least"] == here["least"]).all()


def test_the_script_of_a_pack_imports_nothing_but_torch() -> None:
    tree = ast.parse((PROJECT / "crawler/trial/transformer.py").read_text("utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} - sys.stdlib_module_names == {"torch"}


def test_a_damaged_pack_is_told_where_it_is_worked_on(torch, tmp_path):
    from crawler.trial import transformer

    answered(pack=tmp_path)
    (tmp_path / "sample-1-0.json.gz").write_bytes(b"\x1f\x8bcut")
    with pytest.raises(transformer.PackError, match=r"sample-1-0\.json\.gz: is missing or damaged; copy the whole"):
        transformer.work(tmp_path, lambda _: None)
    (tmp_path / "pack.json").unlink()
    with pytest.raises(transformer.PackError, match=r"pack\.json: cannot be read; copy the whole pack again"):
        transformer.work(tmp_path, lambda _: None)


def test_an_answer_that_is_damaged_foreign_or_not_whole_is_refused(torch, tmp_path):
    answered(work=tmp_path)
    path = tmp_path / "ANSWER.json"
    good = path.read_bytes()
    path.write_bytes(good[: len(good) // 2])
    with pytest.raises(InputError, match="is damaged, no JSON"):
        answered(answer=path)
    path.write_bytes(good.replace(b'"cpu ', b'"gpu '))
    with pytest.raises(InputError, match="is damaged or was edited"):
        answered(answer=path)
    path.write_bytes(b"[]")
    with pytest.raises(InputError, match="is no answer of a trial"):
        answered(answer=path)
    path.write_bytes(good)
    with pytest.raises(InputError, match="answers another pack"):
        asked(wanted(answer=path), SAMPLES, HELD[1:], lambda _: None)
    bits = json.loads(good)["bits"]["least"]
    ragged, wrong_sides = [bits[0], bits[1][:1]], [bits[0]] * 3
    for wrong in (None, [], "x", {}, *({"least": one} for one in (ragged, wrong_sides, [[[None] * 4] * 2] * 2))):
        with pytest.raises(InputError, match="least: wants bits of 2 × 2 × 4 sides, seeds and texts"):
            answered(answer=edited(path, bits=wrong))
    with pytest.raises(StorageError, match="cannot be read"):
        answered(answer=tmp_path / "none.json")


# --- the folder ------------------------------------------------------------------------------------------------------
def test_the_same_trial_packs_the_same_bytes_and_another_is_not_written_over_it(tmp_path):
    answered(pack=tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "held-out.json.gz").write_bytes(b"the begin of a pack that was killed")
    answered(pack=tmp_path / "two")
    answered(pack=tmp_path / "two")
    one, two = ({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two
    with pytest.raises(InputError, match="holds the pack of another trial"):
        asked(wanted(pack=tmp_path / "one"), SAMPLES[::-1], HELD, lambda _: None)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match=r"mine: has other files, such as letter\.txt"):
        answered(pack=tmp_path / "mine")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="file: cannot be written"):
        answered(pack=tmp_path / "file")


def test_a_pack_that_would_be_too_large_is_refused_before_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "MOST_BYTES", 10_000)
    with pytest.raises(InputError, match=r"--pack: 0\.0 MB are wanted.*smaller --size"):
        answered(pack=tmp_path / "pack")
    assert not (tmp_path / "pack").exists()


# --- the command -----------------------------------------------------------------------------------------------------
def test_transformers_stand_in_the_same_table_and_a_copy_of_a_side_is_no_worse(torch, tmp_path):
    clean, texts = pages(60, words=80), write(tmp_path / "stories.jsonl", pages(12, first=900))
    other = str.maketrans({chr(ord("a") + n): chr(0x430 + n) for n in range(26)})
    cyrillic = [one | {"text": one["text"].lower().translate(other)} for one in clean]
    names = [write(tmp_path / "clean.jsonl", clean), write(tmp_path / "same.jsonl", clean)]
    names.append(write(tmp_path / "cyrillic.jsonl", cyrillic))
    found = run(names, [texts], from_mapping({}), seeds=4, transformer=Wanted(("least",), TOKENS))
    rows = {Path(one.side).stem: one for one in found.overall if one.model == "least"}
    assert rows["same"].found.value == 0 < rows["cyrillic"].found.value
    assert {name: one.found.verdict for name, one in rows.items()} == {"same": EQUAL, "cyrillic": WORSE}
    assert str(rows["same"]).startswith("transformer least, equal size, all kinds: ")
    assert {one.kind for one in found.compared if one.model == "least"} == {ALL, "stories"}
    assert any("each transformer reads 20,000 bytes" in sentence for sentence in found.weak)
    assert {one.model for one in found.figures} == {CHARACTERS, "least"}


def test_the_command_packs_and_reads_the_answer_as_it_trains_here(torch, tmp_path, capsys):
    from crawler.trial import transformer

    names = [write(tmp_path / "a.jsonl", pages(20)), write(tmp_path / "b.jsonl", with_menu(pages(20), 0.3))]
    words = ["--held-out", held_out(tmp_path / "held", 6), "--seeds", 2, "--transformer", "tiny", "--tokens", 4_000]
    folder = tmp_path / "pack"
    packed = answer_of(WORK, *words, "--pack", folder, *names)
    assert packed.facts["packed"] == str(folder) and {one["model"] for one in packed.facts["compared"]} == {CHARACTERS}
    assert f"packed in {folder}: run python transformer.py there" in capsys.readouterr().out
    path = transformer.work(folder, lambda _: None)
    read, trained = (answer_of(WORK, *words, *more, *names) for more in (["--answer", path], []))
    assert read.facts == trained.facts
    assert {one["model"] for one in read.facts["compared"]} == {CHARACTERS, "tiny"}


def test_a_word_for_transformers_without_them_and_an_unknown_size_are_wrong_calls(tmp_path):
    words = ["--held-out", "texts", "a", "b"]
    with pytest.raises(WrongCall, match="--work is for transformers: add --transformer tiny"):
        answer_of(WORK, *words, "--work", tmp_path)
    with pytest.raises(WrongCall, match="no size is called 'huge'; there are "):
        answer_of(WORK, *words, "--transformer", "tiny,huge")


def test_without_torch_one_sentence_says_what_to_install_before_anything_is_read(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"needs torch, which is not installed: pip install 'gristmill\[trial\]'"):
        run(["nowhere", "either"], ["none"], from_mapping({}), transformer=Wanted(("tiny",)))
