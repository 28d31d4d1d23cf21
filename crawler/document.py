"""The shared vocabulary of every room: what a page is (`Document`) and why it was not kept (`Drop`).

A `Document` is made by the spider from one fetched page, filled in by the stages one after the other, and written by
the sink as one JSON line. A `Drop` is data, not an exception: it names the stage, the reason and a short detail.
This module imports the standard library only; every other room may import it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class DropReason(StrEnum):
    """Why a URL that was seen is not in the corpus. Each member is documented in `docs/reasons.md` and tested."""

    # --- frontier: which URL next? -----------------------------------------------------------------------------------
    OFF_SCOPE = "off_scope"  # a redirect left the seeds or the allowlist
    REDIRECTED = "redirected"  # the URL only points to another URL, which has its own entry
    TOO_MANY_REDIRECTS = "too_many_redirects"
    # --- policy: may we? ---------------------------------------------------------------------------------------------
    ROBOTS_DISALLOWED = "robots_disallowed"  # RFC 9309 rule, or robots.txt answered 401/403/429/451
    OPTOUT = "optout"  # an AI opt-out signal said no; the detail names protocol and carrier
    ACCESS_DENIED = "access_denied"  # 401, 402, 403, 451: a denial is an answer
    NETWORK_FORBIDDEN = "network_forbidden"  # address, port or scheme the network guard refuses
    LICENCE_EXPIRED = "licence_expired"  # the allowlist entry is past its date
    WITHDRAWN = "withdrawn"  # `scrapy dataset exclude` took the domain out of this corpus, for good
    HOLD_ROBOTS_UNREACHABLE = "hold_robots_unreachable"  # doubt means no, for now: stays in the frontier
    HOLD_RATE_LIMITED = "hold_rate_limited"  # 429/503 with Retry-After beyond the end of this run
    HOLD_CONTROL_FILE = "hold_control_file"  # an unreadable opt-out file
    HOLD_PAUSED = "hold_paused"  # its domain was paused by hand
    # --- fetch -------------------------------------------------------------------------------------------------------
    GONE = "gone"  # 404, 410, or past X-Robots-Tag unavailable_after
    HTTP_ERROR = "http_error"  # any other status that is not 2xx, after the last try
    DOWNLOAD_FAILED = "download_failed"  # network, TLS, time-out, after the last try
    TOO_LARGE = "too_large"  # body beyond DOWNLOAD_MAXSIZE, also after decompression
    NOT_TEXT = "not_text"  # a content type the stages cannot read
    BROKEN_RECORD = "broken_record"  # replay: what the archive holds there cannot be read
    UNCHANGED = "unchanged"  # second run: 304 or same content hash
    MOVED = "moved"  # second run: a page that was kept now redirects to a generic one
    DECAYED = "decayed"  # second run: far below what the page was when it was kept
    # --- parsing and extraction --------------------------------------------------------------------------------------
    HOSTILE_HTML = "hostile_html"  # pre-scan: a tag too large, too many attributes, nesting too deep
    UNDECODABLE = "undecodable"  # no character set reads the bytes
    NO_TEXT = "no_text"
    TOO_SHORT = "too_short"
    YIELD_QUARANTINE = "yield_quarantine"  # its domain gives far less text than it used to, and so does the page
    STAGE_TIMEOUT = "stage_timeout"  # the stage pool's limit of CPU time, or a hang
    STAGE_CRASHED = "stage_crashed"  # the worker process died on this document
    STAGE_ERROR = "stage_error"  # an exception in a stage, pipeline or callback: our bug, recorded
    # --- language ----------------------------------------------------------------------------------------------------
    LANGUAGE_UNKNOWN = "language_unknown"
    LANGUAGE_NOT_WANTED = "language_not_wanted"
    LANGUAGE_LOW_SCORE = "language_low_score"
    # --- quality: names as in datatrove where it has one -------------------------------------------------------------
    LOW_QUALITY = "low_quality"
    PLACEHOLDER = "placeholder"
    SOFT_404 = "soft_404"
    LOGIN_WALL = "login_wall"
    ERROR_PAGE = "error_page"
    GOPHER_SHORT_DOC = "gopher_short_doc"
    GOPHER_LONG_DOC = "gopher_long_doc"
    GOPHER_BELOW_AVG_THRESHOLD = "gopher_below_avg_threshold"
    GOPHER_ABOVE_AVG_THRESHOLD = "gopher_above_avg_threshold"
    GOPHER_TOO_MANY_HASHES = "gopher_too_many_hashes"
    GOPHER_TOO_MANY_ELLIPSIS = "gopher_too_many_ellipsis"
    GOPHER_TOO_MANY_BULLETS = "gopher_too_many_bullets"
    GOPHER_TOO_MANY_END_ELLIPSIS = "gopher_too_many_end_ellipsis"
    GOPHER_BELOW_ALPHA_THRESHOLD = "gopher_below_alpha_threshold"
    GOPHER_ENOUGH_STOP_WORDS = "gopher_enough_stop_words"
    DUP_LINE_FRAC = "dup_line_frac"
    DUP_PARA_FRAC = "dup_para_frac"
    DUP_LINE_CHAR_FRAC = "dup_line_char_frac"
    DUP_PARA_CHAR_FRAC = "dup_para_char_frac"
    TOP_N_GRAM = "top_n_gram"  # detail: n
    DUP_N_GRAM = "dup_n_gram"  # detail: n
    C4_LOREM_IPSUM = "c4_lorem_ipsum"
    C4_CURLY_BRACKET = "c4_curly_bracket"
    C4_TOO_FEW_SENTENCES = "c4_too_few_sentences"
    C4_TOO_FEW_PARAGRAPHS = "c4_too_few_paragraphs"
    FINEWEB_EMPTY = "fineweb_empty"
    FINEWEB_LINE_PUNCT_RATIO = "fineweb_line_punct_ratio"
    FINEWEB_SHORT_LINE_RATIO = "fineweb_short_line_ratio"
    FINEWEB_CHAR_DUP_RATIO = "fineweb_char_dup_ratio"
    FINEWEB_LIST_RATIO = "fineweb_list_ratio"
    REFINEDWEB_LINES = "refinedweb_lines"
    # --- personal data and duplicates --------------------------------------------------------------------------------
    PII_DENSITY = "pii_density"
    CONTAMINATED = "contaminated"  # repeats an evaluation set; the detail names the set and the place in the text
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"

    @property
    def is_hold(self) -> bool:
        """True where the URL stays in the frontier and a later run tries again."""
        return self.value.startswith("hold_")

    @property
    def is_final(self) -> bool:
        """False where the verdict says nothing about the page: what an earlier visit found still holds."""
        return not self.is_hold and self.value not in _SAYS_NOTHING


_SAYS_NOTHING = frozenset(
    {"unchanged", "download_failed", "http_error", "too_many_redirects"}
    | {"stage_timeout", "stage_crashed", "stage_error"}
)
"""An outage, a failure of ours, or a page as it was."""


@dataclass(slots=True, frozen=True)
class Drop:
    """One verdict against a page: which stage, which reason, and a detail a person can act on.

    `detail` is at most 512 characters, free of page text and of personal values.
    """

    stage: str
    reason: DropReason
    detail: str = ""


@dataclass(slots=True, frozen=True)
class Signal:
    """One opt-out or licence statement as it was found, whatever it says.

    protocol: "robots", "noai", "x-robots-tag", "tdmrep", "content-usage", "content-signal", "rsl", …
    carrier: where it stood: "robots.txt", "header", "meta", "well-known".
    value: the raw value, control characters escaped, at most 512 bytes.
    verdict: "allow", "disallow" or "unknown" for training.
    """

    protocol: str
    carrier: str
    value: str
    verdict: str = "unknown"


@dataclass(slots=True)
class Exchange:
    """The raw HTTP exchange behind a document, as the archive stores it. Never leaves the process that fetched it."""

    method: str
    url: str
    status: int
    request_headers: list[tuple[bytes, bytes]]
    response_headers: list[tuple[bytes, bytes]]
    body: bytes  # payload after content-decoding
    protocol: str = "HTTP/1.1"
    ip_address: str | None = None
    fetched_at: float = 0.0  # seconds since the epoch, UTC
    evidence: bytes = b""  # what policy had read before the request (crawler.policy.evidence), for the archive
    fetch: dict[str, Any] = field(default_factory=dict)  # lease, attempt and times of the fetch, for the archive
    license_tag: str | None = None
    license_tier: str | None = None  # of the allowlist entry that covers the page
    truncated: str = ""  # reason, as WARC-Truncated has it, where the body is not all of it


@dataclass(slots=True)
class Document:
    """One page on its way to the corpus. Names are those of the record (`docs/record.md`).

    The fields below "on the way" never reach a shard: they carry bytes and book-keeping between rooms.
    """

    url: str
    canonical_url: str = ""
    domain: str = ""  # registrable domain; for an IP literal or localhost: host:port
    # --- what the page says ------------------------------------------------------------------------------------------
    doc_id: str = ""  # "sha256:" + hex of the normalised text
    title: str | None = None
    description: str | None = None
    author: str | None = None
    pub_date: str | None = None  # ISO 8601 date
    canonical_link: str | None = None  # what the page names as its original (rel=canonical), within its domain
    text: str = ""
    # --- what the stages found ---------------------------------------------------------------------------------------
    language: str | None = None  # ISO 639-1
    language_score: float | None = None
    language_signals: dict[str, Any] = field(default_factory=dict)
    quality_score: float | None = None  # 0–1
    quality_signals: dict[str, Any] = field(default_factory=dict)
    word_count: int = 0
    char_count: int = 0
    token_estimate: int = 0
    license_tag: str | None = None
    license_tier: str | None = None  # "A" | "B" | None
    content_hash: str = ""  # "sha256:" + hex of the response body
    simhash: str = ""  # 16 hex digits
    extraction_yield: float | None = None  # characters out / bytes in
    extractor: str = ""
    method_used: str = "fast"  # "fast" | "js"
    pii_flag: bool = False
    pii_span_count: int = 0
    pii_entity_types: list[str] = field(default_factory=list)
    pii_spans: list[tuple[int, int, str]] = field(default_factory=list)
    safety_score: float | None = None
    dup_of: str | None = None  # canonical URL of the owner, on rejected duplicates
    dup_similarity: float | None = None
    # --- how it was fetched ------------------------------------------------------------------------------------------
    crawled_at: str = ""  # RFC 3339, UTC
    first_seen: str = ""  # RFC 3339, UTC; first fetch of this URL
    last_changed: str = ""  # RFC 3339, UTC; the fetch that brought this content first
    change_count: int = 0  # how often a visit found something else than the one before
    http_status: int = 0
    content_type: str = ""
    etag: str | None = None
    last_modified: str | None = None
    redirects: list[str] = field(default_factory=list)
    robots_status: str = ""  # "allowed", "no_rules", …: how robots.txt was read
    robots_sha256: str | None = None
    robots_fetched_at: str | None = None
    optout_signals: list[Signal] = field(default_factory=list)
    noai_checked: bool = False
    warc_file: str | None = None
    warc_record_id: str | None = None
    warc_offset: int | None = None
    crawl_id: str = ""
    worker_id: str = ""
    pipeline_version: str = ""
    config_digest: str = ""
    # --- on the way (never written) ----------------------------------------------------------------------------------
    depth: int = 0
    profile: str = ""  # quality profile its allowlist entry asks for; the one that was used is in quality_signals
    lease_token: str | None = None
    former_text: bytes = b""  # what stands for the text this URL was kept with at its last visit (`Visit.text`)
    past_text: bytes = b""  # the same, and stays when that text has been let go of
    past: bytes = b""  # what this URL was when it was kept (`Past.pack()`); empty where it never was
    verdict: Drop | None = None
    done: list[str] = field(default_factory=list)  # stages that have seen this document
    html: bytes = b""  # response body; emptied before the document leaves the worker process
    charset: str | None = None  # from the Content-Type header
    metas: list[tuple[str, str]] = field(default_factory=list)  # (lower-case name, content) of <meta name=…>
    rel_links: list[tuple[str, str, str]] = field(default_factory=list)  # (rel, type, href) of <link> in the head
    html_lang: str | None = None
    nofollow: bool = False
    links: list[str] = field(default_factory=list)  # absolute http(s) URLs of <a href>, in page order, unique
    links_too_long: int = 0  # left out of `links`: longer than a URL may be
    signature: bytes = b""  # MinHash signature, little-endian uint32
    shingle_count: int = 0
    body_bytes: int = 0  # size of the response body
    text_allowed: bool = False  # policy has seen headers and body: text may touch a disk
    timings: dict[str, float] = field(default_factory=dict)  # stage name -> CPU seconds
    tree: Any = field(default=None, repr=False, compare=False)  # parsed page; lives inside one worker process only
    exchange: Exchange | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        """Short and free of text: Scrapy logs the repr of an item when a component fails."""
        return f"<Document {self.url[:200]!r} verdict={self.verdict.reason if self.verdict else None}>"


ON_THE_WAY = frozenset(
    {
        "depth",
        "profile",
        "lease_token",
        "former_text",
        "past_text",
        "past",
        "verdict",
        "done",
        "html",
        "charset",
        "metas",
        "rel_links",
        "html_lang",
        "nofollow",
    }
    | {"links", "links_too_long", "signature", "shingle_count", "body_bytes", "text_allowed", "timings", "tree"}
    | {"exchange"}
)
RECORD_FIELDS: tuple[str, ...] = tuple(f.name for f in dataclasses.fields(Document) if f.name not in ON_THE_WAY)
"""Names of the record, in the order they are written."""
