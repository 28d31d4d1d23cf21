"""The shared vocabulary of every room: what a page is (`Document`) and why it was not kept (`Drop`).

A `Document` is made by the spider from one fetched page, filled in by the stages one after the other, and written by
the sink as one JSON line. A `Drop` is data, not an exception: it names the stage, the reason and a short detail.
This module imports the standard library only; every other room may import it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum, auto
from functools import lru_cache, partial
from typing import Any, NamedTuple, Self, TypedDict


class Weight(Enum):
    """What a verdict says about the page itself, and so what becomes of the verdict of an earlier visit."""

    FINAL = auto()  # about the page: it replaces what an earlier visit found
    SAME = auto()  # the page is as it was: what an earlier visit found still holds
    FAILED = auto()  # an outage, or a failure of ours: it says nothing, and what an earlier visit found still holds
    HOLD = auto()  # nobody knows now: the URL stays in the frontier and a later run tries again


HELD_PREFIX = "held_"
"""Begins the reasons of pages that wait for a person in `held/`."""
CUSTOM = "custom:"
"""Begins the reasons of pipelines that are not part of this project."""
_NAME = re.compile(r"(?:custom:)?[a-z][a-z0-9_]{0,47}")


@dataclass(frozen=True, eq=False, repr=False)
class Reason(str):
    """Why a URL that was seen is not in the corpus: its name in records, and all that is known of it.

    One object declares a reason; report, `docs/reasons.md` and `optout` take their words from here, and whoever
    treats some reasons alike asks for a property. A reason equals its name and crosses process boundaries.
    """

    value: str  # the name, as `is_name` has it
    meaning: str = ""  # the sentence for people
    clause: str = ""  # what `gristmill optout` answers about one URL; without one it names the reason
    _: KW_ONLY
    weight: Weight = Weight.FINAL
    group: str = ""  # the room or stage that decides so
    keeps_text: bool = False  # the record of a rejected page may carry its text
    asked: bool = True  # a request was spent on the page
    unreached: bool = False  # the host gave nothing to judge
    answer: bool = False  # the site, or whoever runs the crawl, has said no: nothing is in doubt
    denial: str = ""  # the key of its counter under `policy/denied`
    blocks: bool = False  # the server turned us away
    no_page: bool = False  # the URL leads to no page, or to one without content
    neutral: bool = False  # it says nothing of pages like it
    confirm: bool = False  # it says little about the body, which the next visit judges in full
    ends: bool = False  # a page that was kept once is no more
    measured: bool = True  # a number decided: another threshold might decide otherwise

    def __new__(cls, value: str, *_: object, **__: object) -> Self:
        """Declare a reason; `Reason.of` finds one by its name."""
        return super().__new__(cls, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (vars(self),)

    @classmethod
    def of(cls, name: str) -> Reason:
        """The reason of this name. One that no part of this installation declares is final, or a hold by its name."""
        return _KNOWN.get(name) or _unknown(name)

    @classmethod
    def custom(cls, name: str) -> Reason:
        """The verdict of a user's own pipeline. name: as `is_name` has it, without `custom:`."""
        return cls.of(f"{CUSTOM}{name}")

    @staticmethod
    def is_name(text: object) -> bool:
        """True for lower-case letters, digits and _, up to 48, after `custom:` where it is a user's own."""
        return isinstance(text, str) and _NAME.fullmatch(text) is not None

    @staticmethod
    def known() -> tuple[Reason, ...]:
        """Every declared reason: ours in the order of a page's way, then those of other packages."""
        return tuple(_KNOWN.values())

    @staticmethod
    def holds(name: object) -> bool:
        """True where a record's `reason` (None: kept) says that its URL waits; also for one of a later version."""
        return isinstance(name, str) and Reason.of(name).is_hold

    @property
    def is_hold(self) -> bool:
        """True where the URL stays in the frontier and a later run tries again."""
        return self.weight is Weight.HOLD

    @property
    def is_final(self) -> bool:
        """False where the verdict says nothing about the page: what an earlier visit found still holds."""
        return self.weight is Weight.FINAL

    @property
    def is_duplicate(self) -> bool:
        """True for the last verdicts there are: the page has passed every stage, and can take the kept one's place."""
        return self.group == "duplicate"

    @property
    def is_failure(self) -> bool:
        """True for an outage or a failure of ours."""
        return self.weight is Weight.FAILED


del Reason.__dataclass_fields__  # a reason is a word: for `asdict` it is no object to take apart
_KNOWN: dict[str, Reason] = {}


