"""Pipeline step `near`: a text that is nearly one of the corpus is dropped (`crawler/pipelines/dedup_index.py`)."""

from __future__ import annotations

from typing import ClassVar

from crawler.pipelines.dedup_exact import ExactDedupPipeline


class NearDedupPipeline(ExactDedupPipeline):
    """Drops what the step `exact` found to be a near duplicate; asks itself where that step is switched off."""

    drops: ClassVar[frozenset[str]] = frozenset({"exact", "near"})
