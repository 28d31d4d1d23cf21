"""Rules for the identity numbers of the countries whose languages we cover, and all rules together (`ID_RULES`)."""

from __future__ import annotations

from crawler.stages.pii import id_checks
from crawler.stages.pii.id_rule import WORLD, IdRule, rule
from crawler.stages.pii.id_table_further import FURTHER

_GERMAN = (
    rule(
        "DE_SOCIAL_SECURITY",
        (
            "versicherungsnummer",
            "versicherungs-nr",
            "versicherungsnr",
            "rvnr",
            "svnr",
            "sv-nummer",
            "rv-nummer",
            "sv-nr",
            "rv-nr",
        ),
        r"\d{2} ?\d{6} ?[A-Z] ?\d{3}",
        id_checks.is_de_social_security,
    ),
    rule(
        "CH_AHV", ("ahv", "avs", "ahvn13", "versicherungsnummer"), r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d\d", id_checks.is_ahv
    ),
    rule(
        "DE_TAX_ID",
        (
            "steuer-id",
            "steuerid",
            "steueridentifikation",
            "steuerliche id",
            "idnr",
            "id-nr",
            "identifikationsnummer",
            "tax id",
            "tin",
        ),
        r"\d{2}[ .]?\d{3}[ .]?\d{3}[ .]?\d{3}",
        id_checks.is_de_tax_id,
    ),
    rule(
        "DE_PASSPORT",
        ("reisepass", "passnummer", "pass-nr", "passnr", "pass nr"),
        r"[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8}\d?",
    ),
    rule(
        "DE_ID_CARD",
        ("personalausweis", "ausweisnummer", "ausweis-nr", "ausweisnr", "ausweis nr", "perso-nr", "personr"),
        r"(?:[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8}\d?|T\d{8,9})",
    ),
    rule("DE_DRIVER_LICENSE", ("führerschein", "fahrerlaubnis"), r"[A-Z0-9]\d{2}[A-Z0-9]{6}\d[A-Z0-9]"),
    rule(
        "DE_HEALTH_INSURANCE",
        ("krankenversicher", "versichertennummer", "versicherten-nr", "kvnr", "kv-nummer", "krankenkasse"),
        r"[A-Z] ?\d{3} ?\d{3} ?\d{3}",
        id_checks.is_de_health_insurance,
    ),
    rule(
        "AT_SVNR",
        ("sozialversicherung", "sv-nummer", "svnr", "sv-nr", "e-card", "versicherungsnummer"),
        r"\d{4}[ /-]?\d{6}",
        id_checks.is_at_svnr,
    ),
)
_FRENCH = (
    IdRule(
        "FR_NIR",
        (
            "sécurité sociale",
            "securite sociale",
            "de sécu",
            "nir",
            "insee",
            "n° ss",
            "sécu",
            "assuré social",
            "immatriculation",
        ),
        pattern=r"(?<!\w)[12][ .]?\d\d[ .]?(?:0[1-9]|1[0-2]|[2-9]\d)[ .]?(?:\d\d|2[AB])"
        r"(?:[ .]?\d{3}){2}[ .-]?\d\d(?!\w)",
        check=id_checks.is_nir,
    ),
    rule(
        "FR_TAX_ID",
        ("numéro fiscal", "n° fiscal", "référence fiscale", "identifiant fiscal", "spi", "nif"),
        r"[0-3]\d(?: ?\d){11}",
        id_checks.is_fr_tax,
    ),
    rule("FR_PASSPORT", ("passeport",), r"\d{2}[A-Z]{2}\d{5}"),
    rule(
        "FR_ID_CARD",
        (
            "carte nationale d'identité",
            "carte nationale d’identité",
            "carte d'identité",
            "carte d’identité",
            "cni",
            "pièce d'identité",
            "pièce d’identité",
        ),
        r"(?:[0-9A-Z]{9}|\d{12})",
    ),
    rule("FR_DRIVER_LICENSE", ("permis de conduire", "n° de permis"), r"\d{2}[A-Z0-9]{2}\d{5,8}"),
    rule(
        "BE_NATIONAL_NUMBER",
        (
            "registre national",
            "numéro national",
            "n° national",
            "rrn",
            "rijksregister",
            "nationaal nummer",
            "insz",
            "niss",
            "nationalregister",
        ),
        r"\d{2}\.?\d{2}\.?\d{2}[- ]?\d{3}[. ]?\d{2}",
        id_checks.is_be_national,
    ),
)
_SPANISH = (
    rule(
        "ES_NIF",
        ("dni", "d.n.i", "nif", "n.i.f", "documento nacional", "documento de identidad"),
        r"\d{1,2}\.?\d{3}\.?\d{3}[- ]?[A-Z]",
        id_checks.is_es_nif,
    ),
    rule("ES_NIE", ("nie", "n.i.e", "extranjero"), r"[XYZ][- ]?\d{7}[- ]?[A-Z]", id_checks.is_es_nif),
    rule("ES_PASSPORT", ("pasaporte",), r"[A-Z]{2,3}\d{6}"),
    rule(
        "ES_SOCIAL_SECURITY",
        ("seguridad social", "afiliación", "nuss", "n.u.s.s", "nss", "s.s."),
        r"\d{2}[ /-]?\d{8}[ /-]?\d{2}",
        id_checks.is_es_social_security,
    ),
    rule("MX_CURP", ("curp",), r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d", id_checks.is_mx_curp),
    rule("CL_RUT", ("rut", "r.u.t", "rol único", "run:"), r"\d{1,2}\.?\d{3}\.?\d{3}-?[0-9K]", id_checks.is_cl_rut),
    rule("AR_CUIL", ("cuit", "cuil", "c.u.i.t", "c.u.i.l"), r"\d{2}[- ]?\d{8}[- ]?\d", id_checks.is_ar_cuil),
)
_ITALIAN = (
    rule(
        "IT_FISCAL_CODE",
        ("codice fiscale", "cod. fisc", "c.f.", "cf", "cod.fisc", "codice fisc", "cod. fiscale"),
        r"[A-Z]{3} ?[A-Z]{3} ?[0-9A-Z]{2}[A-Z][0-9A-Z]{2} ?[A-Z][0-9A-Z]{3} ?[A-Z]",
        id_checks.is_it_fiscal,
    ),
    rule("IT_PASSPORT", ("passaporto",), r"[A-Z]{2}\d{7}"),
    rule(
        "IT_IDENTITY_CARD",
        (
            "carta d'identità",
            "carta d’identità",
            "carta di identità",
            "carta identità",
            "documento d'identità",
            "documento di identità",
            "cie",
            "c.i. n",
        ),
        r"(?:[A-Z]{2} ?\d{7}|\d{7}[A-Z]{2}|C[A-Z]\d{5}[A-Z]{2})",
    ),
    rule("IT_DRIVER_LICENSE", ("patente",), r"(?:[A-Z]{2}\d{7}[A-Z]|U1[A-Z0-9]{7}[A-Z])"),
)
_PORTUGUESE = (
    rule("BR_CPF", ("cpf", "c.p.f"), r"\d{3}\.?\d{3}\.?\d{3}-?\d\d", id_checks.is_cpf),
    rule(
        "PT_NIF",
        ("nif", "n.i.f", "contribuinte", "número fiscal", "identificação fiscal"),
        r"[123]\d{2}[ .]?\d{3}[ .]?\d{3}",
        id_checks.is_pt_nif,
    ),
    rule(
        "PT_CITIZEN_CARD",
        ("cartão de cidadão", "cartão do cidadão", "bilhete de identidade", "cc", "bi/cc"),
        r"\d{8} ?\d ?[A-Z0-9]{2} ?\d",
        id_checks.is_pt_citizen_card,
    ),
    rule("PT_PASSPORT", ("passaporte",), r"[A-Z]{1,2}\d{6}"),
    rule("BR_RG", ("rg", "r.g.", "registro geral", "carteira de identidade"), r"\d{1,2}\.\d{3}\.\d{3}(?:-[0-9X])?"),
)
_DUTCH = (
    rule(
        "NL_BSN",
        ("bsn", "b.s.n", "burgerservicenummer", "sofinummer", "sofi-nummer"),
        r"(?:\d{4}[. ]?\d{2}[. ]?\d{3}|\d{3}[. ]\d{3}[. ]\d{3})",
        id_checks.is_bsn,
    ),
    rule("NL_PASSPORT", ("paspoort", "identiteitskaart", "id-kaart", "documentnummer"), r"[A-NP-Z]{2}[A-NP-Z0-9]{6}\d"),
    rule("NL_DRIVER_LICENSE", ("rijbewijs",), r"\d{10}"),
)
_POLISH = (
    rule("PL_NIP", ("nip", "n.i.p"), r"\d{3}[- ]?\d{2,3}[- ]?\d{2}[- ]?\d{2,3}", id_checks.is_pl_nip),
    rule(
        "PL_ID_CARD",
        ("dowód osobisty", "dowodu osobistego", "dowodem osobistym", "dowodu", "dowód"),
        r"[A-Z]{3} ?\d{3} ?\d{3}",
        id_checks.is_pl_id_card,
    ),
    rule("PL_PASSPORT", ("paszport",), r"[A-Z]{2} ?\d{7}", id_checks.is_pl_passport),
)
_OTHERS = (
    rule(
        "CA_SIN",
        ("social insurance", "sin:", "sin number", "sin #", "sin no", "s.i.n", "assurance sociale"),
        r"\d{3}[ -]?\d{3}[ -]?\d{3}",
        id_checks.luhn,
    ),
    IdRule("MEDICAL_LICENSE", ("medical", "dea", "dea#", "prescriber"), "MedicalLicenseRecognizer", minimum=1.0),
    rule("UK_PASSPORT", ("passport",), r"[A-Z]{2}\d{7}"),
    rule("UK_PASSPORT", ("british passport", "uk passport", "hm passport"), r"\d{9}"),
    rule(
        "UK_NINO",
        ("national insurance", "nino", "ni number", "ni no", "nat. ins", "nat ins"),
        r"[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]",
    ),
    IdRule("US_NPI", ("npi", "national provider"), "UsNpiRecognizer", minimum=1.0),
    rule("IE_PPS", ("pps", "ppsn"), r"\d{7}[A-W][A-IW]?", id_checks.is_ie_pps),
    rule("DK_CPR", ("cpr", "personnummer"), r"\d{6}-?\d{4}", id_checks.is_dk_cpr),
    rule("NO_FNR", ("fødselsnummer", "personnummer", "fødselsnr"), r"\d{6} ?\d{5}", id_checks.is_no_fnr),
    rule("CZ_BIRTH_NUMBER", ("rodné číslo", "rodného čísla", "r.č."), r"\d{6}/?\d{4}", id_checks.is_cz_birth_number),
    rule("RO_CNP", ("cnp", "cod numeric personal"), r"\d{13}", id_checks.is_ro_cnp),
    IdRule("IBAN_CODE", ("iban",), "IbanRecognizer", minimum=1.0),
)

ID_RULES: tuple[IdRule, ...] = (
    *WORLD,
    *_GERMAN,
    *_FRENCH,
    *_SPANISH,
    *_ITALIAN,
    *_PORTUGUESE,
    *_DUTCH,
    *_POLISH,
    *_OTHERS,
    *FURTHER,
)
"""Every kind of identity number; the order decides nothing."""