def register(reasons: Iterable[Reason]) -> list[str]:
    """Make the reasons of a declared part known in this process; answers what is wrong with some, a sentence each."""
    problems = []
    for reason in reasons:
        if not Reason.is_name(reason) or reason.startswith(CUSTOM) or Reason.holds(reason.value):
            problems.append(f"{reason!r} is not a name of a reason: lower-case letters, digits, _, no hold_ before it")
        elif reason in _KNOWN and vars(_KNOWN[reason]) != vars(reason):
            problems.append(f"the reason {reason} is declared already; give it another name")
        else:
            _KNOWN.setdefault(reason, reason)
    return problems


_CUSTOM_MEANING = (
    "A pipeline that is not part of this project raised Scrapy's `DropItem`; the name is the exception's `reason` or "
    "the pipeline's class, the detail its message."
)


@lru_cache(maxsize=256)  # names of files can come from anybody
def _unknown(name: str) -> Reason:
    if name.startswith(CUSTOM):
        return Reason(name, _CUSTOM_MEANING, group="custom", keeps_text=True)
    return Reason(name, weight=Weight.HOLD if name.startswith("hold_") else Weight.FINAL)


def _restored(facts: dict[str, Any]) -> Reason:
    return _KNOWN.get(facts["value"]) or Reason(**facts)


_frontier = partial(Reason, group="frontier")
_policy = partial(Reason, group="policy")
_fetch = partial(Reason, group="fetch")
_text = partial(Reason, group="extraction")
_failure = partial(Reason, group="failure", weight=Weight.FAILED)
_language = partial(Reason, group="language", keeps_text=True)
_quality = partial(Reason, group="quality", keeps_text=True)
_words = partial(Reason, group="quality", keeps_text=True, measured=False)
_duplicate = partial(Reason, group="duplicate", keeps_text=True)


