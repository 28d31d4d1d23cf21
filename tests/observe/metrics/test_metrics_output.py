"""What a worker has written, as Prometheus reads it."""

from __future__ import annotations

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from crawler.observe.metrics.output import COUNTERS, OutputCollector
from crawler.storage.files.place import FOLDERS
from crawler.storage.files.throughput import Throughput, Totals


def samples(totals: dict[str, Totals]) -> dict[tuple[str, ...], float]:
    registry = CollectorRegistry()
    registry.register(OutputCollector(lambda: totals))
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {(s.name, *s.labels.values()): s.value for f in families for s in f.samples}


def test_every_column_is_a_counter_with_the_folder_as_label():
    assert samples({"shards": Totals(1, 20, 300, 0.5, 2.5)}) == {
        ("corpus_output_files_total", "shards"): 1,
        ("corpus_output_bytes_total", "shards"): 20,
        ("corpus_output_records_total", "shards"): 300,
        ("corpus_output_seal_seconds_total", "shards"): 0.5,
        ("corpus_output_delivery_seconds_total", "shards"): 2.5,
    }


def test_every_series_is_there_with_zero_before_the_first_file_so_that_a_rate_sees_it():
    found = samples(Throughput().totals)
    assert set(found.values()) == {0.0}
    assert set(found) == {(f"corpus_output_{name}_total", folder) for name in COUNTERS for folder in FOLDERS}


def test_a_worker_without_a_sink_has_no_series():
    assert samples({}) == {}
