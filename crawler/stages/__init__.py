"""Pure functions and classes on one document: what does the page say, and is it good?

Declared here are the stages whose own module is too large to be loaded by every command.
"""

from crawler.config import Config, DedupConfig
from crawler.config.stages import Stage, Step


def _optout(config: Config) -> Step:
    from crawler.stages.optout import OptOutStage

    return OptOutStage(config.policy, config.crawl.product_token)


OPTOUT = Stage("optout", _optout, number=0, modules=("crawler.stages.optout",))
FINGERPRINT = Stage(
    "fingerprint",
    "crawler.stages.fingerprint:FingerprintStage",
    number=0,
    settings=DedupConfig,
    modules=("scipy.integrate",),  # what costs of datasketch, which brings Redis's client
)
