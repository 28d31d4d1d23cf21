"""Every project setting, read once into frozen typed objects; all errors reported together.

`load(getter)` reads the values (from Scrapy's settings, environment or a plain mapping), converts and checks them, and
raises one `ConfigError` that lists every problem with the setting, the value and the fix. Components receive the typed
sections, never Scrapy's settings. `docs/settings.md` is generated from the
declarations in this folder, one file a room.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from crawler.config import eval_sets
from crawler.config.browser import BrowserConfig
from crawler.config.crawl import CrawlConfig, default_worker_id
from crawler.config.declare import ConfigError, Getter, load_section
from crawler.config.documents import DocumentsConfig
from crawler.config.frontier import FrontierConfig
from crawler.config.language import LanguageConfig
from crawler.config.metrics import MetricsConfig
from crawler.config.policy import PolicyConfig
from crawler.config.report import ReportConfig
from crawler.config.signature import SignatureConfig
from crawler.config.stages import added_stages, stage_problems, stages
from crawler.config.storage import DedupConfig, StorageConfig
from crawler.config.text import (
    PROFILE_NAMES,
    ClassifyConfig,
    DecontaminationConfig,
    ExtractionConfig,
    PiiConfig,
    QualityConfig,
    classifiers_of,
    is_word_lists,
)
from crawler.problems import InputError

T = TypeVar("T")
_FETCHING = frozenset(
    {"CRAWLER_CONTACT", "NETWORK_ALLOW", "NETWORK_PORTS", "ROBOTS_MAX_AGE_SECONDS", "ROBOTS_ERROR_AGE_SECONDS",
     "ROBOTS_MAX_DELAY_SECONDS", "ROBOTS_LONG_DELAY", "OPTOUT_NOTED_FILES", "DOWNLOAD_TIMEOUT", "REDIRECT_MAX_TIMES",
     "DEPTH_LIMIT", "RETRY_TIMES", "FRONTIER_MAX_PAGES_PER_DOMAIN", "FRONTIER_TRACKING_PARAMS", "FRONTIER_FEEDS"}
)  # fmt: skip
"""Settings that decide which pages are fetched, and nothing about a page that was."""


@dataclass(frozen=True, slots=True)
class Config:
    """All sections. `digest` is the SHA-256 of every value that can change a verdict or a text."""

    crawl: CrawlConfig
    frontier: FrontierConfig
    policy: PolicyConfig
    signature: SignatureConfig
    browser: BrowserConfig
    documents: DocumentsConfig
    extraction: ExtractionConfig
    language: LanguageConfig
    quality: QualityConfig
    pii: PiiConfig
    decontamination: DecontaminationConfig
    classify: ClassifyConfig
    dedup: DedupConfig
    storage: StorageConfig
    metrics: MetricsConfig
    report: ReportConfig
    eval_digest: str = ""  # of the evaluation sets and how they are compared; empty without sets
    profiles_digest: str = ""  # of the file of quality profiles; empty without one
    classifiers_digest: str = ""  # of the classifiers' names and files; empty without any
    stages: tuple[str, ...] = ()  # of other packages, in flow order
    added: tuple[Any, ...] = ()  # the sections that stages declare for themselves
    digest: str = field(init=False, compare=False)
    """The text "sha256:" and 64 hex digits over the settings that matter for output, in canonical JSON."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", self._digest())  # every record carries it: computed once

    def all_sections(self) -> Iterator[Any]:
        """Every section, those of other packages last."""
        yield from (getattr(self, name) for name in SECTIONS)
        yield from self.added

    def section(self, kind: type[T]) -> T:
        """The settings of one section. Raises: LookupError where no stage here declares them."""
        for section in self.all_sections():
            if isinstance(section, kind):
                return section
        raise LookupError(f"no stage declares the settings {kind.__name__}")

    def deciding(self) -> dict[str, Any]:
        """Every setting that can change a verdict or a text, by name; of the evaluation sets their digest."""
        values = {
            f.metadata["name"]: getattr(section, f.name)
            for section in self.all_sections()
            for f in fields(section)
            if f.metadata["digest"]
        }
        if self.eval_digest:
            values["EVAL_SETS"] = self.eval_digest
        if self.profiles_digest:
            values["QUALITY_PROFILES_FILE"] = self.profiles_digest
        if self.classifiers_digest:
            values["CLASSIFIERS"] = self.classifiers_digest
        if self.stages:
            values["STAGES"] = self.stages
        return values

    @property
    def judging_digest(self) -> str:
        """As `digest`, over the settings that can change a verdict or a text once the page was fetched."""
        return _digest_of(self.judging())

    def judging(self) -> dict[str, Any]:
        """Of `deciding`, the settings that can change a verdict or a text once the page was fetched."""
        return {name: value for name, value in self.deciding().items() if name not in _FETCHING}

    @property
    def judging_parts(self) -> dict[str, str]:
        """`judging_digest` taken apart: of each section by its name, and of the stages of other packages. The first twelve
        hex digits: every run of the manifest has them.
        """
        deciding = self.deciding()
        parts = {name: (getattr(self, name),) for name in SECTIONS} | {"added": self.added}
        digests = {
            part: _digest_of(
                {
                    name: deciding[name]
                    for section in sections
                    for f in fields(section)
                    if (name := f.metadata["name"]) in deciding and name not in _FETCHING
                }
            )
            for part, sections in parts.items()
        }
        digests |= {"stages": _digest_of({"STAGES": self.stages})}
        return {part: digest.removeprefix("sha256:")[:12] for part, digest in digests.items()}

    def _digest(self) -> str:
        return _digest_of(self.deciding())


