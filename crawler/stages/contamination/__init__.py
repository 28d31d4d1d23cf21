"""Does a text repeat an evaluation set?"""

from crawler.config import Config, DecontaminationConfig
from crawler.config.stages import Stage, Step


def _build(config: Config) -> Step:
    from crawler.stages.contamination.stage import ContaminationStage

    return ContaminationStage(config)


def _problems(config: Config) -> list[str]:
    if not config.decontamination.eval_sets:
        return []  # to load the stage costs seconds
    from crawler.stages.contamination.stage import check_eval_sets

    return check_eval_sets(config)


STAGE = Stage(
    "contamination",
    _build,
    number=450,
    settings=DecontaminationConfig,
    modules=("crawler.stages.contamination.stage",),
    problems=_problems,
)
