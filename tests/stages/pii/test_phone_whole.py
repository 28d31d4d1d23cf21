"""A telephone number goes whole or not at all: labels above, extensions, groups that follow; and what is none stays."""

import re
import time

import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from crawler.stages.pii.recognise import find
from crawler.stages.pii.redact import Placeholders, redact, resolve


def redacted(text, language="en"):
    return redact(text, resolve(find(text, language)), Placeholders())[0]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Phone: 212-736-5000x45", "en", "Phone: [PHONE_NUMBER]"),
        ("Call (415) 555-0132 ext. 12 today.", "en", "Call [PHONE_NUMBER] today."),
        ("Tel.: 030 5683 8000 60", "de", "Tel.: [PHONE_NUMBER]"),
        ("Durchwahl 030/23125-117 (DW 20).", "de", "Durchwahl [PHONE_NUMBER]."),
        ("Tel. 030 23125-114/115", "de", "Tel. [PHONE_NUMBER]"),
        ("Office: +44 (0)20 7946 0321-22", "en", "Office: [PHONE_NUMBER]"),
        ("Questions? (617) 555-0101 or 0102.", "en", "Questions? [PHONE_NUMBER]."),
        ("Phone: 212-736-5000Fax: 212-736-5001", "en", "Phone: [PHONE_NUMBER]Fax: [PHONE_NUMBER_2]"),
        ("Tel. 069 90009-0 oder 069 90009-123", "de", "Tel. [PHONE_NUMBER] oder [PHONE_NUMBER_2]"),
    ],
)
def test_what_touches_a_number_goes_with_it(text, language, expected):
    assert redacted(text, language) == expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Tel. 030 23125 014 8-12 Uhr", "8-12 Uhr"),
        ("Tel. 030 23125 014 25 Euro", "25 Euro"),
        ("Tel. 030 23125 014 8h", "8h"),
        ("Tel. 030 23125 014 (9 bis 5)", "(9 bis 5)"),
    ],
)
def test_an_hour_or_a_price_behind_a_number_stays(text, kept):
    assert redacted(text, "de") == f"Tel. [PHONE_NUMBER] {kept}"


def test_a_year_behind_a_number_of_fixed_length_stays():
    assert redacted("Phone (212) 555-0147 2024") == "Phone [PHONE_NUMBER] 2024"


@pytest.mark.parametrize("label", ["Phone", "Telephone:", "Mobile\n", "Front desk phone number:", "Tel. / Fax", "Fax."])
def test_a_label_on_the_line_above_is_a_label(label):
    assert redacted(f"{label}\n2127365000\n2127365001\nOpen daily.").count("[PHONE_NUMBER") == 2


@pytest.mark.parametrize("line", ["We met by phone last year", "The text", "Phone 6310, sold in 2002", "Contents", ""])
def test_another_line_above_is_no_label(line):
    assert redacted(f"{line}\n2127365000") == f"{line}\n2127365000"


@pytest.mark.parametrize(
    "words", ["reach me at", "Text", "text me on", "contact us on", "Give her a ring:", "ring me on"]
)
def test_words_that_tell_somebody_to_call_are_enough_for_a_number_that_is_only_possible(words):
    assert redacted(f"{words} 736 5000 after six") == f"{words} [PHONE_NUMBER] after six"


@pytest.mark.parametrize(
    "text",
    [
        "Contact the server at 192.168.1.5/32 by phone bridge.",
        "The phone gateway is 10.20.30.40.",
        "Last contact 1699999999, next call 1700003600.",
        "text: 20240117 093012 ok",
        "Call log 2024-01-17 09:30:12.123456",
        "[20240117093012] text saved",
        "Reception 0900-1730",
        "drwxr-xr-x root/root         0 2021-08-09 02:02 ./usr/share/doc/",
        "Fax modems: 14400 28800 33600 56000",
        "text-align: 0 0 10 20 30 40",
        "The call returned 12 345 678 901 bytes.",
    ],
)
def test_an_address_of_a_network_a_time_stamp_or_a_list_is_no_telephone_number(text):
    assert redacted(text) == text


