"""A mixture meets its targets by tokens, is the same twice, and takes nothing that is withdrawn or not allowed."""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import random
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import orjson
import pytest
import yaml

from crawler.config.storage import export_formats
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.mix.mixture import MIX, UnreachableError, mix, plan
from crawler.dataset.mix.spec import load
from crawler.dataset.rewrite import rewrite
from crawler.dataset.versions import Cause
from crawler.operations.mix import Published
from crawler.storage.files.errors import StorageError
from crawler.storage.files.parquet import read_rows
from crawler.storage.files.place import REGISTRY, Place
from crawler.storage.files.shards import read_lines
from tests.support.process import scrapy
from tests.support.three_domains import Folder, fill

pytest.importorskip("pyarrow", reason="pyarrow is optional")
pytest.importorskip("duckdb", reason="duckdb is optional")
WORDS = ["river", "stone", "lantern", "harbour", "quiet", "meadow", "copper", "winter", "engine", "garden", "letter"]
LANGUAGES = ("en", "de", "fr", "es", "it")
MAX_BYTES = 200_000


def documents(count: int, seed: int = 1) -> list[dict]:
    """Records of five languages, two tiers and uneven domains, some of them large."""
    rng = random.Random(seed)
    found = []
    for number in range(count):
        text = " ".join(rng.choices(WORDS, k=rng.randint(5, 60))) + f" {number}"
        found.append(
            {
                "url": f"https://d{number}.example/",
                "domain": f"d{min(int(rng.paretovariate(0.6)), 400)}.example",
                "text": text,
                "doc_id": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
                "language": rng.choices(LANGUAGES, (50, 20, 15, 10, 5))[0],
                "license_tier": rng.choice(["A", "B", None]),
                "quality_score": rng.random(),
                "token_estimate": -(-len(text) // 4),
            }
        )
    return found


def write(path: Path, records: list[dict]) -> Path:
    path.write_bytes(gzip.compress(b"".join(orjson.dumps(r) + b"\n" for r in records), mtime=0))
    return path


def spec_of(folder: Path, **content: object) -> Path:
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def mixed(folder: Path, out: str = "mixed", to: str = "jsonl.gz", **content: object) -> tuple[object, list[dict]]:
    spec = load(spec_of(folder, **content))
    made, _ = mix(spec, folder / out, to, max_bytes=MAX_BYTES, describe=Published)
    return made, records_in(folder / out)


def records_in(folder: Path) -> list[dict]:
    return [orjson.loads(line) for path in sorted((folder / "data").iterdir()) for line in read_lines(path)]


def tokens_by(records: list[dict], name: str) -> Counter:
    found: Counter = Counter()
    for record in records:
        found[record[name] or "none"] += record["token_estimate"]
    return found


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mix")
    write(folder / "open.jsonl.gz", documents(6_000))
    return folder


@pytest.fixture
def folder(tmp_path, shared):
    (tmp_path / "open.jsonl.gz").symlink_to(shared / "open.jsonl.gz")
    return tmp_path


OPEN = {"open": {"files": "open.jsonl.gz"}}
BY_LANGUAGE = {"by": "language", "shares": {"en": 0.4, "de": 0.3, "fr": 0.2, "*": 0.1}}
BY_TIER = {"by": "license_tier", "shares": {"A": 0.5, "B": 0.25, "none": 0.25}}


def test_two_targets_at_once_are_met_within_one_in_a_hundred_by_what_is_written(folder):
    _, records = mixed(folder, tokens=100_000, sources=OPEN, targets=[BY_LANGUAGE, BY_TIER])
    languages, tiers = tokens_by(records, "language"), tokens_by(records, "license_tier")
    assert languages["en"] == pytest.approx(40_000, rel=0.01)
    assert languages["fr"] == pytest.approx(20_000, rel=0.01)
    assert languages["es"] + languages["it"] == pytest.approx(10_000, rel=0.01)
    assert tiers["A"] == pytest.approx(50_000, rel=0.01)
    assert tiers["none"] == pytest.approx(25_000, rel=0.01)
    assert max(Counter(r["url"] for r in records).values()) == 1


def test_the_same_spec_gives_the_same_bytes_and_another_seed_other_documents(folder):
    content = {"tokens": 50_000, "sources": OPEN, "targets": [BY_LANGUAGE]}
    mixed(folder, "one", **content)
    mixed(folder, "two", **content)
    files = sorted(path.relative_to(folder / "one") for path in (folder / "one").rglob("*") if path.is_file())
    files = [path for path in files if path.parts[0] != REGISTRY]  # it says when
    assert {str(path) for path in files} >= {"README.md", MIX}
    for path in files:
        assert (folder / "one" / path).read_bytes() == (folder / "two" / path).read_bytes()
    _, other = mixed(folder, "three", seed=2, **content)
    assert {r["url"] for r in other} != {r["url"] for r in records_in(folder / "one")}


def test_what_is_picked_depends_on_the_texts_and_the_seed_and_on_no_order_of_files(folder):
    content = {"tokens": 50_000, "targets": [BY_LANGUAGE]}
    _, one = mixed(folder, "one", sources=OPEN, **content)
    shuffled = documents(6_000)
    random.Random(7).shuffle(shuffled)
    write(folder / "a.jsonl.gz", shuffled[:2_000])
    write(folder / "b.jsonl.gz", shuffled[2_000:])
    _, two = mixed(folder, "two", sources={"open": {"files": ["a.jsonl.gz", "b.jsonl.gz"]}}, **content)
    assert {r["url"] for r in one} == {r["url"] for r in two}


def test_the_table_is_what_an_independent_count_of_the_files_says(folder):
    cap = {"by": "domain", "share": 0.05}
    made, records = mixed(folder, tokens=60_000, sources=OPEN, targets=[BY_LANGUAGE], cap=cap)
    said = orjson.loads((folder / "mixed" / MIX).read_bytes())
    assert said["tokens"] == made.tokens == sum(r["token_estimate"] for r in records)
    assert (said["documents"], said["records"]) == (len({r["url"] for r in records}), len(records))
    there = tokens_by(documents(6_000), "language")
    for line in said["targets"]:
        of = [r for r in records if (r["language"] if r["language"] in ("en", "de", "fr") else "*") == line["value"]]
        assert (line["tokens"], line["documents"]) == (sum(r["token_estimate"] for r in of), len(of))
        if line["value"] != "*":
            assert line["there"] == there[line["value"]]
            assert line["epochs"] == pytest.approx(line["tokens"] / there[line["value"]], abs=1e-4)
    source = hashlib.sha256((folder / "open.jsonl.gz").read_bytes()).hexdigest()
    assert said["sources"][0]["files"][0]["sha256"] == source and said["sources"][0]["read"] == 6_000
    for file in said["files"]:
        assert file["sha256"] == hashlib.sha256((folder / "mixed" / file["path"]).read_bytes()).hexdigest()


def test_no_domain_gets_more_than_the_cap_and_the_others_make_good_for_it(folder):
    content = {"tokens": 60_000, "sources": OPEN, "targets": [BY_LANGUAGE]}
    _, free = mixed(folder, "free", **content)
    made, capped = mixed(folder, "capped", cap={"share": 0.04}, **content)
    assert max(tokens_by(free, "domain").values()) > 2_400
    domains = tokens_by(capped, "domain")
    assert max(domains.values()) <= 2_400
    assert {name for name, tokens in domains.items() if tokens >= 2_400 * 0.99} == set(made.capped) != set()
    assert tokens_by(capped, "language")["en"] == pytest.approx(24_000, rel=0.01)


def test_documents_are_repeated_as_often_as_epochs_allow_and_their_repeats_are_apart(folder):
    there = tokens_by(documents(6_000), "language")["it"]
    by = {"by": "language", "shares": {"it": 0.5, "*": 0.5}, "epochs": {"it": 3}}
    _, records = mixed(folder, tokens=there * 5, sources=OPEN, targets=[by])
    uses = Counter(r["url"] for r in records if r["language"] == "it")
    assert set(uses.values()) == {2, 3} and tokens_by(records, "language")["it"] == pytest.approx(2.5 * there, rel=0.01)
    assert set(Counter(r["url"] for r in records if r["language"] != "it").values()) == {1}
    places = defaultdict(list)
    for place, record in enumerate(records):
        places[record["url"]].append(place)
    assert min(b - a for found in places.values() for a, b in pairwise(found)) > 100


def test_temperature_flattens_what_is_there(folder):
    there = tokens_by(documents(6_000), "language")
    weights = {name: (count / sum(there.values())) ** (1 / 2) for name, count in there.items()}
    _, records = mixed(folder, tokens=30_000, sources=OPEN, targets=[{"by": "language", "temperature": 2}])
    for name, tokens in tokens_by(records, "language").items():
        assert tokens == pytest.approx(30_000 * weights[name] / sum(weights.values()), rel=0.01)


def test_quality_is_mixed_by_bands(folder):
    by = {"by": "quality_score", "bands": [0.3, 0.7], "shares": {">=0.7": 0.8, "0.3-0.7": 0.2}}
    _, records = mixed(folder, tokens=30_000, sources=OPEN, targets=[by])
    high = sum(r["token_estimate"] for r in records if r["quality_score"] >= 0.7)
    assert high == pytest.approx(24_000, rel=0.01) and min(r["quality_score"] for r in records) >= 0.3


def test_a_target_that_cannot_be_reached_is_an_error_with_what_is_missing_and_nothing_is_written(folder):
    there = tokens_by(documents(6_000), "language")["it"]
    by = {"by": "language", "shares": {"it": 0.5, "*": 0.5}}
    with pytest.raises(UnreachableError) as caught:
        mixed(folder, tokens=there * 4, sources=OPEN, targets=[by])
    assert f"language it: {there * 2:,} wanted, {there:,} there: {there:,} short" in str(caught.value)
    assert sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock")) == [
        "open.jsonl.gz",
        "spec.yaml",
    ]


