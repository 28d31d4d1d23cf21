"""A kind of number is left out of the scan only where its expression finds nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.stages.pii.outline import Outline, image
from crawler.stages.pii.scan import NUMERIC
from crawler.stages.pii.skeleton import SHAPED, earliest, possible_kinds

NUMBERS = {
    "phone": ["+12345", "(030) 90 18 20", "0 1\u20112 3 4 5", "5\u0663 6 7 8 9 0", "+ -- 123456"],
    "card": ["4111 1111 1111 1111", "4111111111111111", "3782\u2011822463\u201110005"],
    "ipv4": ["8.8.4.4", "192.168.100.1", "1٣.1.2.3"],
    "ipv6": ["2001:db8::1", "2a00:1450:4001::"],
    "iban": ["DE89 3704 0044 0532 0130 00", "gb29nwbk60161331926819"],
    "bitcoin": ["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"],
    "ether": ["0x" + "aB" * 20],
    "fiscal": ["RSSMRA85T10A562S", "RSSMRAURTMLARSNS"],
    "nif": ["12345678Z", "X1234567L", "12345678-Z"],
    "hetu": ["131052-308T", "1٣1052A308T", "131052+308T"],
}
PARTS = [
    *(number for numbers in NUMBERS.values() for number in numbers),
    *"0١A𝟗.:- ,xb\u2009\ud800\u212aé(\n",
    "1234567",
    "AB12",
]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=8).map("".join)


def test_every_kind_has_a_shape_and_examples_that_its_expression_finds():
    assert set(NUMBERS) == SHAPED == set(NUMERIC)
    for kind, numbers in NUMBERS.items():
        for number in numbers:
            assert NUMERIC[kind].search(number), number
            assert kind in possible_kinds(Outline(number)), number


def test_a_page_of_prose_has_no_kind_of_number():
    prose = "In 2024 some 1,500 people came, at 10:30. It cost 3.50 “a day”. See 2.4.1. Interoperabilities."
    assert possible_kinds(Outline(prose)) == {}
    assert possible_kinds(Outline("")) == {}


def assert_nothing_is_missed(text):
    outline = Outline(text)
    possible = possible_kinds(outline)
    for kind, pattern in NUMERIC.items():
        for position in range(0, len(text), 7):
            if found := pattern.search(text, position):
                assert kind in possible
                assert position or possible[kind] <= found.start()
                start = earliest(kind, outline, position)
                assert start is not None and position <= start <= found.start()


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(TEXTS)
def test_what_an_expression_finds_is_possible_and_begins_no_earlier_than_told(text):
    assert_nothing_is_missed(text)
    assert_nothing_is_missed(text[1:-1])


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(st.text("00123459ABFXYZabcx.:-+/( \n\u0663\u2011\u00e9", min_size=5, max_size=40))
def test_what_an_expression_finds_in_digits_and_marks_is_possible(text):
    assert_nothing_is_missed(text)


def test_each_character_has_one_byte_which_tells_ascii_and_digits():
    every = "".join(map(chr, range(0x110000)))
    for text in (every, every[:0x600], every[0x2000:0xA600].replace("\u212a", "")):
        told = image(text)
        assert len(told) == len(text)
        for byte, char in zip(told, text, strict=True):
            if char.isascii():
                assert byte == ord(char)
            else:
                assert byte == (0x81 if char == "\u212a" else 0x82 if char.isdecimal() else 0x80)


def test_only_the_kelvin_sign_has_a_small_letter_in_ascii():
    assert [c for c in map(chr, range(0x80, 0x110000)) if len(c.lower()) == 1 and c.lower().isascii()] == ["\u212a"]
    assert Outline("\u212aVNR").folded == b"kvnr"
