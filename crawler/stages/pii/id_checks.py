"""In the personal-data stage: check digits of national identity numbers that Presidio has no recogniser for.

Each function takes the value as it was written (separators allowed) and says whether its check digits hold. The
algorithms are those the issuing offices publish; `tests/stages/pii/test_pii_ids.py` holds them to known numbers.
"""

from __future__ import annotations

from collections.abc import Sequence


def compact(value: str) -> str:
    """Letters and digits only, in capitals."""
    return "".join(c for c in value.upper() if c.isascii() and c.isalnum())


def _weighted(digits: str, weights: Sequence[int]) -> int:
    return sum(int(d) * w for d, w in zip(digits, weights, strict=False))


def _icao(text: str) -> int:
    """Sum of ICAO 9303 part 3 section 4.9: letters count from A=10, weights 7 3 1."""
    return sum(int(c, 36) * (7, 3, 1)[i % 3] for i, c in enumerate(text))


def is_de_tax_id(value: str) -> bool:
    """German Steuer-Identifikationsnummer: eleven digits, the last by ISO 7064 modulo 11, 10."""
    number = compact(value)
    if len(number) != 11 or not number.isdigit() or number[0] == "0":
        return False
    product = 10
    for digit in number[:10]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return int(number[10]) == (11 - product) % 10


def is_de_social_security(value: str) -> bool:
    """German pension insurance number: area, date of birth, initial, serial, a check digit from digit sums."""
    number = compact(value)
    if len(number) != 12 or not (number[:8] + number[9:]).isdigit() or not number[8].isalpha():
        return False
    digits = f"{number[:8]}{ord(number[8]) - 64:02}{number[9:11]}"
    sums = (sum(map(int, str(int(d) * w))) for d, w in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True))
    return sum(sums) % 10 == int(number[11])


_FISCAL_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def is_it_fiscal(value: str) -> bool:
    """Italian codice fiscale: sixteen characters, the last one modulo 26 over two tables (D.M. 23/12/1976)."""
    number = compact(value)
    if len(number) != 16 or not number[15].isalpha():
        return False
    places = [int(c) if c.isdigit() else ord(c) - 65 for c in number[:15]]
    total = sum(_FISCAL_ODD[place] if index % 2 == 0 else place for index, place in enumerate(places))
    return chr(65 + total % 26) == number[15]


def is_pt_nif(value: str) -> bool:
    """Portuguese tax number of a person: nine digits, modulo 11, first digit 1 to 3."""
    number = compact(value)
    if len(number) != 9 or not number.isdigit() or number[0] not in "123":
        return False
    check = 11 - _weighted(number, range(9, 1, -1)) % 11
    return int(number[8]) == (0 if check > 9 else check)


def is_pt_citizen_card(value: str) -> bool:
    """Portuguese citizen card: twelve characters, Luhn over base 36."""
    number = compact(value)
    if len(number) != 12 or not number[:9].isdigit() or not number[9:11].isalnum() or not number[11].isdigit():
        return False
    total = 0
    for index, char in enumerate(number):
        place = int(char, 36) * (1 if index % 2 else 2)
        total += place - 9 if index % 2 == 0 and place > 9 else place
    return total % 10 == 0


def is_be_national(value: str) -> bool:
    """Belgian national register number: 97 minus the first nine digits modulo 97 (2 in front for births since 2000)."""
    number = compact(value)
    if len(number) != 11 or not number.isdigit():
        return False
    return int(number[9:]) in {97 - int(number[:9]) % 97, 97 - int("2" + number[:9]) % 97}


def is_at_svnr(value: str) -> bool:
    """Austrian social insurance number: serial, check digit modulo 11, date of birth."""
    number = compact(value)
    if len(number) != 10 or not number.isdigit() or number[0] == "0":
        return False
    return (_weighted(number[:3], (3, 7, 9)) + _weighted(number[4:], (5, 8, 4, 2, 1, 6))) % 11 == int(number[3])


def is_fr_tax(value: str) -> bool:
    """French numéro fiscal (SPI): thirteen digits, first 0 to 3, the last three are the first ten modulo 511."""
    number = compact(value)
    return len(number) == 13 and number.isdigit() and number[0] in "0123" and int(number[:10]) % 511 == int(number[10:])


def is_es_social_security(value: str) -> bool:
    """Spanish affiliation number: province, serial, and both together modulo 97."""
    number = compact(value)
    if len(number) != 12 or not number.isdigit():
        return False
    province, serial = int(number[:2]), int(number[2:10])
    body = province * 10_000_000 + serial if serial < 10_000_000 else int(number[:10])
    return body % 97 == int(number[10:])


def is_es_nif(value: str) -> bool:
    """Spanish DNI or NIE letter: the number modulo 23; X, Y, Z count as 0, 1, 2."""
    number = compact(value)
    if len(number) != 9 or not number[8].isalpha():
        return False
    digits = str("XYZ".index(number[0])) + number[1:8] if number[0] in "XYZ" else number[:8]
    return digits.isdigit() and "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == number[8]