def with_classifiers(config: Config, classifiers: tuple[str, ...]) -> Config:
    """These settings with other CLASSIFIERS, each as name:path; the digest takes their files as they are now."""
    return dataclasses.replace(
        config,
        classify=dataclasses.replace(config.classify, classifiers=classifiers),
        classifiers_digest=_classifiers_digest(classifiers),
    )


def _digest_of(values: Mapping[str, Any]) -> str:
    blob = json.dumps(values, sort_keys=True, separators=(",", ":"), default=list)
    return "sha256:" + hashlib.sha256(blob.encode()).hexdigest()


SECTIONS: dict[str, type[Any]] = {
    name: kind for name, kind in get_type_hints(Config).items() if isinstance(kind, type) and is_dataclass(kind)
}
"""This project's own sections, by their name in `Config`."""


def _added() -> list[type[Any]]:
    """The sections that stages declare for themselves."""
    known = set(SECTIONS.values())
    return [stage.settings for stage in stages().values() if stage.settings is not None and stage.settings not in known]


def sections() -> list[type[Any]]:
    """Every section of settings, those that stages declare for themselves last."""
    return [*SECTIONS.values(), *_added()]


def declared() -> dict[str, dataclasses.Field[Any]]:
    """Every declared setting by its public name."""
    return {f.metadata["name"]: f for section in sections() for f in fields(section)}


def _setting_problems() -> list[str]:
    """Settings of added stages that have a name of ours, or of another stage's."""
    names = Counter(f.metadata["name"] for section in sections() for f in fields(section))
    return [
        f"the setting {name} is declared twice; give that of the stage another name"
        for name in names - Counter(set(names))
    ]


def load(getter: Getter) -> Config:
    """Read and check every setting.

    Raises: ConfigError listing all problems at once.
    """
    problems = [*stage_problems(), *_setting_problems()]
    ours: dict[str, Any] = {name: load_section(section, getter, problems) for name, section in SECTIONS.items()}
    added = tuple(load_section(section, getter, problems) for section in _added())
    config = Config(**ours, stages=added_stages(), added=added)
    if not problems:
        problems += _check_together(config)
    if problems:
        raise ConfigError(problems, rest=config)
    config = dataclasses.replace(
        config,
        eval_digest=_eval_digest(config.decontamination),
        profiles_digest=_profiles_digest(config.quality.profiles_file),
        classifiers_digest=_classifiers_digest(config.classify.classifiers),
    )
    if not config.crawl.worker_id:
        crawl = dataclasses.replace(config.crawl, worker_id=default_worker_id())
        config = dataclasses.replace(config, crawl=crawl)
    return config


def from_mapping(values: Mapping[str, Any] | None = None) -> Config:
    """`load` from a plain mapping: for tests, batch jobs and scripts."""
    return load((values or {}).get)


def _eval_digest(config: DecontaminationConfig) -> str:
    """Raises: ConfigError where a set cannot be read."""
    try:
        return eval_sets.digest_of(
            config.eval_sets, ngram=config.ngram, min_overlap=config.min_overlap, max_examples=config.max_examples
        )
    except (OSError, ValueError) as error:
        raise ConfigError([f"EVAL_SETS={','.join(config.eval_sets)!r}: {error}"]) from None


def _profiles_digest(path: str | None) -> str:
    """Raises: ConfigError where the file cannot be read."""
    if not path:
        return ""
    try:
        return "sha256:" + hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError([f"QUALITY_PROFILES_FILE={path!r}: cannot be read: {error.strerror}"]) from None


def _classifiers_digest(classifiers: tuple[str, ...]) -> str:
    """Raises: ConfigError where a file cannot be read."""
    total = hashlib.sha256()
    for name, path in classifiers_of(classifiers).items():
        try:
            with Path(path).open("rb") as file:
                total.update(f"{name}:{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
            for part in _lists_of(path):
                total.update(hashlib.sha256(part.read_bytes()).digest())
        except InputError as error:
            raise ConfigError(error.problems) from None
        except OSError as error:
            raise ConfigError([f"CLASSIFIERS={name}:{path}: cannot be read: {error.strerror}"]) from None
    return f"sha256:{total.hexdigest()}" if classifiers else ""


def _lists_of(path: str) -> list[Path]:
    """The files of words that a file of categories names. Raises: InputError."""
    if not is_word_lists(path):
        return []
    from crawler.config.word_lists import read_categories  # late: few name one, and YAML takes time to load

    return [file for one in read_categories(path) for file in one.files]


def _check_together(config: Config) -> list[str]:
    problems = []
    if "://" in config.crawl.corpus_dir and not config.storage.spool_dir:
        problems.append(
            f"CORPUS_DIR={config.crawl.corpus_dir!r} is a remote URL: set CORPUS_SPOOL_DIR to a local folder on a disk "
            "that survives the worker; files grow there and are uploaded when sealed"
        )
    if config.quality.profile not in (*PROFILE_NAMES, "auto") and not config.quality.profiles_file:
        problems.append(
            f"QUALITY_PROFILE={config.quality.profile!r}: expected auto or one of {', '.join(PROFILE_NAMES)}; a profile of "
            "your own needs QUALITY_PROFILES_FILE"
        )
    f = config.frontier
    if f.recrawl_min_seconds > f.recrawl_max_seconds:
        problems.append("RECRAWL_MIN_SECONDS is larger than RECRAWL_MAX_SECONDS: the shortest interval comes first")
    if f.recrawl and not f.recrawl_remember:
        problems.append("RECRAWL needs RECRAWL_REMEMBER for its conditional requests: switch it on")
    permutations = config.dedup.bands * config.dedup.rows
    if permutations > 512:
        problems.append(f"NEARDUP_BANDS × NEARDUP_ROWS = {permutations}: at most 512 permutations are supported")
    return problems
