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
