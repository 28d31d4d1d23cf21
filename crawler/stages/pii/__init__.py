"""The personal-data stage: personal data in a text becomes placeholders."""

from crawler.config import Config, PiiConfig
from crawler.config.stages import Stage
from crawler.stages.models.preload import has_many


def _models(config: Config) -> list[str]:
    is_usual = config.pii.person != "off" and config.pii.models == PiiConfig().models
    names = ["crawler.stages.pii.preload_names"] if is_usual and has_many(config) else []
    return ["crawler.stages.pii.preload", *names]


def _problems(config: Config) -> list[str]:
    if config.pii.person == "off":
        return []
    from crawler.stages.pii.stage import check_models

    return check_models(config.pii)


STAGE = Stage(
    "pii",
    "crawler.stages.pii.stage:of_config",
    number=400,
    modules=("crawler.stages.pii.recognise",),
    models=_models,
    problems=_problems,
)
