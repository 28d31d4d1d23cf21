"""An opt-out signal: the invented header `X-Training: no` and the meta of the same name refuse training."""

from __future__ import annotations

from crawler.document import Signal
from crawler.policy.headers import Headers, values_of
from crawler.policy.signals.base import ALLOW, DISALLOW, Context, Detector, Metas, signal

NAME = "x-training"


def from_headers(headers: Headers, _context: Context) -> list[Signal]:
    """One signal a header line; what is neither yes nor no refuses."""
    return [_signal("header", value) for value in values_of(headers, b"x-training")]


def from_metas(metas: Metas, _context: Context) -> list[Signal]:
    """One signal a meta."""
    return [_signal("meta", content) for name, content in metas if name == "x-training"]


def _signal(carrier: str, value: str) -> Signal:
    return signal(NAME, carrier, value, ALLOW if value.strip().lower() == "yes" else DISALLOW)


SIGNAL = Detector(NAME, "1", "the X-Training header or meta refuses", headers=from_headers, metas=from_metas)
