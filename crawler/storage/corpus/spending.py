"""`llm-spent.json` in a corpus: what each job with a language model may have cost, in a second place than its ledger.

Where the ledger was lost, or an older copy stands there, no budget begins anew. While a job is at work the sum is some
calls ahead of it, never behind; at its end it is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

import orjson

from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk, indented, replace_file

AHEAD = 15
"""Calls whose cost is written down before they are begun, so that not each of them writes."""
Who = tuple[str, str]


@dataclass(slots=True)
class Spending:
    """path: of the file. calls: number that the ledger's next call had. sums: by name of the job and currency.

    lost: jobs of which the ledger lacks calls, and that have not been told so.
    """

    path: Path
    calls: int = 0
    sums: dict[Who, Decimal] = field(default_factory=dict)
    lost: set[Who] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> Spending:
        """Raises: StorageError where it is damaged."""
        found = cls(path)
        with disk(path):
            data = path.read_bytes() if path.exists() else b'{"calls": 0, "jobs": []}'
        try:
            content = orjson.loads(data)
            found.calls = int(content["calls"])
            for each in content["jobs"]:
                who, money = (str(each["job"]), str(each["currency"])), Decimal(each["spent"])
                found.sums[who] = money
                if each["lost"]:
                    found.lost.add(who)
        except (ValueError, KeyError, TypeError, InvalidOperation) as error:
            raise _damaged(path) from error
        if not all(money.is_finite() and money >= 0 for money in found.sums.values()):
            raise _damaged(path)
        return found

    def compare(self, calls: int) -> None:
        """Hold it against a ledger, whose next call has this number: where that one had more calls, some are lost."""
        if calls < self.calls:
            self.lost.update(self.sums)

    def note(self, calls: int, sums: dict[Who, Decimal]) -> None:
        """Write down what was spent; what is not carried yet stays. Durable when this returns. Raises: StorageError."""
        fresh = self.sums | {who: money for who, money in sums.items() if who not in self.lost}
        self.calls, self.sums = calls, {who: money for who, money in fresh.items() if money}
        jobs = [
            {"job": name, "currency": currency, "spent": str(money), "lost": (name, currency) in self.lost}
            for (name, currency), money in sorted(self.sums.items())
        ]
        replace_file(self.path, indented({"calls": calls, "jobs": jobs}))


def _damaged(path: Path) -> StorageError:
    return StorageError(
        f"{path}: damaged; where llm/ledger.jsonl is as it was, remove {path.name}: it is written anew; where that "
        "was lost, too, nobody knows what was spent"
    )
