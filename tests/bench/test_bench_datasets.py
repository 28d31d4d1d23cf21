"""The bench of data sets makes what it says, and its contestants do the same work."""

from __future__ import annotations

import shutil

import pytest

from bench.speed.datasets import LANGUAGES, QUERIES, SHARES, contestants, make, megabytes, run
from crawler.dataset.supersede import read_latest
from crawler.storage.files.place import Place

duckdb = pytest.importorskip("duckdb", reason="duckdb is optional")
pytest.importorskip("pyarrow", reason="pyarrow is optional")
RECORDS = 1_200


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make(tmp_path_factory.mktemp("bench"), RECORDS)


def test_the_corpus_has_so_many_records_in_five_languages_and_is_made_once(corpus):
    records = list(read_latest(Place(str(corpus))))
    assert len(records) == RECORDS and {r["language"] for r in records} == set(LANGUAGES)
    before = (corpus / "manifest.json").stat().st_mtime_ns
    assert make(corpus.parent, RECORDS) == corpus and (corpus / "manifest.json").stat().st_mtime_ns == before
    assert megabytes(corpus) > 1


@pytest.mark.parametrize("only", ["mixture to Parquet, ours", "mixture to Parquet, DuckDB"])
def test_the_mixture_of_either_has_the_tokens_that_were_wanted(corpus, tmp_path, only):
    shown = []
    found = run(corpus, tmp_path, [only], lambda name, cost: shown.append((name, cost)))
    assert list(found.items()) == shown and [name for name, _ in shown] == [only]
    assert shown[0][1].seconds > 0 and shown[0][1].cpu_seconds > 0
    total = sum(r["token_estimate"] for r in read_latest(Place(str(corpus)))) // 3
    counted = duckdb.sql(
        f"SELECT language, sum(token_estimate) FROM read_parquet('{tmp_path}/**/*.parquet') GROUP BY language"
    ).fetchall()
    for language, tokens in counted:
        assert tokens == pytest.approx(SHARES[language] * total, rel=0.01)
    assert {language for language, _ in counted} == set(SHARES)


def test_every_contestant_has_a_peer_or_is_a_query(corpus, tmp_path):
    names = contestants(corpus, tmp_path)
    works = {name.partition(",")[0] for name in names if name not in QUERIES}
    assert all(sum(name.startswith(work) for name in names) >= 2 for work in works) and len(works) == 3


def test_a_contestant_that_fails_ends_it_with_what_it_said(corpus, tmp_path):
    with pytest.raises(RuntimeError, match=r"query, counts by domain: .*manifest"):
        run(_broken(corpus, tmp_path), tmp_path, ["counts by domain"])


def _broken(corpus, folder):
    """A corpus whose manifest names a shard that is not there."""
    other = shutil.copytree(corpus, folder / "broken")
    for path in (other / "shards").iterdir():
        path.unlink()
    return other
