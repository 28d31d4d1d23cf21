"""Pipeline step `pii`: personal data is redacted (`crawler/stages/pii/stage.py`)."""

from crawler.pipelines.base import StagePipeline


class PiiPipeline(StagePipeline):
    """Adapter of the pii stage."""

    stage = "pii"
