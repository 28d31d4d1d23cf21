"""In the personal-data stage: what the pre-scan marked is put before its recogniser, then before the evidence.

`find(text, language, regions)` returns the `Hit`s of all structured types. Presidio's recognisers read the candidates;
validators (`pii_checks`) and context (`pii_words`) decide, because thresholds on Presidio's scores do not: at any
threshold it takes Unix times for telephone numbers or loses half of the addresses.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import phonenumbers
from presidio_analyzer import predefined_recognizers as ready_made

from crawler.stages import pii_checks as checks
from crawler.stages import pii_words as words
from crawler.stages.pii_ids import TRIGGERS, IdRule, recogniser_of
from crawler.stages.pii_scan import Candidate, lower_keeping_offsets, scan

logging.getLogger("presidio-analyzer").setLevel(logging.CRITICAL)  # its IBAN recogniser logs the value it failed on


@dataclass(frozen=True, slots=True)
class Hit:
    """Personal data at `text[start:end]`. `value` is its canonical form: equal values get equal placeholders."""

    start: int
    end: int
    entity: str
    value: str


@dataclass(frozen=True, slots=True)
class Page:
    """The text under examination, with what the rules need to know about it."""

    text: str
    lower: str
    regions: tuple[str, ...]
    language: str | None

    def hit(self, start: int, end: int, entity: str, value: str | None = None) -> Hit:
        """A hit whose canonical value is, unless given, the lower-cased text without white space and separators."""
        raw = value if value is not None else re.sub(r"[\s.\-()/]", "", self.lower[start:end])
        return Hit(start, end, entity, raw)


class OfflineEmailRecognizer(ready_made.EmailRecognizer):  # type: ignore[misc]  # Presidio is untyped
    """Presidio's e-mail expression; the domain is judged by the bundled suffix list, never by a download."""

    def validate_result(self, pattern_text: str) -> bool:
        """True where the part behind the @ can receive mail."""
        return checks.mail_domain(pattern_text.rpartition("@")[2]) is not None


_EMAIL = OfflineEmailRecognizer()
_IBAN = ready_made.IbanRecognizer()
_BITCOIN = ready_made.CryptoRecognizer()
_IP = ready_made.IpRecognizer()
_SELF_EVIDENT: dict[str, tuple[str | None, IdRule]] = {
    "fiscal": (None, IdRule("IT_FISCAL_CODE", (), "ItFiscalCodeRecognizer")),
    "nif": ("es", IdRule("ES_NIF", (), "EsNifRecognizer")),
    "hetu": ("fi", IdRule("FI_PERSONAL_IDENTITY_CODE", (), "FiPersonalIdentityCodeRecognizer")),
}
"""Numbers whose letters and check digit prove them without a label, and the language they need to stand in."""


_MASK = "█"  # neither letter, digit nor separator
_PASSES = 4


def find(text: str, language: str | None, default_region: str = "US") -> list[Hit]:
    """Every structured identifier in `text`, unordered, overlaps included.

    What is found is masked and the rest is read again, because one identifier can hide the start of its neighbour.

    language: ISO 639-1 or None; it chooses the regions local telephone numbers are read in (`default_region` first
    where the language has none) and whether national numbers that prove themselves count without a label.
    """
    lower = lower_keeping_offsets(text)
    regions = words.REGIONS.get(language or "", ())
    if language in {None, "en"} or not regions:
        regions = (default_region, *(r for r in regions if r != default_region))
    hits = found = _read(Page(text, lower, regions, language))
    for _ in range(_PASSES - 1):
        if not found:
            break
        text, lower = _masked(text, found), _masked(lower, found)
        found = _read(Page(text, lower, regions, language))
        hits = hits | found
    return list(hits)


def _read(page: Page) -> set[Hit]:
    hits: set[Hit] = set()
    for candidate in scan(page.text, page.lower, TRIGGERS):
        judge = _judge_id if candidate.kind.startswith("id:") else _JUDGES[candidate.kind]
        hits.update(judge(page, candidate))
    return hits


def _masked(text: str, hits: set[Hit]) -> str:
    pieces, position = [], 0
    for hit in sorted(hits, key=lambda h: (h.start, h.end)):
        if hit.end > position:
            start = max(position, hit.start)
            pieces += (text[position:start], _MASK * (hit.end - start))
            position = hit.end
    return "".join((*pieces, text[position:]))


def _results(recogniser: Any, page: Page, at: Candidate) -> Iterator[tuple[int, int, float]]:
    """Ask a Presidio recogniser about one candidate; offsets are those of the page."""
    for result in recogniser.analyze(page.text[at.start : at.end], recogniser.supported_entities, None):
        yield at.start + result.start, at.start + result.end, result.score