@pytest.mark.parametrize(
    "seed", ["Phone\n1", "2127365000x4 ", "(1) ", "Tel\n2127365000\n", "1 2/", "4-1699999999\n1,5 "]
)
def test_no_repetition_makes_the_reading_of_rows_quadratic(seed):
    """Sixteen times the text may cost 64 times the CPU at most; quadratic work would cost 256 times."""

    def cost(characters):
        text = seed * (characters // len(seed))
        start = time.process_time()
        resolve(find(text, "en"))
        return time.process_time() - start

    assert cost(80_000) < 64 * max(0.005, min(cost(5_000) for _ in range(3)))


REGIONS = {"US": "en", "GB": "en", "DE": "de", "FR": "fr", "ES": "es", "IT": "it", "PT": "pt", "NL": "nl", "PL": "pl"}
LABELS = {"en": "Phone", "de": "Telefon", "fr": "Tél.", "es": "Teléfono", "it": "Tel.", "pt": "Telefone",
          "nl": "Telefoon", "pl": "Tel."}  # fmt: skip
KINDS = (PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE)
STYLES = (PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.NATIONAL, PhoneNumberFormat.E164)
EXTENSIONS = ["", "x45", " x45", " ext. 45", ", extension 45", " (ext. 45)", "#45", " #45", "-45", "/45", " / 45",
              ".45", " 60", " 8000 60", " Durchwahl 45", " poste 45", " int. 45", " wew. 45", " tst. 45", " ramal 45",
              " or 46", " oder 4612"]  # fmt: skip


@st.composite
def written_numbers(draw):
    region = draw(st.sampled_from(sorted(REGIONS)))
    example = phonenumbers.example_number_for_type(region, draw(st.sampled_from(KINDS)))
    written = phonenumbers.format_number(example, draw(st.sampled_from(STYLES)))
    mark = draw(st.sampled_from([" ", "-", ".", "/", "\u00a0", "\u2011", "\u2013", ""]))
    return re.sub(r"(?<=\d)[ -]+(?=\d)", mark, written), REGIONS[region]


@settings(deadline=None, derandomize=True, max_examples=1_000)
@given(
    written_numbers(),
    st.sampled_from(EXTENSIONS),
    st.sampled_from(["{}: {}", "{} {}", "{}\n{}", "{}:\n\n{}"]),
    st.sampled_from(["", ".", ", and more.", " (mornings)", "\nWrite to us", " | Home"]),
)
def test_no_digit_of_a_labelled_number_survives(number, extension, form, rest):
    written, language = number
    text = form.format(LABELS[language], written + extension) + rest
    assert not re.search(r"\d", re.sub(r"\[PHONE_NUMBER(?:_\d+)?\]", "", redacted(text, language))), text


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "0 44 42/93 17-26", "[PHONE_NUMBER]"),
        ("de", "(0 44 42) 93 17 26", "[PHONE_NUMBER]"),
        ("de", "Tel. +49 [0] 44 42 - 93 17 26", "Tel. [PHONE_NUMBER]"),
        ("de", "+49 [0]4442 931726", "[PHONE_NUMBER]"),
        ("en", "(+44) (0)20 7946 0958", "[PHONE_NUMBER]"),
        ("fr", "port. 0033 6 12 34 56 78", "port. [PHONE_NUMBER]"),
        ("fr", "Port.: 0033 (0)6 12 34 56 78", "Port.: [PHONE_NUMBER]"),
        ("ko", "전화 02)123-4567", "전화 [PHONE_NUMBER]"),
        ("ru", "тел./факс: (495) 123-45-67, 123-45-68", "тел./факс: [PHONE_NUMBER]"),
        ("it", "Tel. +39 06 / 69883145 - 69883146", "Tel. [PHONE_NUMBER]"),
        ("pl", "tel. 22/629 12 34, 629 12 35", "tel. [PHONE_NUMBER]"),
        ("sv", "Tfn: 08/123 45 600", "Tfn: [PHONE_NUMBER]"),
    ],
)
def test_brackets_slashes_and_second_numbers_are_read_as_each_country_writes_them(language, text, expected):
    assert redacted(text, language) == expected


@pytest.mark.parametrize(
    ("language", "number", "extension"),
    [
        ("sv", "08-123 456 00", " ankn 12"),
        ("cs", "224 123 456", ", linka 12"),
        ("sr", "011/2345-678", ", лок. 12"),
        ("el", "210 3234567", ", εσωτ. 12"),
        ("tr", "0212/123 45 67", " dahili 12"),
        ("vi", "(04) 3825 1234", " - máy lẻ 12"),
        ("th", "0-2123-4567", " ต่อ 123"),
        ("zh", "(02)2712-3456", " 分機 12"),
        ("he", "03-6123456", " שלוחה 12"),
        ("hi", "011-2338 1234", " एक्स. 12"),
        ("ar", "02 612 3456", " تحويلة 12"),
        ("ko", "02-123-4567", "~8"),
    ],
)
def test_an_extension_goes_with_its_number_in_any_language(language, number, extension):
    assert redacted(f"Tel: {number}{extension}", language) == "Tel: [PHONE_NUMBER]"


@pytest.mark.parametrize(
    ("language", "words", "number"),
    [
        ("ar", "اتصل بنا: ", "+971 2 612 3456"),
        ("ar", "للاستفسار ", "050/1234567"),
        ("fa", "تماس با ما: ", "۰۲۱-۸۸۷۷۶۶۵۵"),
        ("ur", "ہم سے رابطہ کریں: ", "021-34567890"),
        ("hi", "हमसे संपर्क करें: ", "98765 43210"),
        ("bn", "আমাদের সাথে যোগাযোগ করুন: ", "01712-345678"),
        ("zh", "联系我们：", "13812345678"),
        ("ja", "お問い合わせ：", "03-3123-4567"),
        ("ko", "문의: ", "010-1234-5678"),
        ("th", "ติดต่อเรา: ", "081-234-5678"),
        ("id", "Hubungi kami: ", "0812-3456-7890"),
        ("tr", "Bize ulaşın: ", "0532 123 45 67"),
        ("ru", "Свяжитесь с нами: ", "8 495 123 45 67"),
        ("ru", "Наш номер ", "123-45-67"),
        ("uk", "Зв'яжіться з нами: ", "044 234 56 78"),
        ("pl", "Skontaktuj się z nami: ", "22 629 12 34"),
        ("el", "Επικοινωνήστε μαζί μας: ", "210 3234567"),
        ("kk", "Бізбен байланысыңыз: ", "8 727 250 12 34"),
        ("ka", "დაგვიკავშირდით: ", "032 2 12 34 56"),
        ("sw", "Wasiliana nasi: ", "0712 345 678"),
    ],
)
def test_contact_us_announces_a_number_in_any_language(language, words, number):
    assert redacted(words + number, language) == f"{words}[PHONE_NUMBER]"


@pytest.mark.parametrize(
    "text",
    ["Seiten 12/13 17-26", "Aktenzeichen 0 44 42/93", "values [0]4442931726", "NJW 1999/2000, 123-45", "a[0]+49[0]"],
)
def test_a_slash_or_a_bracket_between_other_figures_is_no_telephone_number(text):
    assert redacted(text, "de") == text
