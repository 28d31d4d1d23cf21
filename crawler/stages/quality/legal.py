"""Court decisions, statutes and regulations are recognised by their form: kind, jurisdiction, court, date, citations.

Only the form counts (a court's name on a line of its own, a docket number, "§ 1. …" at the start of lines), never the
subject: an article about a decision is none. What is not sure stays None. No party's name is taken: citations are the
reporter's or the code's (`347 U.S. 483`, `42 U.S.C. § 1983`, ECLI, CELEX-like numbers). All expressions are bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from itertools import islice

from crawler.stages.text.tables import sections

HEAD_LINES = 40
"""Lines from the top in which a document says what it is."""
LONGEST_HEADING = 160
"""Characters; a longer line is running text."""
MOST_CITATIONS = 100

FIELDS = ("legal_jurisdiction", "legal_document_type", "legal_court", "legal_court_level")
"""What a profile may require of a document (`require` in QUALITY_PROFILES_FILE)."""


@dataclass(frozen=True, slots=True)
class LegalFacts:
    """What the form of a text says. jurisdiction: "us", "us-ca" (a state), "gb", "eu".

    document_type: opinion, order, statute, regulation. court_level: supreme, appellate, trial. decision_date: ISO 8601.
    citations: in order of first appearance, each once.
    """

    jurisdiction: str | None = None
    document_type: str | None = None
    court: str | None = None
    court_level: str | None = None
    decision_date: str | None = None
    citations: list[str] = field(default_factory=list)


# --- courts -----------------------------------------------------------------------------------------------------------
_FORMS = sections(__package__, "legal_forms.txt")
_STATES = {name: code for code, _, name in (line.partition(" ") for line in _FORMS["states"])}
_STATE = "(?P<state>" + "|".join(name for name in sorted(_STATES, key=len, reverse=True)) + ")"

_COURTS: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(rf"(?:in the )?{pattern.replace('<state>', _STATE)}[.,]?", re.IGNORECASE), jurisdiction, level)
    for jurisdiction, level, pattern in (line.split(" ", 2) for line in _FORMS["courts"])
)

_IN_THE = re.compile(r"^in the ", re.IGNORECASE)
_EU_COURTS = {("eu", "supreme"): "Court of Justice of the European Union", ("eu", "trial"): "General Court"}

# --- what kind of document --------------------------------------------------------------------------------------------
_DOCKET = re.compile(r"\b(?:docket |case )?no(?:s?\.|\. )\s?[\w:-]{2,24}", re.IGNORECASE)
_CAPTION = re.compile(
    r"\bv(?:s?\.|ersus)(?:\s|$)|^(?:in re|ex parte|matter of)\b|\b(?:plaintiff|appellant|petitioner)s?\b", re.IGNORECASE
)
_DECIDED = re.compile(
    r"\b(?:affirmed|reversed|vacated|remanded|delivered the opinion|it is so ordered|it is (?:hereby )?ordered"
    r"|the (?:motion|petition|appeal) is (?:granted|denied|dismissed)|on those grounds, the court)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(r"(?:[a-z]{3,12} )?order(?: (?:granting|denying|on|of) .{1,100})?", re.IGNORECASE)
_SECTION = re.compile(r"(?:§+\s?\d[\w.-]{0,15}\.?\s|sec(?:tion|\.)\s\d{1,5}[a-z]?\.\s)", re.IGNORECASE)
_ENACTED = re.compile(r"\bbe it enacted\b|\ban act to\b|^(?:public law|pub\. l\.) \d", re.IGNORECASE)
_CODE = re.compile(
    r"\bunited states code\b|\b\d{1,2} u\.?s\.?c\.?(?:\s|$)|\b[a-z]{3,12} (?:revised |general )?statutes\b",
    re.IGNORECASE,
)
_RULES = re.compile(r"\bcode of federal regulations\b|\b\d{1,2} c\.?f\.?r\.?(?:\s|$)", re.IGNORECASE)
_EU_ACT = re.compile(
    r"(?:council |commission (?:implementing |delegated )?)?(?:regulation|directive|decision) "
    r"\((?:eu|ec|eec)\)(?: no)? \d{1,4}/\d{1,4}",
    re.IGNORECASE,
)

_FEDERAL = re.compile(
    r"\bunited states code\b|\bu\.?s\.?c\b|\bc\.?f\.?r\b|\bcode of federal|\bcongress\b|\bpublic law \d", re.IGNORECASE
)
_STATE_STATUTES = re.compile(rf"\b{_STATE} (?:revised |general )?statutes\b", re.IGNORECASE)

# --- dates and citations ----------------------------------------------------------------------------------------------
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "(?P<month>" + "|".join(_MONTHS) + ")"
_DATE = re.compile(
    rf"\b(?:decided|filed|dated|entered|issued|delivered|judgment of|opinion filed|order of)\b[:,]?\s(?:on )?"
    rf"(?:{_MONTH}\s(?P<day>\d{{1,2}}),\s(?P<year>\d{{4}})\b"
    rf"|(?P<day2>\d{{1,2}})\s(?P<month2>{'|'.join(_MONTHS)})\s(?P<year2>\d{{4}})\b)",
    re.IGNORECASE,
)
_BARE_DATE = re.compile(rf"(?P<day2>\d{{1,2}})\s(?P<month2>{'|'.join(_MONTHS)})\s(?P<year2>\d{{4}})", re.IGNORECASE)
_CITATION = re.compile("|".join(_FORMS["citations"]))


def read_legal(title: str | None, text: str, not_after: str = "") -> LegalFacts:
    """What the form of a text says; `not_after` (ISO 8601) bounds the date, such as the day of the fetch."""
    head = _head(title, text)
    citations = _citations(text)
    court = _court(head)
    acts = next((found for line in head if (found := _EU_ACT.match(line))), None)
    kind = _kind(head, text, has_court=court is not None, has_act=acts is not None)
    if kind is None:
        return LegalFacts(citations=citations)
    jurisdiction = court[1] if court else _jurisdiction(head, acts is not None)
    is_decision = kind in {"opinion", "order"}
    return LegalFacts(
        jurisdiction=jurisdiction,
        document_type=kind,
        court=court[0] if court and is_decision else None,
        court_level=court[2] if court and is_decision else None,
        decision_date=_decision_date(head, not_after) if is_decision else None,
        citations=citations,
    )


def _head(title: str | None, text: str) -> list[str]:
    lines = (line.strip(" \t#*|-") for line in text.split("\n", 4 * HEAD_LINES)[: 4 * HEAD_LINES])
    return [line for line in [(title or "").strip(), *islice(filter(None, lines), HEAD_LINES)] if line]


def _court(head: list[str]) -> tuple[str, str, str] | None:
    """Name, jurisdiction and level of the court that a heading names."""
    for line in head:
        if len(line) > LONGEST_HEADING:
            continue
        for pattern, jurisdiction, level in _COURTS:
            if found := pattern.fullmatch(line):
                state = found.groupdict().get("state")
                where = f"us-{_STATES[state.lower()]}" if state else jurisdiction
                return (
                    _EU_COURTS.get((where, level)) or _IN_THE.sub("", " ".join(line.rstrip(".,").split())),
                    where,
                    level,
                )
    return None


def _kind(head: list[str], text: str, *, has_court: bool, has_act: bool) -> str | None:
    if has_court:
        top = "\n".join(head)
        marks = [_CAPTION.search(top) is not None, _DOCKET.search(top) is not None, _DECIDED.search(text) is not None]
        if sum(marks) >= 2:  # of three: caption, docket number, the words of a decision
            is_order = any(_ORDER.fullmatch(line) for line in head if len(line) <= LONGEST_HEADING)
            return "order" if is_order else "opinion"
    if has_act:
        return "regulation"
    sections = sum(1 for line in text.split("\n") if _SECTION.match(line))
    top = "\n".join(line for line in head if len(line) <= LONGEST_HEADING)
    if sections and _RULES.search(top):
        return "regulation"
    if sections and (_CODE.search(top) or any(_ENACTED.search(line) for line in head)):
        return "statute"
    return None


def _jurisdiction(head: list[str], is_eu: bool) -> str | None:
    if is_eu:
        return "eu"
    top = "\n".join(head)
    if _FEDERAL.search(top):
        return "us"
    if found := _STATE_STATUTES.search(top):
        return f"us-{_STATES[found['state'].lower()]}"
    return None


def _decision_date(head: list[str], not_after: str) -> str | None:
    """The first date of the head that says it is one of a decision, or stands on a line of its own."""
    for line in head:
        found = _DATE.search(line) or _BARE_DATE.fullmatch(line.rstrip("."))
        if found and (day := _iso(found.groupdict())) and (not not_after or day <= not_after[:10]):
            return day
    return None


def _iso(parts: dict[str, str | None]) -> str | None:
    month = (parts.get("month") or parts.get("month2") or "").lower()
    year, day = parts.get("year") or parts.get("year2"), parts.get("day") or parts.get("day2")
    try:
        return date(int(year or 0), _MONTHS.index(month) + 1, int(day or 0)).isoformat()
    except ValueError:
        return None


def _citations(text: str) -> list[str]:
    found = (" ".join(match[0].split()) for match in _CITATION.finditer(text))
    return list(islice(dict.fromkeys(found), MOST_CITATIONS))
