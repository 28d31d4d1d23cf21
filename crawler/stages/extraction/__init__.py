"""Main text and metadata of a parsed page."""

from crawler.config import Config, ExtractionConfig
from crawler.config.stages import Stage
from crawler.stages.models.preload import has_many


def _problems(config: Config) -> list[str]:
    if config.extraction.extractor != "learned":
        return []
    from crawler.stages.extraction.learned.model import check_model

    return check_model()


def _models(config: Config) -> list[str]:
    if config.extraction.extractor == "resiliparse":
        return []
    rare = ["crawler.stages.extraction.last_resort"] if has_many(config) else []
    return ["crawler.stages.extraction.preload", *rare]


STAGE = Stage(
    "extraction",
    "crawler.stages.extraction.stage:ExtractionStage",
    number=100,
    settings=ExtractionConfig,
    models=_models,
    problems=_problems,
)
