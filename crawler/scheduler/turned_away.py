"""Why the gate sends a request back: its turn is too far away, or no try is left."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest

from crawler.document import Drop, DropReason
from crawler.frontier.model import DIED
from crawler.number import number_of


class PutBack(IgnoreRequest):
    """The host's next turn is too far away to wait for here; the scheduler puts the URL back without costing a try."""

    def __init__(self, not_before: float) -> None:
        super().__init__("its host is blocked for now")
        self.not_before = not_before


class Exhausted(IgnoreRequest):
    """No try was left when the URL was handed out: it is recorded, not fetched. `drop` says why."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        if reasons and reasons[-1] == DIED:
            deaths = number_of(reasons.count(DIED), "worker")
            self.drop = Drop("frontier", DropReason.STAGE_CRASHED, f"{deaths} died with this page alone in hand")
        else:
            self.drop = Drop("frontier", DropReason.DOWNLOAD_FAILED, "; ".join(reasons)[-512:])
        super().__init__(self.drop.detail)
