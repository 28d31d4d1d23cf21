"""What if the thresholds were others? Which documents would change sides, from the values that their records hold.

Exact where thresholds become stricter: what is lost was measured. Where they become looser a document comes to stages
that have not seen it (`further`), or to those that compare documents, where it may take the place of a duplicate of
its text: then the answer has two ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from crawler.config import Config
from crawler.dataset.records.filters import FilterError
from crawler.explore.apply import apply_of, begin, with_thresholds
from crawler.explore.catalogue import Catalogue
from crawler.explore.distributions import Figure, figure
from crawler.explore.filters import Filter
from crawler.explore.page_request import PageRequest
from crawler.stages.language.codes import Scores, Tag
from crawler.storage.corpus.judged import judging_digests
from crawler.storage.files.place import ARCHIVE

SAMPLES = 6
"""Documents of each kind that are shown: those nearest to their threshold."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A setting that may be moved. column: the value that it is compared with; below it a document is dropped."""

    setting: str
    column: str
    title: str
    most: float
    step: float


SLIDERS = (
    Slider("QUALITY_MIN_SCORE", "quality_score", "Quality score, at least", 1.0, 0.01),
    Slider("LANGUAGE_MIN_SCORE", "language_score", "Language score, at least", 1.0, 0.01),
    Slider("EXTRACTION_MIN_WORDS", "word_count", "Words, at least", 2000, 10),
)
Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many documents change sides.

    lost: kept now, not any more. gained: rejected by the score now, and through all stages of the text then; duplicates
    and personal data have their say again. further: rejected before every stage had seen them. freed: duplicates of
    what is lost, of which one each may take its place.
    """

    kept: int
    lost: int
    gained: int
    further: int
    freed: int

    @property
    def least(self) -> int:
        """Documents that are kept in any case."""
        return self.kept - self.lost

    @property
    def most(self) -> int:
        """Documents that are kept at most."""
        return self.least + self.gained + self.further + self.freed


def now(config: Config) -> dict[str, float]:
    """The thresholds of these settings."""
    return {
        "QUALITY_MIN_SCORE": config.quality.min_score,
        "LANGUAGE_MIN_SCORE": config.language.min_score,
        "EXTRACTION_MIN_WORDS": config.extraction.min_words,
    }


class WhatIf:
    """Answers for one catalogue and the settings it is looked at with. Languages with a limit of their own keep it."""

    def __init__(self, catalogue: Catalogue, config: Config) -> None:
        self._catalogue = catalogue
        self._own = Scores(config.language.min_score, config.language.min_scores).pairs

    def outcome(self, values: Values) -> Outcome:
        """The counts. Raises: NotReadyError."""
        parts = self._parts(values)
        sums = ", ".join(f"count(*) FILTER ({condition})" for condition, _ in parts.values())
        params = [value for _, given in parts.values() for value in given]
        kept, lost, gained, further, freed = self._catalogue.rows(
            f"SELECT count(*) FILTER (state = 'kept'), {sums} FROM records",  # noqa: S608  # our own conditions
            params,
        )[0]
        return Outcome(kept, lost, gained, further, freed)

    def changing(self, values: Values, kind: str, most: int) -> list[dict[str, Any]]:
        """Documents that are "lost", "gained", "further" or "freed", in the order of their score."""
        condition, params = self._parts(values)[kind]
        names = ("id", "canonical_url", "title", "quality_score", "language_score", "word_count", "reason")
        order = f"ORDER BY quality_score {'DESC' if kind == 'lost' else 'ASC'} NULLS LAST, id LIMIT {most}"
        found = self._catalogue.rows(f"SELECT {', '.join(names)} FROM records WHERE {condition} {order}", params)  # noqa: S608
        return [dict(zip(names, row, strict=True)) for row in found]

    def _parts(self, values: Values) -> dict[str, tuple[str, list[float]]]:
        passes = (
            "(coalesce(word_count, 0) >= ? AND coalesce(language_score, 1) >= {} AND coalesce(quality_score, 1) >= ?)"
        )
        limit = self._language_limit()
        passes, given = passes.format(limit), [values[s.setting] for s in (SLIDERS[2], SLIDERS[1], SLIDERS[0])]
        early = f"(coalesce(word_count, 0) >= ? AND coalesce(language_score, 1) >= {limit})"
        lost = f"(state = 'kept' AND NOT {passes})"
        owners = f"SELECT canonical_url FROM records WHERE {lost}"  # noqa: S608  # our own condition
        freed = f"reason IN ('exact_duplicate', 'near_duplicate') AND {passes} AND dup_of IN ({owners})"
        return {
            "lost": (lost, given),
            "gained": (f"reason = 'low_quality' AND {passes}", given),
            "further": (f"reason IN ('too_short', 'language_low_score') AND {early}", given[:2]),
            "freed": (freed, [*given, *given]),
        }

    def _language_limit(self) -> str:
        """The limit of a record's language; numbers and codes come from the settings, not from an address."""
        own = ((one, score) for one, score in self._own if f"{one.language}{one.script}".isalnum())
        cases = "".join(f" WHEN {_is_in(one)} THEN {score!r}" for one, score in own)
        return f"(CASE{cases} ELSE ? END)" if cases else "?"


