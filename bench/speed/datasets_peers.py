"""The peers of `bench.speed.datasets`: DuckDB and datatrove make of a corpus what our commands make of it.

`python -m bench.speed.datasets_peers NAME CORPUS_DIR OUT [WANTED]`. They read the shards and write what is in them;
withdrawals, superseded records, hashes and a manifest are no part of what they do. DuckDB has 4 GB: with 1 GB, several
times what ours takes, its mixture of a million records does not end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

MEMORY = "4GB"


def duckdb_parquet(corpus: str, out: str, _: str) -> None:
    """Every record to one Parquet file."""
    _duckdb(out).execute(
        f"COPY (SELECT * FROM {_records(corpus)}) TO '{out}/data.parquet' "
        "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 6)"
    )


def duckdb_mix(corpus: str, out: str, wanted: str) -> None:
    """Documents of each language in the order of a hash until its tokens are there, as a person would write it."""
    connection = _duckdb(out)
    rows = ", ".join(f"('{name}', {tokens})" for name, tokens in json.loads(wanted).items())
    connection.execute(f"CREATE TABLE wanted AS SELECT * FROM (VALUES {rows}) v(language, most)")
    connection.execute(
        "CREATE TABLE picked AS SELECT doc_id FROM (SELECT doc_id, most, sum(token_estimate) OVER "
        f"(PARTITION BY language ORDER BY hash(doc_id), doc_id) AS so_far FROM {_records(corpus)} JOIN wanted "
        "USING (language)) WHERE so_far <= most"
    )
    connection.execute(
        f"COPY (SELECT * FROM {_records(corpus)} SEMI JOIN picked USING (doc_id)) TO '{out}/data.parquet' "
        "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 6)"
    )


def _duckdb(out: str) -> Any:
    import duckdb

    Path(out).mkdir(parents=True)
    connection = duckdb.connect(f"{out}/scratch.duckdb")
    connection.execute(f"SET memory_limit = '{MEMORY}'")
    connection.execute("SET preserve_insertion_order = false")
    return connection


def _records(corpus: str) -> str:
    return f"read_json('{corpus}/shards/*.jsonl.zst', format = 'newline_delimited', maximum_object_size = 16777216)"


def datatrove_parquet(corpus: str, out: str, _: str) -> None:
    """Every record through datatrove's reader to its Parquet writer, in one task."""
    from datatrove.pipeline.writers import ParquetWriter

    _datatrove(corpus, out, ParquetWriter(out, compression="zstd", adapter=_flat))


def datatrove_jsonl(corpus: str, out: str, _: str) -> None:
    """The same to its JSON lines, gzip as it comes."""
    from datatrove.pipeline.writers import JsonlWriter

    _datatrove(corpus, out, JsonlWriter(out))


def _flat(_: object, document: Any) -> dict[str, Any]:
    """Objects and lists as JSON: its own adapter fails on an object without fields."""
    rest = document.metadata.items()
    plain = {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in rest}
    return {"text": document.text, "id": document.id, **plain}


def _datatrove(corpus: str, out: str, writer: object) -> None:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader

    reader = JsonlReader(f"{corpus}/shards", glob_pattern="*.jsonl.zst", compression="zstd", id_key="doc_id")
    LocalPipelineExecutor([reader, writer], tasks=1, workers=1, logging_dir=f"{out}/logs").run()


PEERS: dict[str, Callable[[str, str, str], None]] = {
    "duckdb-parquet": duckdb_parquet,
    "duckdb-mix": duckdb_mix,
    "datatrove-parquet": datatrove_parquet,
    "datatrove-jsonl": datatrove_jsonl,
}


if __name__ == "__main__":
    PEERS[sys.argv[1]](sys.argv[2], sys.argv[3], " ".join(sys.argv[4:]))
