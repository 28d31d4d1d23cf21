"""Validity of cards, addresses, mail domains and telephone numbers: pure functions from a value to a verdict.

None of them knows the surrounding text: context is `context_words`, and the two meet in `recognise` and `phone`.
National identity numbers are in `id_checks`.
"""

from __future__ import annotations

import ipaddress
import re

import phonenumbers

from crawler.stages.pii.id_checks import luhn
from crawler.stages.text.tables import sections
from crawler.urls.canonicalize import is_registrable

_SPECIAL_TLDS = frozenset({"example", "local", "internal", "onion", "lan"})
"""Beside the public suffixes. `.test`, `.invalid` and `.localhost` are left out: no mail reaches them (RFC 2606)."""

_ISSUERS: tuple[tuple[int, int, int, frozenset[int]], ...] = tuple(
    (int(first), int(last), len(first), frozenset(map(int, lengths)))
    for first, last, *lengths in map(str.split, sections(__package__, "card_issuers.txt")[""])
)
"""First and last prefix, digits in the prefix, lengths of the number."""


_NO_DIGITS = re.compile(r"[^0-9]+")


def digits(value: str) -> str:
    """The ASCII digits of a value, everything else removed."""
    return _NO_DIGITS.sub("", value)


def is_card(value: str) -> bool:
    """A payment card number: an issuer's prefix with a length that issuer uses, and Luhn."""
    if not is_card_shaped(value):  # first: it costs less than the issuers, and few numbers pass
        return False
    number = digits(value)
    return any(
        first <= int(number[:width]) <= last and len(number) in lengths for first, last, width, lengths in _ISSUERS
    )


def is_card_shaped(value: str) -> bool:
    """Twelve to nineteen digits that pass Luhn (ISO/IEC 7812-1), whoever issues such cards."""
    number = digits(value)
    return 12 <= len(number) <= 19 and len(set(number)) > 1 and luhn(number)


_SPECIAL_NETWORKS = tuple(map(ipaddress.ip_network, ("192.88.99.0/24", "2002::/16", "3fff::/20")))
"""6to4 (RFC 7526) and the second documentation prefix (RFC 9637), which Python 3.11 takes for public."""


def is_public_address(value: str) -> bool:
    """A globally routable unicast IPv4 or IPv6 address (IANA special-purpose registries, as Python knows them)."""
    try:
        address = ipaddress.ip_address(value.partition("/")[0].partition("%")[0])
    except ValueError:
        return False
    if any(address in network for network in _SPECIAL_NETWORKS if network.version == address.version):
        return False
    if address.version == 6 and int(address) >> 125 != 1:  # only 2000::/3 is global unicast (RFC 4291 section 2.4)
        return False
    return address.is_global and not address.is_multicast


_SAMPLE_DOMAIN = re.compile(r"(?:\A|\.)example\.(?:com|net|org)")


def is_sample_domain(domain: str) -> bool:
    """A name that RFC 2606 section 3 reserves for examples, or one below it: nobody reads mail there.

    True, too, where a missing space glued the next word on ("example.comThen").
    """
    return bool(_SAMPLE_DOMAIN.search(domain.lower()))


def mail_domain(domain: str) -> str | None:
    """The part of a dotted name that can receive mail, or None.

    Cuts what a missing space glued on ("example.org.Then", "example.comまで", "example.hu-ra", "example.comPhone") by
    the bundled public suffix list, without network.
    """
    labels = domain.rstrip(".-").split(".")
    while len(labels) > 1:
        *below, last = labels
        for top in (last, *(match[0] for match in _TOP_OF_MORE.finditer(last))):
            name = ".".join((*below, top))
            if top.lower() in _SPECIAL_TLDS or (is_registrable(name.lower()) and len(name) <= 253):
                return name
        labels.pop()
    return None


_TOP_OF_MORE = re.compile(r"\A[A-Za-z]{2,}(?=[^A-Za-z0-9])|\A(?:com|org|net|edu|gov|mil)(?=[A-Z][a-z])")
"""A top-level domain, all letters (RFC 3696 section 2), before a word that touches it: of a script that leaves no
space, behind a hyphen, or after a lost line break behind one of RFC 920's domains."""


_MEXICAN_MOBILE = re.compile(r"\A\+52[ -]?1(?=[ -]?\d{2,3}[ -])")  # dialled with a 1 until 2019, written so still


def phone(value: str, regions: tuple[str, ...]) -> tuple[phonenumbers.PhoneNumber, bool] | None:
    """Parse a telephone number. Returns it with True where it is assigned, False where it only has a possible length.

    Regions are tried in order; the first valid reading wins, then the first possible one.
    """
    fallback = None
    value = _MEXICAN_MOBILE.sub("+52 ", value)
    for region in ("ZZ",) if value.lstrip("( ").startswith("+") else regions:
        try:
            number = phonenumbers.parse(value, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number) or _is_fictional(number):
            return number, True
        if fallback is None and phonenumbers.is_possible_number(number):
            fallback = (number, False)
    return fallback


def _is_fictional(number: phonenumbers.PhoneNumber) -> bool:
    """Never assigned, but written as a person's: area code 555 (+1), and 01632 960 that Ofcom keeps for drama (+44)."""
    national = str(number.national_number)
    if number.country_code == 1:
        return len(national) == 10 and national.startswith("555")
    return number.country_code == 44 and len(national) == 10 and national.startswith("1632960")
