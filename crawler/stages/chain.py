"""All pure stages in the order of the flow: the same chain for live crawl, replay and batch jobs.

The chain parses a page once, hands the tree on, measures the CPU time of each stage and stops at the first verdict. It
needs no Scrapy and no Redis. `crawler/config/stages.py` says which stages there are.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable
from itertools import takewhile

from crawler import native
from crawler.config import Config
from crawler.config.stages import Step, stages
from crawler.document import Document, Drop, DropReason
from crawler.problems import InputError, check_names
from crawler.stages.tiers import judged_twice
from crawler.trouble import LackError, of_this_machine

logger = logging.getLogger(__name__)

STAGES: tuple[str, ...] = tuple(stages())
"""Names of the pure stages, in flow order, with those of other packages."""
READING: tuple[str, ...] = tuple(name for name in takewhile(lambda name: stages()[name].number == 0, STAGES))
"""The stages that are enough to find a page's links and to know whether its text may be kept."""


def stage_names(names: Iterable[str]) -> frozenset[str]:
    """Names of stages, not one name as a text. Raises: InputError where there is no such stage."""
    wanted = frozenset([names] if isinstance(names, str) else names)
    if isinstance(names, str) or not wanted.issubset(STAGES):
        check_names("stage", wanted, STAGES)
        raise InputError([f"stages: expected a list of names, [{names!r}]"])
    return wanted


class Chain:
    """Every stage of `names`, built from the configuration once and applied to many documents.

    Models are loaded here, so build one chain per process. `clock` measures CPU seconds of this thread.
    Raises: LookupError where a stage of another package is missing here that the configuration was made with;
    InputError where a name is not that of a stage; NativeError where NATIVE=required and there is no library.
    """

    def __init__(
        self, config: Config, names: Iterable[str] = STAGES, clock: Callable[[], float] = time.thread_time
    ) -> None:
        native.use(config.crawl.native)
        wanted, known = stage_names(names), stages()
        if missing := [name for name in config.stages if name not in known]:
            raise LookupError(f"no package here has the stage {' or '.join(missing)}: install it in every environment")
        self._stages = [(name, stage.step(config)) for name, stage in known.items() if name in wanted]
        self._clock = clock

    def run(self, doc: Document, names: Iterable[str] = STAGES) -> Document:
        """Apply the named stages that the document has not seen; a `Drop` ends up in `doc.verdict`.

        An exception inside a stage is our mistake, not the page's: it becomes the verdict `stage_error`, so that one
        page never costs another. A page that a browser has drawn goes through as it was sent and as it was drawn.
        Raises: LackError where this machine lacks what a stage needs: no page is judged by that.
        """
        if doc.rendering is not None and doc.verdict is None:
            return judged_twice(doc, lambda one: self._run(one, names))
        return self._run(doc, names)

    def _run(self, doc: Document, names: Iterable[str]) -> Document:
        wanted = stage_names(names)
        if doc.html and not doc.content_hash:
            doc.content_hash = "sha256:" + hashlib.sha256(doc.html).hexdigest()
        now = self._clock()
        for name, stage in self._stages:
            if doc.verdict is not None:
                break
            if name in wanted and name not in doc.done:
                now = self._apply(name, stage, doc, now)
        if doc.verdict is not None and doc.text:
            self._redact_rejected(doc, now)
        return _without_baggage(doc)

    def _redact_rejected(self, doc: Document, now: float) -> None:
        """A record of a rejected page may carry its text: personal data leaves it as it leaves a kept one's.

        The verdict that stands is the first. Where the stage is not part of this chain, or fails, the text goes.
        """
        verdict, stage = doc.verdict, dict(self._stages).get("pii")
        if "pii" not in doc.done and stage is not None and doc.text_allowed:
            self._apply("pii", stage, doc, now)
            if doc.verdict is not None and doc.verdict.reason is DropReason.STAGE_ERROR:
                doc.done.remove("pii")
            doc.verdict = verdict
        if "pii" not in doc.done:
            doc.forget_text()
            doc.title = doc.description = doc.author = None

    def _apply(self, name: str, stage: Step, doc: Document, start: float) -> float:
        """Run a stage that begins at `start`; answers when it ended, so that the clock is asked once a stage."""
        try:
            result = stage(doc)
        except Exception as error:
            if lack := of_this_machine(error):
                raise LackError(lack) from error
            result = Drop(name, DropReason.STAGE_ERROR, f"{type(error).__name__} in stage {name}")
        doc.done.append(name)
        end = self._clock()
        doc.timings[name] = end - start
        if isinstance(result, Drop):
            doc.verdict = result
        return end


def modules(config: Config) -> list[str]:
    """What a fork server loads once for all its processes: the stages, their libraries, and models known beforehand."""
    return [module for stage in stages().values() for module in stage.preload(config)]


def problems(config: Config) -> list[str]:
    """What keeps a stage from working with this configuration, one sentence each: asked before the first page.

    Every way in asks here: crawl, replay, diagnose and batch job. It also says, once and not in every process, that
    Python does what a library should do.
    """
    found = [problem for stage in stages().values() for problem in stage.problems(config)]
    try:
        native.use(config.crawl.native)
    except native.NativeError as error:
        return [*found, str(error)]
    if config.crawl.native == "auto" and (why := native.problem()):
        logger.warning("NATIVE=auto: the stages compute everything in Python, the same in more time: %s", why)
    return found


def _without_baggage(doc: Document) -> Document:
    """Drop what only the stages needed, so that the hop back to the reactor stays small."""
    doc.html = b""
    doc.tree = None
    doc.metas = []
    doc.rel_links = []
    doc.embedded = doc.rendering = None
    doc.captured = ""
    if not doc.text_allowed:
        doc.forget_text()
        doc.title = doc.description = doc.author = None
    return doc
