"""Main text and metadata of a parsed page."""

from crawler.config import ExtractionConfig
from crawler.config.stages import Stage

STAGE = Stage(
    "extraction",
    "crawler.stages.extraction.stage:ExtractionStage",
    number=100,
    settings=ExtractionConfig,
    models=lambda c: ("crawler.stages.extraction.preload",) if c.extraction.extractor != "resiliparse" else (),
)
