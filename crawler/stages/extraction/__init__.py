"""Main text and metadata of a parsed page."""

from crawler.config import Config, ExtractionConfig
from crawler.config.stages import Stage, Step


def _build(config: Config) -> Step:
    from crawler.stages.extraction.stage import ExtractionStage

    return ExtractionStage(config.extraction)


def _problems(config: Config) -> list[str]:
    if config.extraction.extractor != "learned":
        return []
    from crawler.stages.extraction.learned.model import check_model

    return check_model()


STAGE = Stage(
    "extraction",
    _build,
    number=100,
    settings=ExtractionConfig,
    modules=("crawler.stages.extraction.stage",),
    models=lambda c: ("crawler.stages.extraction.preload",) if c.extraction.extractor != "resiliparse" else (),
    problems=_problems,
)
