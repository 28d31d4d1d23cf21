"""What the runs of a corpus have spent, by its accounts; of a run that was killed without its last minute or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.budget import Spending
from crawler.storage.files.accounts import OTHER
from crawler.storage.files.place import MANIFEST, Place

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.observe.report.accounts import Account


def spent_before(config: Config) -> tuple[Spending, dict[str, Spending]]:
    """What the runs in the corpus have spent, and of it each politeness scope's part by the pages it was asked for: a
    frontier that was lost, or never counted, does not begin at nothing.

    Hours are not among it: runs side by side count once, and a manifest has only their days. Scopes only where a scope
    is a registrable domain, as the accounts have them. Raises: StorageError.
    """
    from crawler.observe.report import accounts  # late: few crawls have a budget
    from crawler.observe.report.costs import Prices

    place = Place(config.crawl.corpus_dir, config.storage.spool_dir)
    if place.load_json(MANIFEST) is None:
        return Spending(), {}
    books = accounts.read(place, Prices.of(config.report))
    domains = books.groups["domain"] if config.frontier.scope_by == "domain" else []
    return _of(books.whole), {account.name: _of(account) for account in domains if account.name != OTHER}


def _of(account: Account) -> Spending:
    found = account.figures()
    fetched, kept, received = (int(found[name] or 0) for name in ("requests", "kept", "received_bytes"))
    return Spending(fetched, kept, received, float(found["cost"] or 0.0))
