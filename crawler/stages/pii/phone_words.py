"""Words around a number tell a telephone number from an order, a quantity or a list.

Nouns label a number ("Tel."), verbs and the names of desks announce one ("Rückfragen unter"), and other nouns say what
it is instead ("Bestellnummer"). All languages are tried on every page: "Tel." and "Fax" travel.
"""

from __future__ import annotations

import re

from crawler.stages.pii import phone_words_further as further
from crawler.stages.pii.context_words import any_of

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
телефон телефону телефона телефоном телефоны тел факс моб мобильный мобільний гсм мобилен мобилни тэлефон
mobitel mob mobilni telefonom telefonon telefonní telefónne telefonszám mobilszám mobilní mobi mobiil telefonas
τηλ τηλέφωνο τηλέφωνα τηλεφώνου κινητό φαξ telp telepon ponsel faks đt sđt đtdđ tālr tālrunis
sími símanúmer telèfon mòbil simu teléf утас
טל נייד פקס ტელ ტელეფონი მობ հեռ հեռախոս բջջ
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
soita ringa звоните позвоните звонить дзвоніть телефонуйте обадете volejte zavolejte zavolajte volajte hívjon hívja
sunați sunaţi apelați nazovite pozovite pokličite arayın arayınız hubungi gọi zvoni helistage zvaniet skambinkite
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
_NO_SPACES_NOUNS = """
電話 电话 手机 手機 携帯 传真 傳真 热线 熱線 拨打 撥打 ファックス 전화 휴대폰 팩스 연락처
โทร มือถือ ទូរស័ព្ទ ໂທ ဖုန်း
هاتف جوال موبايل فاكس تلفون تلفن موبایل فکس فون موبائل טלפון
फोन फ़ोन मोबाइल मोबाईल दूरभाष ফোন মোবাইল தொலைபேசி கைபேசி ఫోన్ ಫೋನ್ ഫോൺ ફોન ਫੋਨ දුරකථන
"""
_SIGNS = "[\u260e\u260f\u2706\U0001f4de\U0001f4df\U0001f4e0\U0001f4f1\U0001f4f2\U0001f57b\U0001f57d-\U0001f581]\ufe0f?"
_PHONE_NO_SPACES = (*_NO_SPACES_NOUNS.split(), "điện thoại", "di động", "liên hệ", _SIGNS)
"""Words in scripts without spaces, or that take endings and articles, and Unicode's signs of telephones."""


PHONE = re.compile(
    rf"(?<!\w)(?:{any_of(_PHONE_NOUNS.replace(' numer', '') + _PHONE_VERBS, _MY_NUMBER)})(?!\w)"
    rf"|{'|'.join(_PHONE_NO_SPACES)}"
)
"""Somewhere near a number: then an assigned number of the region counts."""

_LABEL_FILLERS = """
number numbers no nr nummer num me us him her them is at on under unter au al le la el o ao ist lautet kom fixe phone
mobile móvil now today gratuito gratis numer número numero numéro n° nº n.º fax home work office direct privat dienst
domowy służbowy stacjonarny es é è komórkowy kontaktowy to contacto casa ufficio di de do da d'urgence
číslo broj číslu szám номер номеру số
"""
_CALL = r"(?<!the )(?<!this )(?<!next )(?<!last )(?<!each )(?<!every )(?<!first )(?:call|ring|text)"
_FILLED = rf"(?:[ .'-]{{0,2}}(?:{any_of(_LABEL_FILLERS, '番号')})(?!\w)){{0,4}}[.:：' \u00a0=]{{0,3}}\Z"
PHONE_LABEL = re.compile(rf"(?:(?<!\w)(?:{any_of(_PHONE_NOUNS, _MY_NUMBER)})|{'|'.join(_PHONE_NO_SPACES)}){_FILLED}")
"""A label directly before the number: then a possible number is enough, it need not be an assigned one."""

_PERSONS = "me|us|him|her|them|you|mich|uns|moi|nous|me|nos|mi|ci|mij|ons"
CALL_LABEL = re.compile(
    rf"(?<!\w)(?:{_CALL}|(?:reach|contact|message|whatsapp|phone|text|call|ring|find|get|dial) (?:{_PERSONS})"
    rf"(?:[ ](?:up|back|directly|anytime|now|today|by (?:phone|text|sms)|(?:a )?(?:call|ring|text)))?"
    rf"|(?:give (?:{_PERSONS}) a|by) (?:call|ring|text|phone|sms)|sms (?:an|au|al|to|naar|na|para o|a)"
    rf"|(?:reached|available|contacted) (?:by (?:phone|text) )?(?:at|on|under)){_FILLED}"
)
"""Words that tell somebody to call or to write to the number behind them: a label, but for short numbers."""

