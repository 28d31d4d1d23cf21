"""Pipeline step `language`: which language, and is it wanted (`crawler/stages/language/stage.py`)."""

from crawler.pipelines.base import StagePipeline


class LanguagePipeline(StagePipeline):
    """Adapter of the language stage."""

    stage = "language"
