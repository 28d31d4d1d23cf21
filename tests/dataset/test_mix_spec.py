"""A spec that cannot be used is refused in a sentence that names file and key, before anything is read."""

from __future__ import annotations

import pytest
import yaml

from crawler.dataset.mix.mixture import plan
from crawler.dataset.mix.spec import band, band_names, load
from crawler.dataset.rewrite import rewrite
from crawler.dataset.versions import Cause
from crawler.problems import InputError
from crawler.storage.files.errors import StorageError
from tests.support.places import PROJECT
from tests.support.three_domains import Folder, fill

GOOD = {
    "tokens": 100,
    "sources": {"a": {"files": "a.jsonl"}, "b": {"corpus": "b"}},
    "targets": [{"by": "language", "shares": {"en": 0.5, "*": 0.5}}],
}


def with_(**changes):
    return GOOD | changes


def target(**content):
    return with_(targets=[{"by": "language"} | content])


def write(folder, content):
    path = folder / "spec.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))
    return path


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("- a", "expected a mapping with the keys tokens, seed, tolerance, epochs, tokenizer, sources, targets, cap"),
        ("a: [", "expected YAML: "),
        (
            with_(sources={"a": {"files": "a.jsonl", "where": "wordcount > 5"}}),
            "sources.a.where: wordcount > 5: 'wordcount' is not a field of the record",
        ),
        (with_(token=1), "token: unknown key; did you mean 'tokens'"),
        ({"sources": GOOD["sources"]}, "tokens: is missing: how many tokens the mixture has"),
        (with_(tokens="many"), "tokens: expected a number above 0, found 'many'"),
        (with_(tokens=0), "tokens: expected a number above 0, found 0"),
        (with_(tokens=True), "tokens: expected a number above 0, found True"),
        (with_(tokens=float("nan")), "tokens: expected a number above 0, found nan"),
        (with_(seed="x"), "seed: expected a whole number, found 'x'"),
        (with_(tolerance=2), "tolerance: expected a number above 0 and at most 1, found 2"),
        (with_(sources={}), "sources: expected at least one source"),
        (with_(sources={"a": {}}), r"sources.a: expected one of corpus \(a CORPUS_DIR, or DIR@N\) and files"),
        (with_(sources={"a": {"corpus": "b", "files": "c"}}), "sources.a: expected one of corpus"),
        (with_(sources={"a": {"corpus": ["c"]}}), "sources.a.corpus: expected a single value"),
        (with_(sources={"a": {"files": [["c"]]}}), "sources.a.files: expected a single value"),
        (
            with_(sources={"a": {"files": "c", "fields": {"lang": "l"}}}),
            "sources.a.fields.lang: is not a field of the rec",
        ),
        (
            with_(sources={"a": {"files": "c", "fields": {"language": [1]}}}),
            "sources.a.fields.language: expected a single value",
        ),
        (
            with_(sources={"a": {"files": "c", "set": {"lang": "l"}}}),
            "sources.a.set.lang: is not a field of the record",
        ),
        (
            with_(sources={"a": {"files": "c", "set": []}}),
            "sources.a.set: expected a field of the record for each line",
        ),
        (with_(sources={"a": {"corpus": "c", "fields": {"text": "t"}}}), "sources.a.fields: goes with files"),
        (with_(sources={"a": {"files": "c", "epochs": 0}}), "sources.a.epochs: expected a number above 0, found 0"),
        (with_(targets={}), "targets: expected a list"),
        (
            with_(targets=[1]),
            r"targets\[0\]: expected a mapping with the keys by, shares, tokens",
        ),
        (target(), r"targets\[0\]: expected shares, tokens or temperature"),
        (target(by="colour", shares={"red": 1}), r"targets\[0\].by: expected 'source' or a field of the record"),
        (target(by="text", shares={"x": 1}), r"targets\[0\].by: expected"),
        (
            target(shares={"en": 1}, temperature=2),
            r"targets\[0\]: has shares and temperature; a target has one of them",
        ),
        (target(shares={"en": 0.5}), r"targets\[0\].shares: sum to 0.5, not to 1; '\*' names the share of all other"),
        (
            target(shares={"en": 1.2}),
            r"targets\[0\].shares.en: expected a number from 0 and at most 1, found",
        ),
        (target(shares=[1]), r"targets\[0\].shares: expected a number for each value"),
        (target(tokens={"en": 101}), r"targets\[0\].tokens: sum to 101, more than the budget of 100"),
        (target(tokens={"en": 50, "*": 10}), r"targets\[0\].tokens: sum to 60 with '\*', less than the budget of 100"),
        (target(temperature=0), r"targets\[0\].temperature: expected a number above 0, found 0"),
        (target(shares={"en": 1}, epochs={"*": 2}), r"targets\[0\].epochs.\*: expected a named value"),
        (target(shares={"en": 1}, bands=[2, 1]), r"targets\[0\].bands: expected edges in ascending order, each once"),
        (target(shares={"en": 1}, bands=["x"]), r"targets\[0\].bands: expected a number, found 'x'"),
        (
            target(shares={"best": 1}, bands=[0.5]),
            r"targets\[0\]: there is no band 'best'; known: <0.5, >=0.5, none",
        ),
        (target(by="source", shares={"c": 1}), r"targets\[0\]: there is no source 'c'; known: a, b"),
        (with_(targets=GOOD["targets"] * 2), "targets: name a field twice; write one target for each field"),
        (with_(cap=1), "cap: expected a mapping with the keys by, share, tokens"),
        (with_(cap={}), r"cap: expected one of share \(of the budget\) and tokens"),
        (with_(cap={"by": "colour", "share": 0.1}), "cap.by: expected a field of the record"),
        (with_(cap={"share": 10}), "cap.share: expected a number above 0 and at most 1, found 10"),
        (with_(tokenizer={"tiktoken": "x"}), "tokenizer: expected the path of a tokenizer.json, or tiktoken"),
        (with_(tokenizer=[3]), "tokenizer: expected a single value"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_key(tmp_path, content, said):
    path = write(tmp_path, content)
    with pytest.raises(InputError, match=rf"(?m)^{path}:\d+:\d+: {said}"):
        load(path)


def test_a_key_that_stands_there_twice_is_an_error_because_one_of_them_would_be_lost(tmp_path):
    (tmp_path / "spec.yaml").write_text("tokens: 10\nsources:\n  a: {corpus: one}\n  a: {corpus: two}\n")
    with pytest.raises(InputError, match=r"spec.yaml:4:3: sources.a: given twice"):
        load(tmp_path / "spec.yaml")


def test_a_spec_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"none.yaml: expected a readable spec \(docs/mixtures.md\): No such file"):
        load(tmp_path / "none.yaml")


