"""Account numbers of every registered country, and telephone numbers as people write and announce them."""

import re
from pathlib import Path

import pytest
import stdnum
from stdnum import iban, numdb

from crawler.stages.pii.recognise import find
from crawler.stages.pii.redact import Placeholders, redact, resolve

REGISTERED = [
    line.split()[0]
    for line in (Path(stdnum.__file__).parent / "iban.dat").read_text().splitlines()
    if line and not line.startswith("#")
]


def redacted(text, language="en"):
    return redact(text, resolve(find(text, language)), Placeholders())[0]


def account(country):
    parts = re.findall(r"(\d+)!([nac])", numdb.get("iban").info(country)[0][1]["bban"])
    bban = "".join(
        {"n": "3141592653", "a": "ABCDEFGHJK", "c": "27182818AB"}[kind][n % 10] for size, kind in parts
        for n in range(int(size))
    )  # fmt: skip
    return country + iban.calc_check_digits(country + "xx" + bban) + bban


@pytest.mark.parametrize("country", REGISTERED)
def test_the_account_number_of_every_registered_country_goes(country):
    number = account(country)
    grouped = " ".join(number[n : n + 4] for n in range(0, len(number), 4))
    for written in (number, grouped, number.lower(), grouped.replace(" ", "-")):
        assert redacted(f"Pay {written}, BIC ABCDEFGH") == "Pay [IBAN_CODE], BIC ABCDEFGH"
    wrong = country + f"{98 - int(number[2:4]):02d}" + number[4:]
    assert wrong == number or "[IBAN_CODE]" not in redacted(f"Pay {wrong} now")


def test_there_are_more_than_eighty_registered_countries():
    assert len(REGISTERED) > 80


@pytest.mark.parametrize(
    ("language", "text", "rest"),
    [
        ("de", "Tel. +49 (0)4442 / 931726 heute", "Tel. [PHONE_NUMBER] heute"),
        ("de", "Ruf: +49 (0) 4442 / 93 17 26 oder", "Ruf: [PHONE_NUMBER] oder"),
        ("de", "Telefon 0049 / 4442 / 931726", "Telefon [PHONE_NUMBER]"),
        ("de", "Fax +43 (0) 1 / 512 34 56", "Fax [PHONE_NUMBER]"),
        ("de", "030 901820 / 030 901821 Telefon", "[PHONE_NUMBER] / [PHONE_NUMBER_2] Telefon"),
        ("fr", "port. 0033 6 12 34 56 78", "port. [PHONE_NUMBER]"),
        ("ar", "اتصل بنا 0501234567", "اتصل بنا [PHONE_NUMBER]"),
        ("ar", "تواصلوا معنا على 0501234567", "تواصلوا معنا على [PHONE_NUMBER]"),
        ("fa", "تماس با ما 021-88881234", "تماس با ما [PHONE_NUMBER]"),
        ("fa", "با ما تماس بگیرید: ۰۹۱۲۱۲۳۴۵۶۷", "با ما تماس بگیرید: [PHONE_NUMBER]"),
        ("ur", "ہم سے رابطہ کریں 0300 1234567", "ہم سے رابطہ کریں [PHONE_NUMBER]"),
        ("hi", "हमसे संपर्क करें: 9876543210", "हमसे संपर्क करें: [PHONE_NUMBER]"),
        ("bn", "আমাদের সাথে যোগাযোগ: ০১৭১২৩৪৫৬৭৮", "আমাদের সাথে যোগাযোগ: [PHONE_NUMBER]"),
        ("zh", "联系我们：13912345678", "联系我们：[PHONE_NUMBER]"),
        ("zh", "联系我们 010-62345678", "联系我们 [PHONE_NUMBER]"),
    ],
)
def test_a_number_goes_whole_as_it_is_written_and_announced(language, text, rest):
    assert redacted(text, language) == rest


@pytest.mark.parametrize("text", ["رقم الطلب 0501234567", "Bind to port 54321.", "TCP port 0080 is open"])
def test_an_order_and_a_port_of_a_machine_stay(text):
    assert redacted(text, "ar" if text[0] == "ر" else "en") == text


@pytest.mark.parametrize(
    "written",
    ["DE89.3704.0044.0532.0130.00", "IBANDE89370400440532013000", "IBAN DE 89 3704 0044 0532 0130 00"],
)
def test_an_iban_is_found_with_dots_behind_its_word_and_with_its_country_apart(written):
    assert redacted(f"Konto: {written}.").removeprefix("Konto: ").removeprefix("IBAN").strip(" .") == "[IBAN_CODE]"
