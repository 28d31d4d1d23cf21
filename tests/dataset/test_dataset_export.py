"""An export is read by the tools it is for, holds every document once, and is there whole or not at all."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys

import orjson
import pytest

from crawler.config.storage import SHARD_FORMATS, export_formats
from crawler.dataset.exclude import PUBLISHED, Wish
from crawler.dataset.exclude import _log as write_log
from crawler.dataset.export import EXPORT, export
from crawler.dataset.export_formats import dolma_of, export_format
from crawler.dataset.rewrite import rewrite
from crawler.dataset.versions import Cause
from crawler.observe.publish.derived import Description
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import BUILT_IN
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.parquet import read_rows
from crawler.storage.files.records import as_lists
from crawler.storage.files.shards import read_lines
from tests.support import warm
from tests.support.places import PROJECT
from tests.support.three_domains import DOMAINS, Folder, fill

pytest.importorskip("pyarrow", reason="pyarrow is optional")
MAX_BYTES = 6_000  # a few records: every export has several files
THIRD_PARTY = pytest.mark.filterwarnings("ignore")


FORMATS = export_formats()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "corpus"
    fill(folder)

    def filled(record):
        signal = {"protocol": "robots", "carrier": "robots.txt", "value": "x", "verdict": "allow"}
        mixed = record["language"] if record["language"] == "de" else 2
        signals = {record["domain"]: 1, "x": mixed}
        return record | {
            "quality_signals": signals,
            "pii_spans": as_lists([(1, 2, "PERSON")]),
            "optout_signals": [signal],
        }

    rewrite(Folder(folder).place, filled, Cause("test", "why", 1.8e9))
    return Folder(folder)


@pytest.fixture(scope="module")
def exports(made, tmp_path_factory):
    """Every format, by name."""
    folder = tmp_path_factory.mktemp("exports")

    for to in FORMATS:
        export(
            made.place, folder / to, to, max_bytes=MAX_BYTES, now=1.8e9, describer=Description("export", [made.place])
        )
    return folder


def needs(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed (make test installs it)")


def test_every_format_that_the_settings_name_is_declared_under_this_name():
    assert [export_format(name).name for name in FORMATS] == list(FORMATS)
    assert list(BUILT_IN) == list(SHARD_FORMATS)
    with pytest.raises(StorageError, match="there is no format 'csv'"):
        export_format("csv")


@pytest.mark.parametrize("to", FORMATS)
def test_its_manifest_names_every_file_with_hash_and_count_and_the_version_it_comes_from(made, exports, to):
    said = orjson.loads((exports / to / EXPORT).read_bytes())
    files = {path.relative_to(exports / to).as_posix() for path in (exports / to).rglob("*") if path.is_file()}
    version = f"registry/{hashlib.sha256((exports / to / EXPORT).read_bytes()).hexdigest()}.json"
    assert files == {f["path"] for f in said["files"]} | {EXPORT, *PUBLISHED, version} and len(said["files"]) > 1
    for file in said["files"]:
        content = (exports / to / file["path"]).read_bytes()
        assert (file["sha256"], file["bytes"]) == (hashlib.sha256(content).hexdigest(), len(content))
    assert sum(f["documents"] for f in said["files"]) == said["counts"]["exported"] == len(made.records()) == 12
    source = hashlib.sha256((made.path / "manifest.json").read_bytes()).hexdigest()
    assert (said["source"]["manifest_sha256"], said["source"]["version"]) == (source, 2)


@pytest.mark.parametrize("to", FORMATS)
def test_equal_corpora_give_equal_files(made, exports, tmp_path, to):
    export(made.place, tmp_path / to, to, max_bytes=MAX_BYTES, now=1.8e9)
    for path in (exports / to / export_format(to).folder).iterdir():
        assert path.read_bytes() == (tmp_path / to / export_format(to).folder / path.name).read_bytes()


def test_json_lines_and_parquet_hold_the_records_as_they_are(made, exports):
    for to in ("jsonl.zst", "jsonl.gz"):
        files = sorted((exports / to / "data").iterdir())
        assert [orjson.loads(line) for path in files for line in read_lines(path)] == made.records()
    rows = []
    for path in sorted((exports / "parquet" / "data").iterdir()):
        with path.open("rb") as file:
            rows += read_rows(file)
    assert rows == made.records()


@THIRD_PARTY
@pytest.mark.parametrize("to", sorted(set(FORMATS) - {"webdataset", "mds"}))
def test_load_dataset_reads_it_offline_by_its_card(made, exports, tmp_path, monkeypatch, to):
    needs("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    loaded = datasets.load_dataset(str(exports / to), cache_dir=str(tmp_path))["train"]
    assert [row["text"] for row in loaded] == [r["text"] for r in made.records()]
    if to == "dolma":
        assert [row["metadata"]["url"] for row in loaded] == [r["url"] for r in made.records()]
    if to == "parquet":
        assert [orjson.loads(row["quality_signals"]) for row in loaded] == [
            r["quality_signals"] for r in made.records()
        ]


@THIRD_PARTY
@pytest.mark.parametrize("to", ["parquet", "jsonl.zst", "jsonl.gz", "dolma"])
def test_datatrove_reads_it(made, exports, to):
    needs("datatrove")
    code = """
