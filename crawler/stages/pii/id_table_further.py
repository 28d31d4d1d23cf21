"""Rules for identity numbers of further countries of Europe, Asia and Latin America, each with its check digit.

Where a number carries none (Malaysia, Indonesia) it has to hold a date that exists and a place that the registry knows.
"""

from __future__ import annotations

from crawler.stages.pii import id_checks
from crawler.stages.pii.id_rule import IdRule, rule

_JMBG = ("jmbg", "јмбг", "емшо", "emšo", "emso", "ембг", "matični broj", "матични број", "матичен број")

FURTHER: tuple[IdRule, ...] = (
    rule("BG_EGN", ("егн", "единен граждански номер"), r"\d{10}", id_checks.is_bg_egn),
    rule("HR_OIB", ("oib", "osobni identifikacijski broj"), r"\d{11}", id_checks.is_hr_oib),
    rule("YU_JMBG", _JMBG, r"\d{13}", id_checks.is_jmbg),
    rule("EE_ISIKUKOOD", ("isikukood", "personal code"), r"\d{11}", id_checks.is_baltic_code),
    rule("LT_ASMENS_KODAS", ("asmens kod", "personal code"), r"\d{11}", id_checks.is_baltic_code),
    rule("LV_PERSONAS_KODS", ("personas kod", "personal code"), r"\d{6}-?\d{5}", id_checks.is_lv_code),
    rule("IS_KENNITALA", ("kennital", "kt."), r"\d{6}-?\d{4}", id_checks.is_kennitala),
    rule("GR_AMKA", ("αμκα", "α.μ.κ.α", "amka"), r"\d{11}", id_checks.is_gr_amka),
    rule("HU_TAX_ID", ("adóazonosító", "adóazonosító jel"), r"8\d{9}", id_checks.is_hu_tax_id),
    rule("HU_TAJ", ("taj szám", "taj-szám", "tajszám", "taj:"), r"\d{3}[ -]?\d{3}[ -]?\d{3}", id_checks.is_hu_taj),
    rule("RU_INN", ("инн",), r"\d{12}", id_checks.is_ru_inn),
    rule("RU_SNILS", ("снилс",), r"\d{3}-?\d{3}-?\d{3}[ -]?\d\d", id_checks.is_ru_snils),
    rule("UA_RNTRC", ("рнокпп", "іпн", "ідентифікаційний", "податковий номер"), r"\d{10}", id_checks.is_ua_rntrc),
    rule("IL_ID", ("ת.ז", "ת״ז", 'ת"ז', "תעודת זהות", "מספר זהות"), r"\d{7,8}-?\d", id_checks.is_il_id),
    rule("CN_RESIDENT_ID", ("身份证", "身份證", "公民身份号码"), r"\d{17}[\dXx]", id_checks.is_cn_resident_id),
    rule("TW_NATIONAL_ID", ("身分證", "身份證", "統一證號"), r"[A-Z][1289]\d{8}", id_checks.is_tw_id),
    rule("JP_MY_NUMBER", ("マイナンバー", "個人番号"), r"\d{4}[ -]?\d{4}[ -]?\d{4}", id_checks.is_jp_my_number),
    rule(
        "TH_TNIN",
        ("เลขประจำตัวประชาชน", "บัตรประชาชน", "thai national id"),
        r"\d-?\d{4}-?\d{5}-?\d\d-?\d",
        id_checks.is_th_pin,
    ),
    rule("MY_NRIC", ("kad pengenalan", "mykad", "no. k/p", "nric"), r"\d{6}-?\d\d-?\d{4}", id_checks.is_my_nric),
    rule("ID_NIK", ("nik", "no. ktp", "nomor induk kependudukan"), r"\d{16}", id_checks.is_id_nik),
    rule("EC_CEDULA", ("cédula", "cedula"), r"\d{9}-?\d", id_checks.is_ec_cedula),
    rule("DO_CEDULA", ("cédula", "cedula"), r"\d{3}-?\d{7}-?\d", id_checks.is_do_cedula),
    rule(
        "IBAN_CODE",
        ("konta", "konto", "rachunek", "rachunku", "nrb"),
        r"\d\d(?:[ -]?\d{4}){6}",
        id_checks.is_pl_account,
    ),
)
"""A Polish account number is an IBAN whose country is left out."""
