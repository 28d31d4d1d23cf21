"""Pipeline step `extraction`: main text and metadata (`crawler/stages/extraction.py`)."""

from crawler.pipelines.base import StagePipeline


class ExtractionPipeline(StagePipeline):
    """Adapter of the extraction stage."""

    stage = "extraction"
