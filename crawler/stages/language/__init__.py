"""Which language is a text in?"""

from crawler.config import Config, LanguageConfig
from crawler.config.stages import Stage, Step


def _build(config: Config) -> Step:
    from crawler.stages.language.stage import LanguageStage

    return LanguageStage(config.language)


def _problems(config: Config) -> list[str]:
    if config.language == LanguageConfig():
        return []  # to load the stage costs seconds
    from crawler.stages.language.stage import check_identifier

    return check_identifier(config.language)


STAGE = Stage(
    "language",
    _build,
    number=200,
    settings=LanguageConfig,
    modules=("crawler.stages.language.stage",),
    models=lambda c: ("crawler.stages.language.preload",) if c.language.identifier == "builtin" else (),
    problems=_problems,
)
