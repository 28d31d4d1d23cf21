"""The flow in `settings.py` and the order of the stages are one."""

from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from crawler import settings as project
from crawler.pipelines.base import DROPS, StageDrop, StagePipeline
from crawler.pipelines.segments import first_segment
from crawler.stages.chain import STAGES


class Foreign:
    def process_item(self, item):
        return item


def settings_with(**changes):
    return Settings({"ITEM_PIPELINES": {**project.ITEM_PIPELINES, **changes}})


def test_item_pipelines_run_the_stages_in_the_order_of_the_chain():
    classes = [load_object(path) for path in build_component_list(project.ITEM_PIPELINES)]
    stages = [cls.stage for cls in classes if issubclass(cls, StagePipeline)]
    assert stages == [name for name in STAGES if name in stages]


def test_one_hop_runs_every_stage_where_no_foreign_pipeline_stands_between():
    assert first_segment(settings_with()) == STAGES


def test_a_foreign_pipeline_between_two_stages_ends_the_first_hop():
    settings = Settings({"ITEM_PIPELINES": {**project.ITEM_PIPELINES, Foreign: 250}})
    assert first_segment(settings) == ("parse", "optout", "extraction", "language")


def test_each_stage_has_its_own_drop_class_so_that_counters_split():
    assert all(issubclass(cls, StageDrop) for cls in DROPS.values())
    stages = ["extraction", "language", "quality", "pii", "exact", "near"]
    assert len({DROPS[name] for name in stages}) == len(stages)
