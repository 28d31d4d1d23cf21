"""Postal addresses go where their form is certain, whole, in the order of each country; what only looks like one stays.

The addresses are invented; their forms are those of the sheets that `postal_forms.txt` names.
"""

from __future__ import annotations

import time

import pytest

from crawler.config import PiiConfig
from crawler.document import Document
from crawler.stages.pii.outline import Outline
from crawler.stages.pii.postal import postal_in
from crawler.stages.pii.recognise import find
from crawler.stages.pii.signs import sign_in
from crawler.stages.pii.stage import PiiStage

ADDRESSES = [
    "Lange Mühlenstraße 12a, 04109 Leipzig",
    "Karl-Korn-Str. 7\n10115 Berlin",
    "Am Wehr 3, D-79098 Freiburg im Breisgau",
    "Mehlgasse 14/2/5, 1010 Wien",
    "Mühleweg 9\n8001 Zürich",
    "12 bis, rue des Vieux Moulins, 35000 Rennes",
    "4 avenue de la Farine\n75011 Paris CEDEX 11",
    "Rue du Moulin 21, 1000 Bruxelles",
    "Molenstraat 18-2, 1012 AB Amsterdam",
    "Korenlei 5, 9000 Gent",
    "Calle del Molino, 14, 3.º izda., 28013 Madrid",
    "C/ Harina 7, 08001 Barcelona",
    "Via dei Mulini, 22 - 20121 Milano (MI)",
    "Rua do Moinho, 31, 2.º Dto, 1200-109 Lisboa",
    "Rua das Farinhas, 120, Centro, São Paulo - SP, 01310-100",
    "14 Old Mill Lane, Lower Wharfside, Bath BA1 1AA",
    "Flat 2, 7 Miller Street\nLondon\nSW1A 1AA",
    "1420 N. Millstone Avenue, Apt. 3B, Springfield, IL 62701-1234",
    "88 East 14th Street\nNew York, NY 10003",
    "P.O. Box 812, Granary, TX 75001",
    "220 Wheat Street, Suite 4, Toronto, ON M5V 2T6",
    "31 Baker Street, Fitzroy VIC 3065",
    "ul. Młyńska 5/12, 00-950 Warszawa",
    "Kvarngatan 8, 111 20 Stockholm",
    "Møllevej 3, 2. tv, 2100 København",
    "Møllergata 17\n0150 Oslo",
    "Myllykatu 4 B 12, 00100 Helsinki",
    "Mlýnská 12/3, 110 00 Praha",
    "〒150-0001 東京都渋谷区神宮前1-2-3",
    "101000, г. Москва, ул. Мельничная, д. 5, кв. 12",
]

NONE = [
    "The mill in Leipzig was built in 1843 by 12 carpenters.",
    "He came in on Platz 3, 2019 Sieger war ein anderer.",
    "Version 4.2, 10115 Changes were made.",
    "The rue des Moulins runs to the river, where 75011 Parisians live.",
    "In 2012 AB Amsterdam sold its mills.",
    "We drove down Mill Lane to Bath, then on the A36.",
    "The population of Springfield, IL 62701 grew.",
    "Room 12, second floor, Main Building",
    "Postcode areas: BA1 1AA, BS1 4DJ and SW1A 1AA",
    "Chapter 3, Section 14, 20121 words in all",
    "Order 00-950 and 01310-100 have been shipped.",
    "tel. 03-1234-5678, 150-0001",
]


def addresses(text: str) -> list[str]:
    return sorted({text[hit.start : hit.end] for hit in postal_in(Outline(text))})


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_goes_whole_and_what_stands_around_it_stays(address: str) -> None:
    for before, behind in (("", ""), ("We moved to ", ". Come and see us."), ("Address:\n", "\nOpening hours: 9 to 5")):
        assert addresses(f"{before}{address}{behind}") == [address]


@pytest.mark.parametrize("text", NONE)
def test_a_street_or_a_place_alone_and_figures_are_no_address(text: str) -> None:
    assert addresses(text) == []


def test_the_stage_writes_one_placeholder_for_an_address_that_comes_twice() -> None:
    text = "Visit us: 14 Old Mill Lane, Bath BA1 1AA.\nWe are at 14 Old Mill Lane, Bath, BA1 1AA, every day."
    doc = Document("https://example.org/", text=text, language="en")
    PiiStage(PiiConfig(person="off"), 1)(doc)
    assert doc.text == "Visit us: [POSTAL_ADDRESS].\nWe are at [POSTAL_ADDRESS], every day."
    assert doc.pii_entity_types == ["POSTAL_ADDRESS"]


def test_a_telephone_number_beside_an_address_is_found_as_well() -> None:
    text = "Lange Mühlenstraße 12, 04109 Leipzig, Telefon 0341 9026 117"
    assert {hit.entity for hit in find(text, "de")} == {"POSTAL_ADDRESS", "PHONE_NUMBER"}


def test_the_address_of_a_shop_does_not_hold_a_page_in_a_language_without_names() -> None:
    text = "Via dei Mulini, 22, 20121 Milano"
    assert sign_in(text, "it", find(text, "it")) == ""
    assert "EMAIL" in sign_in("x", "it", find(f"{text} anna.rossi@mulino.it", "it"))


@pytest.mark.parametrize(
    "piece",
    ["Rue du Moulin ", "1 Mill St, ", "12345 A", "Via a b c d ", "1010 Wien ", "A1 1AA ", "aB-", "〒150-0001 東京都"],
)
def test_repetition_costs_linear_time(piece: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        list(postal_in(Outline(piece * count + "75011 Paris")))
        return time.process_time() - start

    small, large = min(seconds(1_000) for _ in range(3)), min(seconds(4_000) for _ in range(3))
    assert large < 12 * max(small, 0.002)