def _is_in(one: Tag) -> str:
    """The condition for records in a language, and where it names a script in that."""
    scripts = ["Hans", "Hant", "Hani"] if one.script == "Hani" else [one.script] if one.script else []
    script = f" AND language_script IN ({', '.join(map(repr, scripts))})" if scripts else ""
    return f"language = '{one.language}'{script}"


def snippet(values: Values, before: Values) -> str:
    """The settings that differ, as lines of a settings file; empty where none does."""
    return "\n".join(f"{name} = {_plain(value)}" for name, value in values.items() if value != before[name])


def what_if(request: PageRequest) -> tuple[str, dict[str, Any]]:
    """The page. Raises: FilterError, NotReadyError."""
    before, values = now(request.config), _values(request)
    job = apply_of(request.catalogue)
    asked = WhatIf(request.catalogue, request.config)
    changed = [f"-s {name}={_plain(value)}" for name, value in values.items() if value != before[name]]
    return "what_if.html", {
        "sliders": [(slider, _plain(values[slider.setting]), _figure(request, slider)) for slider in SLIDERS],
        "outcome": asked.outcome(values),
        "samples": [(kind, asked.changing(values, kind, SAMPLES)) for kind in ("lost", "gained", "further", "freed")],
        "snippet": snippet(values, before),
        "command": " ".join(["gristmill dataset rejudge", request.catalogue.place.url, *changed]),
        "others": others(request),
        "job": job,
        "values": {name: _plain(value) for name, value in values.items()},
        "remote": request.catalogue.place.remote,
    }


def apply(request: PageRequest) -> Response:
    """Do it: the next version of the corpus. Raises: FilterError, NotReadyError."""
    return begin(request, with_thresholds(request.config, _values(request)), others(request), "what-if")


def _values(request: PageRequest) -> dict[str, float]:
    before, given = now(request.config), dict(request.pairs)
    return {s.setting: _value(s, given.get(s.setting), before[s.setting]) for s in SLIDERS}


def others(request: PageRequest) -> int:
    """Records that were judged by other settings than those of who looks; what only fetches is none.

    Of a corpus with archives those in them: nobody judges another one again, so it keeps its settings.
    """
    config, manifest = request.config, request.catalogue.place.manifest()
    known = judging_digests(manifest)
    alike = ["", config.digest, *(name for name, digest in known.items() if digest == config.judging_digest)]
    archives = [entry["path"].rpartition("/")[2] for entry in manifest["files"] if entry["kind"] == ARCHIVE]
    (found,) = request.catalogue.rows(
        "SELECT count(*) FROM records WHERE NOT list_contains(?, coalesce(config_digest, '')) "
        "AND (len(?) = 0 OR (warc_offset IS NOT NULL AND list_contains(?, regexp_extract(warc_file, '[^/]*$'))))",
        [alike, archives, archives],
    )[0]
    return int(found)


def _figure(request: PageRequest, slider: Slider) -> Figure:
    return figure(request.catalogue, Filter(), slider.column, slider.title)


def _value(slider: Slider, text: str | None, default: float) -> float:
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= max(slider.most, default):
        raise FilterError(f"{slider.setting}={text[:40]}: expected a number from 0 to {slider.most:g}")
    return int(value) if isinstance(default, int) else value


def _plain(value: float) -> str:
    return f"{value:g}"
