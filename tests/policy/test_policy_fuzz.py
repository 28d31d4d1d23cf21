"""A seeded share of `bench/faults/fuzz.py`: no bytes make a parser raise, and none costs it more than linear time."""

from __future__ import annotations

import pytest

from bench.faults.fuzz import fuzz, pumped
from bench.faults.fuzz_targets import TARGETS, Target

EVERY = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


@EVERY
def test_no_mutated_file_makes_a_parser_raise(target):
    _, findings = fuzz(target, 150, seed=2)
    assert findings == []


@EVERY
def test_no_repeated_piece_makes_a_parser_raise(target):
    for piece in pumped(target, seed=2):
        target.run(piece * (20_000 // len(piece)))


def test_the_fuzzer_finds_what_is_wrong():
    def raising(data: bytes) -> None:
        if b"\xff" in data:
            raise ValueError("planted")

    assert fuzz(Target("planted", raising, lambda: [b"seed"], (b"\xff",)), 200, seed=1)[1]
