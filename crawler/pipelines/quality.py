"""Pipeline step `quality`: score and rule sets (`crawler/stages/quality/stage.py`)."""

from crawler.pipelines.base import StagePipeline


class QualityPipeline(StagePipeline):
    """Adapter of the quality stage."""

    stage = "quality"
