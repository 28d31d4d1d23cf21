"""What the runs of a corpus have spent, by its accounts; of a run that was killed without its last minute or two.

Pages are counted by their records, which a death does not take, and by the counters, which a withdrawal does not.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from crawler.frontier.budget import Spending
from crawler.observe.report import accounts
from crawler.observe.report.costs import Prices
from crawler.plan.brought import asked_by
from crawler.statkeys import KEPT
from crawler.storage.corpus.manifest import merged_now
from crawler.storage.files.accounts import OTHER, Accounts
from crawler.storage.files.journal import zstd_frames
from crawler.storage.files.place import Place
from crawler.stream.reader import open_journals

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.observe.report.accounts import Account
    from crawler.storage.types import Run


def spent_before(config: Config) -> tuple[Spending, dict[str, Spending]]:
    """What the runs in the corpus have spent, and of it each politeness scope's part by the pages it was asked for: a
    frontier that was lost, or never counted, does not begin at nothing.

    Hours are not among it: runs side by side count once, and a manifest has only their days. Scopes only where a scope
    is a registrable domain, as the accounts have them. Raises: StorageError.
    """
    place, prices = Place(config.crawl.corpus_dir, config.storage.spool_dir), Prices.of(config.report)
    unsealed = Accounts(most=None)
    with ExitStack() as stack:
        journals = open_journals(place, stack)  # before the manifest: what is sealed meanwhile is listed
        if (manifest := merged_now(place)) is None:
            return Spending(), {}
        listed = {entry["path"] for entry in manifest["files"]}
        for path, file in journals.items():
            for _, lines in zstd_frames(file.read()) if path not in listed else ():
                for line in lines.splitlines():
                    unsealed.add(orjson.loads(line))
    books = accounts.read(place, prices, manifest=manifest, unsealed=unsealed)
    domains = books.groups["domain"] if config.frontier.scope_by == "domain" else []
    whole, counters = _of(books.whole), [run["counters"] for run in manifest["runs"] if _crawled(run)]
    whole = replace(
        whole,
        fetched=max(whole.fetched, asked_by(counters)),
        kept=max(whole.kept, sum(one.get(KEPT, 0) for one in counters)),
    )
    return whole, {account.name: _of(account) for account in domains if account.name != OTHER}


def _crawled(run: Run) -> bool:
    return run.get("kind", "crawl") == "crawl"


def _of(account: Account) -> Spending:
    found = account.figures()
    fetched, kept, received = (int(found[name] or 0) for name in ("requests", "kept", "received_bytes"))
    return Spending(fetched, kept, received, float(found["cost"] or 0.0))