def _judge_email(page: Page, at: Candidate) -> Iterator[Hit]:
    if page.text[at.end : at.end + 1] == ":" and page.text[at.end + 1 : at.end + 2].strip():
        return  # git@host:path and host:port are addresses of machines
    if "/" in page.text[at.start : at.end].partition("@")[0] and "//" in page.text[max(0, at.start - 8) : at.end]:
        return  # user part of a URL
    for start, end, _score in _results(_EMAIL, page, at):
        local, _, domain = page.text[start:end].rpartition("@")
        real = checks.mail_domain(domain)
        if real:
            yield page.hit(start, start + len(local) + 1 + len(real), "EMAIL_ADDRESS", f"{local}@{real}".lower())


_MASKED_DOT = re.compile(r"\s?[\[({<]\s?(?:dot|punkt|point|punto|ponto|\.)\s?[\])}>]\s?| dot ")
_MASKED_AT = re.compile(r"\s?[\[({<]\s?[^\s\])}>]{1,10}\s?[\])}>]\s?| at ")


def _judge_masked_email(page: Page, at: Candidate) -> Iterator[Hit]:
    plain = _MASKED_DOT.sub(".", page.lower[at.start : at.end])
    local, _, domain = _MASKED_AT.sub("@", plain).partition("@")
    if checks.mail_domain(domain) == domain:
        yield page.hit(at.start, at.end, "EMAIL_ADDRESS", f"{local}@{domain}")


def _judge_phone(page: Page, at: Candidate) -> Iterator[Hit]:
    """One number, or the numbers in a row of digits: the longest reading from the left wins, then the rest is read."""
    context = words.near(words.PHONE, page.lower, at.start, at.end)
    start = at.start
    while start < at.end:
        ends = [at.end, *(start + gap.start() for gap in reversed(list(_WORD_GAP.finditer(page.text[start : at.end]))))]
        hit = next((hit for end in ends if (hit := _phone_hit(page, start, end, context))), None)
        if hit:
            yield hit
        opening = _NUMBER_START.search(page.text[start : at.end], hit.end - start if hit else 1)
        start = start + opening.end() if opening else at.end


_WORD_GAP = re.compile(r"[\s/]+")
_NUMBER_START = re.compile(r"[\s/]+(?=[+0(])")


def _phone_hit(page: Page, start: int, end: int, context: bool) -> Hit | None:
    """International form and valid; or local with a telephone word near and valid; or labelled and possible."""
    raw = page.text[start:end]
    international = raw.lstrip("( ").startswith("+")
    if not 6 <= len(checks.digits(raw)) <= 16 or not (international or context or _looks_local(raw)):
        return None
    if raw.count("(") != raw.count(")") or words.just_before(words.NOT_A_PHONE, page.lower, start):
        return None
    if raw.startswith("00") and (context or re.search(r"[ .\-/]", raw[:6])):
        raw, international = "+" + raw[2:], True
    found = checks.phone(raw, page.regions)
    if found is None:
        return None
    number, valid = found
    grouped = international or context or _same_grouping(raw, number)
    if (valid and grouped) or words.just_before(words.PHONE_LABEL, page.lower, start):
        return page.hit(start, end, "PHONE_NUMBER", f"+{number.country_code}{number.national_number}")
    return None


_TRUNK_FORM = re.compile(r"(?:\d ?)?(?:0\d{1,5}|\(\d{2,5}\))[ .\-/\u00a0\u2011]?\d[\d .\-/\u00a0\u2011]{4,14}\Z")
_DASHED_FORM = re.compile(r"(?:1[-. ])?\(?\d{3}[-.)] ?\d{3}[-.]\d{4}\Z")
_SEPARATORS = re.compile(r"[\s().\-/\u00a0\u2010-\u2013]+")


def _looks_local(raw: str) -> bool:
    """Written the way people write telephone numbers: trunk zero, or an area code in brackets or dashes."""
    return bool(_TRUNK_FORM.match(raw) or _DASHED_FORM.match(raw))


def _same_grouping(raw: str, number: phonenumbers.PhoneNumber) -> bool:
    """The digits stand in the groups of the country's own format: data columns and dates do not."""
    national = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    written = _SEPARATORS.sub(" ", raw).strip().removeprefix("1 ")
    return written == _SEPARATORS.sub(" ", national).strip()


_PRINTED = frozenset({(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3)})
_RARE_ISSUERS = ("50", "56", "57", "58", "63", "67")  # Maestro: every eighth number starts so


