"""Expressions about pay, health, family, home and convictions make a name in their sentence private; by language.

Each line of an expression is an alternative of a regular expression. Strong ones speak of one person's life ("diagnosed
with", "her husband", "sentenced to"); of the weak words two are needed ("hospital" and "patient"). Anchors are the rare
words of the strong ones: a text without any of them is not read at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crawler.stages.pii.context_words import any_of
from crawler.stages.pii.needles import Needles
from crawler.stages.pii.outline import Outline


@dataclass(frozen=True, slots=True)
class PrivateWords:
    """The expressions of one language.

    anchors: words as they stand in the text, alone or with one mark behind them.
    strong, weak: searched in one sentence whose first letter is lower case.
    """

    anchors: Needles
    strong: re.Pattern[str]
    weak: re.Pattern[str]


def _words(anchors: str, streets: str, strong: str, weak: str) -> PrivateWords:
    listed = frozenset(anchors.split()) | {word.capitalize() for word in anchors.split()} | frozenset(streets.split())
    lines = "|".join(line.strip() for line in strong.splitlines() if line.strip())
    return PrivateWords(
        Needles({word: Outline(word).words for word in listed}, width=4),
        re.compile(rf"(?<![\w-])(?:{lines})(?!\w)"),
        re.compile(rf"(?<![\w-])(?:{any_of(weak)})(?![\w-])"),
    )


_DISEASE = (
    r"(?:sclerosis|diabet\w+|cancer|depress\w+|hiv|HIV|AIDS|hepatitis|epilep\w+|dementia|autis\w+|asthma|leuk\w+|tumou?r"
    r"|schizophreni\w+|bipolar|anorexia|disabled|disability|pregnant|infertile)"
)
_KIN = (
    r"(?:wife|husband|mother|father|sister|brother|sons?|daughters?|child|children|kids|twins|parents|girlfriend"
    r"|boyfriend|fiancée?|stepson|stepdaughter|grand(?:mother|father|son|daughter)|aunt|uncle)"
)
_STREET = (
    r"\d{1,5}[A-Za-z]?,? (?:[A-Z][\w'’.-]+ ){1,3}"
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Court|Terrace|Boulevard|Blvd|Crescent)"
)
_ENGLISH = _words(
    """
    salary salaries wage wages payroll bonus earns earned pension severance dollars euros pounds benefits
    diagnosed diagnosis suffers hospitalised hospitalized sick prescribed medication overdose rehab abortion miscarriage
    surgery chemotherapy therapy therapist psychiatrist addiction addicted alcoholism clinic hospital patient insulin
    sclerosis diabetes diabetic cancer depression HIV AIDS hepatitis epilepsy dementia autism autistic asthma leukaemia
    leukemia schizophrenia bipolar anorexia tumour tumor disability pregnant infertile birth treated
    wife husband mother father sister brother son sons daughter daughters children kids twins girlfriend boyfriend
    fiancé fiancée stepson stepdaughter grandmother grandfather grandson granddaughter aunt uncle divorced divorce
    custody married adopted widow widower
    lives residing resides
    convicted sentenced arrested charged pleaded guilty probation parole prison imprisoned jail jailed indicted felony
    theft fraud assault criminal
    """,
    "Street Road Avenue Lane Drive Terrace Boulevard Crescent Rd Ave Ln Blvd",
    rf"""
    (?:his|her|an?|annual|monthly|base|'s|’s) (?:\w+ )?(?:salary|wages)|(?:salary|wages) (?:of|was|were|is|rose|fell)
    severance pay|pension of|takes home|paid a bonus
    (?:earns|earned|makes|is paid|was paid|receives) (?:(?:about|around|roughly|over|under|only) )?[£$€]?\d[\d,.]*
    (?:earns|earned) (?:less|more) than|[£$€] ?\d[\d,.]*k? (?:a|per) (?:year|month)
    [dD]isability benefits?|unemployment benefits?|housing benefits?
    diagnos(?:ed with|is of|is)|suffer(?:s|ed|ing)? from|hospitali[sz]ed|admitted to (?:a |the )?(?:hospital|clinic)
    sick leave|prescribed|overdose|in rehab|rehab for|an abortion|miscarriage|chemotherapy|alcoholism|blood test
    (?:his|her|their|takes?|on) medication|(?:drug|alcohol|gambling) addiction|addicted to|gave birth|birth to
    (?:his|her|their|'s|’s) (?:\w+ )?(?:surgery|operation|therapy|therapist|psychiatrist|diagnosis|addiction|doctor)
    (?:is|was|being|been) treated (?:for|at|in)
    (?:is|was|has|had|have|with|his|her|their|'s|’s|shows?|showed) (?:[a-z]+ )?{_DISEASE}
    (?:his|her|their|my|two|three|four|five|first|second|third|ex) ?-?(?:[a-z]+ )?{_KIN}|(?:a|an only) (?:son|daughter)
    \w+['’]s (?:[a-z]+ )?{_KIN}|{_KIN} of [A-Z]\w*|divorced|custody of|married to|widow of|widower
    adopted (?:a|an|two|three|her|his|their) \w+
    (?:lives|living|resides|residing) (?:at|in|on|with|next|above|opposite|near|alone)|home address
    convicted|sentenced (?:to|him|her|them)|charged with|pleaded guilty|found guilty|probation|on parole|imprisoned
    (?:was|were|been|police|officers) arrested|arrested (?:on|for|in|after|[A-Z]\w*)|(?:in|from|to|of) (?:prison|jail)
    indicted|criminal record|jailed
    \w[\w'’.-]* [A-Z][\w'’-]+, (?:of |at )?{_STREET}
    """,
    """
    clinic hospital patient therapy surgery treated disabled disability cancer pregnant insulin hiv wife husband mother
    father married divorce employer employed salary wages payroll pension income bonus prison theft fraud assault felony
    guilty custody addiction rent debt debts
    """,
)

_MALADIE = (
    r"(?:diabète|cancer|dépression|sida|hépatite|épilepsie|démence|autis\w+|asthme|leucémie|schizophrénie|bipolaire"
    r"|anorexie|tumeur|séropositi\w+|enceinte|handicap\w*|sclérose|malade)"
)
_PARENT = (
    r"(?:femme|épouse|mari|époux|mère|père|sœur|soeur|frère|fils|filles?|enfants?|jumeaux|jumelles|parents|compagn\w+"
    r"|conjointe?|beau-fils|belle-fille|grand-mère|grand-père|tante|oncle)"
)
_FRENCH = _words(
    """
    salaire salaires gagne gagnait perçoit perçu touche touchait rémunération paie retraite allocation
    diagnostiqué diagnostiquée diagnostic souffre souffrait hospitalisé hospitalisée maladie opération opéré opérée
    traitement surdose avortement chimiothérapie thérapie psychiatre thérapeute dépendance alcoolisme clinique hôpital
    patient patiente médecin diabète cancer dépression sida hépatite épilepsie démence autisme autiste asthme leucémie
    schizophrénie bipolaire anorexie tumeur séropositif séropositive enceinte handicapé handicapée sclérose malade
    accouché
    femme épouse mari époux mère père sœur soeur frère fils filles enfants jumeaux jumelles compagne compagnon conjoint
    conjointe divorcé divorcée divorce garde mariée marié adopté veuve veuf
    habite demeure domicilié domiciliée réside vit rue avenue boulevard impasse quai
    condamné condamnée interpellé interpellée arrêté arrêtée prison incarcéré incarcérée coupable sursis casier
    détention examen
    """,
    "",
    rf"""
    (?:le|son|du|un|au) salaire|salaire (?:de|net|brut|mensuel)|fiche de paie|allocation (?:pour|aux?)
    (?:gagne|gagnait|perçoit|perçu|touche|touchait) (?:(?:environ|près de|plus de|moins de) )?(?:\d+|une allocation)
    diagnostiqu\w+|souffr(?:e|ait|ant) (?:d['’]\w+|de|du|des)|hospitalisée?|arrêt maladie|suit un traitement|accouché
    (?:son|une) (?:opération|avortement|chimiothérapie|thérapie|surdose)|opérée? (?:du|de)|chimiothérapie|alcoolisme
    (?:son|sa) (?:médecin|psychiatre|thérapeute|maladie|dépendance)
    (?:est|était|avait|avec|son|sa|un|une) (?:[a-zà-ÿ]+ )?{_MALADIE}
    (?:sa|son|ses|leur|leurs|deux|trois|quatre|premier|deuxième|ex) ?-?(?:[a-zà-ÿ]+ )?{_PARENT}
    divorcée?|garde de|mariée? (?:à|avec)|adopté (?:un|une|deux) \w+|veuve de|veuf
    (?:habite|demeure|réside|domiciliée?|vit) (?:au|à|avec|chez|dans|en|seule?|\d+)|adresse personnelle
    condamnée? à|interpellée?|été arrêtée?|(?:en|de) prison|incarcérée?|mise? en examen|coupable de|casier judiciaire
    avec sursis|détention provisoire
    \d{{1,4}}(?: bis| ter)?,? (?:rue|avenue|boulevard|impasse|quai) (?:[a-zà-ÿ'’]+ ){{0,3}}(?:[dl]['’])?[A-ZÀ-Þ]\w*
    """,
    """
    clinique hôpital patient patiente médecin traitement opération thérapie cancer mari femme épouse mère père fils
    fille marié mariée divorce employé employée employeur travaille habite demeure salaire retraite prime prison fraude
    coupable malade maladie
    """,
)

PRIVATE_WORDS = {"en": _ENGLISH, "fr": _FRENCH}
"""By ISO 639-1 code. In other languages names are looked for beside identifiers only."""
