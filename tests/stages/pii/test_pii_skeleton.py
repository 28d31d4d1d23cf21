"""A kind of number is left out of the scan only where its expression finds nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.stages.pii.scan import NUMERIC
from crawler.stages.pii.skeleton import SHAPED, possible_kinds

NUMBERS = {
    "card": ["4111 1111 1111 1111", "4111111111111111", "3782\u2011822463\u201110005"],
    "ipv4": ["8.8.4.4", "192.168.100.1", "٣.1.2.3"],
    "ipv6": ["2001:db8::1", "2a00:1450:4001::"],
    "iban": ["DE89 3704 0044 0532 0130 00", "gb29nwbk60161331926819"],
    "bitcoin": ["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"],
    "ether": ["0x" + "aB" * 20],
    "fiscal": ["RSSMRA85T10A562S"],
    "nif": ["12345678Z", "X1234567L", "12345678-Z"],
    "hetu": ["131052-308T", "١٣1052A308T"],
}
PARTS = [*(number for numbers in NUMBERS.values() for number in numbers), *"0١A𝟗.:- ,xb\u2009\ud800", "1234567", "AB12"]


def test_every_kind_with_a_shape_has_an_expression_and_an_example():
    assert set(NUMBERS) == SHAPED <= set(NUMERIC)
    for kind, numbers in NUMBERS.items():
        for number in numbers:
            assert kind in possible_kinds(number), number


def test_a_page_of_prose_has_no_kind_with_a_shape():
    assert possible_kinds("In 2024 some 1,500 people came, at 10:30. It cost 3.50 “a day”.") == frozenset()
    assert possible_kinds("") == frozenset()


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_what_an_expression_finds_is_possible(text):
    possible = possible_kinds(text)
    assert {kind for kind in SHAPED if NUMERIC[kind].search(text)} <= possible
    assert {kind for kind in SHAPED if NUMERIC[kind].search(text[1:-1])} <= possible_kinds(text[1:-1])
