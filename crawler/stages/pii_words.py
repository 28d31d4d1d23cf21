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

_PHONE_NOUNS = """
phone phones ph telephone tel tele telno cell cellphone mobile mob fax telefax whatsapp sms hotline helpline voicemail
landline switchboard signal telegram viber toll-free tollfree freephone extension
telefon telefonnummer telefonnr fon handy handynummer handynr mobil mobiltel mobilnummer mobilfunk rufnummer durchwahl
festnetz faxnummer servicenummer notdienst notruf natel festnetznummer kontaktnummer telefax hotline
téléphone tél portable télécopie télécopieur gsm vert fixe
teléfono teléfonos tfno tlf tlfno telf tels móvil movil celular cel whatsapp fijo
telefono telefoni cellulare cell verde recapito centralino telefonico telefoniche
telefone telefones telemóvel telemovel tlm telef fone celular fixo
telefoon telefoonnummer telefoonnr tel.nr mobiel mobiele gsm-nummer noodnummer contactnummer vast
telefonu telefony komórka komórki kom komórkowy infolinia faks tel.kom numer
puhelin puh puhelinnumero mobiltelefon telefonnumret växel
телефон тел факс моб
"""
_PHONE_VERBS = """
call calls called calling dial ring text reach contact callback phoned rang
anrufen anruf erreichbar erreichen kontakt zentrale sekretariat rückruf rufen ruft telefonisch anwählen telefonieren
geschäftsstelle sprechstunde praxis
téléphoner appeler appelez appelle joindre joignable standard composer composez rappeler rappelez coordonnées accueil
secrétariat contactez contacter
llame llamar llámenos llámame llama llamen contacto contactar llamada centralita oficina secretaría recepción marque
chiamare chiamate chiama chiami chiamami telefonare telefonate segreteria reception contatto contatti
telefónico telefônico telefónicos ligue ligar liga ligação escritório secretaria recepção receção contactos
telefonisch bereikbaar bellen bel belt spoed balie receptie
telefonicznie telefoniczny numerem zadzwoń zadzwoni dzwonić dzwoń biuro recepcja sekretariacie kontaktowy
soita ringa звоните позвоните
"""
_SERVICE = """
booking bookings enquiries inquiries information info infos reservations reservation appointments appointment service
support helpdesk reception emergency emergencies office home surgery clinic contacted reached speak care desk
rückfragen fragen anmeldung anmeldungen auskunft auskünfte informationen reservierung reservierungen buchung termin
termine terminvereinbarung kundenservice kundendienst ruf wählen wählt bürgertelefon infotelefon servicetelefon
renseignements réservations réservation sos d'appel urgence urgences inscription inscriptions rendez-vous
información informes reservas urgencias citas consultas atención inscripciones llámanos llámenos llamad
informazioni prenotazioni prenotazione assistenza emergenze appuntamenti chiamaci chiamateci iscrizioni
informações apoio atendimento marcações marcação urgências contato contatos inscrições
informatie reserveren reserveringen klantenservice afspraak afspraken inlichtingen aanmelden
informacje rezerwacja rezerwacje obsługa zapisy rejestracja pomoc telefonem
"""
_MY_NUMBER = (
    r"(?:my|our|your|his|her|their|new) (?:new |old |direct )?number|(?:meine|unsere|seine|ihre|neue) nummer"
    r"|(?:mon|notre|votre|son|au) numéro|numéro (?:de téléphone|d['’]urgence|d['’]appel|gratuit|direct|unique|suivant)"
    r"|gratis nummer|kostenlose nummer"
    r"|(?:mi|su|tu|nuestro) número|(?:mio|tuo|suo|nostro) numero"
    r"|(?:meu|seu|nosso) número|(?:mijn|uw|ons|haar|zijn) nummer|(?:mój|twój|jego|jej|nasz) numer"
)
_PHONE_NO_SPACES = ("電話", "电话", "手机", "携帯", "전화", "โทร", "هاتف", "फोन")


def _any_of(text: str, *more: str) -> str:
    """Alternatives of a word list, longest first, then ready-made expressions."""
    return "|".join([*(re.escape(w) for w in sorted(set(text.split()), key=len, reverse=True)), *more])


PHONE = re.compile(
    rf"(?<!\w)(?:{_any_of(_PHONE_NOUNS.replace(' numer', ''), _any_of(_PHONE_VERBS), _MY_NUMBER)})(?!\w)"
    rf"|{'|'.join(_PHONE_NO_SPACES)}"
)
"""Somewhere near a number: then an assigned number of the region counts."""

