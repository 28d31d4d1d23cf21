"""The counters of a worker under Prometheus' names."""

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from crawler import statkeys
from crawler.observe.metrics.worker import FAMILIES, WorkerCollector

STATS = {
    statkeys.KEPT: 7,
    f"{statkeys.REJECTED}/quality/too_short": 2,
    f"{statkeys.REJECTED}/near/near_duplicate": 1,
    f"{statkeys.DENIED}/tdmrep": 3,
    f"{statkeys.BLOCKED}/http_429": 5,
    f"{statkeys.BLOCKED}/http_429/example.org": 5,
    statkeys.stage_seconds("extraction"): 1.25,
    statkeys.stage_documents("extraction"): 10,
    "downloader/response_status_count/200": 9,
    "downloader/response_status_count/404": 1,
    "finish_reason": "finished",
}


def samples(stats):
    registry = CollectorRegistry()
    registry.register(WorkerCollector(lambda: stats))
    text = generate_latest(registry).decode()
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_counter_has_its_name_and_labels():
    found = samples(STATS)
    assert found["corpus_documents_kept_total",] == 7
    assert found["corpus_documents_rejected_total", "quality", "too_short"] == 2
    assert found["corpus_documents_rejected_total", "near", "near_duplicate"] == 1
    assert found["corpus_optouts_total", "tdmrep"] == 3
    assert found["corpus_stage_cpu_seconds_total", "extraction"] == 1.25
    assert found["corpus_stage_documents_total", "extraction"] == 10
    assert found["corpus_responses_total", "200"] == 9


def test_no_label_comes_from_the_web():
    hostile = {**STATS, **{f"{statkeys.BLOCKED}/http_429/{n}.example.org": 1 for n in range(1000)}}
    assert samples(hostile) == samples(STATS)
    assert not any("example.org" in word for key in samples(STATS) for word in key)


def test_a_worker_that_has_done_nothing_shows_zeros_and_no_series_with_labels():
    found = samples({})
    assert set(found.values()) == {0.0}
    assert {key[0] for key in found} == {f"corpus_{family.name}_total" for family in FAMILIES if not family.labels}
