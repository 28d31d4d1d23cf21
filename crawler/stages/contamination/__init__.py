"""Does a text repeat an evaluation set?"""

from crawler.config import Config
from crawler.config.stages import Stage


def _problems(config: Config) -> list[str]:
    if not config.decontamination.eval_sets:
        return []  # to load the stage costs seconds
    from crawler.stages.contamination.stage import check_eval_sets

    return check_eval_sets(config)


STAGE = Stage(
    "contamination",
    "crawler.stages.contamination.stage:ContaminationStage",
    number=450,
    problems=_problems,
)