def is_mx_curp(value: str) -> bool:
    """Mexican CURP: eighteen characters, the last one modulo 10 over an alphabet with Ñ."""
    number = compact(value)
    if len(number) != 18 or not number[17].isdigit():
        return False
    alphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
    total = sum(alphabet.index(c) * (18 - i) for i, c in enumerate(number[:17]))
    return (10 - total % 10) % 10 == int(number[17])


def is_cl_rut(value: str) -> bool:
    """Chilean RUT: modulo 11 with weights 2 to 7, K for ten."""
    number = compact(value)
    if not 8 <= len(number) <= 9 or not number[:-1].isdigit():
        return False
    total = sum(int(d) * (2 + i % 6) for i, d in enumerate(reversed(number[:-1])))
    return "0123456789K0"[11 - total % 11] == number[-1]


def is_ar_cuil(value: str) -> bool:
    """Argentine CUIT or CUIL of a person (prefix 20, 23, 24, 27): modulo 11."""
    number = compact(value)
    if len(number) != 11 or not number.isdigit() or number[:2] not in {"20", "23", "24", "27"}:
        return False
    return "012345678990"[11 - _weighted(number[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11] == number[10]


def is_pl_nip(value: str) -> bool:
    """Polish tax number: ten digits, modulo 11."""
    number = compact(value)
    return (
        len(number) == 10
        and number.isdigit()
        and len(set(number)) > 1
        and _weighted(number, (6, 5, 7, 2, 3, 4, 5, 6, 7)) % 11 == int(number[9])
    )


def is_pl_id_card(value: str) -> bool:
    """Polish identity card: three letters, six digits, the first of them the check digit."""
    number = compact(value)
    return len(number) == 9 and number[:3].isalpha() and number[3:].isdigit() and _checked_inside(number, 3)


def is_pl_passport(value: str) -> bool:
    """Polish passport: two letters, seven digits, the first of them the check digit."""
    number = compact(value)
    return len(number) == 9 and number[:2].isalpha() and number[2:].isdigit() and _checked_inside(number, 2)


def _checked_inside(number: str, place: int) -> bool:
    return _icao(number[:place] + number[place + 1 :]) % 10 == int(number[place])


def is_ie_pps(value: str) -> bool:
    """Irish PPS number: seven digits, a letter modulo 23, since 2013 a second letter."""
    number = compact(value)
    if not 8 <= len(number) <= 9 or not number[:7].isdigit() or not number[7:].isalpha():
        return False
    second = "WABCDEFGHIJKLMNOPQRSTUV".find(number[8]) if len(number) == 9 else 0
    total = _weighted(number, range(8, 1, -1)) + 9 * max(0, second)
    return "WABCDEFGHIJKLMNOPQRSTUV"[total % 23] == number[7]


def is_de_health_insurance(value: str) -> bool:
    """German Krankenversichertennummer: a letter, eight digits, a check digit (digit sums, weights 1 and 2)."""
    number = compact(value)
    if len(number) != 10 or not number[0].isalpha() or not number[1:].isdigit():
        return False
    digits = f"{ord(number[0]) - 64:02}{number[1:9]}"
    total = sum(sum(map(int, str(int(d) * (1 + i % 2)))) for i, d in enumerate(digits))
    return total % 10 == int(number[9])


def is_dk_cpr(value: str) -> bool:
    """Danish CPR number: a date and four digits (the modulo 11 check was given up in 2007)."""
    number = compact(value)
    return len(number) == 10 and number.isdigit() and 1 <= int(number[:2]) <= 31 and 1 <= int(number[2:4]) <= 12


def is_no_fnr(value: str) -> bool:
    """Norwegian fødselsnummer: two check digits modulo 11."""
    number = compact(value)
    if len(number) != 11 or not number.isdigit():
        return False
    first = (11 - _weighted(number[:9], (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11) % 11
    second = (11 - _weighted(number[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11) % 11
    return number[9:] == f"{first}{second}"


def is_cz_birth_number(value: str) -> bool:
    """Czech and Slovak rodné číslo of ten digits: divisible by 11 (or the first nine leave ten and the last is 0)."""
    number = compact(value)
    if len(number) != 10 or not number.isdigit():
        return False
    return int(number) % 11 == 0 or (int(number[:9]) % 11 == 10 and number[9] == "0")


def is_ro_cnp(value: str) -> bool:
    """Romanian CNP: thirteen digits, modulo 11 (ten becomes 1)."""
    number = compact(value)
    if len(number) != 13 or not number.isdigit() or number[0] == "0":
        return False
    check = _weighted(number, (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return int(number[12]) == (1 if check == 10 else check)


def is_printed_number(value: str) -> bool:
    """Written as on a document: capitals and digits, at least two of them digits."""
    return value == value.upper() and sum(c.isdigit() for c in value) > 1
