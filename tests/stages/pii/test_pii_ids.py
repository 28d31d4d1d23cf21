"""Identity numbers: check digits against known numbers, and the labels people write before them."""

import pytest

from crawler.stages.pii import id_checks
from crawler.stages.pii.ids import TRIGGERS
from crawler.stages.pii.recognise import find

KNOWN = [  # from the issuing offices' own specimens, or made with python-stdnum as an independent implementation
    (id_checks.is_de_tax_id, "86 095 742 719"), (id_checks.is_de_social_security, "65 170839 J 003"),
    (id_checks.is_de_health_insurance, "A123456780"), (id_checks.is_at_svnr, "1719 120585"),
    (id_checks.is_ahv, "756.9217.0769.85"), (id_checks.is_nir, "1 84 12 76 451 089 46"),
    (id_checks.is_fr_tax, "05 71 37 05 79 017"), (id_checks.is_be_national, "85.07.39-172.07"),
    (id_checks.is_es_nif, "12345678-Z"), (id_checks.is_es_nif, "X-1234567-L"),
    (id_checks.is_es_social_security, "28/12345678/40"), (id_checks.is_mx_curp, "GOMC900514HDFNRR76"),
    (id_checks.is_cl_rut, "14.461.887-4"), (id_checks.is_ar_cuil, "20-22090640-0"),
    (id_checks.is_it_fiscal, "RSSMRA85T10A562S"), (id_checks.is_pt_nif, "123456789"),
    (id_checks.is_pt_citizen_card, "98856853 0 ZZ0"), (id_checks.is_cpf, "529.982.247-25"),
    (id_checks.is_bsn, "111222333"),
    (id_checks.is_pl_nip, "555-640-43-21"), (id_checks.is_pl_id_card, "ABC 412345"),
    (id_checks.is_pl_passport, "EA9123456"), (id_checks.is_ie_pps, "1513137V"), (id_checks.is_no_fnr, "15068661584"),
    (id_checks.is_cz_birth_number, "735528/3573"), (id_checks.is_ro_cnp, "1850412117696"),
    (id_checks.is_bg_egn, "7523169263"), (id_checks.is_hr_oib, "33392005961"), (id_checks.is_jmbg, "0101006500006"),
    (id_checks.is_baltic_code, "36805280109"), (id_checks.is_baltic_code, "33309240064"),
    (id_checks.is_lv_code, "161175-19997"), (id_checks.is_kennitala, "120174-3399"),
    (id_checks.is_gr_amka, "01013099997"), (id_checks.is_hu_tax_id, "8071592153"), (id_checks.is_hu_taj, "111 111 110"),
    (id_checks.is_ru_inn, "500100732259"), (id_checks.is_ru_snils, "112-233-445 95"),
    (id_checks.is_ua_rntrc, "1759013776"), (id_checks.is_il_id, "3933742-3"),
    (id_checks.is_cn_resident_id, "11010519491231002X"), (id_checks.is_tw_id, "A123456789"),
    (id_checks.is_jp_my_number, "1234 5678 9018"), (id_checks.is_th_pin, "1-2345-45678-78-1"),
    (id_checks.is_ec_cedula, "171430710-3"), (id_checks.is_do_cedula, "001-1391820-5"),
    (id_checks.is_pl_account, "61 1090 1014 0000 0712 1981 2874"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "value"), KNOWN)
def test_a_known_number_passes_and_one_changed_digit_does_not(check, value):
    assert check(value)
    places = [i for i, c in enumerate(value) if c.isdigit()]
    changed = [value[:i] + str((int(value[i]) + 1) % 10) + value[i + 1 :] for i in places]
    assert sum(map(check, changed)) <= len(changed) // 5, "a check digit finds nearly every single change"


@pytest.mark.parametrize(("check", "value"), KNOWN)
@pytest.mark.parametrize("wrong", ["", "x", "0" * 40, "é" * 9])
def test_what_is_no_number_at_all_is_refused_and_not_an_error(check, value, wrong):
    assert not check(wrong)
    assert not check(value[:-2])


