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
sms contact reach hotline helpline voicemail landline switchboard signal telegram viber callback phoned rang toll-free
telefon telefonnummer telefonnr telefonisch fon handy handynummer mobil mobilnummer mobilfunk rufnummer durchwahl
anrufen anruf erreichbar erreichen kontakt festnetz zentrale sekretariat notdienst notruf rückruf rufen ruft anwählen
telefonieren servicenummer geschäftsstelle sprechstunde praxis faxnummer natel
téléphone téléphoner tél portable appeler appelez appelle joindre joignable numéro fixe télécopie télécopieur gsm
standard composer composez rappeler rappelez coordonnées accueil secrétariat
teléfono telefono tfno tlf tlfno móvil movil celular cel llame llamar llámenos llámame contacto contactar llamada
centralita oficina secretaría recepción marque
cellulare cell chiamare chiamate chiama chiami chiamami recapito telefonico verde telefonare telefonate centralino
segreteria reception
telefone telemóvel tlm telef telefónico telefônico ligue ligar liga ligação escritório secretaria recepção receção
telefoon telefoonnummer tel.nr mobiel bellen bel gsm-nummer telefonisch bereikbaar belt spoed balie receptie mobiele
telefonu telefonicznie telefoniczny numerem komórka komórkowy kom zadzwoń dzwonić dzwoń infolinia biuro recepcja
sekretariacie komórki
puhelin puh puhelinnumero soita
ringa mobiltelefon telefonnumret växel
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
    r"|teléfono|celular|cellulare|whatsapp|call|text|ring|rufnummer|телефон|тел|puh|tlf|gsm|móvil|telefono|telefoonnummer"
    r"|telefonu|verde|infolinia|komórka|kom|telemóvel|telefone|tfno|hotline|helpline|notruf|notdienst|vert|gratuit)"
    r"|電話|电话|手机|携帯|전화)"
    r"(?:[ .-]{0,2}(?:number|numbers|no|nr|nummer|num|me|us|him|her|them|is|at|on|under|unter|au|al|le|la|el|ist|lautet|kom"
    r"|fixe|phone|mobile|móvil|番号|now|today|gratuito|gratis|numer|número|numero|numéro|n°|nº|fax)(?!\w))*[.:： ]{0,3}\Z"
)
"""A label directly before the number: then a possible number is enough, it need not be an assigned one."""

_OTHER_NUMBER = """
isbn isbn-10 isbn-13 issn ean upc gtin doi sku vat ust-idnr siret siren iso din rfc bug issue ticket order invoice
rechnung bestellung article artikel version serial model part timestamp epoch port pid uid id patent pmid arxiv
tracking reference ref case file batch lot item product catalogue catalog quote receipt voucher coupon policy claim
booking reservation confirmation isin account meter customer student employee membership member docket registration
art best kd kunden bestell konto auftrag auftrags vorgang vorgangs akten vertrag vertrags serien modell teile charge
mitglied mitglieds rechnungs artikel sendung sendungs paket aktenzeichen az
commande référence réf facture dossier colis suivi série modèle pièce contrat adhérent article devis marché
pedido referencia factura expediente serie modelo pieza envío lote artículo contrato socio albarán presupuesto
ordine riferimento rif fattura pratica spedizione matricola serie modello articolo lotto codice contratto preventivo
encomenda referência fatura processo série peça envio artigo lote contrato sócio orçamento nota
bestelling bestel factuur order klant klanten zaak dossier serie onderdeel zending partij kenmerk polis lid offerte
zamówienie zamówienia faktura faktury katalogowy seryjny przesyłka przesyłki partia umowa umowy klienta sygnatura
"""
_NUMBER_WORDS = "number|numbers|no|nr|nummer|num|code|id|n°|nº|n\\.º|numéro|número|numero|numer|de|of|the|is|lautet"
NOT_A_PHONE = re.compile(
    r"(?<!\w)(?:"
    + "|".join(re.escape(w) for w in sorted(set(_OTHER_NUMBER.split()), key=len, reverse=True))
    + rf")s?(?:[ .:#-]{{0,3}}(?:{_NUMBER_WORDS}))*[.:# ]{{0,3}}\Z"
)
"""What a number is instead: the word, "number" in some form, and then the digits."""

NETWORK = re.compile(
    r"(?<!\w)(?:ip|ipv4|ips|address|addresses|adresse|host|hosts|server|client|dns|ping|user|visitor|vandal|login|logged"
    r"|request|requests|connection|dirección|indirizzo|endereço|anfrage|besucher|nutzer|nameserver|gateway|router|banned"
    r"|blocked|attacker|ssh|port|visiteur|visitante|visitatore|bezoeker|adres|adresu|serveur|servidor|serwer)(?!\w)"
)
CARD = re.compile(
    r"(?<!\w)(?:credit|debit|card|cards|visa|mastercard|amex|american express|discover|jcb|diners|maestro|kreditkarte"
    r"|karte|kreditkartennummer|carte|carte bancaire|cb|tarjeta|carta|cartão|creditcard|karta|kort|pan)(?!\w)"
)
WALLET = re.compile(
    r"(?<!\w)(?:wallet|eth|ether|ethereum|btc|bitcoin|crypto|donate|donation|donations|tip|tips|address|adresse|spenden"
    r"|spende|don|dons|send)(?!\w)"
)
_NUMBERED = """
version versions versión versione versão versie wersja wersji v ver vers release build firmware revision rev driver sdk
update upgrade patch kernel bios assembly plugin app apk client library package image tag
section sections sec clause subclause paragraph para article chapter appendix annex table figure fig example rule item
step requirement test heading verse oid chap kapitel abschnitt absatz ziffer anhang tabelle abbildung nummer punkt
paragraphe alinéa annexe tableau chapitre sección apartado capítulo anexo tabla cuadro sezione paragrafo capitolo tabella
allegato punto secção seção quadro tabela paragraaf hoofdstuk bijlage tabel punktu rozdział rozdziale tabeli załącznik
глава раздел
chrome chromium firefox edge safari opera windows macos ios android java python node nginx apache openssl curl oracle
"""
VERSION = re.compile(
    r"(?<!\w)(?:" + "|".join(re.escape(w) for w in sorted(set(_NUMBERED.split()), key=len, reverse=True))
    + r")[.:/= \u00a0\u202f-]{0,3}v?\Z|§ ?\Z"
)  # fmt: skip
"""Words before four numbers with dots that make them a version or a section, not an address."""


def near(pattern: re.Pattern[str], lower: str, start: int, end: int, *, before: int = 60, after: int = 25) -> bool:
    """True where a context word stands on the same line, within `before` or `after` characters of the hit."""
    left = lower[max(0, start - before) : start]
    right = lower[end : end + after]
    return bool(pattern.search(left[left.rfind("\n") + 1 :]) or pattern.search(right.split("\n", 1)[0]))


def just_before(pattern: re.Pattern[str], lower: str, start: int, reach: int = 40) -> bool:
    """True where the text right before `start` ends with the pattern (which ends in `\\Z`)."""
    return bool(pattern.search(lower[max(0, start - reach) : start]))
