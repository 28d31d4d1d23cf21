"""All pure stages in the order of the flow: the same chain for live crawl, replay and batch jobs.

The chain is the only module that knows every stage. It parses a page once, hands the tree on, measures the CPU time of
each stage and stops at the first verdict. It needs no Scrapy and no Redis.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from crawler.config import Config, DecontaminationConfig, LanguageConfig, PiiConfig, QualityConfig
from crawler.document import Document, Drop, DropReason
from crawler.policy.signals import registry as signals
from crawler.stages.tiers import judged_twice

STAGES: tuple[str, ...] = (
    "parse",
    "optout",
    "extraction",
    "language",
    "quality",
    "pii",
    "contamination",
    "fingerprint",
)
"""Names of the pure stages, in flow order. `ITEM_PIPELINES` is held to this order by a test."""

_ONE_FILE = ("optout", "fingerprint")
STAGE_MODULES: tuple[str, ...] = (
    *(f"crawler.stages.{name}" if name in _ONE_FILE else f"crawler.stages.{name}.stage" for name in STAGES),
    "crawler.stages.pii.recognise",
    "scipy.integrate",  # what costs of datasketch, which itself brings Redis's client
)
"""The stages and the heavy libraries behind them; see `modules`."""

READING: tuple[str, ...] = ("parse", "optout")
"""The stages that are enough to find a page's links and to know whether its text may be kept."""


class Stage(Protocol):
    """`stage(doc)` fills in the document and answers it, or a `Drop` with the scores left on the document."""

    def __call__(self, doc: Document) -> Document | Drop:
        """Run the stage."""


class Chain:
    """Every stage of `names`, built from the configuration once and applied to many documents.

    Models are loaded here, so build one chain per process. `clock` measures CPU seconds of this thread.
    """

    def __init__(
        self, config: Config, names: Iterable[str] = STAGES, clock: Callable[[], float] = time.thread_time
    ) -> None:
        wanted = set(names)
        self._stages = [(name, build(config)) for name, build in _builders().items() if name in wanted]
        self._clock = clock

    def run(self, doc: Document, names: Iterable[str] = STAGES) -> Document:
        """Apply the named stages that the document has not seen; a `Drop` ends up in `doc.verdict`.

        An exception inside a stage is our mistake, not the page's: it becomes the verdict `stage_error`, so that one
        page never costs another. A page that a browser has drawn goes through as it was sent and as it was drawn.
        """
        if doc.rendering is not None and doc.verdict is None:
            return judged_twice(doc, lambda one: self._run(one, names))
        return self._run(doc, names)

    def _run(self, doc: Document, names: Iterable[str]) -> Document:
        wanted = set(names)
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
            doc.text = ""
            doc.title = doc.description = doc.author = None

    def _apply(self, name: str, stage: Stage, doc: Document, start: float) -> float:
        """Run a stage that begins at `start`; answers when it ended, so that the clock is asked once a stage."""
        try:
            result = stage(doc)
        except Exception as error:
            result = Drop(name, DropReason.STAGE_ERROR, f"{type(error).__name__} in stage {name}")
        doc.done.append(name)
        end = self._clock()
        doc.timings[name] = end - start
        if isinstance(result, Drop):
            doc.verdict = result
        return end


def modules(config: Config) -> list[str]:
    """What a fork server loads once for all its processes.

    `STAGE_MODULES`, the models that the settings ask for as they are by default, and the data of the named `LANGUAGES`.
    """
    from crawler.stages.quality.tokenizers import modules as of_languages

    models = [module for is_asked, module in _MODELS if is_asked(config)]
    return [*STAGE_MODULES, *models, *of_languages(config.language.languages)]


_MODELS: tuple[tuple[Callable[[Config], bool], str], ...] = (
    (lambda c: c.extraction.extractor != "resiliparse", "crawler.stages.extraction.preload"),
    (lambda c: c.language.identifier == LanguageConfig().identifier, "crawler.stages.language.preload"),
    (lambda c: c.pii.person != "off" and c.pii.models == PiiConfig().models, "crawler.stages.pii.preload"),
)
"""When models are loaded that can be known beforehand, and the module that loads them."""


def problems(config: Config) -> list[str]:
    """What keeps a stage from working with this configuration, one sentence each: asked before the first page.

    Every way in asks here: crawl, replay, diagnose and batch job. A stage is loaded only where a setting asks it for
    more than the default, because loading costs seconds.
    """
    return [problem for is_asked, check in _CHECKS if is_asked(config) for problem in check(config)]


def _check_pii(config: Config) -> list[str]:
    from crawler.stages.pii.stage import check_models

    return check_models(config.pii)


def _check_contamination(config: Config) -> list[str]:
    from crawler.stages.contamination.stage import check_eval_sets

    return check_eval_sets(config)


def _check_language(config: Config) -> list[str]:
    from crawler.stages.language.stage import check_identifier

    return check_identifier(config.language)


def _check_quality(config: Config) -> list[str]:
    from crawler.stages.quality.stage import check_profiles

    return check_profiles(config.quality)


_CHECKS: tuple[tuple[Callable[[Config], bool], Callable[[Config], list[str]]], ...] = (
    (lambda _: True, lambda _: signals.problems()),
    (lambda c: c.pii.person != "off", _check_pii),
    (lambda c: c.decontamination.eval_sets != DecontaminationConfig().eval_sets, _check_contamination),
    (lambda c: c.language != LanguageConfig(), _check_language),
    (lambda c: c.quality != QualityConfig(), _check_quality),
)
"""When a stage has something to check, and its check."""


def _without_baggage(doc: Document) -> Document:
    """Drop what only the stages needed, so that the hop back to the reactor stays small."""
    doc.html = b""
    doc.tree = None
    doc.metas = []
    doc.rel_links = []
    doc.embedded = doc.rendering = None
    doc.captured = ""
    if doc.verdict is not None:
        doc.code_lines = frozenset()
    if not doc.text_allowed:
        doc.text = ""
        doc.title = doc.description = doc.author = None
    return doc


def _builders() -> dict[str, Callable[[Config], Stage]]:
    from crawler.stages.contamination.stage import ContaminationStage
    from crawler.stages.extraction.stage import ExtractionStage
    from crawler.stages.fingerprint import FingerprintStage
    from crawler.stages.language.stage import LanguageStage
    from crawler.stages.optout import OptOutStage
    from crawler.stages.parse.stage import ParseStage
    from crawler.stages.pii.stage import PiiStage
    from crawler.stages.quality.stage import QualityStage

    return {
        "parse": lambda c: ParseStage(c.extraction),
        "optout": lambda c: OptOutStage(c.policy, c.crawl.product_token),
        "extraction": lambda c: ExtractionStage(c.extraction),
        "language": lambda c: LanguageStage(c.language),
        "quality": lambda c: QualityStage(c.quality),
        "pii": lambda c: PiiStage(c.pii),
        "contamination": ContaminationStage,
        "fingerprint": lambda c: FingerprintStage(c.dedup),
    }
