"""Does a model learn more from the version that *Learn* has applied than from the one before? (docs/trial.md)

A trial in a thread of this process; its held-out texts are those that the server was started with.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from crawler.explore.catalogue import Catalogue
from crawler.problems import InputError
from crawler.storage.files.errors import StorageError

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.trial.difference import Difference
    from crawler.trial.trial import Trial

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Row:
    """Bits a byte of the held-out texts. by: equal size or pages."""

    by: str
    before: float
    after: float
    found: Difference


class Worth:
    """The trial of one corpus. working: it goes on, `said` how far; rows, weak, problem: how the last one ended.

    version: the later one of the two.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._lock = threading.Lock()
        self.working, self.said, self.problem, self.version = False, "", "", 0
        self.rows: list[Row] = []
        self.weak: list[str] = []

    def begin(self, version: int, held_out: Sequence[str], config: Config) -> None:
        """Start; nothing where one is at work already."""
        with self._lock:
            if self.working:
                return
            self.working, self.said, self.problem, self.version = True, "reading …", "", version
            self.rows, self.weak = [], []
        threading.Thread(target=self._work, args=[held_out, config], name="trial", daemon=True).start()

    def _work(self, held_out: Sequence[str], config: Config) -> None:
        from crawler.trial.earlier import beside

        try:
            found = beside(self._catalogue.place, str(self.version - 1), held_out, config, self._tell)
            self.rows, self.weak = _rows(found), found.weak
        except InputError as error:
            self.problem = "; ".join(error.problems)
        except (StorageError, OSError) as error:
            self.problem = str(error)
        except Exception:
            log.exception("the versions could not be compared")
            self.problem = "an error of this program; its log has more"
        finally:
            self.working = False

    def _tell(self, sentence: str) -> None:
        self.said = sentence


def _rows(found: Trial) -> list[Row]:
    """Kinds count alike, as in the difference."""

    def mean(by: str, side: str) -> float:
        return fmean(fmean(one.bits) for one in found.figures if (one.by, one.side) == (by, side))

    return [Row(one.by, mean(one.by, one.first), mean(one.by, one.side), one.found) for one in found.overall]


_JOBS: WeakKeyDictionary[Catalogue, Worth] = WeakKeyDictionary()


def worth_of(catalogue: Catalogue) -> Worth:
    """The one of this corpus."""
    return _JOBS.setdefault(catalogue, Worth(catalogue))
