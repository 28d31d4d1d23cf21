"""A corpus of two batches with domains, languages, tiers, days, duplicates and drawn pages."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from crawler.document import Document, Drop, Reason, Signal
from crawler.storage.files.records import record_of, rejection_of
from tests.support.corpus_folder import Folder

DOMAINS = ("a.test", "b.test", "c.test", "d.test", "<e>.test")
_REASONS = (
    *("extraction/too_short", "exact/exact_duplicate", "near/near_duplicate", "robots/robots_disallowed"),
    *("policy/hold_rate_limited", "fetch/unchanged", "frontier/same_page", "fetch/gone", "quality/low_quality"),
)
SIGNALS = (
    [],
    [("noai", "meta", "noai", "disallow")],
    [("creative-commons", "page", "CC0-1.0")],
    [("creative-commons", "page", "CC-BY-NC-4.0")],
)
COUNTERS = {
    1: {"downloader/request_count": 500, "downloader/response_bytes": 4_000_000, "stage/cpu_ms": 30_000},
    2: {
        "downloader/request_count": 90,
        "downloader/response_bytes": 700_000,
        "stage/cpu_ms": 7_500,
        "browser/ms": 9_000,
    },
}


def page(draw: random.Random, number: int, day: int) -> Document:
    domain = draw.choices(DOMAINS, (8, 4, 2, 1, 1))[0]
    words = round(2 ** draw.uniform(5, 12))
    kinds = draw.sample(["EMAIL_ADDRESS", "PHONE_NUMBER", "PERSON"], draw.choice((0, 0, 0, 1, 2)))
    tier = draw.choice(("A", "B", None))
    url = f"https://{domain}/{number}"
    return Document(
        url=url, canonical_url=url, domain=domain, text=f"text {number}",
        language=draw.choice(("en", "en", "de", None)),
        word_count=words, char_count=6 * words, token_estimate=words + words // 3,
        license_tag="CC0-1.0" if tier else None, license_tier=tier,
        license_reviewer=draw.choice(("Jo", "Jo", None)) if tier else None,
        license_reviewed=draw.choice(("2025-11-05", "2026-12-24", "soon")) if tier else None,
        noai_checked=draw.random() < 0.9,
        optout_signals=[Signal(*signal) for signal in draw.choices(SIGNALS, (8, 1, 1, 1))[0]],
        extraction_yield=draw.choice((None, 0.1234, 0.5, 0.0)),
        method_used=draw.choice(("fast", "fast", "js", "captured")),
        render_signals=draw.choice(({}, {}, {"browser": {"requests": 2}})),
        pii_flag=bool(kinds), pii_entity_types=kinds,
        pii_spans=[(n, n + 3, kind) for n, kind in enumerate(kinds)], quality_score=draw.random(),
        crawled_at=f"2026-01-{day:02d}T{draw.randrange(24):02d}:{draw.randrange(60):02d}:00.000Z",
    )  # fmt: skip


@pytest.fixture(scope="session")
def books_folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """300 records; nobody may change it."""
    folder = Folder(Path(tmp_path_factory.mktemp("books")) / "corpus")
    draw, number = random.Random(7), 0
    for batch, count in ((1, 220), (2, 80)):
        corpus = folder.opened(SHARD_MAX_DOCUMENTS=60)
        for _ in range(count):
            number += 1
            doc = page(draw, number, 10 * batch + draw.randrange(3))
            if draw.random() < 0.6:
                corpus.keep(record_of(doc))
            else:
                stage, _, reason = draw.choice(_REASONS).partition("/")
                corpus.reject(rejection_of(doc, Drop(stage, Reason.of(reason), "detail")))
        corpus.note(COUNTERS[batch])
        corpus.close()
    return folder
