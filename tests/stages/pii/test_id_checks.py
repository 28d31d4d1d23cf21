"""National identity numbers: what the library's structure rules out, and what stays narrower than the library."""

import datetime
import random
import string

import pytest
from stdnum.ar import cuit
from stdnum.br import cpf
from stdnum.de import idnr
from stdnum.fr import nir
from stdnum.it import codicefiscale
from stdnum.nl import bsn
from stdnum.no import fodselsnummer
from stdnum.pl import nip
from stdnum.pt import nif
from stdnum.ro import cnp
from stdnum.us import ssn

from crawler.stages.pii import id_checks
from crawler.stages.pii.recognise import find


@pytest.mark.parametrize(
    ("check", "value", "why"),
    [
        (id_checks.is_de_tax_id, "52685969384", "three digits twice"),
        (id_checks.is_it_fiscal, "QGXPMR57G02D242O", "no month G"),
        (id_checks.is_be_national, "27579504115", "month 57"),
        (id_checks.is_ie_pps, "1724063BC", "no second letter C"),
        (id_checks.is_dk_cpr, "3109143596", "31 September"),
        (id_checks.is_no_fnr, "36163452523", "day 36"),
        (id_checks.is_cz_birth_number, "7088888345", "month 88"),
        (id_checks.is_ro_cnp, "3600850585545", "month 08, day 50"),
    ],
)
def test_a_number_whose_check_digits_hold_but_that_was_never_issued_is_refused(check, value, why):
    assert not check(value), why


@pytest.mark.parametrize(
    ("check", "library", "value", "why"),
    [
        (id_checks.is_pt_nif, nif, "501964843", "a company's"),
        (id_checks.is_ar_cuil, cuit, "30-71034108-3", "a company's"),
        (id_checks.is_it_fiscal, codicefiscale, "00743110157", "a company's"),
        (id_checks.is_cpf, cpf, "111.111.111-11", "one digit all through"),
        (id_checks.is_pl_nip, nip, "000-000-00-00", "one digit all through"),
        (id_checks.is_bsn, bsn, "11122237", "filled up with a zero"),
        (id_checks.is_nir, nir, "3 84 12 76 451 089 43", "of a man or woman not yet registered"),
        (id_checks.is_ssn, ssn, "111-11-1111", "one digit all through"),
    ],
)
def test_what_the_library_accepts_and_no_person_has_is_refused(check, library, value, why):
    assert library.is_valid(value)
    assert not check(value), why


def test_specimen_social_security_numbers_and_the_sex_x_are_taken_although_the_library_refuses_them():
    assert all(map(id_checks.is_ssn, ("219-09-9999", "078-05-1120", "457-55-5462")))
    assert id_checks.is_mx_curp("GOMC900514XDFNRR" + "7" + str(_curp_digit("GOMC900514XDFNRR7")))


def _curp_digit(body):
    alphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
    return -sum(alphabet.index(c) * (18 - i) for i, c in enumerate(body)) % 10


def test_no_verdict_hangs_on_todays_date():
    born_2036, born_2039 = "010136-4000", _norwegian("010139", 950)
    assert datetime.date.today().year < 2036, "choose later years: these births must lie in the future"
    assert id_checks.is_dk_cpr(born_2036)
    assert id_checks.is_no_fnr(born_2039)


def _norwegian(day, serial):
    for number in range(serial, 1000):
        body = f"{day}{number}"
        first = fodselsnummer.calc_check_digit1(body)
        second = fodselsnummer.calc_check_digit2(body + first)
        if len(first + second) == 2:
            return body + first + second
    raise AssertionError


def test_the_structure_of_a_number_sifts_random_digits_that_pass_the_check_digit():
    rng = random.Random(7)
    numbers = ["".join(rng.choices(string.digits, k=13)) for _ in range(30_000)]
    assert sum(map(id_checks.is_ro_cnp, numbers)) == sum(map(cnp.is_valid, numbers)) < 100
    assert sum(id_checks.is_de_tax_id(n[:11]) for n in numbers) == sum(idnr.is_valid(n[:11]) for n in numbers) < 150


def test_a_labelled_number_with_an_impossible_date_stays_in_the_text():
    assert find("CNP 3600850585545, the model of the pump.", "en") == []
    assert [hit.entity for hit in find("CNP 1850412117696, born in 1985.", "en")] == ["RO_CNP"]
