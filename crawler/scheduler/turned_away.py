"""Why the gate sends a request back: its turn is too far away, no try is left, or its page has another name."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest

from crawler.document import Drop, DropReason
from crawler.frontier.model import Lease
from crawler.urls.candidate import Candidate


class PutBack(IgnoreRequest):
    """The host's next turn is too far away to wait for here; the scheduler puts the URL back without costing a try."""

    def __init__(self, not_before: float) -> None:
        super().__init__("its host is blocked for now")
        self.not_before = not_before


class SamePage(IgnoreRequest):
    """The URL waited while a parameter of it was learned to name no page. `candidate`: the page by its name."""

    def __init__(self, lease: Lease) -> None:
        self.candidate = Candidate(
            lease.same_as,
            -lease.depth,
            lease.depth,
            mark=lease.mark,
            parent=lease.parent,
            learned=lease.learned,
            run=lease.run,
            source=lease.source,
        )
        names = " and ".join(lease.learned)
        self.drop = Drop("frontier", DropReason.SAME_PAGE, f"{names} changes no page here: {lease.same_as}"[:512])
        super().__init__(self.drop.detail)


class Exhausted(IgnoreRequest):
    """No try was left when the URL was handed out: it is recorded, not fetched. `drop` says why."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        crashed = bool(reasons) and all(reason == "lease expired" for reason in reasons)
        reason = DropReason.STAGE_CRASHED if crashed else DropReason.DOWNLOAD_FAILED
        self.drop = Drop("frontier", reason, "; ".join(reasons)[-512:])
        super().__init__(self.drop.detail)
