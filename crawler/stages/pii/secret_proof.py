"""A value is a secret where nothing but chance can have written it, and no manual did: entropy, and marks of examples.

Shannon's entropy of the characters tells a random value from words; a manual's value repeats itself, counts upwards, or
says in words that it is an example ("AKIAIOSFODNN7EXAMPLE", "<your-token>", "xxxx").
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections import Counter
from itertools import pairwise

from crawler.stages.text.tables import sections

_LINES = sections(__package__, "secret_words.txt")
_EXAMPLE = re.compile("|".join(map(re.escape, _LINES["example"])), re.IGNORECASE)
_STAND_IN = frozenset(_LINES["stand_in"])
_KNOWN = frozenset(_LINES["known"])
_TEMPLATE = re.compile(r"[<>{}\[\]]|\$[({]|\A\$[A-Za-z_]+\Z|\A%[a-z(]|…|\*\*|\.\.\.", re.IGNORECASE)
"""Marks of a template or of a variable: `<token>`, `${TOKEN}`, `{{ token }}`, `%s`."""
_LEET = str.maketrans("0134578@$!", "oleastbasi")
_RUNS = re.compile(r"(.)\1{4,}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]{32,}|[0-9A-F]{32,}")
_LETTERS = re.compile(r"[a-z]+|[A-Z]+")
_TOKEN = re.compile(r"[\w+/=.~-]{20,}", re.ASCII)
_WORD = re.compile(r"[a-z]{7,}|[A-Z]?[a-z]{5,}(?=[A-Z_.-])")
_DISTINCT = 8  # characters that a random value of twenty or more has at least
_TOKEN_BITS, _HEX_BITS, _PASSWORD_BITS = 3.7, 3.0, 3.1  # entropy of a character
_LONGEST_WORD = 4  # letters of one case in a row in a password that a machine has made
_LEAST_PASSWORD = 12


def is_example(value: str) -> bool:
    """A manual's stand-in, or a value that everybody knows."""
    if value in _KNOWN or _TEMPLATE.search(value) or _EXAMPLE.search(value) or _RUNS.search(value):
        return True
    return _counts(value) or any(known in value for known in _KNOWN)


def is_issued(body: str) -> bool:
    """What stands behind the prefix of a service is random: many different characters, and no example."""
    return not is_example(body) and len(set(body)) >= _DISTINCT


def is_random_token(value: str) -> bool:
    """Twenty or more characters of base64 or hexadecimal, mixed as chance mixes them; no UUID, no path, no words."""
    if not _TOKEN.fullmatch(value) or _UUID.search(value) or is_example(value):
        return False
    if _HEX.fullmatch(value):
        return _entropy(value) >= _HEX_BITS
    if len(_WORD.findall(value)) > 1 or value.count(".") > 2 or not _classes(value) >= {"upper", "lower", "digit"}:
        return False
    return _entropy(value) >= _TOKEN_BITS


def is_random_password(value: str) -> bool:
    """Twelve or more characters of three kinds, without a word in them, whatever digits stand for letters."""
    if len(value) < _LEAST_PASSWORD or is_example(value) or _UUID.search(value):
        return False
    if max(map(len, _LETTERS.findall(value)), default=0) > _LONGEST_WORD or is_example(value.translate(_LEET)):
        return False
    return "digit" in _classes(value) and len(_classes(value)) >= 3 and _entropy(value) >= _PASSWORD_BITS


def is_password_of_a_connection(user: str, value: str) -> bool:
    """What stands for a password in the address of a server, and is neither a template nor a manual's word."""
    plain = value.lower()
    if len(value) < 3 or plain in _STAND_IN or plain.translate(_LEET) in _STAND_IN or plain == user.lower():
        return False
    return not is_example(value) and not is_example(plain.translate(_LEET))


def is_login(value: str) -> bool:
    """The base64 form of `user:password` in HTTP (RFC 7617), with a password that is none of a manual."""
    try:
        login = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return False
    user, colon, password = login.partition(":")
    return bool(colon) and login.isprintable() and is_password_of_a_connection(user, password)


def is_web_token(value: str) -> bool:
    """A signed JSON Web Token (RFC 7519): its header names an algorithm, and its claims are no manual's."""
    header, claims, signature = (*value.split("."), "", "")[:3]
    return (
        "alg" in _claims(header) and len(signature) >= 16 and not is_example(signature) and not _shown(_claims(claims))
    )


def _shown(claims: dict[str, object]) -> bool:
    return claims.get("name") == "John Doe" or claims.get("sub") == "1234567890" or "example" in str(claims.get("sub"))


def _claims(part: str) -> dict[str, object]:
    try:
        read = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _classes(value: str) -> set[str]:
    kinds = {"upper": str.isupper, "lower": str.islower, "digit": str.isdigit}
    found = {name for name, is_one in kinds.items() if any(map(is_one, value))}
    return found | ({"mark"} if any(not char.isalnum() for char in value) else set())


def _counts(value: str) -> bool:
    """Six characters or more that follow on each other: "abcdefg", "1234567"."""
    row = 1
    for before, char in pairwise(value):
        row = row + 1 if ord(char) - ord(before) == 1 else 1
        if row > 6:
            return True
    return False


def _entropy(value: str) -> float:
    """Bits a character, by how often each stands in the value."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