class DropReason:
    """The reasons of this project, in the order of a page's way; those of the quality stage as datatrove names them."""

    # --- frontier: which URL next? -----------------------------------------------------------------------------------
    OFF_SCOPE = _frontier(
        "off_scope", "A redirect left the seeds or the allowlist.", "it redirects to something that is not a URL"
    )
    REDIRECTED = _frontier(
        "redirected",
        "The URL only points to another URL (a redirect, or a page with a refresh), which has its own entry.",
        neutral=True,
    )
    TOO_MANY_REDIRECTS = _frontier(
        "too_many_redirects",
        "The chain of redirects is longer than REDIRECT_MAX_TIMES.",
        "it redirects too often",
        weight=Weight.FAILED,
    )
    HOLD_BARREN = _frontier(
        "hold_barren",
        "Links of this kind are parked, because pages like them brought nothing new (FRONTIER_BARREN_PAGES). One "
        "record represents all of its kind; `gristmill frontier requeue parked` brings them back.",
        weight=Weight.HOLD,
    )
    # --- policy: may we? ---------------------------------------------------------------------------------------------
    ROBOTS_DISALLOWED = _policy(
        "robots_disallowed",
        "robots.txt disallows the URL (RFC 9309), or its server denied access to robots.txt.",
        asked=False,
        answer=True,
        denial="robots",
    )
    OPTOUT = _policy(
        "optout",
        "An AI opt-out signal says no; the detail names the protocol and its place.",
        answer=True,
        confirm=True,
    )
    ACCESS_DENIED = _policy(
        "access_denied",
        "The server answered 401, 402, 403 or 451: a denial is an answer.",
        "the server denies access, and a denial is never worked around",
        answer=True,
        denial="http",
        blocks=True,
    )
    NETWORK_FORBIDDEN = _policy(
        "network_forbidden",
        "The network guard refuses the address, port or scheme.",
        "the network guard refuses this address",
        asked=False,
        unreached=True,
        denial="network",
        neutral=True,
    )
    LICENCE_EXPIRED = _policy(
        "licence_expired",
        "The allowlist entry of the domain is past its date.",
        "the allowlist no longer grants it",
        answer=True,
        neutral=True,
    )
    WITHDRAWN = _policy(
        "withdrawn",
        "The page, its domain, licence or text was withdrawn from this corpus (`gristmill dataset exclude`). "
        "A withdrawn address is not requested.",
        "it was withdrawn, and is not requested again",
        asked=False,
        answer=True,
    )
    HOLD_ROBOTS_UNREACHABLE = _policy(
        "hold_robots_unreachable",
        "robots.txt cannot be fetched. Doubt means no, for now: a later run tries again.",
        "robots.txt cannot be read, so nothing of this host is fetched for now",
        weight=Weight.HOLD,
        unreached=True,
    )
    HOLD_CERTIFICATE = _policy(
        "hold_certificate",
        "The certificate of the host is not accepted; the detail says why. A later run tries again; a domain in "
        "`CERTIFICATE_EXCEPTIONS` is not verified.",
        "its certificate cannot be verified, so nothing of this host is fetched for now",
        weight=Weight.HOLD,
        unreached=True,
    )
    HOLD_RATE_LIMITED = _policy(
        "hold_rate_limited",
        "The server asked to wait (429 or 503) beyond the end of this run: a later run tries again.",
        "the server asks to wait",
        weight=Weight.HOLD,
        unreached=True,
        blocks=True,
    )
    HOLD_CONTROL_FILE = _policy(
        "hold_control_file",
        "An opt-out file cannot be read: a later run tries again.",
        "a file that may hold an opt-out cannot be read, so nothing is fetched for now",
        weight=Weight.HOLD,
    )
    HOLD_PAUSED = _policy(
        "hold_paused",
        "Its domain was paused by hand (`gristmill frontier pause --domain`) until it is resumed.",
        weight=Weight.HOLD,
    )
    HOLD_NO_CONTACT = _policy(
        "hold_no_contact",
        "Its address is not on this machine, and CRAWLER_CONTACT is not set: a later run with a contact requests it.",
        "nothing outside this machine is asked while CRAWLER_CONTACT is not set",
        weight=Weight.HOLD,
        asked=False,
        unreached=True,
    )
    HOLD_NO_ANSWER = _policy(
        "hold_no_answer",
        "Its host failed for several URLs in a row and is left alone: a later run tries again.",
        "the host does not answer and is left alone for now",
        weight=Weight.HOLD,
        unreached=True,
        blocks=True,
    )
    HOLD_HOURS = _policy(
        "hold_hours",
        "Its domain may not be crawled at this time of the day (`hours` of the allowlist): a later run tries again.",
        "the allowlist lets this domain be crawled at other hours only",
        weight=Weight.HOLD,
    )
    # --- fetch -------------------------------------------------------------------------------------------------------
    GONE = _fetch(
        "gone",
        "404 or 410, or the page's own unavailable_after date has passed.",
        "the page is gone",
        answer=True,
        no_page=True,
        confirm=True,
        ends=True,
    )
    HTTP_ERROR = _fetch(
        "http_error",
        "Any other status that is not 2xx, after the last try.",
        "the server answered with an error",
        weight=Weight.FAILED,
        unreached=True,
        no_page=True,
    )
    DOWNLOAD_FAILED = _fetch(
        "download_failed",
        "Network, TLS or time-out, after the last try.",
        "the page could not be fetched",
        weight=Weight.FAILED,
        unreached=True,
    )
    TOO_LARGE = _fetch(
        "too_large",
        "The body is larger than DOWNLOAD_MAXSIZE (a document: DOCUMENT_MAXSIZE), before or after decompression, or a "
        "document has more pages than DOCUMENT_MAX_PAGES.",
        "the page is too large",
    )
    NOT_TEXT = _fetch(
        "not_text", "A content type that the stages do not read here.", "the answer is not text", answer=True
    )
    BROKEN_RECORD = _fetch(
        "broken_record",
        "Replay: the archive cannot be read there; the detail says why, warc_file and warc_offset where.",
    )
    UNCHANGED = _fetch(
        "unchanged", "The page is as it was in an earlier run (304 or the same content hash).", weight=Weight.SAME
    )
    MOVED = Reason(
        "moved",
        "A page that was kept redirects to its site's root, its section, or where many others redirect to.",
        group="recrawl",
        ends=True,
    )
    DECAYED = Reason(
        "decayed",
        "A page that was kept is far worse than it was: little text left, low quality, a wall.",
        group="recrawl",
        ends=True,
        keeps_text=True,
    )
    # --- parsing and extraction --------------------------------------------------------------------------------------
    HOSTILE_HTML = _text(
        "hostile_html",
        "A tag too large, too many attributes, or nesting too deep to be a page for people.",
        "the HTML is not meant for people",
    )
    UNDECODABLE = _text("undecodable", "No character set reads the bytes.", "the bytes cannot be read as text")
    NO_TEXT = _text("no_text", "Extraction found no main text.", no_page=True)
    TOO_SHORT = _text(
        "too_short", "Fewer words than EXTRACTION_MIN_WORDS, or no more beside a list of persons.", no_page=True
    )
    ENCRYPTED = _text("encrypted", "A document that opens with a password only.", "it opens with a password only")
    NEEDS_OCR = _text(
        "needs_ocr",
        "A document whose pages are pictures of text: it is in the archive, and its text has to be recognised.",
        "its pages are pictures of text",
    )
    GARBLED = _text(
        "garbled",
        "A document whose fonts do not say which letters they draw: what can be read of it is not its text.",
        "its fonts do not say which letters they draw",
    )
    BROKEN_DOCUMENT = _text(
        "broken_document", "A file that is not what it says it is, or is damaged.", "the file is damaged"
    )
    TRUNCATED = _failure(
        "truncated", "A document whose end is missing; a later run tries again.", "the end of the file is missing"
    )
    DOCUMENT_MEMORY = _failure("document_memory", "Reading the document takes more memory than a document may take.")
    DOCUMENT_CPU = _failure(
        "document_cpu",
        "Reading the document takes more CPU time than STAGE_TIMEOUT_SECONDS, or hung for five times as long.",
    )
    DOCUMENT_CRASH = _failure("document_crash", "The process that reads a document died on it.")
    HELD_YIELD = _text(
        "held_yield",
        "Pages of this shape suddenly give under YIELD_MIN_SHARE of what they gave and say the same, as does this one.",
        confirm=True,
    )
    YIELD_CONFIRMED = _text("yield_confirmed", "A person found that the held page says nothing of its own.")
    STAGE_TIMEOUT = _failure(
        "stage_timeout", "The stages used more CPU time than STAGE_TIMEOUT_SECONDS, or hung for ten times as long."
    )
    STAGE_CRASHED = _failure("stage_crashed", "The worker process died on this document.")
    STAGE_ERROR = _failure(
        "stage_error", "An exception in a stage, pipeline or callback: a mistake of this project, recorded."
    )
    BROWSER_TIMEOUT = _failure(
        "browser_timeout",
        "The page needs a browser, and used more time there than BROWSER_TIMEOUT_SECONDS or BROWSER_CPU_SECONDS.",
    )
    BROWSER_CRASHED = _failure(
        "browser_crashed", "The page needs a browser, and its process ended: by itself, or beyond BROWSER_MEMORY_MB."
    )
    BROWSER_INCOMPLETE = _failure(
        "browser_incomplete",
        "The page shows next to no text in the browser, and data that its scripts asked for did not come.",
    )
    NEEDS_BROWSER = _failure(
        "needs_browser", "Only a browser could read the page, and this worker has none that starts."
    )
    CONSENT_WALL = _text(
        "consent_wall",
        "The page shows only a request for consent, which the crawler does not accept, and no text underneath.",
        "it asks for consent before it shows its text",
    )
    # --- language ----------------------------------------------------------------------------------------------------
    LANGUAGE_UNKNOWN = _language("language_unknown", "Too little text, or no identifier has an answer.")
    LANGUAGE_NOT_WANTED = _language("language_not_wanted", "A language that is not in LANGUAGES.")
    LANGUAGE_LOW_SCORE = _language("language_low_score", "The identifiers are less sure than LANGUAGE_MIN_SCORE.")
    # --- quality: names as in datatrove where it has one -------------------------------------------------------------
    UNLIKE_TEXT = _quality(
        "unlike_text",
        "No rule fails it, but it is near a limit, and all of its numbers together say that it is no text.",
    )
    LOW_QUALITY = _quality("low_quality", "quality_score is below QUALITY_MIN_SCORE.")
    NOT_OF_PROFILE = _words(
        "not_of_profile", "The text lacks what its quality profile requires; the detail names it.", keeps_text=False
    )
    PLACEHOLDER = _words("placeholder", "The text of a page that has no content yet.", no_page=True)
    SOFT_404 = _words("soft_404", "A page that says it does not exist, with status 200.")
    LOGIN_WALL = _words("login_wall", "A page that asks to log in or to subscribe instead of showing its text.")
    FORM_PAGE = _words(
        "form_page",
        "A form with its explanations: to log in, sign up, reset a password, or write to somebody.",
    )
    INDEX_PAGE = _words("index_page", "A home page, a section, boards or results: links and teasers.")
    ERROR_PAGE = _words("error_page", "A server's error or a gate for robots, with status 200.")
    GOPHER_SHORT_DOC = _quality("gopher_short_doc", "Gopher: too few words.", no_page=True)
    GOPHER_LONG_DOC = _quality("gopher_long_doc", "Gopher: too many words.")
    GOPHER_BELOW_AVG_THRESHOLD = _quality("gopher_below_avg_threshold", "Gopher: words are too short on average.")
    GOPHER_ABOVE_AVG_THRESHOLD = _quality("gopher_above_avg_threshold", "Gopher: words are too long on average.")
    GOPHER_TOO_MANY_HASHES = _quality("gopher_too_many_hashes", "Gopher: too many # for the number of words.")
    GOPHER_TOO_MANY_ELLIPSIS = _quality(
        "gopher_too_many_ellipsis", "Gopher: too many ellipses for the number of words."
    )
    GOPHER_TOO_MANY_BULLETS = _quality("gopher_too_many_bullets", "Gopher: too many lines start with a bullet.")
    GOPHER_TOO_MANY_END_ELLIPSIS = _quality(
        "gopher_too_many_end_ellipsis", "Gopher: too many lines end with an ellipsis."
    )
    GOPHER_BELOW_ALPHA_THRESHOLD = _quality("gopher_below_alpha_threshold", "Gopher: too few words contain a letter.")
    GOPHER_ENOUGH_STOP_WORDS = _quality("gopher_enough_stop_words", "Gopher: too few stop words for running text.")
    DUP_LINE_FRAC = _quality("dup_line_frac", "Gopher repetition: too many lines are repeated.")
    DUP_PARA_FRAC = _quality("dup_para_frac", "Gopher repetition: too many paragraphs are repeated.")
    DUP_LINE_CHAR_FRAC = _quality(
        "dup_line_char_frac", "Gopher repetition: repeated lines hold too many of the characters."
    )
    DUP_PARA_CHAR_FRAC = _quality(
        "dup_para_char_frac", "Gopher repetition: repeated paragraphs hold too many of the characters."
    )
    TOP_N_GRAM = _quality(
        "top_n_gram", "Gopher repetition: the most frequent n-gram holds too many of the characters; the detail has n."
    )
    DUP_N_GRAM = _quality(
        "dup_n_gram", "Gopher repetition: repeated n-grams hold too many of the characters; the detail has n."
    )
    C4_LOREM_IPSUM = _words("c4_lorem_ipsum", "C4: contains lorem ipsum.")
    C4_CURLY_BRACKET = _words("c4_curly_bracket", "C4: contains a curly bracket.")
    C4_TOO_FEW_SENTENCES = _quality("c4_too_few_sentences", "C4: too few sentences.")
    C4_TOO_FEW_PARAGRAPHS = _quality("c4_too_few_paragraphs", "mC4: too few long lines.")
    FINEWEB_EMPTY = _words("fineweb_empty", "FineWeb: no lines.")
    FINEWEB_LINE_PUNCT_RATIO = _quality("fineweb_line_punct_ratio", "FineWeb: too few lines end with punctuation.")
    FINEWEB_SHORT_LINE_RATIO = _quality("fineweb_short_line_ratio", "FineWeb: too many short lines.")
    FINEWEB_CHAR_DUP_RATIO = _quality(
        "fineweb_char_dup_ratio", "FineWeb: duplicated lines hold too many of the characters."
    )
    FINEWEB_LIST_RATIO = _quality("fineweb_list_ratio", "FineWeb: too many line breaks for the number of words.")
    REFINEDWEB_LINES = _quality(
        "refinedweb_lines", "RefinedWeb: too much of the page consists of lines that look like navigation."
    )
    # --- personal data and duplicates --------------------------------------------------------------------------------
    HELD_PII = Reason(
        "held_pii",
        "No model of PII_MODELS finds names in the page's language, and it may be about a person (PII_UNCOVERED).",
        group="pii",
    )
    PII_CONFIRMED = Reason("pii_confirmed", "A person found that the held page is about somebody.", group="pii")
    CONTAMINATED = Reason(
        "contaminated",
        "Repeats a passage of an evaluation set (EVAL_SETS); the detail names the set and the place.",
        group="contamination",
    )
    LOW_CLASSIFIER_SCORE = Reason(
        "low_classifier_score",
        "A classifier of CLASSIFIERS scores the text below its threshold, and its card says drop.",
        group="classify",
        keeps_text=True,
    )
    HIGH_CLASSIFIER_SCORE = Reason(
        "high_classifier_score",
        "A classifier of CLASSIFIERS scores the text at its threshold or above, and its card says drop such texts.",
        group="classify",
        keeps_text=True,
    )
    HELD_CLASSIFIER = Reason(
        "held_classifier",
        "A classifier of CLASSIFIERS scores the text on the wrong side of its threshold, and its card says hold.",
        group="classify",
    )
    HELD_SAFETY = Reason(
        "held_safety",
        "Words of a list that CLASSIFIERS names make up too much of the text; the detail names category and terms.",
        group="classify",
    )
    SAFETY_CONFIRMED = Reason(
        "safety_confirmed", "A person found that the held page is what its words say.", group="classify"
    )
    CLASSIFIER_CONFIRMED = Reason(
        "classifier_confirmed", "A person found that the classifier was right about the held page.", group="classify"
    )
    EXACT_DUPLICATE = _duplicate(
        "exact_duplicate", "The same normalised text is in the corpus already; dup_of names its page."
    )
    NEAR_DUPLICATE = _duplicate(
        "near_duplicate",
        "Almost the same text is in the corpus already; dup_of and dup_similarity say which and how close.",
    )
    EDITED_COPY = Reason(
        "edited_copy",
        "A better text has nearly the same words in another order (`gristmill dataset semantic`); dup_of names it.",
        group="semantic",
        neutral=True,
    )


