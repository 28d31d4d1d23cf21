"""Words around a number tell an address of a machine, a card or a wallet from any other number.

Context words are matched as whole words in a window of the lower-cased text around a hit. Words of all languages are
tried on every page: "Tel." and "Fax" travel, and the verdict must not hang on the language identifier.
"""

from __future__ import annotations

import re
import unicodedata

from crawler.stages.pii.page import Page

COVERED = frozenset({"en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "fi", "da", "no"})
"""Languages with context words here. Others get the structured set only and are flagged."""

REGIONS: dict[str, tuple[str, ...]] = {
    "en": ("US", "GB", "AU", "IN"),
    "de": ("DE", "AT", "CH"),
    "fr": ("FR", "BE", "CH", "CA"),
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
    "af": ("ZA",),
    "am": ("ET",),
    "ar": ("SA", "EG", "AE", "MA", "IQ", "DZ", "JO"),
    "az": ("AZ",),
    "be": ("BY",),
    "bg": ("BG",),
    "bn": ("BD", "IN"),
    "bs": ("BA",),
    "ca": ("ES",),
    "cy": ("GB",),
    "el": ("GR", "CY"),
    "et": ("EE",),
    "eu": ("ES",),
    "fa": ("IR", "AF"),
    "ga": ("IE",),
    "gl": ("ES",),
    "gu": ("IN",),
    "he": ("IL",),
    "hi": ("IN",),
    "hr": ("HR", "BA"),
    "hu": ("HU",),
    "hy": ("AM",),
    "id": ("ID",),
    "is": ("IS",),
    "ka": ("GE",),
    "kk": ("KZ",),
    "km": ("KH",),
    "kn": ("IN",),
    "lb": ("LU",),
    "lo": ("LA",),
    "lt": ("LT",),
    "lv": ("LV",),
    "mk": ("MK",),
    "ml": ("IN",),
    "mn": ("MN",),
    "mr": ("IN",),
    "ms": ("MY", "SG", "BN"),
    "mt": ("MT",),
    "my": ("MM",),
    "ne": ("NP",),
    "nn": ("NO",),
    "pa": ("IN",),
    "ro": ("RO", "MD"),
    "si": ("LK",),
    "sk": ("SK",),
    "sl": ("SI",),
    "sq": ("AL", "XK"),
    "sr": ("RS", "BA"),
    "sw": ("TZ", "KE"),
    "ta": ("IN", "LK"),
    "te": ("IN",),
    "th": ("TH",),
    "tl": ("PH",),
    "ur": ("PK", "IN"),
    "uz": ("UZ",),
    "vi": ("VN",),
}
"""Regions whose local telephone numbers a page in this language may carry: where CLDR has it as an official language
of many (supplemental territoryInfo), the largest first."""


def any_of(text: str, *more: str) -> str:
    """Alternatives of a word list, longer ones before those they begin with, then ready-made expressions.

    Words with the same first letter stand together behind it: a search compares one letter, not a hundred words.
    """
    rests: dict[str, list[str]] = {}
    for word in sorted(set(text.split()), key=lambda word: (-len(word), word)):
        rests.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join([*(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in rests.items()), *more])


NETWORK = re.compile(
    r"(?<!\w)(?:ip|ipv4|ips|address|addresses|adresse|host|hosts|server|client|dns|ping|user|visitor|vandal|login|logged"
    r"|request|requests|connection|dirección|indirizzo|endereço|anfrage|besucher|nutzer|nameserver|gateway|router|banned"
    r"|blocked|attacker|visiteur|visitante|visitatore|bezoeker|adres|adresu|serveur|servidor|serwer)(?!\w)"
)
CARD = re.compile(
    r"(?<!\w)(?:credit|debit|card|cards|visa|mastercard|amex|american express|discover|jcb|diners|maestro|kreditkarte"
    r"|karte|kreditkartennummer|carte|carte bancaire|cb|tarjeta|carta|cartão|creditcard|karta|kort|pan|unionpay|rupay"
    r"|карта|карты|картой|kart|kartı)(?!\w)|カード|卡|카드"
)
_CARD_NOUNS = """
card cards creditcard debitcard visa mastercard amex maestro discover jcb diners pan kreditkarte kreditkartennummer
karte kartennummer kartennr bankkarte ec-karte girokarte carte cb tarjeta carta bancomat cartão creditcardnummer kaart
kaartnummer betaalpas karta karty kartą kort kortnummer unionpay rupay мир карта карты kart kartı
"""
_CARD_FILLERS = """
number numbers no nr n num nummer numero número numéro n° nº n.º of de di da del la credit debit crédit débit credito
debito crédito débito bancaire bancaria bancária bleue płatnicza kredytowa kredytowej details is was ist lautet est es è
é ending in my your the
"""
CARD_LABEL = re.compile(
    rf"(?:(?<!\w)(?:{any_of(_CARD_NOUNS)})|カード|卡|카드)(?:[ .,-]{{0,2}}(?:{any_of(_CARD_FILLERS)})(?!\w)){{0,4}}"
    r"(?:番号|号码|号|號碼|號|번호)?[.:：,#= \u00a0(]{0,3}\Z"
)
"""A label directly before the number of a payment card."""

WALLET = re.compile(
    r"(?<!\w)(?:wallet|eth|ether|ethereum|btc|bitcoin|crypto|usdt|usdc|erc20|erc-20|token|tokens|donate|donation|donations"
    r"|tip|tips|address|adresse|spenden|spende|don|dons|send|portefeuille|monedero|cartera|portafoglio|carteira|donaciones"
    r"|donazioni|doações|donaties|portemonnee|portfel|darowizny|dirección|indirizzo|endereço|adres|metamask|kryptowährung)"
    r"(?!\w)"
)
_NUMBERED = """
version versions versión versione versão versie wersja wersji v ver vers release build firmware revision rev driver sdk
update upgrade patch kernel bios assembly plugin app apk client library package image tag
section sections sec clause subclause paragraph para article chapter appendix annex table figure fig example rule item
step requirement test heading verse oid chap kapitel abschnitt absatz ziffer anhang tabelle abbildung nummer punkt
paragraphe alinéa annexe tableau chapitre sección apartado capítulo anexo tabla cuadro sezione paragrafo capitolo
tabella allegato punto secção seção quadro tabela paragraaf hoofdstuk bijlage tabel punktu rozdział rozdziale tabeli
załącznik глава раздел seksjon avsnitt afsnit kısım bölüm oddíl kapitola secțiunea odjeljak szakasz osio розділ secció
chrome chromium firefox edge safari opera windows macos ios android java python node nginx apache openssl curl oracle
"""
VERSION = re.compile(
    rf"(?<!\w)(?:{any_of(_NUMBERED)})[.:/= \u00a0\u202f-]{{0,3}}v?\Z|§ ?\Z"
    r"|(?<!\w)lib[\w+-]{1,30} \Z|[<>=~!]= ?\Z|[<>] \Z"
)
"""Words and signs before four numbers with dots that make them a version or a section, not an address."""

_RELEASED = """
upgrade upgraded upgrades upgrading update updated updates updating downgrade downgraded migrate migrated patched
backported changelog released releases requires require depends deprecated fixed fixes since
behoben aktualisieren aktualisiert aktualisierung veröffentlicht seit benötigt
corrigé corrigée corrigés requiert publiée
corregido corregida actualizar actualizado actualización publicada requiere
risolto risolta corretto aggiornare aggiornato aggiornamento rilasciata richiede
corrigido corrigida atualizar atualizado atualização lançada requer
opgelost bijgewerkt bijwerken sinds vereist
poprawione poprawiono zaktualizować zaktualizowano wydania wydaniu wydanie wymaga
"""
RELEASED = re.compile(
    rf"(?<![\w-])(?:{any_of(_RELEASED)}|new in|moved from|changes (?:in|since|between)|introduced in|à partir)(?![\w-])"
    r"(?!.{0,60}(?:by|via|durch|par|por|door|przez) \Z)"
)
"""On the line before four numbers with dots, and no word about networks near: what was released, not an address."""

SEE = re.compile(r"(?<!\w)(?:see|siehe|vgl|voir|véase|vea|ver|veja|vedi|zie|zob|viz|se|cf)[.:]? ?\Z")
"""Words before a section number."""


def near(pattern: re.Pattern[str], page: Page, start: int, end: int, *, before: int = 60, after: int = 25) -> bool:
    """True where a context word stands on the same line, within `before` or `after` characters of the hit."""
    left = page.lowered(start - before, start)
    right = page.lowered(end, end + after)
    return bool(pattern.search(left[left.rfind("\n") + 1 :]) or pattern.search(right.split("\n", 1)[0]))


def just_before(pattern: re.Pattern[str], page: Page, start: int, reach: int = 40) -> bool:
    """True where the text right before `start` ends with the pattern (which ends in `\\Z`)."""
    return bool(pattern.search(page.lowered(start - reach, start)))


def word_before(text: str, start: int) -> bool:
    """True where a letter, a digit or the sign of "n°" stands before `start`, spaces and the marks of a label between.

    No label and no noun ends in anything else, so this spares most numbers the search for one. A word may end in a
    vowel sign (फ़ोन) and a sign be the label (☎).
    """
    last = text[max(0, start - 10) : start].rstrip(" \u00a0.,:：=#'’")[-1:]
    return last.isalnum() or (last > "\x7f" and unicodedata.category(last)[0] in "MS")
