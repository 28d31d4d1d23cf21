"""Court decisions, statutes and regulations are recognised by their form: kind, jurisdiction, court, date, citations.

Only the form counts (a court's name on a line of its own, a docket number, "§ 1. …" at the start of lines), never the
subject: an article about a decision is none. What is not sure stays None. No party's name is taken: citations are the
reporter's or the code's (`347 U.S. 483`, `42 U.S.C. § 1983`, ECLI, CELEX-like numbers). All expressions are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import islice, zip_longest
from typing import NamedTuple

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
    """What the form of a text says. jurisdiction: "us", "us-ca" (a state), "gb", "eu", "de", "fr".

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


class _Court(NamedTuple):
    heading: re.Pattern[str]
    jurisdiction: str
    level: str
    name: str


def _courts() -> Iterator[_Court]:
    for line in _FORMS["courts"]:
        jurisdiction, level, rest = line.split(" ", 2)
        pattern, _, name = rest.partition(" = ")
        heading = re.compile(rf"(?:in the )?{pattern.replace('<state>', _STATE)}[.,]?", re.IGNORECASE)
        yield _Court(heading, jurisdiction, level, name)


_COURTS = tuple(_courts())
_COUNTY = re.compile(r"county of [a-z ]{3,20}", re.IGNORECASE)
_IN_THE = re.compile(r"^in the ", re.IGNORECASE)

# --- what kind of document --------------------------------------------------------------------------------------------
_DOCKET, _CAPTION, _DECIDED = (
    re.compile("|".join(_FORMS[name]), re.IGNORECASE | re.MULTILINE) for name in ("dockets", "captions", "decided")
)
_ORDER = re.compile(
    r"(?:[a-z]{3,12} (?:and )?)?order(?: (?:granting|denying|on|of) .{1,100})?|beschluss|ordonnance", re.IGNORECASE
)
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
_MONTHS = {word: number for number, line in enumerate(_FORMS["months"], 1) for word in line.split()}
_MONTH = "|".join(_MONTHS)
_DAY = (
    rf"(?:(?P<month>{_MONTH})\s(?P<day>\d{{1,2}}),\s(?P<year>\d{{4}})\b"
    rf"|(?P<day2>\d{{1,2}})(?:\.|er)?\s(?P<month2>{_MONTH})\s(?P<year2>\d{{4}})\b)"
)
_DATE = re.compile(
    rf"\b(?:decided|filed|dated|entered|issued|delivered|judgment of|opinion filed|order of|verkündet am"
    rf"|audience publique|arrêt)\b[:,]?\s(?:on |du |vom )?{_DAY}",
    re.IGNORECASE,
)
_BARE_DATE = re.compile(rf"\[?{_DAY}\]?(?:\s\(\*\))?", re.IGNORECASE)
_FIGURES = re.compile(r"(?:filed|dated?):?\s(\d{1,2})/(\d{1,2})/((?:19|20)?\d\d)", re.IGNORECASE)
"""Month first in the United States, day first elsewhere."""
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
        decision_date=_decision_date(head, jurisdiction or "", not_after) if is_decision else None,
        citations=citations,
    )


def _head(title: str | None, text: str) -> list[str]:
    lines = (line.strip(" \t#*|-") for line in text.split("\n", 4 * HEAD_LINES)[: 4 * HEAD_LINES])
    return [line for line in [(title or "").strip(), *islice(filter(None, lines), HEAD_LINES)] if line]


def _court(head: list[str]) -> tuple[str, str, str] | None:
    """Name, jurisdiction and level of the court that a heading names."""
    for line, below in zip_longest(head, head[1:], fillvalue=""):
        heading = f"{line} {below}" if _COUNTY.fullmatch(below) else line
        if len(heading) > LONGEST_HEADING:
            continue
        for court in _COURTS:
            if found := court.heading.fullmatch(heading):
                state = found.groupdict().get("state")
                where = f"us-{_STATES[state.lower()]}" if state else court.jurisdiction
                return court.name or _IN_THE.sub("", " ".join(heading.rstrip(".,").split())), where, court.level
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


def _decision_date(head: list[str], jurisdiction: str, not_after: str) -> str | None:
    """The first date of the head that says it is one of a decision, or stands on a line of its own."""
    for line in head:
        found = _DATE.search(line) or _BARE_DATE.fullmatch(line.rstrip("."))
        day = _iso(found.groupdict()) if found else _in_figures(line, jurisdiction)
        if day and (not not_after or day <= not_after[:10]):
            return day
    return None


def _iso(parts: dict[str, str | None]) -> str | None:
    month = (parts.get("month") or parts.get("month2") or "").lower()
    year, day = parts.get("year") or parts.get("year2"), parts.get("day") or parts.get("day2")
    return _day(int(year or 0), _MONTHS[month], int(day or 0))


def _in_figures(line: str, jurisdiction: str) -> str | None:
    found = _FIGURES.match(line)
    if found is None:
        return None
    first, second, year = map(int, found.groups())
    month, day = (first, second) if jurisdiction.startswith("us") else (second, first)
    return _day(year + 2000 if year < 100 else year, month, day)


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _citations(text: str) -> list[str]:
    found = (" ".join(match[0].split()) for match in _CITATION.finditer(text))
    return list(islice(dict.fromkeys(found), MOST_CITATIONS))
