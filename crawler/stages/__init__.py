"""Pure functions and classes on one document: what does the page say, and is it good?

Declared here are the stages whose own module is too large to be loaded by every command.
"""

from crawler.config import Config, DedupConfig
from crawler.config.stages import Stage, Step


def _optout(config: Config) -> Step:
    from crawler.stages.optout import OptOutStage

    return OptOutStage(config.policy, config.crawl.product_token)


def _signal_problems(_config: Config) -> list[str]:
    from crawler.policy.signals.registry import problems

    return problems()


OPTOUT = Stage("optout", _optout, number=0, modules=("crawler.stages.optout",), problems=_signal_problems)
FINGERPRINT = Stage(
    "fingerprint",
    "crawler.stages.fingerprint:FingerprintStage",
    number=0,
    settings=DedupConfig,
)
