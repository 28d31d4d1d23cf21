"""EVAL_SETS: every format and shape of evaluation set, and what is wrong with one is said before the first page."""

from __future__ import annotations

import gzip
import multiprocessing

import numpy as np
import orjson
import pytest
import zstandard

from crawler.config import ConfigError, from_mapping
from crawler.config.eval_sets import EvalSet, find_sets
from crawler.problems import InputError
from crawler.stages.contamination.index import VERSION, open_index
from crawler.stages.contamination.ngrams import cut, distinct_units
from crawler.stages.contamination.read import examples
from crawler.stages.contamination.stage import ContaminationStage, check_eval_sets
from tests.stages.contamination.conftest import write_lines
from tests.support.syllables import prose

EXAMPLE = prose(30, seed=1)
RECORD = orjson.dumps({"q": EXAMPLE})


def finds(settings, text=EXAMPLE):
    return ContaminationStage(from_mapping(settings)).overlaps(text)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", RECORD + b"\n"),
        ("a.json", b"[" + RECORD + b"]"),
        ("a.json", b'{"data": [{"paragraphs": [' + RECORD + b"]}]}"),
        ("a.jsonl.gz", gzip.compress(RECORD)),
        ("a.jsonl.zst", zstandard.compress(RECORD)),
        ("a.txt", b"\xef\xbb\xbf" + EXAMPLE.replace(" ", "\n").encode() + b"\n\nanother paragraph"),
        ("a.md.gz", gzip.compress(EXAMPLE.encode())),
    ],
)
def test_every_format_is_read(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert finds({"EVAL_SETS": tmp_path / name})[0].set_name == "a"


def test_a_compressed_set_is_read_to_its_end_or_is_an_error(tmp_path):
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(2 * zstandard.compress(RECORD + b"\n"))  # two frames
    assert len(list(examples(EvalSet("a", (path,), ())))) == 2
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match=r"a\.jsonl\.zst"):
        list(examples(EvalSet("a", (path,), ())))


def test_parquet_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is optional")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is optional")
    table = pyarrow.table({"id": [1], "question": [EXAMPLE], "choices": [["x", "y"]]})
    parquet.write_table(table, tmp_path / "quiz.parquet")
    assert finds({"EVAL_SETS": tmp_path / "quiz.parquet"})[0].set_name == "quiz"


def test_without_pyarrow_a_parquet_file_is_an_error_that_says_so(tmp_path, monkeypatch):
    (tmp_path / "quiz.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr("crawler.config.eval_sets.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install pyarrow"):
        from_mapping({"EVAL_SETS": tmp_path / "quiz.parquet"})


def test_only_the_named_columns_count(tmp_path):
    path = write_lines(tmp_path / "quiz.jsonl", [{"context": prose(30, 2), "question": EXAMPLE}])
    assert finds({"EVAL_SETS": f"{path}#question"})
    assert not finds({"EVAL_SETS": f"{path}#question"}, prose(30, 2))
    assert finds({"EVAL_SETS": f"{path}#question+context"}, prose(30, 2))


@pytest.mark.parametrize("place", ["quiz#2.jsonl", "sets#a+b/quiz.jsonl", "sets #1/deep#/quiz#2.jsonl"])
def test_a_path_may_have_a_number_sign_in_its_name(tmp_path, place):
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    write_lines(path, [{"context": prose(30, 2), "question": EXAMPLE}])
    assert [made.files for made in find_sets((str(path),))] == [(path,)]
    assert [made.files for made in find_sets((f"{tmp_path}/**/qu*.jsonl#question",))] == [(path,)]
    assert finds({"EVAL_SETS": path}) and finds({"EVAL_SETS": path}, prose(30, 2))
    assert finds({"EVAL_SETS": f"{path}#question"})
    assert not finds({"EVAL_SETS": f"{path}#question"}, prose(30, 2))


def test_a_mistyped_path_with_a_number_sign_is_named_whole(tmp_path):
    with pytest.raises(ValueError, match=r"quiz#3\.jsonl#question' does not exist"):
        find_sets((f"{tmp_path}/quiz#3.jsonl#question",))


def test_a_folder_is_one_set_and_a_glob_is_one_set_a_file(tmp_path):
    folder = tmp_path / "evals"
    (folder / "deep").mkdir(parents=True)
    write_lines(folder / "one.jsonl", [{"q": EXAMPLE}])
    write_lines(folder / "deep" / "two.jsonl", [{"q": prose(30, 2)}])
    assert [(made.name, len(made.files)) for made in find_sets((str(folder),))] == [("evals", 2)]
    assert [made.name for made in find_sets((f"{folder}/**/*.jsonl",))] == ["two", "one"]
    assert {o.set_name for o in finds({"EVAL_SETS": folder}, f"{EXAMPLE} {prose(30, 2)}")} == {"evals"}


def test_sets_of_one_name_are_told_apart_by_their_path(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_lines(tmp_path / name / "test.jsonl", [{"q": EXAMPLE}])
    names = [made.name for made in find_sets((f"{tmp_path}/*/test.jsonl",))]
    assert names == [f"{tmp_path}/a/test.jsonl", f"{tmp_path}/b/test.jsonl"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "does not exist"),
        ("quiz.csv", b"a,b", "expected .jsonl"),
        ("empty", "folder", "holds no evaluation set"),
    ],
)
def test_a_path_that_is_no_evaluation_set_is_a_configuration_error(tmp_path, name, content, message):
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as caught:
        from_mapping({"EVAL_SETS": path})
    assert "EVAL_SETS" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no example of 13 words"),
        (b'{"q": "too short"}', "no example of 13 words"),
        (b'{"q": 7}\n', "no example of 13 words"),
        (RECORD + b"\n{broken", "line 2 is not JSON"),
    ],
)
def test_a_set_without_usable_text_is_found_out_before_the_crawl(tmp_path, content, message):
    (tmp_path / "quiz.jsonl").write_bytes(content)
    [problem] = check_eval_sets(from_mapping({"EVAL_SETS": tmp_path / "quiz.jsonl"}))
    assert problem.startswith("EVAL_SETS: ") and message in problem and "quiz" in problem


