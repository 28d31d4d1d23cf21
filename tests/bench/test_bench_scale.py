"""The measurement of duplicates at scale compares with the index, and makes the documents that it says."""

from __future__ import annotations

import pytest

from bench.scale import documents
from bench.scale.duplicates import differing, rounds, store

pytest.importorskip("duckdb", reason="duckdb is optional")


@pytest.mark.parametrize(("kind", "least"), [("mixed", 200), ("template", 890), ("chain", 300)])
def test_what_is_measured_has_the_verdicts_of_the_index(tmp_path, kind, least):
    store(kind, 1_000, tmp_path)
    found = rounds(tmp_path)
    assert found["duplicates"] >= least and found["undecided"][0] <= 1_000
    assert differing(kind, 1_000, tmp_path)["differ"] == 0


def test_made_documents_are_the_same_for_the_same_seed_and_of_every_kind():
    made = documents.mixed(2_000, 3)
    assert made == documents.mixed(2_000, 3) != documents.mixed(2_000, 4)
    assert len({each.doc_id for each in made}) < len(made) and len({each.owner for each in made}) < len(made)
    assert {each.shingles for each in made} == {10, 30, 500}
