"""`IdRule` says what makes a number an identity number; `WORLD` has the rules that Presidio has recognisers for.

`US_PASSPORT` and its like are names of types, not of countries people come from. A rule with `weak=True` has neither
letters nor check digit to go by: the number must follow its word directly. `ids` and `recognise` apply
the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crawler.stages.pii import id_checks
from crawler.stages.pii.scripts import JOINING


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


_NUMBER = f"(?<!{JOINING}){{}}(?!{JOINING})"


def rule(entity: str, triggers: tuple[str, ...], pattern: str, check: Callable[[str], bool] | None = None) -> IdRule:
    """A rule on a pattern of ours; without a check digit the number must follow its word and look printed."""
    weak = check is None
    return IdRule(
        entity, triggers, pattern=_NUMBER.format(pattern), check=check or id_checks.is_printed_number, weak=weak
    )


_PASSPORT_EN = ("passport",)
_DRIVER = (
    "driver's license",
    "driver's licence",
    "driver license",
    "driving licence",
    "driving license",
    "driver lic",
    "dl number",
    "dl no",
    "dl:",
    "driver’s license",
    "driver’s licence",
    "drivers license",
    "license number",
    "licence number",
)

WORLD: tuple[IdRule, ...] = (
    IdRule(
        "US_SSN",
        ("ssn", "s.s.n", "social security", "social-security", "ss#", "ss #"),
        pattern=r"(?<!\w)\d{3}[- ]?\d\d[- ]?\d{4}(?!\w)",
        check=id_checks.is_ssn,
    ),
    IdRule("US_ITIN", ("itin", "taxpayer identification", "individual taxpayer"), "UsItinRecognizer", minimum=0.05),
    IdRule("US_PASSPORT", _PASSPORT_EN, "UsPassportRecognizer", weak=True),
    IdRule("US_DRIVER_LICENSE", _DRIVER, "UsLicenseRecognizer", minimum=0.2, weak=True),
    IdRule("US_DRIVER_LICENSE", _DRIVER[:-2], pattern=r"(?<!\w)\d{7,9}(?!\w)", weak=True),
    IdRule("UK_DRIVING_LICENCE", ("driving licence", "driver number"), "UkDrivingLicenceRecognizer", minimum=0.4),
    IdRule("US_MBI", ("medicare", "mbi"), "UsMbiRecognizer", minimum=0.4),
    IdRule("UK_NINO", ("national insurance", "nino", "ni number"), "UkNinoRecognizer", minimum=0.5),
    IdRule("UK_NHS", ("nhs",), "NhsRecognizer", minimum=1.0),
    IdRule("AU_TFN", ("tax file", "tfn"), "AuTfnRecognizer", minimum=1.0),
    IdRule("AU_MEDICARE", ("medicare",), "AuMedicareRecognizer", minimum=1.0),
    IdRule("IN_AADHAAR", ("aadhaar", "aadhar", "uidai"), "InAadhaarRecognizer", minimum=1.0),
    IdRule("IN_PAN", ("permanent account", "pan card", "pan number", "pan:"), "InPanRecognizer", minimum=0.5),
    IdRule("SG_NRIC_FIN", ("nric", "fin number", "fin:"), "SgFinRecognizer", minimum=0.5),
    IdRule("ZA_ID_NUMBER", ("id number", "identity number"), "ZaIdNumberRecognizer", minimum=1.0),
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