def test_damaged_compression_is_an_error_that_names_the_file(tmp_path):
    (tmp_path / "quiz.jsonl.gz").write_bytes(gzip.compress(RECORD)[:-6])
    [problem] = check_eval_sets(from_mapping({"EVAL_SETS": tmp_path / "quiz.jsonl.gz"}))
    assert "quiz.jsonl.gz" in problem and "cannot be read" in problem


def test_the_config_digest_follows_the_content_of_the_sets_not_their_path(tmp_path):
    plain = from_mapping({}).digest
    first = from_mapping({"EVAL_SETS": write_lines(tmp_path / "quiz.jsonl", [{"q": EXAMPLE}])}).digest
    (tmp_path / "other").mkdir()
    copy = write_lines(tmp_path / "other" / "quiz.jsonl", [{"q": EXAMPLE}])
    assert from_mapping({"EVAL_SETS": copy}).digest == first != plain
    assert from_mapping({"EVAL_SETS": copy, "DECONTAMINATION_NGRAM": 12}).digest != first
    write_lines(copy, [{"q": prose(30, 2)}])
    assert from_mapping({"EVAL_SETS": copy}).digest != first


def test_the_index_is_built_once_and_then_only_mapped(tmp_path, index_folder, monkeypatch):
    config = from_mapping({"EVAL_SETS": write_lines(tmp_path / "quiz.jsonl", [{"q": EXAMPLE}])})
    assert check_eval_sets(config) == []
    [file] = index_folder.rglob("*.npy")
    assert file.parent.stat().st_mode & 0o077 == 0
    monkeypatch.setattr("crawler.stages.contamination.index.build", None)  # a second build would fail
    rows = open_index(config)
    assert isinstance(rows, np.memmap) and rows.shape == (2, 18)


@pytest.mark.parametrize("content", [b"", b"garbage", None, "half"], ids=["empty", "garbage", "other shape", "half"])
def test_a_damaged_index_is_built_anew(tmp_path, index_folder, content):
    settings = {"EVAL_SETS": str(write_lines(tmp_path / "a.jsonl", [{"q": EXAMPLE}]))}
    assert finds(settings)
    (index,) = index_folder.glob("**/*.npy")
    if content is None:
        np.save(index, np.zeros(3))
    else:
        index.write_bytes(index.read_bytes()[:-8] if content == "half" else content)
    assert finds(settings)


def test_an_index_of_another_version_is_left_alone_and_a_new_one_is_built(tmp_path, index_folder, monkeypatch):
    settings = {"EVAL_SETS": str(write_lines(tmp_path / "a.jsonl", [{"q": EXAMPLE}]))}
    monkeypatch.setattr("crawler.stages.contamination.index.VERSION", VERSION - 1)
    assert finds(settings)
    (earlier,) = index_folder.glob("**/*.npy")
    np.save(earlier, np.zeros((2, 1), np.uint64))  # what it finds would be missed
    monkeypatch.undo()
    monkeypatch.setattr("tempfile.tempdir", str(index_folder))
    assert finds(settings)
    assert len(list(index_folder.glob("**/*.npy"))) == 2


def test_a_folder_that_somebody_else_opened_to_all_is_not_trusted(tmp_path, index_folder):
    config = from_mapping({"EVAL_SETS": write_lines(tmp_path / "quiz.jsonl", [{"q": EXAMPLE}])})
    check_eval_sets(config)
    [file] = index_folder.rglob("*.npy")
    file.parent.chmod(0o777)
    file.write_bytes(b"nonsense")
    assert open_index(config).shape == (2, 18)


def test_a_worker_process_answers_as_this_one(tmp_path):
    config = from_mapping({"EVAL_SETS": write_lines(tmp_path / "quiz.jsonl", [{"q": EXAMPLE}])})
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        theirs = pool.apply(_overlaps, (config, f"{prose(50, 3)} {EXAMPLE}"))
    assert theirs == ContaminationStage(config).overlaps(f"{prose(50, 3)} {EXAMPLE}")


def _overlaps(config, text):
    return ContaminationStage(config).overlaps(text)


def test_different_units_are_counted_as_a_set_would(stage):
    [grams] = cut("a b a c a a d e f a b c d e f g a a a a b", 5)
    windows = [set(grams.units[i : i + 5]) for i in range(len(grams.units) - 4)]
    assert distinct_units(grams.units, 5).tolist() == [len(window) for window in windows]
