"""Is a text worth keeping? Signals, score, rule sets."""

from crawler.config import Config, QualityConfig
from crawler.config.stages import Stage


def _models(config: Config) -> list[str]:
    from crawler.stages.quality.tokenizers import modules

    return modules(config.language.languages)


def _problems(config: Config) -> list[str]:
    if config.quality == QualityConfig():
        return []  # to load the stage costs seconds
    from crawler.stages.quality.stage import check_profiles

    return check_profiles(config.quality)


STAGE = Stage(
    "quality",
    "crawler.stages.quality.stage:QualityStage",
    number=300,
    settings=QualityConfig,
    models=_models,
    problems=_problems,
)
