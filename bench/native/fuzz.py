"""Feeds the native kernel what it never gets, under AddressSanitizer and UBSan: it may refuse, and nothing else.

    python -m bench.native.fuzz --seconds 60 [--seed 1]

Builds the kernel with this machine's gcc, and runs itself again with the sanitizers' library. Walk: pages as lxml
writes them, mutated in bytes, and noise. The rest: arrays of every small size. Exit code 1 on a finding.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.faults.fuzz import mutations
from bench.native.build import SANITIZED, sources

SEEDS = ("bench/extraction/probe.html",)
WORDS = (b"<", b">", b"</", b"/>", b"<!--", b"-->", b"<?", b"?>", b"&", b"&#x", b"&#1114111;", b"&amp;", b'="', b'"',
         b'<a href="#">', b'<p hidden="">', b'<span aria-hidden="true">', b"<pre>", b"\xff", b"\xf0\x9f",
         b"\xe2\x80\x8b", b"<td colspan=\"", b"</body>", b"<br/>", b"\0")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--library", help="of the kernel, built with sanitizers: how it calls itself")
    options = parser.parse_args()
    if options.library:
        return feed(options.library, options.seconds, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "kernel.so"
        subprocess.run(["gcc", *SANITIZED, "-o", library, *sources()], check=True)
        asked = ["gcc", "-print-file-name=libasan.so"]
        asan = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
        environment = {**os.environ, "LD_PRELOAD": asan, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
        command = [sys.executable, "-m", "bench.native.fuzz", "--library", str(library)]
        command += ["--seconds", str(options.seconds), "--seed", str(options.seed)]
        return 1 if subprocess.run(command, env=environment, check=False).returncode else 0


def feed(path: str, seconds: float, seed: int) -> int:
    """Call every function with drawn input until the time is over; a finding ends the process."""
    import ctypes
    from array import array

    import numpy as np
    from lxml import etree

    from bench.places import PROJECT
    from crawler.native.grams import repetition
    from crawler.native.minhash import minhash
    from crawler.native.visits import Automaton, rows_of
    from crawler.native.walk import walked
    from crawler.native.words import Names
    from crawler.stages.extraction.learned.model import the_model
    from crawler.stages.extraction.learned.walk import _rules
    from crawler.stages.parse.stage import parse_html

    library, rules, chance, end = ctypes.CDLL(path), _rules(), random.Random(seed), time.monotonic() + seconds
    draws, model = np.random.default_rng(seed), the_model()
    trees: list[Any] = [parse_html((PROJECT / one).read_text()) for one in SEEDS]
    seeds = [etree.tostring(tree.find(".//body"), encoding="utf-8") for tree in trees]
    seeds += [b"<body>" + seeds[0][i : i + 300] + b"</body>" for i in range(0, len(seeds[0]), 300)]
    texts = [one.decode("utf-8", "replace") for one in seeds[1:]]
    halves = draws.integers(0, 2**16, (9, 7)).astype(np.uint16).view(np.float16)
    moves = array("I", draws.integers(0, 12, 256 * 9).tolist())  # of nine states: some lead out
    automaton = Automaton(moves, [256 * i for i in range(9)], [-1, 0, 1, 2, 3, 4, 5, 6, 7], 7)
    salts = tuple(draws.integers(0, 2**32, (2, 128)).astype(np.uint32))
    pages = walks = others = 0
    for data in mutations(seeds, WORDS, chance):
        with walked(library, rules, data) as page:
            pages += 1
            if page is not None:
                walks += 1
                parents, tag, name = (page.ints(one) for one in ("parents", "tag", "name"))
                of_tags, of_names = (page.bytes("tags_text"), page.ints("tags_ends")), page.bytes("names_text")
                names = Names(parents, tag, name, *of_tags, of_names, page.ints("names_ends"))
                assert model.scores.native is not None
                model.scores.native.of_names(library, names)
                page.mark(np.zeros(len(page.ints("names_ends")), np.int32))
                check(page)
        if pages % 20 == 0:
            many = chance.choice((1, 2, 63, 64, 65, 200))
            rows = draws.normal(size=(many, 2 * len(model.blocks.net.borders))).astype(np.float32)
            alike = [np.unique(group, return_inverse=True)[1] for group in draws.integers(0, many, (3, many))]
            short = np.ascontiguousarray(rows[:, : len(model.blocks.net.borders)])
            assert model.blocks.net._native(library, short, np.full(many, 8.0), alike) is not None
            assert model.blocks.trees._native(library, short) is not None
            assert model.kinds._native(library, rows) is not None
            assert model.scores.native is not None
            model.scores.native.of_texts(library, [chance.choice((one, one[:9], "")) for one in texts])
            hashed = draws.integers(0, chance.choice((2, 2**63)), many).astype(np.uint64)
            assert minhash(library, hashed, chance.randrange(1, 9), *salts) is not None
            tokens = draws.integers(0, chance.choice((1, 3, 2**40)), many)
            ends = np.concatenate(([0], np.cumsum(draws.integers(1, chance.choice((2, 9, 90)), many))))
            joined = "".join(chance.choices("ab\U0001f517", k=int(ends[-1])))
            sizes = [chance.randrange(1, 2 * many) for _ in range(3)]
            tops = [size for size in sizes if size <= many]
            assert repetition(library, tokens, joined, ends, tops=tops, sizes=sizes) is not None
            rows_of(
                library, halves, draws.integers(-2, len(halves) + 2, many).clip(0, len(halves) - 1).astype(np.int32)
            )
            automaton.visits(library, draws.bytes(many))
            others += 1
        if time.monotonic() > end:
            break
    print(f"{pages:,} pages, {walks:,} of them walked, {others:,} rounds of the rest: no finding")
    return 0


def check(page: object) -> None:
    """What the arrays promise each other."""
    blocks, elements = page.ints("kinds"), page.ints("parents")  # type: ignore[attr-defined]
    sizes = {len(page.ints(name)) for name in ("text_ends", "lengths", "holders", "linked", "links")}  # type: ignore[attr-defined]
    assert sizes == {len(blocks)}
    assert len(page.ints("ends")) == len(page.ints("tag")) == len(elements)  # type: ignore[attr-defined]
    assert int(elements.max(initial=-1)) < max(len(elements), 1)
    assert int(page.ints("lengths").sum()) <= len(page.bytes("text"))  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