_LABEL_WORDS = any_of(
    "contact contacts kontakt contacto contatto contatti contato front desk main office home work private business day"
    " evening night mobile direct line lines our my the de du di do da des and und et y e i & / or oder ou o of numero"
    " number numbers nummer numéro número numer no nr nº n° büro praxis bureau ufficio oficina escritório kantoor biuro"
    " kontaktowy telefoniczny telefonico telefônico telefónico emergency enquiries customer service general",
    any_of(_PHONE_NOUNS),
)
_NO_SPACES = "|".join(_PHONE_NO_SPACES)
LABEL_LINE = re.compile(
    rf"\W{{0,3}}(?=(?:.*(?<!\w))(?:{any_of(_PHONE_NOUNS, _MY_NUMBER, '(?:contact|kontakt|contacto?) n')})"
    rf"|.*(?:{_NO_SPACES}))"
    rf"(?:(?:{_LABEL_WORDS}|{_MY_NUMBER}|{any_of(_LABEL_FILLERS, '番号')}|{_NO_SPACES})[ .:：()/&,-]{{0,4}}){{1,6}}"
)
"""A line of its own above a number: nothing but words of a label, one of them about telephones (`fullmatch`)."""

_TO = any_of(
    "at on to for under unter an auf sie au le les al el en il lo para pelo pela o ao op via naar pod na nr no"
)
_CLITIC = r"(?:-(?:moi|nous|le|la|lui|me|nos|lhe|te|mij))?"
_WORD = r"(?:[ ,]{1,2}[^\W\d_]{1,15})"
PHONE_CUE = re.compile(
    rf"(?<!\w)(?:{any_of(_SERVICE + _PHONE_VERBS.replace('call ', '').replace(' text', ''), _CALL)})"
    rf"(?:{_CLITIC}{_WORD}{{0,2}}[ ,]{{1,2}}(?:{_TO})|{_WORD}{{0,3}}[ \u00a0]?[.,:：=]|)[ \u00a0]{{0,2}}\Z"
    r"|(?<![\w/])(?:[tmfp]|tels)[.:]{0,2} ?\Z"
)
"""Close before the number, a verb of calling or the name of a desk: then an assigned number counts in any grouping."""

QUANTITY = re.compile(
    r"[ \u00a0]?(?:[€$£%°円圆元块人名个個件年万萬億亿千百台本枚册冊歩歳岁명원개년]"
    r"|(?:euros?|dollars?|pounds?|pesos|zł|z[łl]ot\w+|bytes?|bits?|kb|mb|gb|kwh|mwh|km|kg|m²|m3"
    r"|bauds?|baudios|bodów|bps|k?hz|mhz|ghz|volts?|watts?|per ?cent|percent|prozent|pour cent"
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
build chapter row coordinates client clients cliente clientes clienti klient klientów
key job parcel p/n s/n checksum total sum value population barcode reading licence
license page pages volume count size amount price
zeile typ projekt code summe wert los lieferschein versicherungsschein inventar seite seiten größe betrag preis posten
produit billet police valeur somme matricule livraison ligne page montant prix abonné code catalogue
código catálogo bilhete billete apólice póliza valor suma soma matrícula guia protocolo total línea linha página precio
codice catalogo pezzo biglietto polizza totale valore somma bolla protocollo riga pagina prezzo prenotazione
contract code catalogus kaartje totaal waarde som pakbon regel pagina prijs project
kod katalog część bilet oferta polisa razem wartość suma dokument protokół wiersz strona cena
loto lotto lottery tirage sorteo sorteio mega-sena estrazione trekking losowanie ziehung lottozahlen draw
"""
_NUMBER_WORDS = "number|numbers|no|nr|nummer|num|code|id|n°|nº|n\\.º|numéro|número|numero|numer|de|of|the|is|lautet|"
_NUMBER_WORDS += further.NUMBER_WORDS
_DESK = "(?<!atención al )(?<!service )(?<!servicio al )(?<!assistenza )(?<!apoio ao )(?<!obsługa )(?<!suporte ao )"
_NUMBER_SIGN = r"(?:number|numbers|no|nr|nummer|num|n°|nº|n\.º|n|número|numéro|numero|numer)"
_TOLD_BY_NUMBER = (
    "booking bookings reservation reservations buchung réservation reserva reservas rezerwacja prenotazione"
)
_SMALL_WORDS = (
    "my our your his her their new the meine mon notre votre mi su mio il meu seu mijn uw mój nasz and e y i et und "
)
_SMALL_WORDS += "gratis kostenlose gratuit gratuito free"
_DIALLED = any_of(
    " ".join({*f"{_PHONE_NOUNS} {_PHONE_VERBS} {_SERVICE} {_SMALL_WORDS}".split()} - {*_TOLD_BY_NUMBER.split()}), _TO
)
NOT_A_PHONE = re.compile(
    rf"(?<!\w){_DESK}(?:{any_of(_OTHER_NUMBER + further.OTHER_NUMBER)})s?"
    rf"(?:[ .:#-]{{0,3}}(?:{_NUMBER_WORDS}))*[.:# ]{{0,3}}\Z"
    rf"|(?<!\w)(?!(?:{_DIALLED})(?!\w))[^\W\d_]{{2,20}}[ .-]{{1,2}}{_NUMBER_SIGN}[.:# ]{{0,3}}\Z"
    r"|(?<!\w)(?!tele|handy|mobil|hívó|ruf|fax|festnetz|not|nood|service|kontakt|contact|hotline|info)[^\W\d_]{3,30}"
    r"(?:nummer|nr|number|szám)[.:# ]{0,3}\Z"
    rf"|(?:{any_of(further.UNSPACED)})(?: ?(?:{further.UNSPACED_NUMBER}))?[.:：# ]{{0,3}}\Z"
)
"""What a number is instead: the word, "number" in some form, and then the digits."""
