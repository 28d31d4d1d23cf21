"""Settings of a crawl as a whole: who crawls, and where the output goes."""

from __future__ import annotations

import os
import re
import secrets
import socket
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from crawler.config.declare import setting


def check_name(value: str) -> str | None:
    """What is wrong with a name that becomes part of files and keys; None where nothing is."""
    if _NAME.fullmatch(value):
        return None
    return (
        "expected 1 to 64 letters, digits, '-', '_' or '.', the first one a letter or a digit; it becomes part of file "
        "names and keys"
    )


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
"""A dot in front would hide the files, and is how temporary ones are called; a dash is how options begin."""
_DATABASE = re.compile(r"(?:/[0-9]*)?", re.ASCII)
_ESCAPES = "in a password / is written %2F, @ %40, : %3A, # %23, ? %3F and % %25"


def check_redis_url(value: str | None) -> str | None:
    """What is wrong with the address of a server; None where nothing is."""
    if value is None or value.startswith("unix://"):
        return None
    expected = "expected redis://host:port/db, rediss://… or unix://path"
    if not value.startswith(("redis://", "rediss://", "valkey://", "valkeys://")):
        return expected
    try:
        parts = urlsplit(value)
        _ = parts.port  # Raises: ValueError
    except ValueError as error:
        return f"{expected} ({_ESCAPES if '@' in value else error})"
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":
        return f"{expected} ({_ESCAPES})"
    if not _DATABASE.fullmatch(parts.path):
        return f"{expected}, where db is the number of a database"
    return None


_PASSWORD = re.compile(r"://[^/?#@]*:[^@]*@")


def has_password(text: str) -> bool:
    """True where a URL in it names a user and what nobody else may read."""
    return _PASSWORD.search(text) is not None


def check_folder(value: str) -> str | None:
    """What is wrong with the URL of a folder; None where nothing is."""
    if has_password(value):
        return (
            "credentials may not be part of a URL, which is logged and recorded: give them in the environment (AWS_…)"
        )
    return None


def check_contact(value: str) -> str | None:
    """What is wrong with the address that site owners are given; None where nothing is."""
    if not value or value.startswith(("https://", "http://", "mailto:")) or "@" in value:
        return None
    return "expected a URL or an e-mail address that a site owner can reach, such as https://example.org/bot"


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """Who crawls, and where the output goes."""

    corpus_dir: str = setting("CORPUS_DIR", "corpus", "output folder, a path or an fsspec URL", check=check_folder,
                              digest=False)  # fmt: skip
    crawl_id: str = setting("CRAWL_ID", "crawl", "names the crawl in keys and files", check=check_name, digest=False)
    worker_id: str = setting("WORKER_ID", "", "names this worker in files; empty = host name and a random part",
                             check=lambda v: check_name(v) if v else None, digest=False)  # fmt: skip
    redis_url: str | None = setting("REDIS_URL", None, "shared frontier; unset = embedded Valkey under CORPUS_DIR",
                                    check=check_redis_url, digest=False)  # fmt: skip
    stage_workers: int = setting("STAGE_WORKERS", -1, "processes for parsing and models; -1 = usable cores, 0 = inline",
                                 minimum=-1, maximum=256, digest=False)  # fmt: skip
    native: str = setting("NATIVE", "auto", "inner loops in C: auto = where this machine's binary is there, off = all in "
                          "Python, which gives the same, required = or else do not start",
                          choices=("auto", "off", "required"), digest=False)  # fmt: skip
    stage_timeout_seconds: float = setting("STAGE_TIMEOUT_SECONDS", 30.0,
                                           "CPU seconds of one page in the stages; a worker that only waits gets 10x",
                                           minimum=0.1)  # fmt: skip
    contact: str = setting("CRAWLER_CONTACT", "", "URL or e-mail in the User-Agent; required off loopback",
                           check=check_contact)  # fmt: skip
    product_token: str = setting("CRAWLER_PRODUCT_TOKEN", "CorpusBot", "name in the User-Agent and in robots.txt groups",
                                 check=check_name)  # fmt: skip
    progress: str = setting("PROGRESS", "auto", "live progress on the terminal", choices=("auto", "on", "off"),
                            digest=False)  # fmt: skip
    progress_fd: int = setting("PROGRESS_FD", -1, "open descriptor to which a worker writes its counters as JSON lines; "
                               "gristmill work sets it, -1 = none", minimum=-1, digest=False)  # fmt: skip


def default_worker_id() -> str:
    """The same in one process, unique among all (each container has a process 1), short enough for file names."""
    host = "".join(c if c.isascii() and c.isalnum() else "-" for c in socket.gethostname())[:40]
    return f"{host or 'worker'}-{_random_part(os.getpid())}"


@lru_cache(maxsize=1)
def _random_part(_process: int) -> str:
    return secrets.token_hex(4)
