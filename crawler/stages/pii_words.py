"""In the personal-data stage: the words that tell a telephone number from any other number, in the languages we cover.

Context words are matched as whole words in a window of the lower-cased text around a hit. Words of all languages are
tried on every page: "Tel." and "Fax" travel, and the verdict must not hang on the language identifier.
"""

from __future__ import annotations

import re

COVERED = frozenset({"en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "fi", "da", "no"})
"""Languages with context words here. Others get the structured set only and are flagged."""

REGIONS: dict[str, tuple[str, ...]] = {
    "en": ("US", "GB", "AU", "IN"),
    "de": ("DE", "AT", "CH"),
    "fr": ("FR", "BE", "CH"),
    "es": ("ES", "MX", "AR"),
    "it": ("IT", "CH"),
    "pt": ("PT", "BR"),
    "nl": ("NL", "BE"),
    "pl": ("PL",),
    "sv": ("SE", "FI"),
    "fi": ("FI",),
    "da": ("DK",),
    "no": ("NO",),
    "cs": ("CZ",),
    "ru": ("RU",),
    "uk": ("UA",),
    "tr": ("TR",),
    "ja": ("JP",),
    "zh": ("CN", "TW"),
    "ko": ("KR",),
}
"""Regions whose local telephone numbers a page in this language may carry."""

_PHONE = """
phone phones ph telephone tel tele cell cellphone mobile mob call calls called calling dial ring fax telefax whatsapp
sms contact reach hotline helpline voicemail landline switchboard
telefon telefonnummer telefonnr telefonisch fon handy handynummer mobil mobilnummer mobilfunk rufnummer durchwahl
anrufen anruf erreichbar erreichen kontakt festnetz zentrale sekretariat
téléphone téléphoner tél portable appeler appelez appelle joindre joignable numéro fixe télécopie
teléfono telefono tfno tlf móvil movil celular llame llamar llámenos llámame contacto
cellulare chiamare chiamate chiama chiami recapito
telefone telemóvel ligue ligar
telefoon telefoonnummer tel.nr mobiel bellen bel
telefonu komórka komórkowy zadzwoń dzwonić dzwoń
puhelin puh puhelinnumero soita
ring ringa mobiltelefon telefonnumret växel
телефон тел звоните позвоните факс моб
"""
_PHONE_NO_SPACES = ("電話", "电话", "手机", "携帯", "전화", "โทร", "هاتف", "फोन")
PHONE = re.compile(
    r"(?<!\w)(?:"
    + "|".join(re.escape(w) for w in _PHONE.split())
    + r"|text (?:me|us))(?!\w)|"
    + "|".join(_PHONE_NO_SPACES)
)
PHONE_LABEL = re.compile(
    r"(?:(?<!\w)(?:tele)?(?:phone|fon|fono|foon|fax|fone)|(?<!\w)(?:tel|tél|ph|cell|mobile|mobil|mob|handy|portable|móvil"
    r"|teléfono|celular|cellulare|whatsapp|call|text|ring|rufnummer|телефон|тел|puh|tlf)|電話|电话|手机|携帯|전화)"
    r"(?:[ -]?(?:number|numbers|no|nr|nummer|num|me|us|him|her|them|is|at|on|under|unter|au|al|le|la|el|ist|lautet|kom"
    r"|fixe|phone|mobile|móvil|番号|now|today)(?!\w))*[.:： ]{0,3}\Z"
)
"""A label directly before the number: then a possible number is enough, it need not be an assigned one."""

NOT_A_PHONE = re.compile(
    r"(?<!\w)(?:(?:isbn(?:-1[03])?|issn|ean|upc|gtin|doi|sku|vat|ust-idnr|siret|siren|iso|din|rfc|bug|issue|ticket|order"
    r"|invoice|rechnung|bestellung|article|artikel|version|serial|model|part|timestamp|epoch|port|pid|uid|id|patent|pmid"
    r"|arxiv)(?: ?(?:number|no|nr|nummer|n°))?"
    r"|(?:art|best|kd|kunden|artikel|rechnungs|bestell|konto|auftrags)\.?-?(?:nr|nummer))[.:# ]{0,3}\Z"
)
NETWORK = re.compile(
    r"(?<!\w)(?:ip|ipv4|ips|address|addresses|adresse|host|hosts|server|client|dns|ping|user|visitor|vandal|login|logged"
    r"|request|requests|connection|dirección|indirizzo|endereço|anfrage|besucher|nutzer)(?!\w)"
)
CARD = re.compile(
    r"(?<!\w)(?:credit|debit|card|cards|visa|mastercard|amex|american express|discover|jcb|diners|maestro|kreditkarte"
    r"|karte|kreditkartennummer|carte|carte bancaire|cb|tarjeta|carta|cartão|creditcard|karta|kort|pan)(?!\w)"
)
WALLET = re.compile(
    r"(?<!\w)(?:wallet|eth|ether|ethereum|btc|bitcoin|crypto|donate|donation|donations|tip|tips|address|adresse|spenden"
    r"|spende|don|dons|send)(?!\w)"
)
VERSION = re.compile(
    r"(?<!\w)(?:version|versions|v|ver|release|build|firmware|revision|rev|driver|section|chapter|kapitel|abschnitt|oid"
    r"|sdk|update|upgrade|patch)[.: ]{0,3}\Z"
)


def near(pattern: re.Pattern[str], lower: str, start: int, end: int, *, before: int = 60, after: int = 25) -> bool:
    """True where a context word stands on the same line, within `before` or `after` characters of the hit."""
    left = lower[max(0, start - before) : start]
    right = lower[end : end + after]
    return bool(pattern.search(left[left.rfind("\n") + 1 :]) or pattern.search(right.split("\n", 1)[0]))


def just_before(pattern: re.Pattern[str], lower: str, start: int, reach: int = 40) -> bool:
    """True where the text right before `start` ends with the pattern (which ends in `\\Z`)."""
    return bool(pattern.search(lower[max(0, start - reach) : start]))