def test_targets_that_exclude_each_other_are_missed_by_the_least_that_is_possible(tmp_path):
    records = [
        {"url": f"https://x.example/{n}", "text": f"text {n}", "token_estimate": 1, "doc_id": str(n), **fields}
        for fields, count in (
            ({"language": "en", "license_tier": "A"}, 100),
            ({"language": "de", "license_tier": "B"}, 100),
        )
        for n in range(count)
    ]
    write(tmp_path / "open.jsonl.gz", records)
    targets = [
        {"by": "language", "shares": {"en": 0.7, "de": 0.3}},
        {"by": "license_tier", "shares": {"A": 0.3, "B": 0.7}},
    ]
    with pytest.raises(UnreachableError, match="misses them by 80 tokens"):
        mixed(tmp_path, tokens=100, sources=OPEN, targets=targets)


def test_more_tokens_than_there_are_is_an_error_that_says_how_many_are_missing(folder):
    there = sum(r["token_estimate"] for r in documents(6_000))
    with pytest.raises(UnreachableError, match=f"{there:,} with their epochs: 1,000 short"):
        mixed(folder, tokens=there + 1_000, sources=OPEN)
    with pytest.raises(UnreachableError, match="more than the cap leaves"):
        mixed(folder, tokens=there, sources=OPEN, cap={"tokens": 10})


