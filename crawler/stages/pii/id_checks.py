"""Check digits and structure prove the national identity numbers that Presidio has no recogniser for.

python-stdnum judges where it knows the number. Where it would accept more than can have been issued, its verdict is
narrowed here; where it asks the calendar (a birth in the future) only its parts are used, because a replay next year
must say the same. What it lacks, or refuses although people have it, is checked by hand; the second half of the file
says why. Every function takes the value as it was written, separators allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from types import ModuleType

from stdnum import iban, numdb
from stdnum import luhn as stdnum_luhn
from stdnum.ar import cuit
from stdnum.at import vnr
from stdnum.bg import egn
from stdnum.br import cpf
from stdnum.ch import ssn as ahv
from stdnum.cl import rut
from stdnum.cn import ric
from stdnum.cz import rc
from stdnum.de import idnr
from stdnum.dk import cpr
from stdnum.do import cedula
from stdnum.ec import ci
from stdnum.ee import ik
from stdnum.es import dni, nie
from stdnum.exceptions import ValidationError
from stdnum.fr import nif as spi
from stdnum.fr import nir
from stdnum.gr import amka
from stdnum.hr import oib
from stdnum.id import nik
from stdnum.ie import pps
from stdnum.il import idnr as il_idnr
from stdnum.is_ import kennitala
from stdnum.it import codicefiscale
from stdnum.jp import in_ as my_number
from stdnum.lv import pvn
from stdnum.my import nric
from stdnum.nl import bsn
from stdnum.no import fodselsnummer
from stdnum.pl import nip
from stdnum.pt import cc
from stdnum.pt import nif as pt_nif
from stdnum.ro import cnp
from stdnum.ru import inn
from stdnum.si import emso
from stdnum.th import pin
from stdnum.ua import rntrc

Check = Callable[[str], bool]


def compact(value: str) -> str:
    """Letters and digits only, in capitals."""
    return "".join(c for c in value.upper() if c.isascii() and c.isalnum())


def luhn(value: str) -> bool:
    """The check digit of ISO/IEC 7812-1 annex B holds; separators are allowed, letters and an empty value are not."""
    return bool(stdnum_luhn.is_valid(compact(value)))


def _valid(module: ModuleType, *lengths: int, first: str = "", varied: bool = False) -> Check:
    """What a module of python-stdnum accepts, of these lengths only: it fills up short numbers, cuts off "PT" and "CL".

    first: the characters a person's number may begin with, where the library takes companies, too.
    varied: not one digit all through, which passes the check digits of Brazil and Poland and is nobody's number.
    """

    def check(value: str) -> bool:
        number = compact(value)
        if len(number) not in lengths or (first and number[0] not in first) or (varied and len(set(number)) == 1):
            return False
        return bool(module.is_valid(number))

    return check


is_de_tax_id = _valid(idnr, 11)
is_it_fiscal = _valid(codicefiscale, 16)
is_pt_nif = _valid(pt_nif, 9, first="123")
is_pt_citizen_card = _valid(cc, 12)
is_at_svnr = _valid(vnr, 10)
is_ahv = _valid(ahv, 13)
is_nir = _valid(nir, 15, first="12")
is_fr_tax = _valid(spi, 13)
is_es_dni = _valid(dni, 9)
is_es_nie = _valid(nie, 9)
is_cl_rut = _valid(rut, 8, 9)
is_cpf = _valid(cpf, 11, varied=True)
is_bsn = _valid(bsn, 9)
is_pl_nip = _valid(nip, 10, varied=True)
is_ie_pps = _valid(pps, 8, 9)
is_cz_birth_number = _valid(rc, 10)
is_ro_cnp = _valid(cnp, 13)
is_bg_egn = _valid(egn, 10)
is_hr_oib = _valid(oib, 11, varied=True)
is_jmbg = _valid(emso, 13)
is_baltic_code = _valid(ik, 11, first="123456")
is_lv_code = _valid(pvn, 11, first="0123")
is_kennitala = _valid(kennitala, 10, first="0123")
is_gr_amka = _valid(amka, 11)
is_ru_inn = _valid(inn, 12, varied=True)
is_ua_rntrc = _valid(rntrc, 10, varied=True)
is_il_id = _valid(il_idnr, 8, 9, varied=True)
is_jp_my_number = _valid(my_number, 12, varied=True)
is_th_pin = _valid(pin, 13)
is_my_nric = _valid(nric, 12)
_is_nik = _valid(nik, 16)
is_ec_cedula = _valid(ci, 10)
is_do_cedula = _valid(cedula, 11)
_is_cuit = _valid(cuit, 11)


def is_es_nif(value: str) -> bool:
    """Spanish DNI of a citizen or NIE of a foreigner."""
    return is_es_dni(value) or is_es_nie(value)


def is_ar_cuil(value: str) -> bool:
    """Argentine CUIT or CUIL of a person (prefix 20, 23, 24, 27); the library takes those of companies, too."""
    return compact(value)[:2] in {"20", "23", "24", "27"} and _is_cuit(value)


def is_dk_cpr(value: str) -> bool:
    """Danish CPR number: a date that exists and four digits (the modulo 11 check was given up in 2007)."""
    number = compact(value)
    return len(number) == 10 and number.isdigit() and _born(cpr.get_birth_date, number)


def is_no_fnr(value: str) -> bool:
    """Norwegian fødselsnummer or D-number: two check digits modulo 11 and a date that exists."""
    number = compact(value)
    if len(number) != 11 or not number.isdigit():
        return False
    checked = fodselsnummer.calc_check_digit1(number), fodselsnummer.calc_check_digit2(number)
    return (number[9], number[10]) == checked and _born(fodselsnummer.get_birth_date, number)


def _born(birth_date: Callable[[str], object], number: str) -> bool:
    try:
        birth_date(number)
    except ValidationError:
        return False
    return True


# --- by hand ---------------------------------------------------------------------------------------------------------
# Not in the library: German and Spanish social security, German health insurance, Polish documents, the numbers of
# Hungary, Taiwan and Russia's SNILS. Ours stays, too, for China (the library refuses districts that its list has not),
# for Belgium (the library's verdict changes with the year), for the CURP (it refuses the sex X, written since 2023, and
# `id_rules` has the structure) and for the American SSN (it accepts 111-11-1111 and refuses three specimens).


def _icao(text: str) -> int:
    """Sum of ICAO 9303 part 3 section 4.9: letters count from A=10, weights 7 3 1."""
    return sum(int(c, 36) * (7, 3, 1)[i % 3] for i, c in enumerate(text))


def is_de_social_security(value: str) -> bool:
    """German pension insurance number: area, date of birth, initial, serial, a check digit from digit sums."""
    number = compact(value)
    if len(number) != 12 or not (number[:8] + number[9:]).isdigit() or not number[8].isalpha():
        return False
    digits = f"{number[:8]}{ord(number[8]) - 64:02}{number[9:11]}"
    sums = (sum(map(int, str(int(d) * w))) for d, w in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True))
    return sum(sums) % 10 == int(number[11])


def is_de_health_insurance(value: str) -> bool:
    """German Krankenversichertennummer: a letter, eight digits, a check digit (digit sums, weights 1 and 2)."""
    number = compact(value)
    if len(number) != 10 or not number[0].isalpha() or not number[1:].isdigit():
        return False
    digits = f"{ord(number[0]) - 64:02}{number[1:9]}"
    total = sum(sum(map(int, str(int(d) * (1 + i % 2)))) for i, d in enumerate(digits))
    return total % 10 == int(number[9])


def is_be_national(value: str) -> bool:
    """Belgian national register or BIS number: 97 minus the first nine digits modulo 97 (2 in front: born since 2000).

    A month that may be 0 (unknown) and, in a BIS number, 20 or 40 higher.
    """
    number = compact(value)
    if len(number) != 11 or not number.isdigit() or int(number[2:4]) > 52 or int(number[2:4]) % 20 > 12:
        return False
    return int(number[9:]) in {97 - int(number[:9]) % 97, 97 - int("2" + number[:9]) % 97}


def is_es_social_security(value: str) -> bool:
    """Spanish affiliation number: province, serial, and both together modulo 97."""
    number = compact(value)
    if len(number) != 12 or not number.isdigit():
        return False
    province, serial = int(number[:2]), int(number[2:10])
    body = province * 10_000_000 + serial if serial < 10_000_000 else int(number[:10])
    return body % 97 == int(number[10:])


def is_mx_curp(value: str) -> bool:
    """Mexican CURP: eighteen characters, the last one modulo 10 over an alphabet with Ñ."""
    number = compact(value)
    if len(number) != 18 or not number[17].isdigit():
        return False
    alphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
    total = sum(alphabet.index(c) * (18 - i) for i, c in enumerate(number[:17]))
    return (10 - total % 10) % 10 == int(number[17])


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


def is_pl_account(value: str) -> bool:
    """Polish account number (NRB): an IBAN without its country."""
    return len(compact(value)) == 26 and bool(iban.is_valid("PL" + compact(value)))


def is_cn_resident_id(value: str) -> bool:
    """Chinese resident identity number (GB 11643): a date that exists and a check character (ISO 7064, MOD 11-2)."""
    number = compact(value)
    if len(number) != 18 or not number[:17].isdigit() or number[0] in "09":
        return False
    return str(ric.calc_check_digit(number)) == number[17] and _born(ric.get_birth_date, number)


_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"  # from 10 on, in the order of the counties


def is_tw_id(value: str) -> bool:
    """Taiwanese identity number: a county, the sex, and a sum with weights 1 9 8 … 1 1 that 10 divides."""
    number = compact(value)
    if len(number) != 10 or number[0] not in _TAIWAN_LETTERS or not number[1:].isdigit():
        return False
    digits = f"{_TAIWAN_LETTERS.index(number[0]) + 10}{number[1:]}"
    return sum(int(d) * w for d, w in zip(digits, (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1), strict=True)) % 10 == 0


def is_id_nik(value: str) -> bool:
    """Indonesian number of a citizen: a place the registry knows and a birthday, which women have 40 days later.

    The library takes any day modulo 40.
    """
    number = compact(value)
    return _is_nik(number) and 1 <= int(number[6:8]) - 40 * (number[6] > "3") <= 31


def is_hu_tax_id(value: str) -> bool:
    """Hungarian tax number of a person: an 8, a day, a serial, and a sum with weights 1 to 9 modulo 11."""
    number = compact(value)
    if len(number) != 10 or not number.isdigit() or number[0] != "8":
        return False
    return sum(int(d) * (i + 1) for i, d in enumerate(number[:9])) % 11 == int(number[9])


def is_hu_taj(value: str) -> bool:
    """Hungarian social security number: a sum with weights 3 and 7 modulo 10."""
    number = compact(value)
    if len(number) != 9 or not number.isdigit() or len(set(number)) == 1:
        return False
    return sum(int(d) * (3, 7)[i % 2] for i, d in enumerate(number[:8])) % 10 == int(number[8])


def is_ru_snils(value: str) -> bool:
    """Russian insurance account number: a sum with weights 9 to 1 modulo 101, where 100 is written 00."""
    number = compact(value)
    if len(number) != 11 or not number.isdigit() or len(set(number)) == 1:
        return False
    return sum(int(d) * (9 - i) for i, d in enumerate(number[:9])) % 101 % 100 == int(number[9:])


def is_ssn(value: str) -> bool:
    """US social security number that can have been issued (SSA: no 000, 666 or 9xx area, no 00 group, no 0000)."""
    number = compact(value)
    if len(number) != 9 or not number.isdigit() or len(set(number)) == 1:
        return False
    return number[:3] not in {"000", "666"} and number[0] != "9" and number[3:5] != "00" and number[5:] != "0000"


def is_printed_number(value: str) -> bool:
    """Written as on a document: capitals and digits, at least two of them digits."""
    return value == value.upper() and sum(c.isdigit() for c in value) > 1


_PART = re.compile(r"(\d+)![nac]")


@cache
def iban_length(country: str) -> int:
    """Letters and digits of an account number of this country (ISO 13616 register); 0 where it registered none."""
    facts = numdb.get("iban").info(country.upper())[0][1]
    parts = list(map(int, _PART.findall(facts.get("bban", ""))))
    return 4 + sum(parts) if parts else 0


def is_iban(value: str) -> bool:
    """Built as the register says for its country, with the right check digits (ISO 7064 mod 97-10)."""
    return bool(iban.is_valid(value, check_country=False))
