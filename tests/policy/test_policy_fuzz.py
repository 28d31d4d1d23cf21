"""A small, seeded share of `bench/fuzz.py`: no bytes make a parser raise, and none costs it more than linear time."""

from __future__ import annotations

import pytest

from bench.fuzz import MAX_RATIO, fuzz, pumped, ratio
from bench.fuzz_targets import TARGETS, Target, run_robots

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
    """A parser that raises on one byte, and one that needs quadratic time."""

    def raising(data: bytes) -> None:
        if b"\xff" in data:
            raise ValueError("planted")

    def quadratic(data: bytes) -> None:
        for at in range(0, len(data), 64):
            data.count(b"x", at)

    assert fuzz(Target("planted", raising, lambda: [b"seed"], (b"\xff",)), 200, seed=1)[1]
    assert ratio(Target("planted", quadratic, lambda: [b"seed"], (b"x",)), b"abc", 100_000) > MAX_RATIO
    assert ratio(Target("robots", run_robots, lambda: [b""], (b"x",)), b"Disallow: /a\n", 100_000) <= MAX_RATIO