def test_paths_are_those_of_the_folder_of_the_spec_and_the_budget_may_follow_from_the_targets(tmp_path):
    found = load(
        write(tmp_path, {"sources": GOOD["sources"], "targets": [{"by": "source", "tokens": {"a": 5, "b": 7}}]})
    )
    assert found.budget == 12
    assert (found.sources[0].files, found.sources[1].corpus) == ((str(tmp_path / "a.jsonl"),), str(tmp_path / "b"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("none.json", "none.json: the tokenizer cannot be read"),
        ("spec.yaml", "spec.yaml: is not a tokenizer that tokenizers reads"),
        ({"tiktoken": "spec.yaml", "pattern": "x"}, "spec.yaml: is not a tokenizer that tiktoken reads"),
    ],
)
def test_a_tokenizer_that_cannot_be_used_is_a_sentence(tmp_path, content, said):
    for name in ("pyarrow", "duckdb", "tokenizers", "tiktoken"):
        pytest.importorskip(name, reason=f"{name} is optional")
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    spec = load(write(tmp_path, {"tokens": 1, "sources": {"a": {"files": "a.jsonl"}}, "tokenizer": content}))
    with pytest.raises(StorageError, match=said):
        plan(spec)


def test_sources_without_a_file_are_a_sentence(tmp_path):
    spec = load(write(tmp_path, {"tokens": 1, "sources": {"a": {"files": "a.jsonl"}}}))
    with pytest.raises(
        StorageError, match=r"sources.a.files: .*a.jsonl: no file that ends in .*\.jsonl.*correct the path"
    ):
        plan(spec)


def test_bands_have_a_name_for_every_number():
    assert band_names((0.3, 0.7)) == ["<0.3", "0.3-0.7", ">=0.7", "none"]
    assert [band((0.3, 0.7), value) for value in (-9, 0.3, 0.69, 0.7, None, True)] == [
        "<0.3", "0.3-0.7", "0.3-0.7", ">=0.7", "none", "none",
    ]  # fmt: skip


def test_the_example_of_the_documentation_is_a_spec_that_works(tmp_path):
    for name in ("pyarrow", "duckdb"):
        pytest.importorskip(name, reason=f"{name} is optional")
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = (PROJECT / "docs" / "mixtures.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    text = text.replace("_000_000", "_000").replace("tokenizer: tokenizer.json", "")
    fill(tmp_path / "corpus", pages=100)

    def filled(record):
        language, quality = (("en", 0.9), ("en", 0.6), ("de", 0.9), ("fr", 0.9))[
            int(record["url"].rpartition("/")[2]) % 4
        ]
        return record | {"language": language, "quality_score": quality, "token_estimate": 800}

    rewrite(Folder(tmp_path / "corpus").place, filled, Cause("test", "why", 1.8e9))
    rows = [
        {"content": f"text {n}", "source_url": f"https://x{n}.example/", "lang": lang, "quality_score": quality}
        for n in range(3_000)
        for lang, quality in (("de", 0.9), ("fr", 0.6), ("es", 0.6))
    ]
    (tmp_path / "open").mkdir()
    pq.write_table(
        pa.Table.from_pylist([row | {"token_estimate": 40} for row in rows]), tmp_path / "open" / "a.parquet"
    )
    found = plan(load(write(tmp_path, text.replace("share: 0.02", "share: 0.5"))))
    assert found.tokens == pytest.approx(200_000, rel=0.01) and len(found.lines) == 8