_LABEL_FILLERS = """
number numbers no nr nummer num me us him her them is at on under unter au al le la el o ao ist lautet kom fixe phone
mobile móvil now today gratuito gratis numer número numero numéro n° nº n.º fax home work office direct privat dienst
domowy służbowy stacjonarny es é è komórkowy kontaktowy to contacto casa ufficio di de do da d'urgence
"""
_CALL = r"(?<!the )(?<!this )(?<!next )(?<!last )(?<!each )(?<!every )(?<!first )(?:call|ring|text)"
PHONE_LABEL = re.compile(
    rf"(?:(?<!\w)(?:{_any_of(_PHONE_NOUNS, _CALL, _MY_NUMBER)})|{'|'.join(_PHONE_NO_SPACES)})"
    rf"(?:[ .-]{{0,2}}(?:{_any_of(_LABEL_FILLERS, '番号')})(?!\w))*[.:： \u00a0=]{{0,3}}\Z"
)
"""A label directly before the number: then a possible number is enough, it need not be an assigned one."""

_TO = _any_of(
    "at on to for under unter an auf sie au le les al el en il lo para pelo pela o ao op via naar pod na nr no"
)
_WORD = r"(?:[ ,]{1,2}[^\W\d_]{1,15})"
PHONE_CUE = re.compile(
    rf"(?<!\w)(?:{_any_of(_SERVICE, _CALL, *_PHONE_VERBS.replace('call ', '').replace(' text', '').split())})"
    rf"(?:{_WORD}{{0,2}}[ ,]{{1,2}}(?:{_TO})|{_WORD}{{0,3}}[ \u00a0]?[.,:：=]|)[ \u00a0]{{0,2}}\Z"
    r"|(?<!\w)(?:[tmfp]|tels)[.:]{0,2} ?\Z"
)
"""Close before the number, a verb of calling or the name of a desk: then an assigned number counts in any grouping."""

QUANTITY = re.compile(
    r"[ \u00a0]?(?:[€$£%°]|(?:euros?|dollars?|pounds?|pesos|zł|z[łl]ot\w+|bytes?|bits?|kb|mb|gb|kwh|mwh|km|kg|m²|m3"
    r"|tonn?e[ns]?"
    r"|times|people|persons?|users?|units?|copies|calls|phones|visits?|visitors|inhabitants|years|days|hours|seconds"
    r"|einwohner|menschen|personen|stück|mal|jahre|tage|stunden|sekunden|besucher|habitants?|personnes|fois|visiteurs"
    r"|habitantes|personas|pessoas|visitas|veces|vezes|teléfonos|telefones|abitanti|persone|volte|telefoni|inwoners"
    r"|mensen|personen|keer|telefoons|osób|mieszkańców|razy|telefonów|registos|registros)(?!\w))"
)
"""Right behind a number: it counts or measures something."""

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
loto lotto lottery tirage sorteo sorteio mega-sena estrazione trekking losowanie ziehung lottozahlen draw
"""
_NUMBER_WORDS = "number|numbers|no|nr|nummer|num|code|id|n°|nº|n\\.º|numéro|número|numero|numer|de|of|the|is|lautet"
NOT_A_PHONE = re.compile(rf"(?<!\w)(?:{_any_of(_OTHER_NUMBER)})s?(?:[ .:#-]{{0,3}}(?:{_NUMBER_WORDS}))*[.:# ]{{0,3}}\Z")
"""What a number is instead: the word, "number" in some form, and then the digits."""

NETWORK = re.compile(
    r"(?<!\w)(?:ip|ipv4|ips|address|addresses|adresse|host|hosts|server|client|dns|ping|user|visitor|vandal|login|logged"
    r"|request|requests|connection|dirección|indirizzo|endereço|anfrage|besucher|nutzer|nameserver|gateway|router|banned"
    r"|blocked|attacker|visiteur|visitante|visitatore|bezoeker|adres|adresu|serveur|servidor|serwer)(?!\w)"
)
CARD = re.compile(
    r"(?<!\w)(?:credit|debit|card|cards|visa|mastercard|amex|american express|discover|jcb|diners|maestro|kreditkarte"
    r"|karte|kreditkartennummer|carte|carte bancaire|cb|tarjeta|carta|cartão|creditcard|karta|kort|pan)(?!\w)"
)
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
załącznik глава раздел
chrome chromium firefox edge safari opera windows macos ios android java python node nginx apache openssl curl oracle
"""
VERSION = re.compile(rf"(?<!\w)(?:{_any_of(_NUMBERED)})[.:/= \u00a0\u202f-]{{0,3}}v?\Z|§ ?\Z")
"""Words before four numbers with dots that make them a version or a section, not an address."""


def near(pattern: re.Pattern[str], lower: str, start: int, end: int, *, before: int = 60, after: int = 25) -> bool:
    """True where a context word stands on the same line, within `before` or `after` characters of the hit."""
    left = lower[max(0, start - before) : start]
    right = lower[end : end + after]
    return bool(pattern.search(left[left.rfind("\n") + 1 :]) or pattern.search(right.split("\n", 1)[0]))


def just_before(pattern: re.Pattern[str], lower: str, start: int, reach: int = 40) -> bool:
    """True where the text right before `start` ends with the pattern (which ends in `\\Z`)."""
    return bool(pattern.search(lower[max(0, start - reach) : start]))