import sys, json
from datatrove.pipeline.readers import JsonlReader, ParquetReader
folder, kind = sys.argv[1:]
reader = (ParquetReader if kind == "parquet" else JsonlReader)(
    folder, id_key="id" if kind == "dolma" else "doc_id", glob_pattern="*." + ("jsonl.gz" if kind == "dolma" else kind))
print(json.dumps([[d.id, d.text, (d.metadata["url"])] for d in reader()]))
"""
    folder = exports / to / export_format(to).folder
    done = subprocess.run([sys.executable, "-c", code, folder, to], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout.splitlines()[-1])
    assert found == [[r["doc_id"], r["text"], r["url"]] for r in made.records()]


@THIRD_PARTY
def test_duckdb_and_polars_read_the_parquet_files(made, exports):
    needs("duckdb")
    needs("polars")
    import duckdb
    import polars

    pattern = str(exports / "parquet" / "data" / "*.parquet")
    expected = [
        (r["url"], r["text"], r["pii_spans"]["type"][0], r["optout_signals"][0]["verdict"]) for r in made.records()
    ]
    query = f"SELECT url, text, pii_spans[1].type, optout_signals[1].verdict FROM '{pattern}'"
    assert duckdb.sql(query).fetchall() == expected
    frame = polars.read_parquet(pattern)
    spans, signals = frame["pii_spans"].to_list(), frame["optout_signals"].to_list()
    assert [
        (u, t, s[0]["type"], o[0]["verdict"])
        for u, t, s, o in zip(frame["url"], frame["text"], spans, signals, strict=True)
    ] == expected


@THIRD_PARTY
def test_duckdb_and_polars_read_the_json_lines(made, exports):
    needs("duckdb")
    needs("polars")
    import duckdb
    import polars

    pattern = str(exports / "jsonl.zst" / "data" / "*.jsonl.zst")
    found = duckdb.sql(f"SELECT url, word_count FROM read_json('{pattern}', format='newline_delimited')").fetchall()
    assert found == [(r["url"], r["word_count"]) for r in made.records()]
    frames = [polars.read_ndjson(path) for path in sorted((exports / "jsonl.gz" / "data").iterdir())]
    assert [url for frame in frames for url in frame["url"]] == [r["url"] for r in made.records()]


@THIRD_PARTY
def test_webdataset_reads_the_tars(made, exports):
    needs("webdataset")
    code = """
import sys, json, webdataset
found = []
for s in webdataset.WebDataset(sorted(sys.argv[1:]), shardshuffle=False):
    found.append([s["__key__"], s["txt"].decode(), json.loads(s["json"])])
