"""`IdRule` says what makes a number an identity number; `ID_RULES` has them all.

`US_PASSPORT` and its like are names of types, not of countries people come from. Presidio's recognisers are used where
it has them; where a number carries no check digit (Malaysia, Indonesia) it has to hold a date that exists and a place
that the registry knows. `ids` and `recognise` apply the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crawler.stages.pii import id_checks
from crawler.stages.pii.scripts import JOINING
from crawler.stages.text.tables import sections


@dataclass(frozen=True, slots=True)
class IdRule:
    """One kind of identity number: its recogniser (a Presidio class name or a pattern of ours) and its proof.

    triggers: lower-case words on the page. minimum: Presidio's score that counts as proof (1.0 = its check digit
    held). check: our own proof, beside or instead of Presidio's. weak: the number has neither letters nor check digit
    to go by, so that it must follow its word directly.
    """

    entity: str
    triggers: tuple[str, ...]
    recogniser: str = ""
    pattern: str = ""
    minimum: float = 0.0
    check: Callable[[str], bool] | None = None
    weak: bool = False


def _rule(line: str) -> IdRule:
    """A line of `id_rules.tsv`, which says what its columns are."""
    entity, how, proof, words = line.split("\t")
    triggers, weak = tuple(words.split(" | ")), proof in {"weak", "unchecked"}
    if how.endswith("Recognizer"):
        minimum, _, follows = proof.partition(" ")
        return IdRule(entity, triggers, how, minimum=float(minimum), weak=bool(follows))
    pattern = how if how.startswith("(?<!") else f"(?<!{JOINING}){how}(?!{JOINING})"
    check = None if proof == "unchecked" else getattr(id_checks, "is_printed_number" if weak else proof)
    return IdRule(entity, triggers, pattern=pattern, check=check, weak=weak)


ID_RULES: tuple[IdRule, ...] = tuple(map(_rule, sections(__package__, "id_rules.tsv")[""]))
"""Every kind of identity number; the order decides nothing."""
