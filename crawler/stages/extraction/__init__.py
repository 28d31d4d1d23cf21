"""Main text and metadata of a parsed page."""

from crawler.config import Config, ExtractionConfig
from crawler.config.stages import Stage


def _problems(config: Config) -> list[str]:
    if config.extraction.extractor != "learned":
        return []
    from crawler.stages.extraction.learned.model import check_model

    return check_model()


STAGE = Stage(
    "extraction",
    "crawler.stages.extraction.stage:ExtractionStage",
    number=100,
    settings=ExtractionConfig,
    models=lambda c: ("crawler.stages.extraction.preload",) if c.extraction.extractor != "resiliparse" else (),
    problems=_problems,
)
