"""In the personal-data stage: identity numbers, the trigger words they stand beside and what proves each of them.

A number without letters is only personal data where a word says so: every rule here asks for its trigger on the page
and, where one exists, for a check digit. Rules with `weak=True` have neither letters nor check digit: the number must
follow its word directly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from presidio_analyzer import Pattern, PatternRecognizer
from presidio_analyzer import predefined_recognizers as ready_made

from crawler.stages import pii_checks as checks


@dataclass(frozen=True, slots=True)
class IdRule:
    """One kind of identity number: its recogniser (a Presidio class name or a pattern of ours) and its proof.

    triggers: lower-case words on the page. minimum: Presidio's score that counts as proof (1.0 = its check digit
    held). check: our own proof, beside or instead of Presidio's.
    """

    entity: str
    triggers: tuple[str, ...]
    recogniser: str = ""
    pattern: str = ""
    minimum: float = 0.0
    check: Callable[[str], bool] | None = None
    weak: bool = False


_PASSPORT_EN = ("passport",)
_DRIVER = (
    "driver's license",
    "driver's licence",
    "driver license",
    "driving licence",
    "driver’s license",
    "driver’s licence",
    "drivers license",
    "license number",
    "licence number",
)

ID_RULES: tuple[IdRule, ...] = (
    IdRule(
        "US_SSN",
        ("ssn", "social security", "social-security", "ss#"),
        pattern=r"(?<!\w)\d{3}[- ]?\d\d[- ]?\d{4}(?!\w)",
        check=checks.is_ssn,
    ),
    IdRule("US_ITIN", ("itin", "taxpayer identification", "individual taxpayer"), "UsItinRecognizer", minimum=0.05),
    IdRule("US_PASSPORT", _PASSPORT_EN, "UsPassportRecognizer", weak=True),
    IdRule("UK_PASSPORT", _PASSPORT_EN, "UkPassportRecognizer", weak=True),
    IdRule("US_DRIVER_LICENSE", _DRIVER, "UsLicenseRecognizer", minimum=0.2, weak=True),
    IdRule("US_DRIVER_LICENSE", _DRIVER[:-2], pattern=r"(?<!\w)\d{7,9}(?!\w)", weak=True),
    IdRule("UK_DRIVING_LICENCE", ("driving licence", "driver number"), "UkDrivingLicenceRecognizer", minimum=0.4),
    IdRule(
        "MEDICAL_LICENSE", ("medical", "dea ", "dea:", "dea#", "prescriber"), "MedicalLicenseRecognizer", minimum=1.0
    ),
    IdRule("US_MBI", ("medicare", "mbi"), "UsMbiRecognizer", minimum=0.4),
    IdRule("UK_NINO", ("national insurance", "nino", "ni number"), "UkNinoRecognizer", minimum=0.5),
    IdRule("UK_NHS", ("nhs",), "NhsRecognizer", minimum=1.0),
    IdRule("CA_SIN", ("social insurance", "sin:", "sin ", "assurance sociale"), "CaSinRecognizer", minimum=1.0),
    IdRule("AU_TFN", ("tax file", "tfn"), "AuTfnRecognizer", minimum=1.0),
    IdRule("AU_MEDICARE", ("medicare",), "AuMedicareRecognizer", minimum=1.0),
    IdRule("IN_AADHAAR", ("aadhaar", "aadhar", "uidai"), "InAadhaarRecognizer", minimum=1.0),
    IdRule("IN_PAN", ("permanent account", "pan card", "pan number", "pan:"), "InPanRecognizer", minimum=0.5),
    IdRule("SG_NRIC_FIN", ("nric", "fin number", "fin:"), "SgFinRecognizer", minimum=0.5),
    IdRule("ZA_ID_NUMBER", ("id number", "identity number"), "ZaIdNumberRecognizer", minimum=1.0),
    IdRule(
        "DE_TAX_ID",
        ("steuer-id", "steueridentifikation", "steuerliche identifikation", "idnr"),
        "DeTaxIdRecognizer",
        minimum=1.0,
    ),
    IdRule(
        "DE_SOCIAL_SECURITY",
        ("versicherungsnummer", "rvnr", "svnr", "sv-nummer"),
        "DeSocialSecurityRecognizer",
        minimum=1.0,
    ),
    IdRule("DE_PASSPORT", ("reisepass", "passnummer", "pass-nr"), "DePassportRecognizer", minimum=0.3, weak=True),
    IdRule(
        "DE_ID_CARD", ("personalausweis", "ausweisnummer", "ausweis-nr"), "DeIdCardRecognizer", minimum=0.3, weak=True
    ),
    IdRule("DE_DRIVER_LICENSE", ("führerschein",), "DeFuehrerscheinRecognizer", minimum=0.3, weak=True),
    IdRule(
        "FR_NIR",
        ("sécurité sociale", "securite sociale", "numéro de sécu", "nir", "insee"),
        pattern=r"(?<!\w)[12]\s?\d\d\s?(?:0[1-9]|1[0-2]|[2-9]\d)\s?(?:\d\d|2[AB])\s?\d{3}\s?\d{3}\s?\d\d(?!\w)",
        check=checks.is_nir,
    ),
    IdRule("CH_AHV", ("ahv", "avs"), pattern=r"(?<!\w)756[. ]?\d{4}[. ]?\d{4}[. ]?\d\d(?!\w)", check=checks.is_ahv),
    IdRule("ES_NIF", ("dni", "nif", "documento nacional"), "EsNifRecognizer", minimum=1.0),
    IdRule("ES_NIE", ("nie", "extranjero"), "EsNieRecognizer", minimum=1.0),
    IdRule("ES_PASSPORT", ("pasaporte",), "EsPassportRecognizer", minimum=0.05, weak=True),
    IdRule("IT_PASSPORT", ("passaporto",), "ItPassportRecognizer", minimum=0.01, weak=True),
    IdRule(
        "IT_IDENTITY_CARD",
        ("carta d'identità", "carta d’identità", "carta di identità"),
        "ItIdentityCardRecognizer",
        minimum=0.01,
        weak=True,
    ),
    IdRule("BR_CPF", ("cpf",), pattern=r"(?<!\w)\d{3}\.?\d{3}\.?\d{3}-?\d\d(?!\w)", check=checks.is_cpf),
    IdRule(
        "NL_BSN",
        ("bsn", "burgerservicenummer", "sofinummer"),
        pattern=r"(?<!\w)\d{4}[. ]?\d{2}[. ]?\d{3}(?!\w)",
        check=checks.is_bsn,
    ),
    IdRule("PL_PESEL", ("pesel",), "PlPeselRecognizer", minimum=1.0),
    IdRule("SE_PERSONNUMMER", ("personnummer", "samordningsnummer"), "SePersonnummerRecognizer", minimum=1.0),
    IdRule(
        "FI_PERSONAL_IDENTITY_CODE",
        ("henkilötunnus", "hetu", "personbeteckning"),
        "FiPersonalIdentityCodeRecognizer",
        minimum=1.0,
    ),
    IdRule("TR_NATIONAL_ID", ("kimlik", "tckn"), "TrNationalIdRecognizer", minimum=1.0),
    IdRule("KR_RRN", ("주민등록번호", "resident registration"), "KrRrnRecognizer", minimum=0.4),
    IdRule("TH_TNIN", ("เลขประจำตัวประชาชน", "thai national id"), "ThTninRecognizer", minimum=1.0),
)

TRIGGERS: dict[str, tuple[IdRule, ...]] = {
    word: tuple(rule for rule in ID_RULES if word in rule.triggers) for rule in ID_RULES for word in rule.triggers
}
"""Rules by trigger word."""


@cache
def recogniser_of(rule: IdRule) -> PatternRecognizer:
    """The Presidio recogniser of a rule, made on first use and kept for the life of the process."""
    if rule.recogniser:
        recogniser: PatternRecognizer = getattr(ready_made, rule.recogniser)(supported_entity=rule.entity)
        return recogniser
    return PatternRecognizer(rule.entity, patterns=[Pattern(rule.entity, rule.pattern, 0.5)])
