"""Is a text like those that people want to keep? Classifiers that the user trained, or names."""

from crawler.config import ClassifyConfig, Config
from crawler.config.stages import Stage


def _problems(config: Config) -> list[str]:
    if not config.classify.classifiers:
        return []  # who names no classifier needs no numpy here
    from crawler.stages.classify.stage import check_classifiers

    return check_classifiers(config.classify)


STAGE = Stage(
    "classify",
    "crawler.stages.classify.stage:ClassifyStage",
    number=460,
    settings=ClassifyConfig,
    problems=_problems,
)
