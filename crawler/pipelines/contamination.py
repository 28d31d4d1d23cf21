"""Pipeline step `contamination`: texts that repeat an evaluation set (`crawler/stages/contamination/stage.py`)."""

from crawler.pipelines.base import StagePipeline


class ContaminationPipeline(StagePipeline):
    """Adapter of the contamination stage."""

    stage = "contamination"