_KNOWN |= {reason.value: reason for reason in vars(DropReason).values() if isinstance(reason, Reason)}


@dataclass(slots=True, frozen=True)
class Drop:
    """One verdict against a page: which stage, which reason, and a detail a person can act on.

    `detail` is at most 512 characters, free of page text and of personal values.
    """

    stage: str
    reason: Reason
    detail: str = ""


class LanguageShare(TypedDict):
    """How much of a text is in one language: its code as in `language`, and the share of the samples, 0–1."""

    language: str
    share: float


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


@dataclass(slots=True, frozen=True)
class ControlFile:
    """A file of the host that says what may be done with its pages, beside robots.txt, as it was read for a page.

    url: where it lies. protocol: as of a `Signal`. sha256: of its bytes. fetched_at: RFC 3339, UTC, of these bytes.
    """

    url: str
    protocol: str
    sha256: str
    fetched_at: str


@dataclass(slots=True, frozen=True)
class CodeBlock:
    """A listing of the text: its language as GitHub Linguist names it, in lower case, "" where the page names none.

    chars: characters that it takes in the text, line breaks within it included.
    """

    language: str
    chars: int


class Refresh(NamedTuple):
    """Where a page leads by itself after so many seconds: an absolute http(s) URL, empty where it renews itself.

    `for_all` is False where only a browser without scripts reads it (`<noscript>`).
    """

    seconds: float
    url: str
    for_all: bool = True


