"""Every project setting, read once into frozen typed objects; all errors reported together.

`load(getter)` reads the values (from Scrapy's settings, environment or a plain mapping), converts and checks them, and
raises one `ConfigError` that lists every problem with the setting, the value and the fix. Components receive the typed
sections, never Scrapy's settings. The table in `docs/settings.md` is generated from the declarations below
and in `config_*.py`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from crawler import eval_sets
from crawler.config_crawl import CrawlConfig, check_redis_url, default_worker_id
from crawler.config_frontier import FrontierConfig
from crawler.config_language import LanguageConfig
from crawler.setting import ConfigError, Getter, load_section, setting

__all__ = ["ConfigError", "CrawlConfig", "FrontierConfig", "Getter", "LanguageConfig", "setting"]


def _check_networks(value: tuple[str, ...]) -> str | None:
    for item in value:
        try:
            ipaddress.ip_network(item)
        except ValueError as error:
            return f"expected networks such as 127.0.0.0/8 or ::1/128 ({error})"
    return None


def _check_region(value: str) -> str | None:
    if len(value) == 2 and value.isascii() and value.isalpha() and value.isupper():
        return None
    return "expected an ISO 3166-1 code of two capital letters, such as US or DE"


def _check_models(value: tuple[str, ...]) -> str | None:
    if all(language.isalpha() and model.isidentifier() for language, _, model in (v.partition(":") for v in value)):
        return None
    return "expected language:model pairs such as en:en_core_web_sm,de:de_core_news_sm"


_RULE_SETS = ("gopher_repetition", "gopher_quality", "fineweb", "c4", "c4_paragraphs", "refinedweb_lines")


def _check_rules(value: tuple[str, ...]) -> str | None:
    unknown = [name for name in value if name not in _RULE_SETS]
    return f"expected names out of {', '.join(_RULE_SETS)}, not {', '.join(unknown)}" if unknown else None


def _check_segmenters(value: tuple[str, ...]) -> str | None:
    unknown = sorted(set(value) - {"zh", "ja", "th"})
    return f"expected languages out of zh, ja, th, not {', '.join(unknown)}" if unknown else None


def _check_noted(value: tuple[str, ...]) -> str | None:
    unknown = sorted(set(value) - {"ai-policy.json", "llms.txt"})
    return f"expected ai-policy.json or llms.txt, not {', '.join(unknown)}" if unknown else None


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """May we fetch it, may we keep it?"""

    optout_profile: str = setting("OPTOUT_PROFILE", "strict", "which opt-out signals count",
                                  choices=("strict", "balanced", "minimal"))  # fmt: skip
    network_allow: tuple[str, ...] = setting("NETWORK_ALLOW", (), "networks (CIDR) that are opened although not globally "
                                             "routable", check=_check_networks)  # fmt: skip
    network_ports: tuple[int, ...] = setting("NETWORK_PORTS", (80, 443), "ports that may be connected to")
    robots_max_age_seconds: float = setting("ROBOTS_MAX_AGE_SECONDS", 86_400.0, "robots.txt is fetched again after this",
                                            minimum=1.0, maximum=86_400.0)  # fmt: skip
    robots_error_age_seconds: float = setting("ROBOTS_ERROR_AGE_SECONDS", 3_600.0, "an unreachable robots.txt is tried "
                                              "again after this", minimum=1.0)  # fmt: skip
    robots_max_delay_seconds: float = setting("ROBOTS_MAX_DELAY_SECONDS", 60.0, "Crawl-delay is honoured up to this",
                                              minimum=0.0)  # fmt: skip
    robots_long_delay: str = setting("ROBOTS_LONG_DELAY", "cap", "a Crawl-delay above that: cap it, or skip the host",
                                     choices=("cap", "skip"))  # fmt: skip
    noted_files: tuple[str, ...] = setting("OPTOUT_NOTED_FILES", (), "files without a specification that are fetched once "
                                           "a host and recorded, never obeyed: ai-policy.json, llms.txt",
                                           check=_check_noted)  # fmt: skip
    max_body_bytes: int = setting("DOWNLOAD_MAXSIZE", 10 * 2**20, "body limit, also after decompression", minimum=1024)
    download_timeout_seconds: float = setting("DOWNLOAD_TIMEOUT", 30.0, "one request, from connect to last byte",
                                              minimum=0.1)  # fmt: skip
    max_redirects: int = setting("REDIRECT_MAX_TIMES", 5, "redirects followed", minimum=0)


@dataclass(frozen=True, slots=True)
class ExtractionConfig:
    """What is the text of the page?"""

    extractor: str = setting("EXTRACTOR", "trafilatura", "main-text extractor", choices=("trafilatura", "resiliparse"))
    min_words: int = setting("EXTRACTION_MIN_WORDS", 150, "fewer words are too_short", minimum=0)
    yield_share: float = setting("YIELD_MIN_SHARE", 0.6, "a domain whose latest pages give less than this share of the "
                                 "text it used to give is quarantined; 0 = off", minimum=0.0, maximum=1.0)  # fmt: skip
    yield_pages: int = setting("YIELD_HISTORY_PAGES", 30, "pages of a domain before anything is said about it",
                               minimum=1)  # fmt: skip
    yield_window: int = setting("YIELD_WINDOW_PAGES", 20, "latest pages of a domain that are compared with those before",
                                minimum=2, maximum=1000)  # fmt: skip
    max_links: int = setting("PARSE_MAX_LINKS", 10_000, "links read from one page; beyond them stands a trap",
                             minimum=0)  # fmt: skip


@dataclass(frozen=True, slots=True)
class QualityConfig:
    """Is it worth keeping?"""

    rules: tuple[str, ...] = setting("QUALITY_RULES", ("gopher_repetition", "gopher_quality", "fineweb"), "rule sets, in "
                                     "the order they decide: gopher_repetition, gopher_quality, fineweb, c4, "
                                     "c4_paragraphs, refinedweb_lines", check=_check_rules)  # fmt: skip
    min_score: float = setting("QUALITY_MIN_SCORE", 0.3, "quality_score below this is low_quality", minimum=0.0,
                               maximum=1.0)  # fmt: skip
    profile: str = setting("QUALITY_PROFILE", "auto", "thresholds and weights by kind of text; auto = prose, technical "
                           "or legal, chosen by page", choices=("auto", "prose", "technical", "legal",
                                                                "datatrove"))  # fmt: skip
    tokenizer: str = setting("QUALITY_TOKENIZER", "fast", "how words are counted: fast, or spacy as the oracle does",
                             choices=("fast", "spacy"))  # fmt: skip
    segmenters: tuple[str, ...] = setting("QUALITY_SEGMENTERS", (), "languages out of zh, ja and th whose words a "
                                          "package of their own finds; empty = estimated from characters",
                                          check=_check_segmenters)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PiiConfig:
    """Personal data: what is redacted."""

    person: str = setting("PII_PERSON", "contextual", "person names: only beside another identifier, all, or off",
                          choices=("contextual", "all", "off"))  # fmt: skip
    max_density: float = setting("PII_MAX_DENSITY", 0.05, "share of redacted characters above which a page is dropped",
                                 minimum=0.0, maximum=1.0)  # fmt: skip
    default_region: str = setting("PII_PHONE_REGION", "US", "region for phone numbers without a country code",
                                  check=_check_region)  # fmt: skip
    models: tuple[str, ...] = setting("PII_MODELS", ("en:en_core_web_sm",), "spaCy models that find names, as "
                                      "language:model", check=_check_models)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DecontaminationConfig:
    """Does a text repeat an evaluation set? The digest takes the content of the sets, not their paths."""

    eval_sets: tuple[str, ...] = setting("EVAL_SETS", (), "evaluation sets that no kept text may repeat: files (JSON lines, "
                                         "JSON, text, Parquet), folders or globs; #column+column behind one names the "
                                         "columns that count", check=eval_sets.problem_of, digest=False)  # fmt: skip
    ngram: int = setting("DECONTAMINATION_NGRAM", 13, "words of a passage that counts as a repetition", minimum=5,
                         maximum=64, digest=False)  # fmt: skip
    min_overlap: int = setting("DECONTAMINATION_MIN_OVERLAP", 1, "different passages shared with one set from which a page "
                               "is contaminated", minimum=1, digest=False)  # fmt: skip
    max_examples: int = setting("DECONTAMINATION_MAX_EXAMPLES", 10, "a passage that stands in more examples is the set's "
                                "template and is not searched", minimum=1, digest=False)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DedupConfig:
    """The same text twice?"""

    scope: str = setting("DEDUP_SCOPE", "crawl", "what a new document is compared with", choices=("crawl", "all"))
    redis_url: str | None = setting("DEDUP_REDIS_URL", None, "its own server; unset = the frontier's",
                                    check=check_redis_url, digest=False)  # fmt: skip
    threshold: float = setting("NEARDUP_THRESHOLD", 0.77, "estimated Jaccard similarity from which a page is a near "
                               "duplicate", minimum=0.5, maximum=1.0)  # fmt: skip
    short_threshold: float = setting("NEARDUP_SHORT_THRESHOLD", 0.9, "the same for short texts, where one word makes "
                                     "the difference", minimum=0.5, maximum=1.0)  # fmt: skip
    short_shingles: int = setting("NEARDUP_SHORT_SHINGLES", 50, "a text of fewer shingles is short", minimum=0)
    bands: int = setting("NEARDUP_BANDS", 14, "LSH bands", minimum=1)
    rows: int = setting("NEARDUP_ROWS", 8, "LSH rows a band", minimum=1)
    shingle_words: int = setting("NEARDUP_SHINGLE_WORDS", 5, "words a shingle", minimum=1)
    min_shingles: int = setting("NEARDUP_MIN_SHINGLES", 20, "shorter texts are compared exactly only", minimum=1)


@dataclass(frozen=True, slots=True)
class StorageConfig:
    """Shards, rejected records and the archive."""

    shard_max_bytes: int = setting("SHARD_MAX_BYTES", 512 * 2**20, "uncompressed bytes a shard", minimum=1024,
                                   digest=False)  # fmt: skip
    shard_format: str = setting("SHARD_FORMAT", "jsonl.zst", "file format of shards and rejected records",
                                choices=("jsonl.zst", "jsonl.gz", "jsonl"), digest=False)  # fmt: skip
    archive: bool = setting("ARCHIVE", True, "write raw exchanges as WARC", digest=False)
    archive_max_bytes: int = setting("ARCHIVE_MAX_BYTES", 2**30, "compressed bytes a WARC file", minimum=1024,
                                     digest=False)  # fmt: skip
    archive_compression: str = setting("ARCHIVE_COMPRESSION", "gzip", "of each WARC record; zstd is 1 to 8 % smaller, "
                                       "but fewer tools read it (not warcio)", choices=("gzip", "zstd"),
                                       digest=False)  # fmt: skip
    archive_ttl_days: float = setting("ARCHIVE_TTL_DAYS", 0.0, "age at which `scrapy dataset expire` removes archives; "
                                      "0 = never", minimum=0.0, digest=False)  # fmt: skip
    commit_seconds: float = setting("COMMIT_SECONDS", 0.2, "longest wait before a group commit (fsync)", minimum=0.0,
                                    digest=False)  # fmt: skip
    rejected_text: bool = setting("REJECTED_TEXT", True, "rejected records of the language, quality and duplicate stages "
                                  "carry the text", digest=False)  # fmt: skip
    spool_dir: str | None = setting("CORPUS_SPOOL_DIR", None, "local folder where files grow before they are uploaded; "
                                    "needed when CORPUS_DIR is a remote URL", digest=False)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Config:
    """All sections. `digest` is the SHA-256 of every value that can change a verdict or a text."""

    crawl: CrawlConfig
    frontier: FrontierConfig
    policy: PolicyConfig
    extraction: ExtractionConfig
    language: LanguageConfig
    quality: QualityConfig
    pii: PiiConfig
    decontamination: DecontaminationConfig
    dedup: DedupConfig
    storage: StorageConfig
    eval_digest: str = ""  # of the evaluation sets and how they are compared; empty without sets
    digest: str = field(init=False, compare=False)
    """The text "sha256:" and 64 hex digits over the settings that matter for output, in canonical JSON."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", self._digest())  # every record carries it: computed once

    def _digest(self) -> str:
        values = {
            f.metadata["name"]: getattr(section, f.name)
            for section in (getattr(self, name) for name in SECTIONS)
            for f in fields(section)
            if f.metadata["digest"]
        }
        if self.eval_digest:
            values["EVAL_SETS"] = self.eval_digest
        blob = json.dumps(values, sort_keys=True, separators=(",", ":"), default=list)
        return "sha256:" + hashlib.sha256(blob.encode()).hexdigest()


