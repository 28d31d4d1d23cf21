"""What every `DropReason` means, in one sentence for people: the source of `docs/reasons.md` and of the report."""

from __future__ import annotations

from crawler.document import DropReason

R = DropReason

MEANING: dict[DropReason, str] = {
    R.OFF_SCOPE: "A redirect left the seeds or the allowlist.",
    R.REDIRECTED: "The URL only points to another URL, which has its own entry.",
    R.TOO_MANY_REDIRECTS: "The chain of redirects is longer than REDIRECT_MAX_TIMES.",
    R.ROBOTS_DISALLOWED: "robots.txt disallows the URL (RFC 9309), or its server denied access to robots.txt.",
    R.OPTOUT: "An AI opt-out signal says no; the detail names the protocol and where it stood.",
    R.ACCESS_DENIED: "The server answered 401, 402, 403 or 451: a denial is an answer.",
    R.NETWORK_FORBIDDEN: "The network guard refuses the address, port or scheme.",
    R.LICENCE_EXPIRED: "The allowlist entry of the domain is past its date.",
    R.WITHDRAWN: "The domain was withdrawn from this corpus (`scrapy dataset exclude`) and is not asked again.",
    R.HOLD_ROBOTS_UNREACHABLE: "robots.txt cannot be fetched. Doubt means no, for now: a later run tries again.",
    R.HOLD_RATE_LIMITED: "The server asked to wait (429 or 503) beyond the end of this run: a later run tries again.",
    R.HOLD_CONTROL_FILE: "An opt-out file cannot be read: a later run tries again.",
    R.HOLD_PAUSED: "Its domain was paused by hand (`scrapy frontier pause --domain`) until it is resumed.",
    R.GONE: "404 or 410, or the page's own unavailable_after date has passed.",
    R.HTTP_ERROR: "Any other status that is not 2xx, after the last try.",
    R.DOWNLOAD_FAILED: "Network, TLS or time-out, after the last try.",
    R.TOO_LARGE: "The body is larger than DOWNLOAD_MAXSIZE, before or after decompression.",
    R.NOT_TEXT: "A content type that the stages do not read.",
    R.BROKEN_RECORD: "Replay: the archive cannot be read there; the detail says why, warc_file and warc_offset where.",
    R.UNCHANGED: "The page is as it was in an earlier run (304 or the same content hash).",
    R.MOVED: "A page that was kept redirects to its site's root, its section, or where many others redirect to.",
    R.DECAYED: "A page that was kept is far below what it was: little text left, low quality, a wall.",
    R.HOSTILE_HTML: "A tag too large, too many attributes, or nesting too deep to be a page for people.",
    R.UNDECODABLE: "No character set reads the bytes.",
    R.NO_TEXT: "Extraction found no main text.",
    R.TOO_SHORT: "Fewer words than EXTRACTION_MIN_WORDS.",
    R.YIELD_QUARANTINE: "The domain gives under YIELD_MIN_SHARE of the text it used to, and so does the page.",
    R.STAGE_TIMEOUT: "The stages used more CPU time than STAGE_TIMEOUT_SECONDS, or hung for ten times as long.",
    R.STAGE_CRASHED: "The worker process died on this document.",
    R.STAGE_ERROR: "An exception in a stage, pipeline or callback: a mistake of this project, recorded.",
    R.LANGUAGE_UNKNOWN: "Too little text, or no identifier has an answer.",
    R.LANGUAGE_NOT_WANTED: "A language that is not in LANGUAGES.",
    R.LANGUAGE_LOW_SCORE: "The identifiers are less sure than LANGUAGE_MIN_SCORE.",
    R.LOW_QUALITY: "quality_score is below QUALITY_MIN_SCORE.",
    R.PLACEHOLDER: "The text of a page that has no content yet.",
    R.SOFT_404: "A page that says it does not exist, with status 200.",
    R.LOGIN_WALL: "A page that asks to log in or to subscribe instead of showing its text.",
    R.ERROR_PAGE: "A server's error or a gate for robots, with status 200.",
    R.GOPHER_SHORT_DOC: "Gopher: too few words.",
    R.GOPHER_LONG_DOC: "Gopher: too many words.",
    R.GOPHER_BELOW_AVG_THRESHOLD: "Gopher: words are too short on average.",
    R.GOPHER_ABOVE_AVG_THRESHOLD: "Gopher: words are too long on average.",
    R.GOPHER_TOO_MANY_HASHES: "Gopher: too many # for the number of words.",
    R.GOPHER_TOO_MANY_ELLIPSIS: "Gopher: too many ellipses for the number of words.",
    R.GOPHER_TOO_MANY_BULLETS: "Gopher: too many lines start with a bullet.",
    R.GOPHER_TOO_MANY_END_ELLIPSIS: "Gopher: too many lines end with an ellipsis.",
    R.GOPHER_BELOW_ALPHA_THRESHOLD: "Gopher: too few words contain a letter.",
    R.GOPHER_ENOUGH_STOP_WORDS: "Gopher: too few stop words for running text.",
    R.DUP_LINE_FRAC: "Gopher repetition: too many lines are repeated.",
    R.DUP_PARA_FRAC: "Gopher repetition: too many paragraphs are repeated.",
    R.DUP_LINE_CHAR_FRAC: "Gopher repetition: repeated lines hold too many of the characters.",
    R.DUP_PARA_CHAR_FRAC: "Gopher repetition: repeated paragraphs hold too many of the characters.",
    R.TOP_N_GRAM: "Gopher repetition: the most frequent n-gram holds too many of the characters; the detail has n.",
    R.DUP_N_GRAM: "Gopher repetition: repeated n-grams hold too many of the characters; the detail has n.",
    R.C4_LOREM_IPSUM: "C4: contains lorem ipsum.",
    R.C4_CURLY_BRACKET: "C4: contains a curly bracket.",
    R.C4_TOO_FEW_SENTENCES: "C4: too few sentences.",
    R.C4_TOO_FEW_PARAGRAPHS: "mC4: too few long lines.",
    R.FINEWEB_EMPTY: "FineWeb: no lines.",
    R.FINEWEB_LINE_PUNCT_RATIO: "FineWeb: too few lines end with punctuation.",
    R.FINEWEB_SHORT_LINE_RATIO: "FineWeb: too many short lines.",
    R.FINEWEB_CHAR_DUP_RATIO: "FineWeb: duplicated lines hold too many of the characters.",
    R.FINEWEB_LIST_RATIO: "FineWeb: too many line breaks for the number of words.",
    R.REFINEDWEB_LINES: "RefinedWeb: too much of the page consists of lines that look like navigation.",
    R.PII_DENSITY: "More than PII_MAX_DENSITY of the text is personal data.",
    R.CONTAMINATED: "Repeats a passage of an evaluation set (EVAL_SETS); the detail names the set and the place.",
    R.EXACT_DUPLICATE: "The same normalised text is in the corpus already; dup_of names its page.",
    R.NEAR_DUPLICATE: "Almost the same text is in the corpus already; dup_of and dup_similarity say which, how close.",
}

ORDER: dict[str, int] = {reason.value: position for position, reason in enumerate(DropReason)}
"""Position of a reason on the way of a page."""


def meaning(reason: str) -> str:
    """The sentence for a reason as it stands in a record; empty for one this version does not know."""
    return MEANING.get(DropReason(reason), "") if reason in ORDER else ""


def markdown() -> str:
    """The table of `docs/reasons.md`."""
    rows = [f"| `{reason.value}` | {MEANING[reason]} |" for reason in DropReason]
    return "\n".join(["| reason | meaning |", "|---|---|", *rows]) + "\n"