@dataclass(slots=True)
class Capture:
    """JSON that a page in the browser has fetched for its own content, and that the allowlist names (`js_capture`).

    body: free of content coding. signals: every opt-out statement about its URL, of robots.txt, files and headers.
    exchange: as the archive stores it; stays in the process that fetched it.
    """

    url: str
    body: bytes
    signals: list[Signal] = field(default_factory=list)
    exchange: Exchange | None = None


@dataclass(slots=True)
class Rendering:
    """What a browser made of a page.

    dom: the document as it stood in the end, HTML in UTF-8; empty where there is none.
    facts: how it went, JSON values: `requests`, `refused` by reason, `scrolls`, `settled`, `moved_to` (where a script
    wanted to lead), `renamed` (the document's URL, where a script changed it), `captured` (how many), `failed` (reason
    and detail where nothing came of it).
    captures: JSON that the page has fetched, in the order in which it came.
    """

    dom: bytes = b""
    facts: dict[str, Any] = field(default_factory=dict)
    captures: list[Capture] = field(default_factory=list)


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
    license_reviewer: str | None = None
    license_reviewed: str | None = None
    rendering: Rendering | None = None  # what a browser made of the body
    truncated: str = ""  # reason, as WARC-Truncated has it, where the body is not all of it


Span = tuple[int, int, str]
"""A passage of a text: where it starts and ends (code points, the end not included), and what it is called."""

