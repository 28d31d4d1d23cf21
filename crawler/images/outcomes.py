"""Every image that a page names ends in one named outcome; these are all of them, with what they mean.

A refusal by policy has the name of its rule behind a colon: `optout:tdmrep`, `fetch:http_error`, `guard:…`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

KEPT: Final = "kept"
WAITING: Final = "waiting"
ROBOTS: Final = "robots"
UNREACHABLE: Final = "unreachable"
HOLD: Final = "hold"
WITHDRAWN: Final = "withdrawn"
PAGE_GONE: Final = "page_gone"
HELD_SAFETY: Final = "held_safety"
HELD_CLASSIFIER: Final = "held_classifier"
OFF_SCOPE: Final = "off_scope"
LICENCE_EXPIRED: Final = "licence_expired"

BY_RULE: Mapping[str, str] = MappingProxyType({
    "no_source": "the element names no image",
    "not_http": "its URL is no http or https URL that can be asked for",
    "data_url": "it stands in the page itself, as a data: URL",
    "svg": "an SVG image: a drawing, and a program",
    "tracking_pixel": "the page draws it with 2 pixels or fewer on a side",
    "decoration": 'the page says that it means nothing: alt="", role=presentation, aria-hidden',
    "no_caption": "neither alternative text nor figure caption",
    "short_caption": "fewer than 5 characters or 2 words (LAION-5B; DataComp)",
    "name_as_caption": "the caption is a file name, a URL or a number",
    "common_caption": "more than 10 images of the corpus have this caption (ALIGN)",
    "beyond": "more than 500 images of one page",
    HELD_SAFETY: "words of a list of CLASSIFIERS make up too much of its caption, alternative text, title or context",
    HELD_CLASSIFIER: "a classifier of CLASSIFIERS finds its words to be what is not wanted",
    "no_page": "the archive does not have its page any more",
})  # fmt: skip
"""Never asked for: the page alone decides."""
BY_POLICY: Mapping[str, str] = MappingProxyType({
    ROBOTS: "robots.txt of its host disallows it",
    "optout": "an opt-out of its page, its host, its response or the file itself; its name follows",
    "guard": "the network guard forbids its address",
    OFF_SCOPE: "outside of the allowlist that was given, or it redirects there",
    LICENCE_EXPIRED: "the licence of its host's entry in the allowlist has expired",
    "gone": "404, 410, or past its unavailable_after",
    "denied": "401, 402, 403 or 451",
    WITHDRAWN: "its URL, its host or its page was withdrawn from the corpus",
    UNREACHABLE: "no whole answer after all tries; the same command asks again",
    HOLD: "its host cannot be judged now (robots.txt or an opt-out file out of reach); the same command asks again",
    "fetch": "another answer that is no image; its reason follows",
    "too_large": "more bytes, or more pixels, than are read",
    WAITING: "not asked yet; the same command goes on",
})  # fmt: skip
"""Decided on the way to its bytes."""
BY_FILE: Mapping[str, str] = MappingProxyType({
    "not_image": "the bytes are no JPEG, PNG, WebP, AVIF, GIF, BMP or TIFF, whatever Content-Type says",
    "icon": "an ICO file",
    "svg": "an SVG image, whatever its URL says",
    "animated": "more than one frame",
    "broken": "cannot be decoded to its end",
    "too_small": "the shorter side, or the file, is below the limit",
    "aspect": "one side is more than 3 times the other (DataComp, ALIGN)",
    "stage_timeout": "decoding took more CPU time than STAGE_TIMEOUT_SECONDS",
    "stage_crashed": "decoding ended its process",
})  # fmt: skip
"""Decided on the bytes."""
BY_OTHERS: Mapping[str, str] = MappingProxyType({
    "duplicate_url": "an earlier page of the corpus has the same image",
    "duplicate_bytes": "an earlier image has the same bytes",
    "duplicate_image": "an earlier image looks the same (PDQ, 31 of 256 bits or fewer differ)",
    PAGE_GONE: "its page left the corpus, or a later visit replaced it",
})  # fmt: skip
"""Decided by the corpus and its order."""
MEANING: Mapping[str, str] = MappingProxyType({KEPT: "in the data set", **BY_RULE, **BY_POLICY, **BY_FILE, **BY_OTHERS})


def meaning(outcome: str) -> str:
    """In words; of `optout:tdmrep` that of `optout`."""
    return MEANING[outcome.partition(":")[0]]


def status_of(outcome: str) -> str:
    """img2dataset's column `status`: success, failed_to_download, failed_to_resize; `left_out` is ours."""
    name = outcome.partition(":")[0]
    if name == KEPT:
        return "success"
    if name in BY_RULE or name in BY_OTHERS:
        return "left_out"
    return "failed_to_resize" if name in BY_FILE else "failed_to_download"
