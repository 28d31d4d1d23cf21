"""The audit draws a stratified sample by a seed, and its rates are those of the documents in it."""

from __future__ import annotations

import hashlib
import math
from collections import Counter

import pytest

from crawler.config import from_mapping
from crawler.observe import write as report
from crawler.observe.report import audit
from crawler.storage.files.place import Place


def stratum(record):
    return f"{record['language'] or 'unknown'}/{record['license_tier'] or 'none'}"


def chosen(records, sizes, seed):
    """The documents of the sample, by the rule of docs/report.md."""
    found = []
    for name, size in sizes.items():
        own = [record for record in records if stratum(record) == name]
        own.sort(key=lambda record: hashlib.blake2b(f"{seed} {record['url']}".encode(), digest_size=8).digest())
        found += own[:size]
    return found


def place(folder):
    return Place(str(folder.path))


@pytest.mark.parametrize(("size", "seed"), [(50, 0), (50, 1), (9, 3), (1000, 0)])
def test_rates_intervals_and_spans_are_those_of_the_sample(books_folder, size, seed):
    records = books_folder.records("shards")
    found = audit.read(place(books_folder), size, seed)
    sample, met = chosen(records, found.strata, seed), Counter(map(stratum, records))
    assert found.documents == len(sample) == min(size, len(records)) and found.of == len(records)
    assert found.strata.keys() == met.keys()
    words = sum(record["word_count"] for record in sample)
    kinds = {kind for record in sample for kind in record["pii_spans"]["type"]}
    assert found.rates.keys() == kinds and kinds
    for kind, rate in found.rates.items():
        share = 0.0
        for name, count in met.items():
            own = [record for record in sample if stratum(record) == name]
            share += count / len(records) * sum(kind in record["pii_entity_types"] for record in own) / len(own)
        assert rate.rate == pytest.approx(share)
        spans = sum(record["pii_spans"]["type"].count(kind) for record in sample)
        assert rate.per_1000_words == pytest.approx(1000 * spans / words)
        n, z = len(sample), 1.96  # the bounds are where the distance to the share is z standard errors (Wilson 1927)
        for bound in (rate.low, rate.high):
            if 0 < bound < 1:
                assert abs(share - bound) == pytest.approx(z * math.sqrt(bound * (1 - bound) / n))


def test_a_sample_of_everything_has_the_rates_of_the_corpus(books_folder):
    records = books_folder.records("shards")
    found = audit.read(place(books_folder), 10_000)
    for kind, rate in found.rates.items():
        assert rate.rate == pytest.approx(sum(kind in r["pii_entity_types"] for r in records) / len(records))


@pytest.mark.parametrize("size", [1, 3, 7, 10, 99, 100])
def test_each_stratum_has_a_document_while_there_is_room_and_the_rest_goes_by_size(size):
    met = {"en/A": 70, "de/A": 25, "en/B": 4, "fr/none": 1}
    sizes = audit.allotted(met, size)
    assert sum(sizes.values()) == size
    assert list(sizes) == list(met)[: min(size, 4)]
    assert all(1 <= sizes[name] <= met[name] for name in sizes)
    if size == 99:
        assert all(abs(sizes[name] - 0.99 * met[name]) <= 4 for name in met)


def test_another_seed_draws_other_documents_and_the_same_seed_the_same(books_folder):
    first, again, other = (audit.read(place(books_folder), 40, seed) for seed in (0, 0, 1))
    assert first == again and first.rates != other.rates


def test_a_bounded_audit_reads_no_more_records_than_it_may(books_folder, monkeypatch):
    read = []
    true = audit.read_records
    monkeypatch.setattr(
        audit, "read_records", lambda *where: (read.append(record) or record for record in true(*where))
    )
    found = audit.read(place(books_folder), 40, most_records=12)
    assert found.of == len(read) == 12


def test_settings_choose_size_and_seed_and_0_is_no_audit(books_folder):
    def numbers(**settings):
        config = from_mapping({name: str(value) for name, value in settings.items()}).report
        return report.read(str(books_folder.path), config=config).audit.as_dict()

    assert numbers(AUDIT_SAMPLE=30)["documents"] == 30
    assert numbers(AUDIT_SAMPLE=30)["rates"] != numbers(AUDIT_SAMPLE=30, AUDIT_SEED=9)["rates"]
    assert numbers(AUDIT_SAMPLE=0) == {"documents": 0, "of": 0, "seed": 0, "strata": {}, "rates": {}}