def test_documents_are_whole_and_a_target_smaller_than_one_is_an_error(folder):
    with pytest.raises(UnreachableError, match="documents are whole"):
        mixed(folder, tokens=30, sources=OPEN, targets=[BY_LANGUAGE])


def test_a_corpus_its_versions_and_files_of_others_are_mixed_and_withdrawn_documents_never(tmp_path):
    fill(tmp_path / "corpus", pages=40)
    place = Folder(tmp_path / "corpus").place
    theirs = [
        {"body": f"words of others {n}", "link": r["url"]} for n, r in enumerate(Folder(tmp_path / "corpus").records())
    ]
    write(tmp_path / "open.jsonl.gz", theirs)
    withdraw(place, Wish("asked for", domains=frozenset({"alder.example"})), now=1.8e9)
    sources = {
        "ours": {"corpus": "corpus"},
        "theirs": {"files": "open.jsonl.gz", "fields": {"text": "body", "url": "link"}, "set": {"language": "xx"}},
    }
    target = {"by": "source", "shares": {"ours": 0.5, "theirs": 0.5}}
    made, records = mixed(tmp_path, tokens=600, tolerance=0.05, sources=sources, targets=[target])
    assert {r["mix_source"] for r in records} == {"ours", "theirs"}
    assert {r["domain"] for r in records} == {"birch.example", "cedar.example"}
    assert {r["language"] for r in records if r["mix_source"] == "theirs"} == {"xx"}
    assert [counts.withdrawn for counts in made.counts] == [0, 40]
    said = orjson.loads((tmp_path / "mixed" / MIX).read_bytes())
    manifest = hashlib.sha256((tmp_path / "corpus" / "manifest.json").read_bytes()).hexdigest()
    assert said["sources"][0]["manifest_sha256"] == manifest


def test_an_older_version_of_a_corpus_is_a_source_and_a_page_counts_once(tmp_path):
    fill(tmp_path / "corpus", pages=40)
    place = Folder(tmp_path / "corpus").place

    def without_german(record):
        return None if record["language"] == "de" else record

    rewrite(place, without_german, Cause("test", "why", 1.8e9))
    for text, languages in (("corpus", {"en"}), ("corpus@1", {"en", "de"})):
        _, records = mixed(tmp_path, f"of-{text}", tokens=500, tolerance=0.1, sources={"ours": {"corpus": text}})
        assert {r["language"] for r in records} == languages