SPEAKERS = ("post", "comment")
"""Whose words: an entry of a thread; what a reader wrote below somebody's page."""
ROLES = ("quotation", "footnote", "boilerplate")
"""What for: somebody's words again; a note on a passage; what stands on every page of the site."""
FORMS = ("heading", "paragraph", "list", "table", "code", "caption", "user")
"""In which form. Every line of a text is one of these. `user`: name, role, date of who wrote a post or a comment."""
LEVELS = (SPEAKERS, ROLES, FORMS)
"""Parts of one level do not overlap; one of a later level lies within one of an earlier level, or outside all of it."""

SPAN_FIELDS = ("parts", "pii_spans", "legal_spans")
"""Fields that say where something stands in `text`."""
SECTIONED = ("part", "chapter", "section", "article", "heading", "paragraph")
"""What a numbered heading of a legal document begins; two of them do not overlap, or one lies within the other."""
CITED = ("ecli", "celex", "neutral", "reporter", "decision", "act", "statute")
"""How a decision or a norm is cited: by a European identifier, a court's own number, a reporter, court and date; an
enactment as a whole, and a norm in it."""
STATED = ("court", "docket", "date", "validity")
"""What the head of a legal document says of it."""
WHOLE = frozenset((*CITED, *STATED))
"""Spans that say nothing once a part of them was edited: they go, where another one moves."""


