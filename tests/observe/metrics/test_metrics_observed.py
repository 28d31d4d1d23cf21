"""What a worker observes page by page, as Prometheus reads it."""

from __future__ import annotations

from types import SimpleNamespace

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from crawler.observe.metrics.observed import MOST_TYPES, Observed
from crawler.scheduler.in_flight import ANSWERED_AT, SENT_AT


def samples(observed: Observed) -> dict[tuple[str, ...], float]:
    registry = CollectorRegistry()
    registry.register(observed)
    text = generate_latest(registry).decode()
    families = text_string_to_metric_families(text)
    return {(s.name, *s.labels.values()): s.value for f in families for s in f.samples}


def test_times_to_answer_are_sorted_into_buckets_and_requests_that_were_not_sent_are_none():
    observed = Observed(lambda: 0)
    for sent, answered in ((10.0, 10.2), (10.0, 13.0), (None, None)):
        observed.answered(SimpleNamespace(meta={SENT_AT: sent, ANSWERED_AT: answered}))
    found = samples(observed)
    assert found["corpus_response_seconds_count",] == 2
    assert found["corpus_response_seconds_bucket", "0.25"] == 1
    assert found["corpus_response_seconds_bucket", "5.0"] == 2


def test_scores_and_personal_data_of_kept_and_rejected_documents_are_counted(document):
    observed = Observed(lambda: 3)
    observed.judged(document(1, quality_score=0.72, pii_spans=[(0, 3, "EMAIL"), (5, 9, "EMAIL"), (9, 12, "PHONE")]))
    observed.judged(document(2, quality_score=None))
    observed.judged({"no": "document"})
    found = samples(observed)
    assert found["corpus_quality_score_count",] == 1
    assert (found["corpus_quality_score_bucket", "0.7"], found["corpus_quality_score_bucket", "0.8"]) == (0, 1)
    assert (found["corpus_pii_spans_total", "EMAIL"], found["corpus_pii_spans_total", "PHONE"]) == (2, 1)
    assert found["corpus_pool_restarts_total",] == 3
    assert found["corpus_worker_memory_bytes",] > 10_000_000


def test_the_number_of_types_is_bounded(document):
    observed = Observed(lambda: 0)
    observed.judged(document(1, pii_spans=[(0, 1, f"T{n}") for n in range(10 * MOST_TYPES)]))
    types = [key for key in samples(observed) if key[0] == "corpus_pii_spans_total"]
    assert len(types) == MOST_TYPES + 1
    assert samples(observed)["corpus_pii_spans_total", "other"] == 9 * MOST_TYPES
