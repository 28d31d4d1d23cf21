"""A crawl's scope and all its first candidates at once, of seeds that fit into memory."""

from crawler.seeds.plan import plan_seeds
from crawler.seeds.scope import Scope
from crawler.urls.link import Link


def read_seed_arguments(**arguments: str) -> tuple[Scope, list[Link]]:
    plan = plan_seeds(**arguments)  # type: ignore[arg-type]
    return plan.scope, [candidate for batch in plan.batches() for candidate in batch]