@dataclass(slots=True)
class Columns:
    """What is written of a page: every field here, and no other, is a column of the record (`docs/record.md`)."""

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
    comments: str = ""  # what readers wrote below the text, an empty line between two (COMMENTS=separate)
    parts: list[Span] = field(default_factory=list)  # of `text`: `LEVELS`, by start, the longer first
    # --- what the stages found ---------------------------------------------------------------------------------------
    language: str | None = None  # ISO 639-1, 639-3 where it has none; "und": none that the identifiers know
    language_script: str | None = None  # ISO 15924, "Hans" and "Hant" told apart
    language_score: float | None = None
    languages: list[LanguageShare] = field(default_factory=list)  # of a page in several: the greatest share first
    language_signals: dict[str, Any] = field(default_factory=dict)
    quality_score: float | None = None  # 0–1
    quality_signals: dict[str, Any] = field(default_factory=dict)
    classifier_scores: dict[str, float] = field(default_factory=dict)  # of CLASSIFIERS, by name, 0–1
    legal_jurisdiction: str | None = None  # "us", "us-ca", "eu", …: what profiles legal and law read from the form
    legal_document_type: str | None = None  # opinion, order, statute, regulation
    legal_court: str | None = None
    legal_court_level: str | None = None  # supreme, appellate, trial
    legal_decision_date: str | None = None  # ISO 8601 date
    legal_citations: list[str] = field(default_factory=list)  # without parties, each once, as `legal_spans` has them
    legal_dockets: list[str] = field(default_factory=list)  # numbers of the case, the same
    legal_parties: list[str] = field(default_factory=list)  # roles, no names: claimant, defendant, appellant, …
    legal_validity: str | None = None  # "in_force", "repealed"; since when behind ":", ISO 8601 date
    legal_spans: list[Span] = field(default_factory=list)  # of `text`: `SECTIONED`, `CITED`, `STATED`, as `parts`
    word_count: int = 0
    char_count: int = 0
    token_estimate: int = 0
    short: bool = False  # under 100 words
    license_tag: str | None = None
    license_tier: str | None = None  # "A" | "B" | None
    license_reviewer: str | None = None  # who looked at the licence, as the allowlist says
    license_reviewed: str | None = None  # ISO 8601 date of that review
    content_hash: str = ""  # "sha256:" + hex of the response body
    extraction_yield: float | None = None  # characters out / bytes in
    extractor: str = ""
    document_kind: str | None = None  # "html", "text", "pdf", "docx", "pptx", "epub", "mail", "markdown", "rst", …
    page_count: int | None = None  # of a document that has pages
    extraction_confidence: float | None = None  # F1 that the learned extractor expects of its text, 0–1
    page_type: str | None = None  # "article", "forum", …, as the learned extractor reads the page
    page_type_score: float | None = None  # its probability, 0–1
    code_languages: list[str] = field(default_factory=list)  # that the page names for the code in the text
    code_blocks: list[CodeBlock] = field(default_factory=list)  # each listing in the text, in its order
    method_used: str | None = (
        None  # "fast": as it was sent; "embedded": its data; "js": drawn; "captured": what it fetched; "api"
    )
    render_signals: dict[str, Any] = field(default_factory=dict)  # "shell": its features; "browser": how rendering went
    pii_flag: bool = False
    pii_span_count: int = 0
    pii_entity_types: list[str] = field(default_factory=list)
    pii_spans: list[Span] = field(default_factory=list)
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
    control_files: list[ControlFile] = field(default_factory=list)  # that were there, beside robots.txt
    optout_signals: list[Signal] = field(default_factory=list)
    noai_checked: bool = False
    warc_file: str | None = None
    warc_record_id: str | None = None
    warc_offset: int | None = None
    crawl_id: str = ""
    worker_id: str = ""
    pipeline_version: str = ""
    config_digest: str = ""