SECTIONS: dict[str, type[Any]] = {
    "crawl": CrawlConfig,
    "frontier": FrontierConfig,
    "policy": PolicyConfig,
    "extraction": ExtractionConfig,
    "language": LanguageConfig,
    "quality": QualityConfig,
    "pii": PiiConfig,
    "decontamination": DecontaminationConfig,
    "dedup": DedupConfig,
    "storage": StorageConfig,
}


def declared() -> dict[str, dataclasses.Field[Any]]:
    """Every declared setting by its public name."""
    return {f.metadata["name"]: f for section in SECTIONS.values() for f in fields(section)}


def load(getter: Getter) -> Config:
    """Read and check every setting.

    Raises: ConfigError listing all problems at once.
    """
    problems: list[str] = []
    sections: dict[str, Any] = {name: load_section(section, getter, problems) for name, section in SECTIONS.items()}
    if problems:
        raise ConfigError(problems)
    config = Config(**sections)
    problems += _check_together(config)
    if problems:
        raise ConfigError(problems)
    config = dataclasses.replace(config, eval_digest=_eval_digest(config.decontamination))
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


def _check_together(config: Config) -> list[str]:
    problems = []
    if "://" in config.crawl.corpus_dir and not config.storage.spool_dir:
        problems.append(
            f"CORPUS_DIR={config.crawl.corpus_dir!r} is a remote URL: set CORPUS_SPOOL_DIR to a local folder on a disk "
            "that survives the worker; files grow there and are uploaded when sealed"
        )
    f = config.frontier
    if f.recrawl_min_seconds > f.recrawl_max_seconds:
        problems.append("RECRAWL_MIN_SECONDS is larger than RECRAWL_MAX_SECONDS: the shortest interval comes first")
    if f.recrawl and not f.recrawl_remember:
        problems.append("RECRAWL needs RECRAWL_REMEMBER: switch it on, or nothing could be asked for conditionally")
    permutations = config.dedup.bands * config.dedup.rows
    if permutations > 512:
        problems.append(f"NEARDUP_BANDS × NEARDUP_ROWS = {permutations}: at most 512 permutations are supported")
    return problems
