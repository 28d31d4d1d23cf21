"""Settings of duplicates, shards, rejected records and the archive."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec

from crawler import plugins
from crawler.config.crawl import check_redis_url
from crawler.config.declare import setting

_DAYS = re.compile(r"\d{1,5}(\.\d{1,6})?", re.ASCII)


def check_lifetimes(value: tuple[str, ...]) -> str | None:
    """Pairs of a name and days."""
    for pair in value:
        name, _, days = pair.rpartition(":")
        if not name or not _DAYS.fullmatch(days) or not float(days):
            return f"expected a licence tag, a domain or *, and days above 0, such as example.org:30, not {pair!r}"
    return None


SHARD_FORMATS = ("jsonl.zst", "jsonl.gz", "jsonl", "parquet")
"""The built-in formats that are read back, by name."""
EXPORT_FORMATS = ("dolma", "webdataset", "mds")
"""The built-in formats that only an export has."""


def check_format(value: str) -> str | None:
    """Parquet needs a package that the other formats do without."""
    if value == "parquet" and find_spec("pyarrow") is None:
        return "Parquet needs pyarrow, which is not installed: pip install 'gristmill[parquet]'"
    if value in SHARD_FORMATS or value in (others := plugins.names("formats")):
        return None
    return f"expected one of {', '.join((*SHARD_FORMATS, *others))}"


def export_formats() -> tuple[str, ...]:
    """The names of all formats that an export can have."""
    return *SHARD_FORMATS, *EXPORT_FORMATS, *plugins.names("formats")


@dataclass(frozen=True, slots=True)
class DedupConfig:
    """The same text twice?"""

    scope: str = setting("DEDUP_SCOPE", "crawl", "what a new document is compared with", choices=("crawl", "all"))
    redis_url: str | None = setting("DEDUP_REDIS_URL", None, "its own server; unset = the frontier's",
                                    check=check_redis_url, digest=False)  # fmt: skip
    threshold: float = setting("NEARDUP_THRESHOLD", 0.73, "estimated Jaccard similarity from which a page is a near "
                               "duplicate", minimum=0.5, maximum=1.0)  # fmt: skip
    short_threshold: float = setting("NEARDUP_SHORT_THRESHOLD", 0.9, "the same for short texts, where one word makes "
                                     "the difference", minimum=0.5, maximum=1.0)  # fmt: skip
    short_shingles: int = setting("NEARDUP_SHORT_SHINGLES", 50, "a text of fewer shingles is short", minimum=0)
    bands: int = setting("NEARDUP_BANDS", 20, "LSH bands", minimum=1)
    rows: int = setting("NEARDUP_ROWS", 6, "LSH rows a band", minimum=1)
    shingle_words: int = setting("NEARDUP_SHINGLE_WORDS", 5, "words a shingle", minimum=1)
    min_shingles: int = setting("NEARDUP_MIN_SHINGLES", 20, "shorter texts are compared exactly only", minimum=1)


@dataclass(frozen=True, slots=True)
class StorageConfig:
    """Shards, rejected records and the archive."""

    shard_max_bytes: int = setting("SHARD_MAX_BYTES", 512 * 2**20, "uncompressed bytes a shard", minimum=1024,
                                   digest=False)  # fmt: skip
    shard_max_documents: int = setting("SHARD_MAX_DOCUMENTS", 0, "records a shard, where SHARD_MAX_BYTES does not end it "
                                       "first; 0 = any number", minimum=0, digest=False)  # fmt: skip
    shard_max_age_seconds: float = setting("SHARD_MAX_AGE_SECONDS", 0.0, "age of the oldest record that is in no sealed "
                                           "file, from which shards and archives are sealed, and uploaded where "
                                           "CORPUS_DIR is a URL; 0 = by size alone", minimum=0.0, digest=False)  # fmt: skip
    shard_format: str = setting("SHARD_FORMAT", "jsonl.zst", "file format of shards and rejected records: "
                                f"{', '.join(SHARD_FORMATS)}, or one of an installed package", check=check_format,
                                digest=False)  # fmt: skip
    index_at_seal: bool = setting("INDEX_AT_SEAL", True, "write the index of a shard when it is sealed, where CORPUS_DIR "
                                  "is local and pyarrow is installed; else the next query does", digest=False)  # fmt: skip
    archive: bool = setting("ARCHIVE", True, "write raw exchanges as WARC", digest=False)
    archive_max_bytes: int = setting("ARCHIVE_MAX_BYTES", 2**30, "compressed bytes a WARC file", minimum=1024,
                                     digest=False)  # fmt: skip
    archive_compression: str = setting("ARCHIVE_COMPRESSION", "gzip", "of each WARC record; zstd is 1 to 8 % smaller, "
                                       "but fewer tools read it (not warcio)", choices=("gzip", "zstd"),
                                       digest=False)  # fmt: skip
    archive_ttl_days: float = setting("ARCHIVE_TTL_DAYS", 0.0, "age at which `gristmill dataset expire` removes archives; "
                                      "0 = never", minimum=0.0, digest=False)  # fmt: skip
    document_ttl_days: tuple[str, ...] = setting("DOCUMENT_TTL_DAYS", (), "ages at which `gristmill dataset expire` removes "
                                                 "documents, by licence tag or domain, * for all others: "
                                                 "example.org:30,CC-BY-NC-4.0:90,*:3650", check=check_lifetimes,
                                                 digest=False)  # fmt: skip
    ack_after: str = setting("ACK_AFTER", "upload", "where CORPUS_DIR is a URL, a page is acknowledged when its record is "
                             "in the store (upload: a lost worker's pages are fetched again) or on the spool (spool: "
                             "for spools that survive their worker)", choices=("upload", "spool"),
                             digest=False)  # fmt: skip
    commit_seconds: float = setting("COMMIT_SECONDS", 0.2, "longest wait before a group commit (fsync)", minimum=0.0,
                                    digest=False)  # fmt: skip
    rejected_text: bool = setting("REJECTED_TEXT", True, "rejected records of the language, quality and duplicate stages "
                                  "carry the text", digest=False)  # fmt: skip
    spool_dir: str | None = setting("CORPUS_SPOOL_DIR", None, "local folder where files grow before they are uploaded; "
                                    "needed when CORPUS_DIR is a remote URL", digest=False)  # fmt: skip
