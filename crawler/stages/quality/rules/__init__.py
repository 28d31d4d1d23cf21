"""Quality rule sets: each measures a text, then names the first threshold it fails.

| name | source |
|---|---|
| `gopher_quality` | Rae et al. 2021 (arXiv 2112.11446), Table A1 and section A1.1, as datatrove 0.10.1 computes it |
| `gopher_repetition` | the same paper and implementation |
| `fineweb` | Penedo et al. 2024 (arXiv 2406.17557), section 3.6, as datatrove 0.10.1 computes it |
| `c4` | Raffel et al. 2020, section 2.2, as datatrove 0.10.1 computes it; no terminal-punctuation rule |
| `c4_paragraphs` | Xue et al. 2021 (mC4, arXiv 2010.11934), section 3.1, as datatrove 0.10.1 computes it |
| `refinedweb_lines` | Penedo et al. 2023 (arXiv 2306.01116), line corrections as in DCLM's `refinedweb.yaml` |

A rule set is a frozen dataclass of thresholds (`None` switches a rule off) with one method, `judge(page) -> Findings`.
Each threshold that judges a number of the page is declared once, with `limit`: `diagnose` reads it from there.
A new rule set is a class here and its name in `RULE_SET_NAMES` of the settings; another package's is an entry point.
"""

from __future__ import annotations

from crawler.document import register
from crawler.plugins import registry
from crawler.problems import InputError
from crawler.stages.quality.rules.base import RuleSet
from crawler.stages.quality.rules.c4 import C4, C4Paragraphs
from crawler.stages.quality.rules.fineweb import FineWeb
from crawler.stages.quality.rules.gopher_quality import GopherQuality
from crawler.stages.quality.rules.gopher_repetition import GopherRepetition
from crawler.stages.quality.rules.refinedweb_lines import RefinedWebLines

_BUILT_IN = (GopherRepetition(), GopherQuality(), FineWeb(), C4(), C4Paragraphs(), RefinedWebLines())
RULE_SETS: dict[str, RuleSet] = {rules.name: rules for rules in _BUILT_IN}
"""The built-in rule sets with the oracle's thresholds, by the name that `QUALITY_RULES` uses."""


def rule_sets() -> dict[str, RuleSet]:
    """Every rule set with its own thresholds; the reasons of other packages' are known from then on.

    Raises: InputError where one of another package cannot be used.
    """
    found = registry("rules", RuleSet, RULE_SETS)
    if problems := [problem for rules in found.values() for problem in register(rules.reasons)]:
        raise InputError(problems)
    return found
