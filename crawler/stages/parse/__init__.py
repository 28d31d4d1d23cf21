"""Bytes to one parsed tree: character set, hostile input, links and metas."""

from crawler.config.stages import Stage

STAGE = Stage("parse", "crawler.stages.parse.stage:of_config", number=0)
