"""`find` puts what the scan marked before its recogniser, then before the evidence: check digits and context.

`find(text, language, regions)` returns the `Hit`s of all structured types. Presidio's recognisers read the candidates;
validators (`checks`) and context (`context_words`) decide, because thresholds on Presidio's scores do not: at any
threshold it takes Unix times for telephone numbers or loses half of the addresses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import regex

from crawler.stages.pii import checks, context_words
from crawler.stages.pii.id_checks import iban_length, is_iban
from crawler.stages.pii.id_rules import IdRule
from crawler.stages.pii.ids import TRIGGERS, recogniser_of
from crawler.stages.pii.outline import Outline
from crawler.stages.pii.page import Hit, Page
from crawler.stages.pii.phone import judge_phone
from crawler.stages.pii.postal import postal_in
from crawler.stages.pii.presidio import recogniser
from crawler.stages.pii.scan import (
    DOT_WORDS,
    TRIGGER_IS_WORD,
    TRIGGER_STARTS_WORD,
    Candidate,
    around,
    may_have_candidates,
    plain_marks,
    shapes,
    triggers_near_digits,
)
from crawler.stages.pii.scripts import is_joining, is_unspaced, words_before
from crawler.stages.pii.secrets import secrets_in

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
    return find_in(outline_of(text), language, default_region)


def outline_of(text: str) -> Outline:
    """The outline in which `find_in` looks: that of the text with plain marks."""
    return Outline(plain_marks(text))


def find_in(outline: Outline, language: str | None, default_region: str) -> list[Hit]:
    """`find` for a text whose outline is known."""
    if not may_have_candidates(outline.text):
        return []
    regions = context_words.REGIONS.get(language or "", ())
    if language in {None, "en"} or not regions:
        regions = (default_region, *(r for r in regions if r != default_region))
    page = Page(outline.text, regions, language)
    hits = found = {*secrets_in(outline), *postal_in(outline)}
    if found:  # an address or a number that is part of one is none
        page = Page(_masked(page.text, found), regions, language)
        outline = Outline(page.text)
    found = _read(page, outline)
    hits = hits | found
    for _ in range(_PASSES - 1):
        if not found:
            break
        page = Page(_masked(page.text, found), regions, language, partial(_masked_lower, page, found))
        found = _read(page, Outline(page.text))
        hits = hits | found
    return list(hits)


def _read(page: Page, outline: Outline) -> set[Hit]:
    hits: set[Hit] = set()
    for candidate in shapes(page.text, outline):
        hits.update(_JUDGES[candidate.kind](page, candidate))
    for trigger in triggers_near_digits(page.text, outline, _TRIGGER_WORDS):
        for candidate in around(trigger, page.text, page.lower):
            hits.update(_judge_id(page, candidate))
    return hits


_TRIGGER_WORDS = tuple(TRIGGERS)


def _masked_lower(page: Page, hits: set[Hit]) -> str:
    return _masked(page.lower, hits)


def _masked(text: str, hits: set[Hit]) -> str:
    pieces: list[str] = []
    position = 0
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
    if page.text[max(0, at.start - 2) : at.start] == "//":
        return  # user part of a URL
    for start, end in _mail_addresses(page, at):
        local, _, domain = page.text[start:end].rpartition("@")
        first = start + words_before(local)
        local = page.text[first : start + len(local)]
        real = checks.mail_domain(domain)
        if real and not checks.is_sample_domain(domain) and not _NO_MAILBOX.search(local):
            yield page.hit(first, first + len(local) + 1 + len(real), "EMAIL_ADDRESS", f"{local}@{real}".lower())


@cache
def _mail() -> list[Any]:
    presidios = recogniser("EmailRecognizer")
    return [regex.compile(pattern.regex, presidios.global_regex_flags) for pattern in presidios.patterns]


def _mail_addresses(page: Page, at: Candidate) -> Iterator[tuple[int, int]]:
    """Where Presidio's expressions match. Its validation is the judge's own, and its explanations are for nobody."""
    for expression in _mail():
        for match in expression.finditer(page.text[at.start : at.end]):
            yield at.start + match.start(), at.start + match.end()


_NO_MAILBOX = re.compile(r"\A\d{8,}\.|!|\A(?=.*[A-Z])(?=.*\d)[\w+-]{28,}\Z")
"""A message ("20240117093012.4F2A1@host", a long random token) or a nick!user@host of IRC."""
_MASKED_DOT = re.compile(rf"\s?[\[({{<]\s?(?:{DOT_WORDS})\s?[\])}}>]\s?| dot ")
_MASKED_AT = re.compile(r"\s?[\[({<]\s?[^\s\])}>]{1,10}\s?[\])}>]\s?| at ")


def _judge_masked_email(page: Page, at: Candidate) -> Iterator[Hit]:
    raw = page.lower[at.start : at.end]
    local, _, domain = _MASKED_AT.sub("@", _MASKED_DOT.sub(".", raw)).partition("@")
    real, words = checks.mail_domain(domain), words_before(local)
    if real is None or checks.is_sample_domain(domain) or not raw.endswith(glued := domain[len(real) :]):
        return
    if glued and not is_unspaced(glued[0]):
        return
    yield page.hit(at.start + words, at.end - len(glued), "EMAIL_ADDRESS", f"{local[words:]}@{real}")


_PRINTED = frozenset({(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3)})
_RARE_ISSUERS = ("50", "56", "57", "58", "63", "67")  # Maestro: every eighth number starts so


def _judge_card(page: Page, at: Candidate) -> Iterator[Hit]:
    """Luhn and issuer; then the groups printed on a card, or a word about cards, or 15/16 digits of a large issuer.

    Behind a label ("card number:") Luhn is enough: networks are founded and issuers get new ranges.
    """
    raw = page.text[at.start : at.end]
    labelled = context_words.just_before(context_words.CARD_LABEL, page, at.start)
    for end in (len(raw), *(gap.start() for gap in reversed(list(re.finditer(r"\s", raw))))):
        if not (checks.is_card(raw[:end]) or (labelled and checks.is_card_shaped(raw[:end]))):
            continue
        groups = tuple(len(group) for group in re.split(r"\D", raw[:end]))
        plain = groups in {(15,), (16,)} and not raw.startswith(_RARE_ISSUERS)
        near = context_words.near(context_words.CARD, page, at.start, at.start + end)
        printed = groups in _PRINTED and not _is_in_a_row(page.text, at.start, at.start + end)
        if labelled or plain or near or printed:
            yield page.hit(at.start, at.start + end, "CREDIT_CARD", checks.digits(raw[:end]))
            return


_GROUP_BEFORE, _GROUP_BEHIND = re.compile(r"\d{4} \Z"), re.compile(r" \d{4}")


def _is_in_a_row(text: str, start: int, end: int) -> bool:
    """Groups of digits before and behind: a table of numbers, of which every fortieth four pass for a card."""
    return bool(_GROUP_BEFORE.search(text[max(0, start - 5) : start]) and _GROUP_BEHIND.match(text, end))


def _judge_iban(page: Page, at: Candidate) -> Iterator[Hit]:
    """As many letters and digits as the register gives the country's numbers, built so, with their check digits."""
    raw = page.text[at.start : at.end]
    places = [place for place, char in enumerate(raw) if char.isalnum()]
    length = iban_length(raw[:2])
    if not length or len(places) < length:
        return
    end = at.start + places[length - 1] + 1
    if is_iban(page.text[at.start : end]) and not is_joining(page.text[end : end + 1]):
        yield page.hit(at.start, end, "IBAN_CODE")


