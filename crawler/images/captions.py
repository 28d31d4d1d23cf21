"""Is a text worth being the caption of an image? Rules of the literature, none of which needs a language.

At least 5 characters: LAION-5B (Schuhmann and others, 2022, section 4). At least 2 words: DataComp's basic filter
(Gadre and others, 2023, appendix F); of scripts without spaces 2 or 4 characters are that. Not one that more than 10
images share: ALIGN (Jia and others, 2021, section 3), which takes the place of a list of words to stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from crawler.stages.text.normal import normalise
from crawler.stages.text.units import tokens

MIN_CHARACTERS, MIN_WORDS = 5, 2
MAX_SHARED = 10
"""Images of one corpus that may have the same caption."""
MAX_CAPTION = 1_000
"""Characters that are kept of a caption."""
_NAME = re.compile(
    r"(?:[\w%+.()@~-]+[/\\])*[\w%+.()@~ -]+\.(?:jpe?g|jfif|png|gif|webp|avif|bmp|tiff?|svg|heic)"
    r"|https?://\S+|(?:IMG|DSC[NF]?|DCIM|P|PXL|MVIMG|WA|WP)[ _-]?\d[\d _-]*|[\W\d_]+",
    re.IGNORECASE,
)


def line_of(text: str | None) -> str:
    """On one line, in Unicode's composed form, at most `MAX_CAPTION` characters."""
    return " ".join(normalise(text or "").split())[:MAX_CAPTION].strip()


def refusal_of(caption: str) -> str:
    """The outcome that it stands for; empty where it may be a caption."""
    if not caption:
        return "no_caption"
    if _NAME.fullmatch(caption):
        return "name_as_caption"
    units, _, to_a_word = tokens(caption)
    if to_a_word == 1 and units and all(len(unit) == 1 for unit in units) and not caption.isascii():
        return "" if len(units) >= MIN_WORDS else "short_caption"  # ideographs: a character says as much as a word
    few = len(units) < MIN_WORDS * to_a_word
    return "short_caption" if few or len(caption) < MIN_CHARACTERS else ""


def caption_of(figure: str, alt: str) -> tuple[str, str]:
    """The first of both that may be a caption, with ""; where none is, the outcome behind an empty one."""
    given = [text for text in (figure, alt) if text]
    refusals = [refusal_of(text) for text in given]
    fit = next((text for text, refusal in zip(given, refusals, strict=True) if not refusal), "")
    return fit, "" if fit else (refusals or ["no_caption"])[0]


def key_of(caption: str) -> str:
    """Captions with the same key are the same one."""
    return caption.casefold()


def common(keys: Iterable[tuple[str, str]]) -> set[str]:
    """The captions (by key) that more than `MAX_SHARED` images have; each pair is (key, name of the image)."""
    images: dict[str, set[str]] = {}
    for key, name in keys:
        named = images.setdefault(key, set())
        if len(named) <= MAX_SHARED:
            named.add(name)
    return {key for key, named in images.items() if len(named) > MAX_SHARED}
