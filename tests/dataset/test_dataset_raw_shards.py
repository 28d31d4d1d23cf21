"""The shards of a corpus, in each of its formats, are read by other people's tools as they are: without an export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawler.config.storage import SHARD_FORMATS
from crawler.dataset.rewrite import rewrite
from crawler.dataset.versions import Cause
from crawler.observe.publish.dataset_card import card
from crawler.observe.publish.provenance import gather
from crawler.storage.files.records import as_lists
from tests.support.three_domains import Folder, fill


def varied(record: dict[str, Any]) -> dict[str, Any]:
    """Nothing in the first pages of a site, something in the later ones: shards differ in what is null in all of it."""
    if int(record["url"].rsplit("/", 1)[1]) < 2:
        return record
    return record | {
        "author": "A. Miller",
        "pub_date": "2026-01-01",
        "legal_citations": ["12 F.3d 34"],
        "pii_spans": as_lists([(1, 2, "PERSON")]),
        "quality_signals": {"digits": 0.25, "profile": "prose"},
    }


@pytest.fixture(scope="module", params=SHARD_FORMATS)
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    if request.param == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is optional")
    folder = Folder(tmp_path_factory.mktemp("raw") / "corpus")
    fill(folder.path, SHARD_FORMAT=request.param, SHARD_MAX_BYTES="3000")
    rewrite(folder.place, varied, Cause("test", "why", 1.8e9))
    assert len(shards(folder)) > 1
    return folder


def shards(corpus: Folder) -> list[str]:
    return [str(corpus.path / e["path"]) for e in corpus.manifest()["files"] if e["kind"] == "shards"]


def expected(corpus: Folder) -> list[tuple[str, str, str | None, list[str]]]:
    found = [(r["url"], r["text"], r["author"], r["legal_citations"]) for r in corpus.records()]
    assert {author for _, _, author, _ in found} == {None, "A. Miller"}
    return sorted(found)


def rows(table: list[dict[str, Any]]) -> list[tuple[str, str, str | None, list[str]]]:
    return sorted((r["url"], r["text"], r["author"], list(r["legal_citations"] or [])) for r in table)


def is_parquet(corpus: Folder) -> bool:
    return shards(corpus)[0].endswith(".parquet")


def test_duckdb_reads_them(corpus: Folder) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is optional")
    reader = "read_parquet(?)" if is_parquet(corpus) else "read_json(?, format='newline_delimited', union_by_name=true)"
    found = duckdb.execute(f"SELECT url, text, author, legal_citations FROM {reader}", [shards(corpus)])
    names = [column[0] for column in found.description]
    assert rows([dict(zip(names, row, strict=True)) for row in found.fetchall()]) == expected(corpus)


def test_polars_reads_them(corpus: Folder) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed (make test installs it)")
    read = polars.read_parquet if is_parquet(corpus) else polars.read_ndjson
    table = polars.concat([read(path) for path in shards(corpus)], how="diagonal_relaxed")
    assert rows(table.to_dicts()) == expected(corpus)


def test_pyarrow_reads_them(corpus: Folder) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is optional")
    from pyarrow import json, parquet

    def read(path: str) -> Any:
        if is_parquet(corpus):
            return parquet.read_table(path)
        codec = {".zst": "zstd", ".gz": "gzip"}.get(Path(path).suffix)
        with pyarrow.input_stream(path, compression=codec) as stream:
            return json.read_json(stream)

    table = pyarrow.concat_tables([read(path) for path in shards(corpus)], promote_options="permissive")
    assert rows(table.to_pylist()) == expected(corpus)


def test_datasets_reads_them_by_the_card(corpus: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed (make test installs it)")
    (corpus.path / "README.md").write_text(card(gather(str(corpus.path))))
    loaded = datasets.load_dataset(str(corpus.path), cache_dir=str(tmp_path), split="train")
    assert rows(loaded.to_list()) == expected(corpus)