@dataclass(slots=True)
class Document(Columns):
    """One page on its way to the corpus: the columns of its record, and what the rooms hand on about it.

    The fields here never reach a shard: they carry bytes and book-keeping from room to room.
    """

    depth: int = 0
    unwanted: list[str] = field(default_factory=list)  # names in classifier_scores of what is not wanted
    profile: str = ""  # quality profile its allowlist entry asks for; the one that was used is in quality_signals
    choices: dict[str, str] = field(default_factory=dict)  # what its allowlist entry asks of the extraction
    fields: dict[str, str] = field(default_factory=dict)  # of a record of a JSON source: where each stands
    lease_token: str | None = None
    former_text: bytes = b""  # what stands for the text this URL was kept with at its last visit (`Visit.text`)
    past_text: bytes = b""  # the same, also after that text was released
    past: bytes = b""  # what this URL was when it was kept (`Past.pack()`); empty where it never was
    verdict: Drop | None = None
    hold: Drop | None = None  # why the page waits for a person instead of being kept; a verdict counts before it
    extra: dict[str, Any] = field(default_factory=dict)  # columns that stages of other packages declare, by name
    done: list[str] = field(default_factory=list)  # stages that have seen this document
    html: bytes = b""  # response body; emptied before the document leaves the worker process
    charset: str | None = None  # from the Content-Type header
    metas: list[tuple[str, str]] = field(default_factory=list)  # (lower-case name, content) of <meta name=…>
    rel_links: list[tuple[str, str, str]] = field(default_factory=list)  # (rel, type, href) of <link> in the head
    html_lang: str | None = None
    nofollow: bool = False
    links: list[str] = field(default_factory=list)  # absolute http(s) URLs of <a href>, in page order, unique
    link_marks: bytes = b""  # of each of `links` from 0 (in the main text) to 9: where it stood; may be absent
    link_spellings: dict[str, str] = field(default_factory=dict)  # of `links` by name, where it was found otherwise
    feeds: list[str] = field(default_factory=list)  # that the page names (<link rel=alternate>), absolute URLs
    links_beyond: int = 0  # of the page, left out of `links`: more than PARSE_MAX_LINKS
    refresh: Refresh | None = None  # where the page leads by itself (`Refresh` header, <meta http-equiv=refresh>)
    drawn_url: str = ""  # of a page that a browser has drawn and a script has renamed: what its links stand on
    links_too_long: int = 0  # left out of `links`: longer than a URL may be
    consent_words: int = 0  # of a request for consent that is all the page shows
    embedded: tuple[str, str] | None = None  # text that the page's own data hold, and where it stood
    captured: str = ""  # running text of the JSON that the page fetched in the browser
    signature: bytes = b""  # MinHash signature, little-endian uint32
    shingle_count: int = 0
    body_bytes: int = 0  # size of the response body
    text_allowed: bool = False  # policy has seen headers and body: text may touch a disk
    timings: dict[str, float] = field(default_factory=dict)  # stage name -> CPU seconds
    tree: Any = field(default=None, repr=False, compare=False)  # parsed page; lives inside one worker process only
    rendering: Rendering | None = field(default=None, repr=False, compare=False)  # until the stages have judged it
    exchange: Exchange | None = field(default=None, repr=False, compare=False)

    def become(self, other: Document) -> None:
        """Take over all that another process, or a copy, has found out: whoever holds this document sees it."""
        for one in dataclasses.fields(self):
            setattr(self, one.name, getattr(other, one.name))

    def forget_text(self) -> None:
        """Nothing of the main text stays, nor what was said of its places, nor what repeats it."""
        self.text, self.comments, self.parts, self.pii_spans, self.legal_spans = "", "", [], [], []
        self.legal_citations, self.legal_dockets, self.legal_court, self.legal_decision_date = [], [], None, None

    def __repr__(self) -> str:
        """Short and free of text: Scrapy logs the repr of an item when a component fails."""
        return f"<Document {self.url[:200]!r} verdict={self.verdict.reason if self.verdict else None}>"


RECORD_FIELDS: tuple[str, ...] = tuple(f.name for f in dataclasses.fields(Columns))
"""Names of the record, in the order they are written."""
