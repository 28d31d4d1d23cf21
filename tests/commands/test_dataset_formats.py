"""Every operation of `gristmill dataset` answers the same of a corpus in Parquet as of it in JSON lines."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.dataset.verify import verify
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_records
from tests.support.three_domains import Folder, fill

pytest.importorskip("pyarrow", reason="pyarrow is optional")
FORMATS = ("jsonl.zst", "parquet")
CHANGES = {
    "exclude": ["--domain", "alder.example", "--reason", "x", "--yes", "corpus"],
    "expire": ["--older-than", "1", "corpus"],
    "substrings": ["--min-tokens", "4", "--remove", "corpus"],
    "best": ["--exchange", "corpus"],
    "supersede": ["corpus"],
    "repair": ["corpus"],
    "verify": ["--fix", "corpus"],
}
READS = {
    "query": ["corpus", "select domain, count(*), sum(char_count) from documents group by 1 order by 1"],
    "best": ["--json", "corpus"],
    "substrings": ["--min-tokens", "4", "--json", "corpus"],
    "semantic": ["--json", "corpus"],
    "dedup": ["--json", "corpus", "other"],
    "page": ["corpus", "https://alder.example/0"],
    "diff": ["--json", "other", "corpus"],
}
MAKES = {
    "select": ["--language", "de", "--out", "made", "corpus"],
    "select by SQL": ["--sql", "domain = 'alder.example'", "--out", "made", "corpus"],
    "export": ["--to", "jsonl.zst", "--out", "made", "corpus"],
    "export to Dolma": ["--to", "dolma", "--out", "made", "corpus"],
    "mix": ["--out", "made", "spec.yaml"],
    "dedup": ["--out", "made", "corpus", "other"],
}
Run = Callable[..., Any]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    for name in FORMATS:
        fill(folder / name, SHARD_FORMAT=name)
    return folder


@pytest.fixture
def each(both: Path, tmp_path: Path, scrapy: Run) -> Callable[..., list[Any]]:
    """Runs a command on `corpus` of each format, in the same place, and says what became of the folder."""
    spec = {"tokens": 50, "tolerance": 0.5, "sources": {"ours": {"corpus": "corpus"}}}

    def run(name: str, words: list[str], look: Callable[[Path, Any], Any]) -> list[Any]:
        found = []
        for shard_format in FORMATS:
            for made in ("corpus", "made", "other"):
                shutil.rmtree(tmp_path / made, ignore_errors=True)
            shutil.copytree(both / shard_format, tmp_path / "corpus")
            shutil.copytree(both / FORMATS[0], tmp_path / "other")
            (tmp_path / "spec.yaml").write_bytes(orjson.dumps(spec))  # JSON is YAML
            found.append(look(tmp_path, scrapy("dataset", name.partition(" ")[0], *words)))
        return found

    return run


def documents(corpus: Path) -> dict[str, Any]:
    """Kept and rejected records in their order, without what only the moment decides."""
    folder = Folder(corpus)
    return {kind: [_lasting(r) for r in folder.records(kind)] for kind in ("shards", "rejected")}


def _lasting(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if not name.endswith("_at") or name == "crawled_at"}


def formats(corpus: Path) -> set[str]:
    return {e["path"].partition(".")[2] for e in Folder(corpus).manifest()["files"] if e["kind"] != "archive"}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_a_corpus_leaves_the_same_records_in_its_own_format(each: Run, name: str) -> None:
    def look(folder: Path, done: Any) -> Any:
        assert done.code == 0, done.err
        assert not verify(Place(str(folder / "corpus"))).damage
        return documents(folder / "corpus"), formats(folder / "corpus")

    (lines, as_lines), (columns, as_columns) = each(name, CHANGES[name], look)
    assert columns == lines
    assert (as_lines, as_columns) == ({"jsonl.zst"}, {"parquet"})


@pytest.mark.parametrize("name", READS)
def test_what_reads_a_corpus_answers_the_same(each: Run, name: str) -> None:
    def look(_: Path, done: Any) -> Any:
        assert done.code in (0, 1), done.err
        assert "Traceback" not in done.err
        return done.code, _without_files(done.out)

    lines, columns = each(name, READS[name], look)
    assert columns == lines
    assert columns[1]


def _without_files(text: str) -> str:
    """Names and hashes of files differ, as they must."""
    return "\n".join(line for line in text.splitlines() if "shards/" not in line and "sha256" not in line)


@pytest.mark.parametrize("name", MAKES)
def test_what_is_made_of_a_corpus_has_the_same_documents(each: Run, name: str) -> None:
    def look(folder: Path, done: Any) -> Any:
        assert done.code == 0, done.err
        return sorted(texts(folder / "made"))

    lines, columns = each(name, MAKES[name], look)
    assert columns == lines != []


def texts(folder: Path) -> Iterable[tuple[str, str]]:
    place = Place(str(folder))
    for path in sorted(p for p in folder.rglob("*.*") if "registry" not in p.parts):
        name = path.relative_to(folder).as_posix()
        if name.startswith(("shards/", "data/", "documents/")) and not name.endswith(".lock"):
            for record in read_records(place, name):
                yield str(record.get("url") or record.get("id")), str(record["text"])