@pytest.mark.parametrize(("day", "exists"), [("23", True), ("63", True), ("00", False), ("40", False), ("99", False)])
def test_an_indonesian_number_has_a_birthday_of_a_man_or_forty_days_later_of_a_woman(day, exists):
    assert id_checks.is_id_nik(f"327305{day}07850004") == exists


LABELLED = [
    ("en", "123-45-6789", ["SSN: {}", "social security no. is {}", "SS# {}", "S.S.N. {}"]),
    ("en", "C03005988", ["Passport number: {}", "US passport {}", "passport number is {}"]),
    ("en", "D1234567", ["Driver's license number: {}", "DL number {}", "Driving license no. {}"]),
    ("en", "AB123456C", ["National Insurance number: {}", "NINO: {}", "Nat. Ins. No. {}"]),
    ("en", "943-476-5919", ["NHS number: {}", "NHS no. {}"]),
    ("en", "578 147 381", ["SIN: {}", "Social Insurance Number {}"]),
    ("en", "BF2837461", ["DEA number: {}", "DEA# {}", "medical license {}"]),
    ("en", "1234567893", ["NPI: {}"]),
    ("de", "65929970489", ["Steuer-ID: {}", "Steuer-IdNr.: {}", "steuerliche Identifikationsnummer lautet {}"]),
    ("de", "65 170839 J 003", ["Sozialversicherungsnummer: {}", "SV-Nr. {}", "Rentenversicherungsnummer {}"]),
    ("de", "L01X00T47", ["Personalausweis-Nr.: {}", "Perso-Nr. {}", "Personalausweis mit der Nummer {}"]),
    ("de", "C01X0006H", ["Reisepassnummer: {}", "Pass-Nr.: {}"]),
    ("de", "A123456780", ["KVNR: {}", "Krankenversichertennummer {}"]),
    ("fr", "1 84 12 76 451 089 46", ["Numéro de sécurité sociale : {}", "N° SS : {}", "NIR {}"]),
    ("fr", "0571370579017", ["Numéro fiscal : {}", "SPI : {}"]),
    ("fr", "X4RTBPFW4", ["Carte d'identité n° {}", "CNI : {}"]),
    ("fr", "85.07.39-172.07", ["Registre national {}", "NISS : {}"]),
    ("es", "12.345.678-Z", ["DNI: {}", "D.N.I.: {}", "DNI/NIF: {}"]),
    ("es", "X-1234567-L", ["NIE: {}", "Número de identidad de extranjero {}"]),
    ("es", "28 12345678 40", ["NUSS: {}", "Nº Seguridad Social {}", "número de afiliación {}"]),
    ("it", "rssmra85t10a562s", ["Codice fiscale: {}", "CF: {}", "cod. fisc. {}"]),
    ("it", "CA00000AA", ["Carta d'identità n. {}", "CIE: {}"]),
    ("pt", "260 862 606", ["NIF: {}", "N.º de contribuinte {}"]),
    ("pt", "529.982.247-25", ["CPF: {}", "inscrito no CPF sob o nº {}"]),
    ("nl", "1234.56.782", ["BSN: {}", "burgerservicenummer (BSN) {}"]),
    ("nl", "SPECI2014", ["Paspoortnummer: {}", "paspoort met nummer {}"]),
    ("pl", "44051401359", ["PESEL: {}", "numer PESEL: {}"]),
    ("pl", "ABC412345", ["Nr dowodu osobistego: {}", "legitymujący się dowodem osobistym {}"]),
]


@pytest.mark.parametrize(("language", "value", "labels"), LABELLED)
def test_an_identity_number_is_found_behind_the_labels_people_write(language, value, labels):
    for label in labels:
        text = label.format(value) + ", and more."
        at = text.index(value)
        assert [(at, at + len(value))] == [(hit.start, hit.end) for hit in find(text, language)], text


@pytest.mark.parametrize(("language", "value", "labels"), LABELLED)
def test_the_same_number_without_its_label_is_no_identity_number(language, value, labels):
    found = {hit.entity for hit in find(f"Pump {value} fits.", language)} - {"PHONE_NUMBER", "ES_NIF"}  # proves itself
    assert found == set()


def test_every_trigger_is_a_lower_case_word_that_the_scan_can_meet():
    assert [word for word in TRIGGERS if word != word.lower() or not word.strip()] == []
