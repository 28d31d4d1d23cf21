"""TDM Reservation Protocol (W3C community group): `tdm-reservation` as a header and as a meta.

The page speaks louder than the header, the header louder than the site's well-known file. Values other than 0 and 1 are
as good as absent, and absence never resets what another carrier said.
"""

from __future__ import annotations

from collections.abc import Iterable

from crawler.document import Signal
from crawler.policy.headers import Headers, values_of
from crawler.policy.signals.base import ALLOW, DISALLOW, UNKNOWN, Context, Detector, Metas, signal

NAME = "tdmrep"
VERSION = "1"

_VERDICTS = {"1": DISALLOW, "0": ALLOW}
_PRECEDENCE = ("meta", "header", "well-known")


def from_headers(headers: Headers, _context: Context) -> list[Signal]:
    """Each tdm-reservation header line."""
    return [_signal("header", value) for value in values_of(headers, b"tdm-reservation")]


def from_metas(metas: Metas, _context: Context) -> list[Signal]:
    """Each <meta name="tdm-reservation">."""
    return [_signal("meta", content) for name, content in metas if name.strip().lower() == "tdm-reservation"]


def resolve(signals: Iterable[Signal]) -> Signal | None:
    """The one statement that counts, by precedence; within one carrier a reservation wins. None where none does."""
    stated = [s for s in signals if s.protocol == NAME and s.verdict != UNKNOWN]
    for carrier in _PRECEDENCE:
        found = [s for s in stated if s.carrier == carrier]
        if found:
            return next((s for s in found if s.verdict == DISALLOW), found[0])
    return None


def _signal(carrier: str, value: str) -> Signal:
    return signal(NAME, carrier, value, _VERDICTS.get(value.strip(), UNKNOWN))


DETECTOR = Detector(NAME, VERSION, headers=from_headers, metas=from_metas, late=True)
