"""A Creative Commons licence is known by its address or by its whole name, version and country included.

A licence that was ported to a country is another text than the one of the same version without a country, and counts
as another licence. Sources: SPDX License List 3.27 (the identifiers); Creative Commons, "Jurisdiction ports" (the
countries; version 4.0 has none).
"""

from __future__ import annotations

import re

from crawler.stages.extraction.metadata.linked import named

_KINDS = ("by", "by-nc", "by-nc-nd", "by-nc-sa", "by-nd", "by-sa")
_VERSIONS = ("1.0", "2.0", "2.5", "3.0", "4.0")
_PORTS = (
    "3.0-AT 3.0-AU 3.0-DE 3.0-IGO 3.0-NL 3.0-US 2.5-AU",
    "3.0-DE",
    "3.0-DE 3.0-IGO",
    "2.0-DE 2.0-FR 2.0-UK 3.0-DE 3.0-IGO",
    "3.0-DE",
    "2.0-UK 2.1-JP 3.0-AT 3.0-DE 3.0-IGO",
)
"""Of each kind, those that SPDX lists."""
SPDX = frozenset(
    [f"CC-{kind.upper()}-{version}" for kind in _KINDS for version in _VERSIONS]
    + [f"CC-{kind.upper()}-{port}" for kind, ports in zip(_KINDS, _PORTS, strict=True) for port in ports.split()]
    + ["CC0-1.0"]
)
"""Identifiers of the licences that are read, as SPDX writes them."""
_COUNTRIES = named(
    "ar at au az be bg br ca ch cl cn co cr cz de dk ec ee eg es fi fr ge gr gt hk hr hu ie igo il in it jo jp kr lu "
    "mk mt mx my nl no nz pe ph pl pr pt ro rs scotland se sg si th tw ua ug uk us ve vn za"
)
_PORTED = frozenset({"1.0", "2.0", "2.1", "2.5", "3.0"})
"""Versions of which there are ports."""

_KIND = r"by(?:-nc)?(?:-nd|-sa)?"
_ADDRESS = re.compile(
    rf"(?:(?:https?:)?//)?(?:www\.)?creativecommons\.org/(?:licenses/({_KIND})|publicdomain/(zero))/([0-9]\.[0-9])"
    r"(?:/([a-z]{2}|igo|scotland))?(?:/(?:(?:deed|legalcode|rdf)(?:[._-][a-z_-]{1,20})?/?)?)?(?:[?#].{0,500})?",
    re.IGNORECASE,
)
_OF_SPDX = re.compile(r"https?://(?:www\.)?spdx\.org/licenses/(CC[0-9A-Za-z.-]{3,40}?)(?:\.html|\.json)?/?")
_SHORT = re.compile(
    r"(?:cc|creative commons)(?: licen[cs]e)?[ -]?(by(?:[ -]nc)?(?:[ -](?:nd|sa))?|0|zero)[ -]?v?\.? ?([0-9]\.[0-9])"
    r"(?:[ -](international|unported|generic|universal|[a-z]{2}|igo))?",
    re.IGNORECASE,
)
_LONG = re.compile(
    r"creative commons attribution([ –-]non-?commercial)?([ –-](?:share[ -]?alike|no[ -]?deriv(?:ative)?s))?"
    r"(?: licen[cs]e)?,? (?:version )?([0-9]\.[0-9])(?: (international|unported|generic))?",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"^(?:a|the) | (?:public )?licen[cs]e$|\.$| \((?:cc[ -])?(?:by(?:-nc)?(?:-nd|-sa)?)(?: [0-9]\.[0-9])?\)$",
    re.IGNORECASE,
)
"""What may stand around a name without changing it."""
_LONGEST = 200
"""Characters of a name."""
_PLAIN = frozenset({"international", "unported", "generic", "universal"})


def licence_at(address: str) -> str | None:
    """Identifier of the licence whose deed or legal text has this address; None where no licence that is read has.

    A port that SPDX does not list is `LicenseRef-CC-…`, in the form of its own identifiers.
    """
    address = address.strip()
    if listed := _OF_SPDX.fullmatch(address):
        return listed[1] if listed[1] in SPDX else None
    match = _ADDRESS.fullmatch(address)
    if match is None:
        return None
    kind, zero, version, country = match.groups()
    return _identifier("zero" if zero else kind, version, country or "")


def licence_called(text: str) -> str | None:
    """Identifier of the licence of which this text is the whole name; None where it is none, or has no version."""
    text = " ".join(text[:_LONGEST].split())
    for _ in range(4):
        text = _ASIDE.sub("", text)
    if match := _SHORT.fullmatch(text):
        return _identifier(match[1].lower().replace(" ", "-"), match[2], _country(match[3]))
    if match := _LONG.fullmatch(text):
        what = (match[2] or "").lower()
        kind = "by" + ("-nc" if match[1] else "") + ("-sa" if "share" in what else "-nd" if what else "")
        return _identifier(kind, match[3], _country(match[4]))
    return None


def _country(word: str | None) -> str:
    return "" if word is None or word.lower() in _PLAIN else word


def _identifier(kind: str, version: str, country: str) -> str | None:
    if kind.lower() in {"zero", "0"}:
        return "CC0-1.0" if version == "1.0" and not country else None
    found = f"CC-{kind.upper()}-{version}" + (f"-{country.upper()}" if country else "")
    if found in SPDX:
        return found
    return f"LicenseRef-{found}" if country.lower() in _COUNTRIES and version in _PORTED else None
