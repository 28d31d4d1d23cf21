"""Apply: what was asked as "what if" is done. A thread judges the corpus again, and the pages show the new version."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from starlette.responses import RedirectResponse, Response

from crawler.dataset.records.filters import FilterError
from crawler.dedup.index import DedupError
from crawler.explore.catalogue import Catalogue
from crawler.explore.page_request import PageRequest
from crawler.frontier.rejudged import judge_again
from crawler.number import number_of
from crawler.server.errors import FrontierError
from crawler.storage.files.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.config import Config
    from crawler.dataset.rejudge import Rejudged

log = logging.getLogger(__name__)


class Apply:
    """The judging of one corpus. working: it goes on; done, problem: how the last one ended.

    config: what the corpus was judged by here; None where nothing was applied yet.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._lock = threading.Lock()
        self.working, self.problem = False, ""
        self.done: Rejudged | None = None
        self.config: Config | None = None

    def begin(self, config: Config) -> None:
        """Start; nothing where one is at work already."""
        with self._lock:
            if self.working:
                return
            self.working, self.problem, self.done = True, "", None
        threading.Thread(target=self._work, args=[config], name="judging again", daemon=True).start()

    def _work(self, config: Config) -> None:
        self._catalogue.is_changing = True
        try:
            self.done = judge_again(self._catalogue.place, config, now=time.time())
            self.config = config
            if self.done.version is not None:
                self._catalogue.reopen()
        except (StorageError, FrontierError, DedupError, OSError) as error:
            self.problem = str(error)
        except Exception:
            log.exception("the corpus could not be judged again")
            self.problem = "an error of this program; its log has more"
        finally:
            self._catalogue.is_changing = self.working = False


_JOBS: WeakKeyDictionary[Catalogue, Apply] = WeakKeyDictionary()


def apply_of(catalogue: Catalogue) -> Apply:
    """The one of this corpus."""
    return _JOBS.setdefault(catalogue, Apply(catalogue))


def with_thresholds(config: Config, values: Mapping[str, float]) -> Config:
    """These settings with other thresholds."""
    return dataclasses.replace(
        config,
        quality=dataclasses.replace(config.quality, min_score=values["QUALITY_MIN_SCORE"]),
        language=dataclasses.replace(config.language, min_score=values["LANGUAGE_MIN_SCORE"]),
        extraction=dataclasses.replace(config.extraction, min_words=int(values["EXTRACTION_MIN_WORDS"])),
    )


def begin(request: PageRequest, config: Config, others: int, page: str) -> Response:
    """Judge again by these settings, and show the page of this name.

    others: records that were judged with other settings than those of the view. Raises: FilterError where there are
    some, or the corpus is in a store.
    """
    if others:
        raise FilterError(
            f"{number_of(others, 'record was', 'records were')} judged with other settings than those that this view "
            "was started with: start it with the settings of the crawl, or all of them would change"
        )
    place = request.catalogue.place
    if place.remote:
        raise FilterError(f"{place.url} is in a store: use `gristmill dataset rejudge`")
    crawl = dataclasses.replace(config.crawl, corpus_dir=place.url)
    apply_of(request.catalogue).begin(dataclasses.replace(config, crawl=crawl))
    return RedirectResponse(f"/{request.number}/{page}", 303)


def settings_of(catalogue: Catalogue, config: Config) -> Config:
    """The settings by which this corpus is looked at: those that were applied here last, or else the given ones."""
    job = _JOBS.get(catalogue)
    return config if job is None or job.config is None else job.config
