"""Bytes to one parsed tree: character set, hostile input, links and metas."""

from crawler.config import ExtractionConfig
from crawler.config.stages import Stage

STAGE = Stage("parse", "crawler.stages.parse.stage:ParseStage", number=0, settings=ExtractionConfig)