def _judge_address(page: Page, at: Candidate) -> Iterator[Hit]:
    for start, end in _addresses(page, at):
        if (
            checks.is_public_address(page.text[start:end])
            and not context_words.just_before(context_words.VERSION, page, at.start)
            and not _is_numbering(page, start, end)
        ):
            yield page.hit(start, end, "IP_ADDRESS", page.lowered(start, end))


def _addresses(page: Page, at: Candidate) -> Iterator[tuple[int, int]]:
    """What Presidio reads in the candidate. Of four public numbers it takes all, so it need not be asked about them."""
    if at.kind == "ipv4":
        yield at.start, at.end
        return
    stripped = page.text[at.start : at.end].rstrip(":")
    for start, end, _score in _results(
        recogniser("IpRecognizer"), page, Candidate(at.kind, at.start, at.start + len(stripped))
    ):
        yield start, end


_TITLE = re.compile(r",? (?:[\u2013-] )?[\u201c\u201e\u00ab\u300c\u2018]")
_HEADING = re.compile(r"\.?[ \u00a0]{1,3}[^\W\d_]")
_LIST_DOT = re.compile(r"\.[ \u00a0]{1,3}[^\W\d_]")


def _is_numbering(page: Page, start: int, end: int) -> bool:
    """Four small numbers with no word about networks near: a version or a section; one address in 4,000 is as small.

    Two zeros in it speak for a version; at the start of a line, before a title, a larger chapter number counts, too.
    """
    octets = page.text[start:end].partition("/")[0].split(".")
    if len(octets) != 4 or not all(octet.isdigit() for octet in octets):
        return False
    networked = context_words.near(context_words.NETWORK, page, start, end)
    if not networked and context_words.near(context_words.RELEASED, page, start, start, after=0):
        return True
    first_of_line = page.text[max(0, start - 1) : start] in {"", "\n"}
    if first_of_line and _LIST_DOT.match(page.text, end):
        return True
    heading = first_of_line and _HEADING.match(page.text, end) and max(map(int, octets[1:])) < 32
    small = max(map(int, octets)) < 32 or octets.count("0") > 1
    if small and (context_words.just_before(context_words.SEE, page, start) or _TITLE.match(page.text, end)):
        return True
    return bool(small or heading) and not networked


def _judge_bitcoin(page: Page, at: Candidate) -> Iterator[Hit]:
    for start, end, score in _results(recogniser("CryptoRecognizer"), page, at):
        if score >= 1.0 and (start, end) == (at.start, at.end):
            yield page.hit(start, end, "CRYPTO", page.text[start:end])


def _judge_ether(page: Page, at: Candidate) -> Iterator[Hit]:
    if context_words.near(context_words.WALLET, page, at.start, at.end):
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
    if len(trigger) > TRIGGER_STARTS_WORD:
        return True
    place = lower.find(trigger, at.start, at.end)
    if is_unspaced(trigger[0]):
        return place >= 0
    while place >= 0:
        behind = lower[place + len(trigger) : place + len(trigger) + 1]
        if (place == 0 or not (lower[place - 1].isalnum() or lower[place - 1] == "_")) and (
            len(trigger) > TRIGGER_IS_WORD or not behind.isalpha()
        ):
            return True
        place = lower.find(trigger, place + 1, at.end)
    return False


_WEAK_GAP = re.compile(r"[^\d\n]{0,30}")


def _proven(rule: IdRule, page: Page, start: int, end: int, trigger: str) -> bool:
    raw = page.text[start:end]
    if is_joining(page.text[start - 1 : start]) or is_joining(page.text[end : end + 1]):
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
    "phone": judge_phone,
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
