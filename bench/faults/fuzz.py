"""Feeds mutated real files to every parser of policy: no exception, and twice the input takes about twice the time.

    python -m bench.faults.fuzz  10⁶ inputs in all, then the time ratios; exit code 1 on a finding
    python -m bench.faults.fuzz --inputs 20000 --seed 3
    python -m bench.faults.fuzz --coverage URL -- -max_total_time=60     one target under atheris (pip install atheris)

Mutations are drawn from a seeded generator: the same seed finds the same thing again.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bench.faults.fuzz_targets import MAX_SEED, TARGETS, Target

MAX_INPUT = 2 * MAX_SEED
PUMPED_BYTES = 60_000
MAX_RATIO = 3.0
"""Linear time doubles; quadratic time quadruples."""


@dataclass
class Finding:
    """Bytes that a parser must be able to read and could not, or not in time."""

    target: str
    what: str
    data: bytes


def mutations(seeds: list[bytes], words: tuple[bytes, ...], rng: random.Random) -> Iterator[bytes]:
    """Endless: a seed, changed in one to eight places."""
    while True:
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 8)):
            _mutate(data, seeds, words, rng)
        yield bytes(data[:MAX_INPUT])


def _mutate(data: bytearray, seeds: list[bytes], words: tuple[bytes, ...], rng: random.Random) -> None:
    at = rng.randint(0, len(data))
    end = min(len(data), at + rng.choice((1, 2, 8, 64, 512)))
    match rng.randrange(7):
        case 0:
            data[at:at] = rng.choice(words)
        case 1:
            data[at:end] = rng.choice(words)
        case 2:
            del data[at:end]
        case 3:
            data[at:at] = data[at:end] * rng.choice((1, 2, 16))
        case 4:
            data[at:end] = rng.randbytes(end - at)
        case 5:
            other = rng.choice(seeds)
            start = rng.randint(0, len(other))
            data[at:end] = other[start : start + 200]
        case _:
            if at < len(data):
                data[at] ^= 1 << rng.randrange(8)


def fuzz(target: Target, inputs: int, seed: int) -> tuple[float, list[Finding]]:
    """CPU seconds and findings of `inputs` mutated inputs."""
    source = mutations(target.seeds(), target.words, random.Random(f"{seed}/{target.name}"))
    spent, findings = 0.0, []
    for _ in range(inputs):
        data = next(source)
        started = time.process_time()
        if what := _exception(target, data):
            findings.append(Finding(target.name, what, data))
        spent += time.process_time() - started
    return spent, findings


def _exception(target: Target, data: bytes) -> str:
    try:
        target.run(data)
    except Exception as error:  # that is what is looked for
        return f"{type(error).__name__}: {error}"
    return ""


def pumped(target: Target, seed: int) -> list[bytes]:
    """Pieces that are worth repeating: every word, pairs of words, and slices of seeds."""
    rng = random.Random(f"{seed}/{target.name}/pump")
    seeds, words = target.seeds(), target.words
    pairs = [rng.choice(words) + rng.choice(words) for _ in range(20)]
    slices = []
    for _ in range(20):
        whole = rng.choice(seeds)
        at = rng.randint(0, len(whole))
        slices.append(whole[at : at + rng.choice((3, 10, 40))])
    return [piece for piece in (*words, *pairs, *slices) if piece]


def ratio(target: Target, piece: bytes, size: int = PUMPED_BYTES) -> float:
    """Time for twice the input over time for the input; the best of three, and 1 where both are too fast to tell."""
    once, twice = (_cost(target, piece * (n // len(piece) + 1)) for n in (size, 2 * size))
    return 1.0 if twice < 0.002 else twice / max(once, 0.0005)


def _cost(target: Target, data: bytes) -> float:
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        target.run(data)
        best = min(best, time.process_time() - started)
    return best


def worst_ratio(target: Target, seed: int, size: int = PUMPED_BYTES) -> tuple[float, bytes]:
    """The piece whose repetition grows fastest; a suspicious one is measured again."""
    worst, culprit = 0.0, b""
    for piece in pumped(target, seed):
        found = ratio(target, piece, size)
        if found > MAX_RATIO:
            found = min(found, ratio(target, piece, size), ratio(target, piece, size))
        if found > worst:
            worst, culprit = found, piece
    return worst, culprit


def cover(name: str, arguments: list[str]) -> None:
    """Run one target under atheris, which looks for inputs that reach new code. Never returns."""
    import atheris  # not among the requirements

    for module in [module for module in sys.modules if module.startswith(("crawler", "bench.faults.fuzz_targets"))]:
        del sys.modules[module]  # imported again below, instrumented
    with atheris.instrument_imports(include=["crawler", "http_sf"]):
        targets = importlib.import_module("bench.faults.fuzz_targets").TARGETS
    target = next(target for target in targets if target.name == name)
    atheris.Setup([sys.argv[0], *arguments], target.run)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="inputs in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coverage", metavar="TARGET", choices=[target.name for target in TARGETS])
    parser.add_argument("rest", nargs="*", help="arguments of atheris")
    options = parser.parse_args()
    if options.coverage:
        cover(options.coverage, options.rest)
    findings: list[Finding] = []
    share = -(-options.inputs // len(TARGETS))
    print("| parser | inputs | findings | µs an input | worst time ratio for twice the input |\n|---|---|---|---|---|")
    for target in TARGETS:
        spent, found = fuzz(target, share, options.seed)
        found += [Finding(target.name, f"repeated: {e}", p) for p in pumped(target, options.seed)
                  if (e := _exception(target, p * (2 * PUMPED_BYTES // len(p))))]  # fmt: skip
        worst, piece = (0.0, b"") if found else worst_ratio(target, options.seed)
        if worst > MAX_RATIO:
            found.append(Finding(target.name, f"time ratio {worst:.1f} for", piece))
        findings += found
        print(f"| {target.name} | {share:,} | {len(found)} | {spent / share * 1e6:.0f} | {worst:.2f} |", flush=True)
    for finding in findings[:20]:
        print(f"{finding.target}: {finding.what}: {finding.data!r}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
