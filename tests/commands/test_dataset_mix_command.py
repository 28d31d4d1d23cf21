"""`gristmill dataset mix` and `dedup` on the command line: each option changes something, and says so."""

from __future__ import annotations

import orjson
import pytest

from crawler.storage.files.shards import read_lines

pytest.importorskip("pyarrow", reason="pyarrow is optional")
pytest.importorskip("duckdb", reason="duckdb is optional")


@pytest.fixture
def spec(tmp_path):
    lines = [{"text": f"word {n}", "token_estimate": 2, "language": "en" if n % 2 else "de"} for n in range(100)]
    (tmp_path / "open.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    (tmp_path / "spec.yaml").write_text(
        "{tokens: 80, sources: {open: {files: open.jsonl}}, cap: {share: 0.5},\n"
        "targets: [{by: language, shares: {en: 0.75, de: 0.25}}]}"
    )
    return "spec.yaml"


def documents(folder):
    return [orjson.loads(line) for path in sorted((folder / "data").iterdir()) for line in read_lines(path)]


def test_a_dry_run_prints_the_plan_and_writes_nothing(scrapy, tmp_path, spec):
    before = sorted(tmp_path.iterdir())
    done = scrapy("dataset", "mix", "--dry-run", spec)
    assert (done.code, sorted(tmp_path.iterdir())) == (0, before)
    table = [line.split() for line in done.out.splitlines()]
    assert table[0] == ["field", "value", "target", "tokens", "of", "target", "documents", "records", "epochs"]
    assert ["language", "en", "60", "60", "100.00%", "30", "30", "0.60"] in table
    assert done.out.splitlines()[-2:] == [
        "0 values of domain reach the cap of 40 tokens",
        "80 of 80 tokens (token_estimate: four bytes of UTF-8 a token): 40 documents in 40 records would be",
    ]


def test_the_mixture_is_written_and_json_says_the_same(scrapy, tmp_path, spec):
    done = scrapy("dataset", "mix", "--out", "mixed", "--to", "jsonl.gz", "--json", spec)
    said = orjson.loads(done.out)
    found = documents(tmp_path / "mixed")
    assert (said["documents"], said["tokens"]) == (len(found), 80)
    assert {line["value"]: line["tokens"] for line in said["targets"]} == {"en": 60, "de": 20}
    assert [path.suffix for path in (tmp_path / "mixed" / "data").iterdir()] == [".gz"]
    again = scrapy("dataset", "mix", "--out", "mixed", spec)
    assert again.code == 1 and "mixed: expected an empty or new folder" in again.err


def test_what_cannot_be_reached_ends_with_one_and_says_what_is_missing(scrapy, tmp_path, spec):
    path = tmp_path / spec
    path.write_text(path.read_text().replace("tokens: 80", "tokens: 160"))
    done = scrapy("dataset", "mix", "--out", "mixed", spec)
    assert (done.code, done.out, (tmp_path / "mixed").exists()) == (1, "", False)
    assert "language en: 120 wanted, 100 there: 20 short" in done.err


@pytest.mark.parametrize("words", [[], ["--dry-run", "--out", "mixed"], ["--out", "memory://mixed"]])
def test_a_call_that_does_nothing_or_two_things_is_wrong(scrapy, spec, words):
    done = scrapy("dataset", "mix", *words, spec)
    assert (done.code, done.out) == (2, "") and "expected" in done.err


@pytest.fixture
def two(tmp_path):
    text = " ".join(f"word{n}" for n in range(60))
    for name, date in (("a.jsonl", "2024-01-01"), ("b.jsonl", "2020-01-01")):
        lines = [{"url": name, "text": text, "pub_date": date}, {"url": f"own-{name}", "text": f"only in {name}"}]
        (tmp_path / name).write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return ["a.jsonl", "b.jsonl", "-s", "STAGE_WORKERS=0"]


def test_the_report_says_how_much_repeats_what_and_which_copy_stays(scrapy, two):
    done = scrapy("dataset", "dedup", *two)
    assert done.out.splitlines() == [
        "1 exact duplicates: a.jsonl repeats b.jsonl",
        "a.jsonl: 1 of 2 documents stay",
        "b.jsonl: 2 of 2 documents stay",
        "which copy stays: licence tier A before B before none, then the higher quality_score (to 0.01), "
        "then the older pub_date, then the source that is named first",
    ]
    other = scrapy("dataset", "dedup", "--keep", "order", *two).out.splitlines()
    assert other[0] == "1 exact duplicates: b.jsonl repeats a.jsonl"
    assert other[-1] == "which copy stays: the source that is named first"


def test_the_list_what_remains_and_json_say_the_same(scrapy, tmp_path, two):
    done = scrapy("dataset", "dedup", "--list", "gone.jsonl", "--out", "merged", "--json", *two)
    said = orjson.loads(done.out)
    (gone,) = map(orjson.loads, (tmp_path / "gone.jsonl").read_bytes().splitlines())
    assert (gone["url"], gone["kept_url"], gone["kind"], gone["similarity"]) == ("a.jsonl", "b.jsonl", "exact", 1.0)
    assert [source["stay"] for source in said["sources"]] == [1, 2]
    (shard,) = (tmp_path / "merged" / "shards").iterdir()
    assert [orjson.loads(line)["url"] for line in read_lines(shard)] == ["own-a.jsonl", "b.jsonl", "own-b.jsonl"]
    assert scrapy("dataset", "verify", "merged").code == 0
    again = scrapy("dataset", "dedup", "--out", "merged", *two)
    assert again.code == 1 and "merged: expected an empty or new folder" in again.err


def test_what_remains_is_reported_cleaned_and_exported_as_any_corpus(scrapy, tmp_path):
    lines = [{"url": f"https://{n}.example/", "text": f"text {min(n, 2)}"} for n in range(4)]
    (tmp_path / "a.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    assert scrapy("dataset", "dedup", "--out", "merged", "a.jsonl", "-s", "STAGE_WORKERS=0").code == 0
    assert scrapy("report", "merged").code == 0
    out = scrapy("dataset", "exclude", "--yes", "--reason", "asked", "--url", "https://0.example/", "merged")
    assert out.code == 0, out.err
    assert scrapy("dataset", "export", "--to", "jsonl.gz", "--out", "release", "merged").code == 0
    assert [r["url"] for r in documents(tmp_path / "release")] == ["https://1.example/", "https://2.example/"]
    log = scrapy("dataset", "log", "merged")
    assert "dataset dedup" in log.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--keep", "size"], "there is no criterion 'size'; known: tier, quality, date, order"),
        (["--keep", "date,date"], "names a criterion twice"),
        (["--band-bits", "48"], "invalid choice"),
    ],
)
def test_a_rule_or_a_folder_that_means_nothing_is_a_wrong_call(scrapy, two, words, said):
    done = scrapy("dataset", "dedup", *words, *two)
    assert (done.code, done.out) == (2, "") and said in done.err


def test_a_list_that_cannot_be_written_is_a_sentence(scrapy, two):
    done = scrapy("dataset", "dedup", "--list", "none/gone.jsonl", *two)
    assert done.code == 1 and done.err.startswith("error: ") and "gone.jsonl" in done.err
