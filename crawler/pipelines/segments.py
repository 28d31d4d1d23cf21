"""Which stages one hop to the pool may run together, read from `ITEM_PIPELINES`.

Adjacent stage pipelines share a hop. A pipeline of the user's own between two stages ends it, so that the pipeline sees
the document as the stages before left it, and the stages after see what the pipeline made of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from crawler.pipelines.base import StagePipeline
from crawler.stages.chain import READING, STAGES

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def first_segment(settings: BaseSettings) -> tuple[str, ...]:
    """The stages of the first hop: reading the page, then every stage up to the first foreign pipeline."""
    names = list(READING)
    classes = [load_object(path) for path in build_component_list(settings.getwithbase("ITEM_PIPELINES"))]
    steps = [cls for cls in classes if not getattr(cls, "before_stages", False)]
    for cls in steps:
        if not issubclass(cls, StagePipeline):
            break
        names.append(cls.stage)
    if names[-1] == STAGES[-2]:
        names.append(STAGES[-1])
    return tuple(names)
