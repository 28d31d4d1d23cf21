"""Bytes to one parsed tree: character set, hostile input, links and metas."""

from crawler.config import Config
from crawler.config.stages import Stage, Step


def _build(config: Config) -> Step:
    from crawler.stages.parse.stage import ParseStage

    return ParseStage(config.extraction)


STAGE = Stage("parse", _build, number=0, modules=("crawler.stages.parse.stage",))