@pytest.mark.parametrize("to", export_formats())
def test_every_format_of_an_export_is_one_of_a_mixture(folder, to):
    spec = load(spec_of(folder, tokens=20_000, sources=OPEN))
    _, done = mix(spec, folder / "mixed", to, max_bytes=MAX_BYTES, describe=Published)
    said = orjson.loads((folder / "mixed" / MIX).read_bytes())
    assert done.documents == said["records"] and sum(file["documents"] for file in said["files"]) == done.documents


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("to", ["parquet", "jsonl.gz"])
def test_the_card_lets_datasets_load_it_with_the_source_of_each_record(folder, to, monkeypatch):
    if importlib.util.find_spec("datasets") is None:
        pytest.skip("datasets is not installed (make test installs it)")
    monkeypatch.setenv("HF_HOME", str(folder / "cache"))
    import datasets

    spec = load(spec_of(folder, tokens=20_000, sources=OPEN))
    mix(spec, folder / "mixed", to, max_bytes=MAX_BYTES, describe=Published)
    loaded = datasets.load_dataset(str(folder / "mixed"), split="train", cache_dir=str(folder / "cache"))
    assert (
        set(loaded["mix_source"]) == {"open"}
        and sum(loaded["token_estimate"]) == orjson.loads((folder / "mixed" / MIX).read_bytes())["tokens"]
    )


def test_the_source_of_a_record_is_a_column_in_parquet_and_a_field_when_it_is_read_back(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    mix(load(spec_of(folder, tokens=20_000, sources=OPEN)), folder / "mixed", "parquet", max_bytes=MAX_BYTES)
    path, *_ = sorted((folder / "mixed" / "data").iterdir())
    assert set(parquet.read_table(path, columns=["mix_source"])["mix_source"].to_pylist()) == {"open"}
    assert set(parquet.read_table(path, columns=["extra"])["extra"].to_pylist()) == {None}
    with path.open("rb") as file:
        assert {record["mix_source"] for record in read_rows(file)} == {"open"}


def test_the_card_of_a_mixture_counts_texts_that_do_not_say_their_length_and_no_licence_below_none(folder):
    sources = {"open": OPEN["open"] | {"set": {"license_tier": "B"}}}
    found, _ = mix(load(spec_of(folder, tokens=20_000, sources=sources)), folder / "mixed", "jsonl.gz",
                   max_bytes=MAX_BYTES, describe=Published)  # fmt: skip
    card = (folder / "mixed" / "README.md").read_text()
    assert f" words, about\n{found.tokens:,} tokens." in card
    assert f"0 documents with the tag of the allowlist, 0 whose only tag is the page's, {found.documents} " in card


def test_who_asks_a_mixture_for_a_report_is_told_where_its_figures_are(folder):
    mix(load(spec_of(folder, tokens=20_000, sources=OPEN)), folder / "mixed", "parquet", max_bytes=MAX_BYTES)
    with pytest.raises(StorageError, match=r"made by `gristmill dataset mix`, no corpus: its figures are in mix\.json"):
        Place(str(folder / "mixed")).manifest()


def test_a_mixture_is_held_to_gates_as_the_corpus_that_the_advice_makes_of_it(folder):
    mix(load(spec_of(folder, tokens=20_000, sources=OPEN)), folder / "mixed", "parquet", max_bytes=MAX_BYTES)
    (folder / "gates.yaml").write_text("whole: {top1_tokens: {max: 1}}")
    refused = scrapy("report", "--check", folder / "gates.yaml", folder / "mixed")
    assert refused.returncode == 1
    assert "or make one of it: `gristmill dataset dedup --out NEW DIR`" in refused.stderr
    made = scrapy("dataset", "dedup", "--out", folder / "new", folder / "mixed")
    assert made.returncode == 0, made.stderr
    assert "1 gate holds" in scrapy("report", "--check", folder / "gates.yaml", folder / "new").stdout


def test_a_mixture_is_a_source_of_another_in_parquet_as_in_lines(folder):
    content = {"tokens": 20_000, "sources": OPEN}
    _, lines = mixed(folder, "lines", **content)
    mixed_spec = load(spec_of(folder, **content))
    mix(mixed_spec, folder / "columns", "parquet", max_bytes=MAX_BYTES)
    total = sum(r["token_estimate"] for r in lines)
    for name in ("lines", "columns"):
        _, again = mixed(folder, f"again-{name}", tokens=total, sources={"open": {"files": name}})
        assert {r["url"] for r in again} == {r["url"] for r in lines}


def test_a_real_tokenizer_counts(folder):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed (make test installs it)")
    vocabulary = {word: n for n, word in enumerate([*WORDS, "?"])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.save(str(folder / "tokenizer.json"))
    found, records = mixed(folder, tokens=20_000, tokenizer="tokenizer.json", sources=OPEN)
    assert found.tokens == sum(len(r["text"].split()) for r in records)
    digest = hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
    assert found.counted_by == f"tokenizers: sha256:{digest}"


def test_a_file_of_tiktoken_counts(folder):
    pytest.importorskip("tiktoken", reason="tiktoken is not installed (make test installs it)")
    ranks = b"".join(base64.b64encode(bytes([n])) + f" {n}\n".encode() for n in range(256))
    (folder / "bytes.tiktoken").write_bytes(ranks)
    by = {"tiktoken": "bytes.tiktoken", "pattern": r"\S+|\s+"}
    found, records = mixed(folder, tokens=20_000, tokenizer=by, sources=OPEN)
    assert found.tokens == sum(len(r["text"].encode()) for r in records)


def test_without_a_tokenizer_the_estimate_counts_and_the_mixture_says_so(folder):
    found = plan(load(spec_of(folder, tokens=20_000, sources=OPEN)))
    assert found.counted_by == "token_estimate: four bytes of UTF-8 a token"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"not json", r"open.jsonl.gz:1: is not JSON"),
        (b"[1]", r"open.jsonl.gz:1: expected an object with fields, not list"),
        (b'{"a": 1}', r"open.jsonl.gz:1: no text; say which field it is: sources.open.fields.text"),
        (b'{"text": 1}', r"open.jsonl.gz:1: no text"),
    ],
)
def test_a_record_that_cannot_be_used_is_named_with_its_line(tmp_path, line, said):
    (tmp_path / "open.jsonl.gz").write_bytes(gzip.compress(line + b"\n"))
    with pytest.raises(StorageError, match=said):
        mixed(tmp_path, tokens=10, sources=OPEN)


