"""Court decisions, statutes and regulations are recognised by their form: kind, jurisdiction, court, date, parties.

Only the form counts (a court's name on a line of its own, a docket number, "§ 1. …" at the start of lines), never the
subject: an article about a decision is none. What is not sure stays None. Of parties the roles are read, no names. All
expressions are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import islice, zip_longest
from typing import NamedTuple

from crawler.document import Span
from crawler.stages.quality.legal_citations import citations_in
from crawler.stages.quality.legal_outline import sections_in
from crawler.stages.text.tables import alternatives, sections

HEAD_LINES = 40
"""Lines from the top in which a document says what it is."""
LONGEST_HEADING = 160
"""Characters; a longer line is running text."""

FIELDS = ("legal_jurisdiction", "legal_document_type", "legal_court", "legal_court_level")
"""What a profile may require of a document (`require` in QUALITY_PROFILES_FILE)."""


@dataclass(frozen=True, slots=True)
class LegalFacts:
    """What the form of a text says. jurisdiction: "us", "us-ca" (a state), "gb", "eu", "coe", "de", "fr", …

    document_type: opinion, order, statute, regulation. court_level: supreme, appellate, trial. decision_date: ISO 8601.
    parties: their roles, in order of first appearance. validity: of an enactment, "in_force" or "repealed", with
    ":" and an ISO 8601 date where it says since when. places: where court, docket numbers, date and validity stand in
    the text, by start.
    """

    jurisdiction: str | None = None
    document_type: str | None = None
    court: str | None = None
    court_level: str | None = None
    decision_date: str | None = None
    parties: list[str] = field(default_factory=list)
    validity: str | None = None
    places: list[Span] = field(default_factory=list)


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
_CAPTION, _DECIDED = (
    re.compile("|".join(_FORMS[name]), re.IGNORECASE | re.MULTILINE) for name in ("captions", "decided")
)


def _dockets() -> Iterator[str]:
    for number, line in enumerate(_FORMS["dockets"]):
        before, _, form = f" {line}".rpartition(" = ")
        yield f"{before.lstrip()}(?P<number_{number}>{form})"


_DOCKET = re.compile("|".join(_dockets()), re.IGNORECASE | re.MULTILINE)
_MORE = re.compile(
    r"(?:,|,? (?:and|&|et|und|e|y|en)) (?P<number>(?=\S{0,20}\d)\d{0,6}[A-Z]{0,3}[-/:‑–][\w/‑–-]{0,18}\w)",
    re.IGNORECASE,
)
"""The next of several numbers: "Nos. 17-99, 17-101 and 18-5"."""
_OF_ANOTHER = re.compile(alternatives(_FORMS["not_of_this"]), re.IGNORECASE)
_ROLES = [line.split(" ", 1) for line in _FORMS["roles"]]
_ROLE = re.compile("|".join(rf"(?P<{role}>\b(?:{words})\b)" for role, words in _ROLES), re.IGNORECASE)
_ACTS = [
    (where, kind, re.compile(form, re.IGNORECASE))
    for where, kind, form in (line.split(" ", 2) for line in _FORMS["acts"])
]
_VALIDITY = re.compile(
    "|".join(f"(?P<{state}>{words})" for state, words in (line.split(" ", 1) for line in _FORMS["validity"])),
    re.IGNORECASE,
)
_LONGEST_LINE = 100
"""Characters of a line that names a party, or says whether an enactment is in force; a longer one is running text."""
_ORDER = re.compile(
    r"(?:[a-z]{3,12} (?:and )?)?order(?: (?:granting|denying|on|of) .{1,100})?"
    r"|beschlu(?:ss|ß)|ordonnance|auto|ordinanza",
    re.IGNORECASE,
)
_SECTION = re.compile(r"(?:§+\s?\d[\w.-]{0,15}\.?\s|sec(?:tion|\.)\s\d{1,5}[a-z]?\.\s)", re.IGNORECASE)
_NORM = re.compile(
    alternatives(_FORMS["section_headings"] + _FORMS["article_headings"]) + r"(?=$|[\s.:–—-])", re.IGNORECASE
)
"""The same in other countries."""
_BARE_NORM = re.compile(r"1\s[A-Z][^.;]{3,100}")
"""As the United Kingdom numbers its sections."""
_ENACTED = re.compile(r"\bbe it enacted\b|\ban act to\b|^(?:public law|pub\. l\.) \d", re.IGNORECASE)
_CODE = re.compile(
    r"\bunited states code\b|\b\d{1,2} u\.?s\.?c\.?(?:\s|$)|\b[a-z]{3,12} (?:revised |general )?statutes\b",
    re.IGNORECASE,
)
_RULES = re.compile(r"\bcode of federal regulations\b|\b\d{1,2} c\.?f\.?r\.?(?:\s|$)", re.IGNORECASE)
_EU_ACT = re.compile(
    r"(?:council |commission (?:implementing |delegated )?)?(?:regulation|directive|decision) "
    r"(?:\((?:eu|ec|eec)\)(?: no)? \d{1,4}/\d{1,4}|\d{2,4}/\d{1,4}/(?:eu|ec|eec)\b)",
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
    rf"|(?P<day2>\d{{1,2}})(?:\.|er|º)?\s(?:de\s)?(?P<month2>{_MONTH})\s(?:de\s)?(?P<year2>\d{{4}})\b)"
)
_DATE = re.compile(
    rf"\b{alternatives(_FORMS['dated'])}\b[:,]?\s(?:on |du |vom |de |del |il |in data |le )?{_DAY}",
    re.IGNORECASE,
)
_BARE_DATE = re.compile(rf"\[?{_DAY}\]?(?:\s\(\*\))?", re.IGNORECASE)
_FIGURES = re.compile(
    r"(?:filed|dated?|decision date|entscheidungsdatum|datum(?: uitspraak)?|fecha(?: de resolución)?|pubblicata il|data"
    r"(?: do acordão| pubblicazione)?):?\s(?P<first>\d{1,2})[./-](?P<second>\d{1,2})[./-](?P<year>(?:19|20)?\d\d)\b"
    r"|(?P<first2>\d{1,2})\.(?P<second2>\d{1,2})\.(?P<year2>(?:19|20)\d\d)$",
    re.IGNORECASE,
)
"""Month first in the United States, day first elsewhere."""
_SINCE = re.compile(
    rf"\s?{_DAY}|\s?(?P<first>\d{{1,2}})[./-](?P<second>\d{{1,2}})[./-](?P<full>\d{{4}})\b", re.IGNORECASE
)


class _Line(NamedTuple):
    """A line of the head without marks at its ends; start: in the text, -1 of the title."""

    text: str
    start: int

    def span(self, start: int, end: int, label: str) -> Iterator[Span]:
        """A passage of the line as one of the text."""
        if self.start >= 0:
            yield self.start + start, self.start + end, label


def read_legal(title: str | None, text: str, not_after: str = "") -> LegalFacts:
    """What the form of a text says; `not_after` (ISO 8601) bounds the date, such as the day of the fetch."""
    head = _head(title, text)
    lines = [line.text for line in head]
    court = _court(head)
    kind, where = _kind(lines, text, court)
    if kind is None:
        return LegalFacts()
    if kind not in {"opinion", "order"}:
        validity, places = _validity(head, where or "")
        return LegalFacts(where, kind, validity=validity, places=places)
    jurisdiction = court.jurisdiction if court else _jurisdiction(lines)
    decided, date_places = _decision_date(head, jurisdiction or "", not_after)
    places = [*(court.places if court else ()), *_docket_places(head), *date_places]
    return LegalFacts(
        jurisdiction=jurisdiction,
        document_type=kind,
        court=court.name if court else None,
        court_level=court.level if court else None,
        decision_date=decided,
        parties=list(_parties(lines)),
        places=sorted(places),
    )


def legal_spans(text: str, facts: LegalFacts) -> list[Span]:
    """The citations of a text, and of a legal document its sections and what its head says, by start, the longer first.

    facts: what `read_legal` read from this very text.
    """
    found = [*citations_in(text), *facts.places]
    if facts.document_type is not None:
        found += sections_in(text, facts.document_type)
    return sorted(found, key=lambda span: (span[0], -span[1], span[2]))


def _head(title: str | None, text: str) -> list[_Line]:
    found, at = [_Line((title or "").strip(), -1)], 0
    for line in text.split("\n", 4 * HEAD_LINES)[: 4 * HEAD_LINES]:
        bare = line.strip(_MARKS)
        found.append(_Line(bare, at + len(line) - len(line.lstrip(_MARKS))))
        at += len(line) + 1
    return list(islice((line for line in found if line.text), HEAD_LINES + bool(found[0].text)))


_MARKS = " \t#*|-"


class _Found(NamedTuple):
    name: str
    jurisdiction: str
    level: str
    places: list[Span]


def _court(head: list[_Line]) -> _Found | None:
    """The court that a heading names."""
    for line, below in zip_longest(head, head[1:], fillvalue=_Line("", -1)):
        is_in_two = _COUNTY.fullmatch(below.text) is not None
        heading = f"{line.text} {below.text}" if is_in_two else line.text
        if len(heading) > LONGEST_HEADING:
            continue
        for court in _COURTS:
            if found := court.heading.fullmatch(heading):
                state = found.groupdict().get("state")
                where = f"us-{_STATES[state.lower()]}" if state else court.jurisdiction
                name = court.name or _IN_THE.sub("", " ".join(heading.rstrip(".,").split()))
                end = below.start - line.start + len(below.text) if is_in_two else len(line.text)
                return _Found(name, where, court.level, list(line.span(0, end, "court")))
    return None


def _kind(head: list[str], text: str, court: _Found | None) -> tuple[str | None, str | None]:
    """Document type, and of an enactment its jurisdiction."""
    if court is not None:
        top = "\n".join(head)
        marks = [_CAPTION.search(top) is not None, _DOCKET.search(top) is not None, _DECIDED.search(text) is not None]
        if sum(marks) >= 2:  # of three: caption, docket number, the words of a decision
            is_order = court.jurisdiction != "au" and any(
                _ORDER.fullmatch(line) for line in head if len(line) <= LONGEST_HEADING
            )  # in Australia "ORDER" heads the outcome of every decision
            return "order" if is_order else "opinion", None
    titles = [line for line in head if len(line) <= LONGEST_HEADING]
    lines = [line.lstrip(_MARKS) for line in text.split("\n")]
    top = "\n".join(titles)
    if any(map(_EU_ACT.match, head)) and any(map(_NORM.match, lines)):
        return "regulation", "eu"
    if any(map(_SECTION.match, lines)):
        if _RULES.search(top):
            return "regulation", _jurisdiction(head)
        if _CODE.search(top) or any(_ENACTED.search(line) for line in head):
            return "statute", _jurisdiction(head) or next((act[0] for act in _acts(titles)), None)
    for where, kind in _acts(titles):
        if any(map((_BARE_NORM if where == "gb" else _NORM).match, lines)):
            return kind, where
    return None, None


def _acts(titles: list[str]) -> Iterator[tuple[str, str]]:
    return ((where, kind) for line in titles for where, kind, form in _ACTS if form.fullmatch(line))


def _jurisdiction(head: list[str]) -> str | None:
    top = "\n".join(head)
    if _FEDERAL.search(top):
        return "us"
    if found := _STATE_STATUTES.search(top):
        return f"us-{_STATES[found['state'].lower()]}"
    return None


def _docket_places(head: list[_Line]) -> Iterator[Span]:
    """The numbers of the first line that has one, and of those directly below it that have no other words."""
    lines = (line for line in head if line.start >= 0 and len(line.text) <= LONGEST_HEADING)
    has_any = False
    for line in lines:
        found = [] if _OF_ANOTHER.search(line.text) else list(_DOCKET.finditer(line.text))
        if has_any and not _DOCKET.fullmatch(line.text):
            return
        has_any = has_any or bool(found)
        for match in found:
            yield from line.span(*match.span(match.lastindex or 0), "docket")
            more = _MORE.match(line.text, match.end())
            while more:
                yield from line.span(*more.span("number"), "docket")
                more = _MORE.match(line.text, more.end())


def _parties(head: list[str]) -> dict[str, None]:
    """Their roles, of the lines of the head that are no running text."""
    return {str(found.lastgroup): None for line in head if len(line) <= _LONGEST_LINE for found in _ROLE.finditer(line)}


def _validity(head: list[_Line], jurisdiction: str) -> tuple[str | None, list[Span]]:
    """Whether an enactment says of itself that it is in force, and where."""
    for line in head:
        found = _VALIDITY.search(line.text) if len(line.text) <= _LONGEST_LINE else None
        if found is None or line.start < 0:
            continue
        since = _SINCE.match(line.text, found.end())
        day = _day_of(since, jurisdiction) if since else None
        end = since.end() if since and day else found.end()
        if day or found.span() == (0, len(line.text)):
            state = f"{found.lastgroup}:{day}" if day else str(found.lastgroup)
            return state, list(line.span(found.start(), end, "validity"))
    return None, []


def _decision_date(head: list[_Line], jurisdiction: str, not_after: str) -> tuple[str | None, list[Span]]:
    """The first date of the head that says it is one of a decision, or stands on a line of its own; where it stands."""
    for line in head:
        bare = line.text.rstrip(".")
        found = _DATE.search(line.text) or _BARE_DATE.fullmatch(bare) or _FIGURES.match(bare)
        day = _day_of(found, jurisdiction) if found else None
        if found and day and (not not_after or day <= not_after[:10]):
            places = [found.span(name) for name, value in found.groupdict().items() if value]
            span = line.span(min(places)[0], max(end for _, end in places), "date")
            return day, list(span)
    return None, []


def _day_of(found: re.Match[str], jurisdiction: str) -> str | None:
    """The day, ISO 8601, that a date means; None where there is none."""
    parts = {name.rstrip("2"): value for name, value in found.groupdict().items() if value}
    year = int(parts.get("year") or parts.get("full") or 0)
    if month := parts.get("month"):
        return _day(year, _MONTHS[month.lower()], int(parts["day"]))
    numbers = int(parts["first"]), int(parts["second"])
    month_first = jurisdiction.startswith("us")
    day, number = (numbers[1], numbers[0]) if month_first else numbers
    return _day(year + 2000 if year < 100 else year, number, day)


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
