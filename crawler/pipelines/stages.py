"""One item pipeline for each stage, by its name: `crawler.pipelines.stages.quality` in `ITEM_PIPELINES`."""

from __future__ import annotations

from functools import cache

from crawler.config.stages import pipeline_numbers
from crawler.pipelines.base import StagePipeline


@cache
def __getattr__(stage: str) -> type[StagePipeline]:
    if stage not in pipeline_numbers():
        raise AttributeError(f"there is no stage {stage} that has a pipeline")
    return type(stage, (StagePipeline,), {"stage": stage, "__module__": __name__})