def test_a_field_that_is_mapped_and_not_there_or_of_another_type_is_named(folder):
    source = {"files": "open.jsonl.gz", "fields": {"language": "lang"}}
    with pytest.raises(StorageError, match=r"sources.open.fields.language: no 'lang' \(there is: doc_id, domain"):
        mixed(folder, tokens=10, sources={"open": source})
    source = {"files": "open.jsonl.gz", "fields": {"language": "token_estimate"}}
    with pytest.raises(StorageError, match="'token_estimate' is not of the type of 'language'"):
        mixed(folder, tokens=10, sources={"open": source})


def test_an_address_that_is_no_http_url_has_no_domain(tmp_path):
    write(tmp_path / "open.jsonl.gz", [{"text": f"text {n}", "url": f"book:{n}"} for n in range(9)])
    _, records = mixed(tmp_path, tokens=9, tolerance=0.5, sources=OPEN, cap={"share": 0.1})
    assert records and {r["domain"] for r in records} == {None}


def test_a_source_that_changes_meanwhile_ends_it_and_nothing_is_there(folder):
    path = folder / "own.jsonl.gz"
    write(path, documents(200))
    spec = load(spec_of(folder, tokens=500, tolerance=0.1, sources={"own": {"files": "own.jsonl.gz"}}))

    class Early(Published):
        def documents(self, *_):
            raise AssertionError("the documents are made after the check")

    calls = []

    def progress(count):
        calls.append(count)
        if len(calls) == 2:  # while it is written
            write(path, documents(201))

    with pytest.raises(StorageError, match="a source changed while it was mixed"):
        mix(spec, folder / "mixed", "jsonl.gz", max_bytes=MAX_BYTES, describe=Early, progress=progress)
    assert not (folder / "mixed").exists()


def test_a_source_gives_only_the_documents_that_its_condition_holds_for_and_says_so(folder):
    where = "language = de or quality_score >= 0.9"
    sources = {"a": {"files": "*.jsonl.gz", "where": where}}
    _, records = mixed(folder, sources=sources, targets=[], tokens=2_000)
    assert records and all(r["language"] == "de" or r["quality_score"] >= 0.9 for r in records)
    (source,) = orjson.loads((folder / "mixed" / "mix.json").read_bytes())["sources"]
    assert source["where"] == "language=de or quality_score>=0.9"
    assert 0 < source["left_out"] < source["read"]
