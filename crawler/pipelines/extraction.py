"""Pipeline step `extraction`: main text and metadata (`crawler/stages/extraction/stage.py`)."""

from crawler.pipelines.base import StagePipeline


class ExtractionPipeline(StagePipeline):
    """Adapter of the extraction stage."""

    stage = "extraction"
