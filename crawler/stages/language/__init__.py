"""Which language is a text in?"""

from crawler.config import Config, LanguageConfig
from crawler.config.stages import Stage


def _problems(config: Config) -> list[str]:
    if config.language == LanguageConfig():
        return []  # to load the stage costs seconds
    from crawler.stages.language.check import check_identifier

    return check_identifier(config.language)


STAGE = Stage(
    "language",
    "crawler.stages.language.stage:LanguageStage",
    number=200,
    settings=LanguageConfig,
    models=lambda c: ("crawler.stages.language.preload",) if c.language.identifier == "builtin" else (),
    problems=_problems,
)