print(json.dumps(found))
"""
    files = sorted(str(path) for path in (exports / "webdataset" / "data").iterdir())
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=False)
    if "No module named 'torch'" in done.stderr:
        pytest.skip("this release of webdataset needs torch")
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout.splitlines()[-1])
    assert [(key, text) for key, text, _ in found] == [(f"{n:012d}", r["text"]) for n, r in enumerate(made.records())]
    assert [rest for *_, rest in found] == [{k: v for k, v in r.items() if k != "text"} for r in made.records()]


@THIRD_PARTY
def test_streaming_reads_the_mds_shards(made, exports):
    needs("streaming")
    code = """
import importlib.util, json, sys, types
root, = importlib.util.find_spec("streaming").submodule_search_locations
for name in ("streaming", "streaming.base", "streaming.base.format", "streaming.base.format.base",
             "streaming.base.format.mds", "streaming.base.util"):  # what they import needs PyTorch; the reader does not
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [root + name.removeprefix("streaming").replace(".", "/")]
sys.modules["streaming.base.util"].bytes_to_int = int  # of a size_limit, which is None
from streaming.base.format.mds.reader import MDSReader
shards = json.load(open(sys.argv[1] + "/index.json"))
assert shards["version"] == 2
readers = [MDSReader.from_json(sys.argv[1], "", shard) for shard in shards["shards"]]
for reader in readers:
    reader.validate(allow_unsafe_types=False)
