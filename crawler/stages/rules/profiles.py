"""Thresholds for one kind of text: the papers' defaults for prose, and what has to give for other kinds, with the reason."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.stages.rules.base import RuleSet
from crawler.stages.rules.c4 import C4
from crawler.stages.rules.fineweb import FineWeb
from crawler.stages.rules.gopher_quality import GopherQuality
from crawler.stages.rules.gopher_repetition import GopherRepetition
from crawler.stages.rules.refinedweb_lines import RefinedWebLines


def rules_for(profile: str, names: Iterable[str]) -> dict[str, RuleSet]:
    """The named rule sets with the thresholds of a profile ("prose", "technical", "legal").

    Raises: KeyError for a name that no rule set has.
    """
    available = _PROSE | {"technical": _TECHNICAL, "legal": _LEGAL}.get(profile, {})
    return {name: available[name] for name in names}


_PROSE: dict[str, RuleSet] = {
    "gopher_repetition": GopherRepetition(),
    "gopher_quality": GopherQuality(),
    "fineweb": FineWeb(),
    "c4": C4(),
    "refinedweb_lines": RefinedWebLines(),
}
_TECHNICAL: dict[str, RuleSet] = {}
_LEGAL: dict[str, RuleSet] = {}