def _judge_card(page: Page, at: Candidate) -> Iterator[Hit]:
    """Luhn and issuer; then the groups printed on a card, or a word about cards, or 15/16 digits of a large issuer."""
    raw = page.text[at.start : at.end]
    for end in (len(raw), *(gap.start() for gap in reversed(list(_WORD_GAP.finditer(raw))))):
        if not checks.is_card(raw[:end]):
            continue
        groups = tuple(len(group) for group in re.split(r"\D", raw[:end]))
        plain = groups in {(15,), (16,)} and not raw.startswith(_RARE_ISSUERS)
        if plain or groups in _PRINTED or words.near(words.CARD, page.lower, at.start, at.start + end):
            yield page.hit(at.start, at.start + end, "CREDIT_CARD", checks.digits(raw[:end]))
            return


def _judge_iban(page: Page, at: Candidate) -> Iterator[Hit]:
    for start, end, score in _results(_IBAN, page, at):
        if score >= 1.0 and not page.text[end : end + 1].isalnum():
            yield page.hit(start, end, "IBAN_CODE")


def _judge_address(page: Page, at: Candidate) -> Iterator[Hit]:
    if words.just_before(words.VERSION, page.lower, at.start):
        return
    stripped = page.text[at.start : at.end].rstrip(":") if at.kind == "ipv6" else page.text[at.start : at.end]
    for start, end, _score in _results(_IP, page, Candidate(at.kind, at.start, at.start + len(stripped))):
        if checks.is_public_address(page.text[start:end]):
            yield page.hit(start, end, "IP_ADDRESS", page.lower[start:end])


def _judge_bitcoin(page: Page, at: Candidate) -> Iterator[Hit]:
    for start, end, score in _results(_BITCOIN, page, at):
        if score >= 1.0 and (start, end) == (at.start, at.end):
            yield page.hit(start, end, "CRYPTO", page.text[start:end])


def _judge_ether(page: Page, at: Candidate) -> Iterator[Hit]:
    if words.near(words.WALLET, page.lower, at.start, at.end):
        yield page.hit(at.start, at.end, "CRYPTO")


def _judge_self_evident(page: Page, at: Candidate) -> Iterator[Hit]:
    language, rule = _SELF_EVIDENT[at.kind]
    if language not in {None, page.language}:
        return
    for start, end, score in _results(recogniser_of(rule), page, at):
        if score >= 1.0:
            yield page.hit(start, end, rule.entity)


def _judge_id(page: Page, at: Candidate) -> Iterator[Hit]:
    trigger = at.kind.removeprefix("id:")
    if not _is_word(page.lower, trigger, at):
        return
    for rule in TRIGGERS[trigger]:
        for start, end, score in _results(recogniser_of(rule), page, at):
            if score >= rule.minimum and _proven(rule, page, start, end, trigger):
                yield page.hit(start, end, rule.entity)


def _is_word(lower: str, trigger: str, at: Candidate) -> bool:
    """The trigger starts a word ("nie" does not count inside "genie"), unless it is long; compounds may go on."""
    if len(trigger) > 8:
        return True
    place = lower.find(trigger, at.start, at.end)
    while place >= 0:
        behind = lower[place + len(trigger) : place + len(trigger) + 1]
        if (place == 0 or not (lower[place - 1].isalnum() or lower[place - 1] == "_")) and (
            len(trigger) > 4 or not behind.isalpha()
        ):
            return True
        place = lower.find(trigger, place + 1, at.end)
    return False


_WEAK_GAP = re.compile(r"[^\d\n]{0,30}")


def _proven(rule: IdRule, page: Page, start: int, end: int, trigger: str) -> bool:
    raw = page.text[start:end]
    if page.text[start - 1 : start].isalnum() or page.text[end : end + 1].isalnum():
        return False  # part of a longer number or word
    if not any(c.isdigit() for c in raw) or (rule.check and not rule.check(raw)):
        return False
    if not rule.weak:
        return True
    label = page.lower.rfind(trigger, max(0, start - 50), start)
    return label >= 0 and bool(_WEAK_GAP.fullmatch(page.lower[label + len(trigger) : start]))


_JUDGES: dict[str, Callable[[Page, Candidate], Iterator[Hit]]] = {
    "email": _judge_email,
    "masked_email": _judge_masked_email,
    "phone": _judge_phone,
    "card": _judge_card,
    "ipv4": _judge_address,
    "ipv6": _judge_address,
    "iban": _judge_iban,
    "bitcoin": _judge_bitcoin,
    "ether": _judge_ether,
    "fiscal": _judge_self_evident,
    "nif": _judge_self_evident,
    "hetu": _judge_self_evident,
}