print(json.dumps([reader[n] for reader in readers for n in range(len(reader))]))
"""
    folder = exports / "mds" / "data"
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout)
    whole = [sample["metadata"] | {"text": sample["text"], "doc_id": sample["doc_id"]} for sample in found]
    assert whole == made.records()


def test_the_index_of_mds_has_size_and_hash_of_every_shard(exports):
    folder = exports / "mds" / "data"
    shards = orjson.loads((folder / "index.json").read_bytes())["shards"]
    assert {shard["raw_data"]["basename"] for shard in shards} | {"index.json"} == {p.name for p in folder.iterdir()}
    for shard in shards:
        content = (folder / shard["raw_data"]["basename"]).read_bytes()
        assert shard["raw_data"]["bytes"] == len(content)
        assert shard["raw_data"]["hashes"] == {"sha256": hashlib.sha256(content).hexdigest()}
        assert shard["samples"] == int.from_bytes(content[:4], "little")


def test_an_mds_shard_that_its_offsets_cannot_reach_is_an_error(made, tmp_path, monkeypatch):
    monkeypatch.setattr("crawler.dataset.export_formats._MDS_MOST", 3_000)
    with pytest.raises(StorageError, match="give a smaller SHARD_MAX_BYTES"):
        export(made.place, tmp_path / "out", "mds", max_bytes=10**6, now=1.8e9)
    assert list(tmp_path.iterdir()) == []


def test_a_document_in_dolmas_format_has_its_six_fields():
    found = dolma_of({"url": "u", "doc_id": "d", "text": "t", "crawl_id": "c", "crawled_at": "2026", "language": "de"})
    assert found == {"id": "d", "text": "t", "source": "c", "added": "2026", "created": None,
                     "metadata": {"url": "u", "language": "de"}}  # fmt: skip


def test_a_withdrawn_document_is_never_exported_even_where_the_withdrawal_was_cut_off(made, tmp_path):
    corpus = Folder(shutil.copytree(made.path, tmp_path / "corpus"))
    gone = [r for r in corpus.records() if r["domain"] == "birch.example"]
    again = corpus.records()[0]  # withdrawn before it was fetched: it was allowed again since
    blank = {"kind": "page", "was": "kept", "doc_id": None, "content_hash": None, "license_tag": None, "number": 0}
    pages = [blank | {name: r[name] for name in ("url", "canonical_url", "domain")} for r in gone]
    write_log(corpus.place, Wish("asked", domains=frozenset({"birch.example"})), pages, now=1.8e9)
    write_log(
        corpus.place,
        Wish("earlier", domains=frozenset({"x"}), reach="nothing"),
        [{**pages[0], "url": again["url"]}],
        now=1.6e9,
    )
    done = export(corpus.place, tmp_path / "out", "jsonl.gz", max_bytes=10**6, now=1.8e9)
    (path,) = (tmp_path / "out" / "data").iterdir()
    urls = {orjson.loads(line)["url"] for line in read_lines(path)}
    assert urls == {r["url"] for r in corpus.records()} - {r["url"] for r in gone} and again["url"] in urls
    assert (done.documents, done.withdrawn) == (8, 4) and len(DOMAINS) == 3


def test_a_refused_domain_is_never_exported(made, tmp_path):
    corpus = Folder(shutil.copytree(made.path, tmp_path / "corpus"))
    write_log(corpus.place, Wish("asked", refused=frozenset({"cedar.example"})), [], now=1.0e9)
    assert export(corpus.place, tmp_path / "out", "dolma", max_bytes=10**6, now=1.8e9).withdrawn == 4


def test_the_card_describes_what_is_in_the_export_and_says_what_was_left_out(made, tmp_path):
    corpus = Folder(shutil.copytree(made.path, tmp_path / "corpus"))
    write_log(corpus.place, Wish("asked", refused=frozenset({"cedar.example"})), [], now=1.0e9)
    described = Description("export", [corpus.place])
    export(corpus.place, tmp_path / "out", "jsonl", max_bytes=10**6, now=1.8e9, describer=described)
    card = (tmp_path / "out" / "README.md").read_text()
    assert "Main text of 8 web pages of 2 domains" in card and "cedar.example" not in card
    assert "none that was withdrawn when this was made\n(4 withdrawn documents left out)." in card


def test_a_folder_in_use_is_refused_and_left_alone(made, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(StorageError, match="expected an empty or new folder"):
        export(made.place, tmp_path / "mine", "jsonl.gz", max_bytes=MAX_BYTES, now=1.8e9)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_two_exports_to_one_folder_do_not_mix_and_the_rest_of_a_crashed_one_goes(made, tmp_path):
    (tmp_path / ".out.part" / "data").mkdir(parents=True)
    (tmp_path / ".out.part" / "data" / "part-000009.jsonl.gz").write_bytes(b"half")
    other = WriterLock(tmp_path / ".out.lock")
    assert other.acquire()
    with pytest.raises(StorageError, match="another export writes there"):
        export(made.place, tmp_path / "out", "jsonl.gz", max_bytes=MAX_BYTES, now=1.8e9)
    other.release()
    assert (tmp_path / ".out.part").exists()
    export(made.place, tmp_path / "out", "jsonl.gz", max_bytes=10**6, now=1.8e9)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in (tmp_path / "out" / "data").iterdir()] == ["part-000000.jsonl.gz"]


def test_what_ends_an_export_leaves_nothing_behind(made, tmp_path):
    corpus = Folder(shutil.copytree(made.path, tmp_path / "corpus"))
    last = corpus.manifest()["files"][-1]["path"]
    (corpus.path / last).write_bytes(b"damaged")
    with pytest.raises(StorageError, match=last.rpartition("/")[2]):
        export(corpus.place, tmp_path / "out", "jsonl.gz", max_bytes=MAX_BYTES, now=1.8e9)
    assert {path.name for path in tmp_path.iterdir()} == {"corpus"}


def test_a_corpus_that_changes_meanwhile_is_told(made, tmp_path):
    corpus = Folder(shutil.copytree(made.path, tmp_path / "corpus"))

    def meanwhile(_: int) -> None:
        rewrite(corpus.place, lambda r: r | {"quality_score": 1.0}, Cause("test", "why", 1.8e9))

    with pytest.raises(StorageError, match="changed while it was exported"):
        export(corpus.place, tmp_path / "out", "jsonl.gz", max_bytes=MAX_BYTES, now=1.8e9, progress=meanwhile)
    assert not (tmp_path / "out").exists()


def test_the_command_says_what_it_wrote(made, tmp_path):
    words = ["dataset", "export", "--to", "parquet", "--out", tmp_path / "out", made.path]
    done = warm.run([sys.executable, "-m", "scrapy", *words], cwd=PROJECT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"12 documents in 1 file are in {tmp_path / 'out'}\n"), done.stderr
    assert (tmp_path / "out" / "README.md").read_text().startswith("---\n")
