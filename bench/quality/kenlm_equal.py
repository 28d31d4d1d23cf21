"""Our modified Kneser-Ney against KenLM's: every n-gram of lmplz on the same text, and every score of its `query`.

    python -m bench.quality.kenlm_equal --bin FOLDER [--order 3] [--texts 400] [--data ../shared/data]

FOLDER has `lmplz`, `build_binary` and `query`, built from KenLM's source. Texts: the main texts of wcxb-dev, half of
them trains. Exit code 1 where fewer than 99 % of the n-grams agree to 1e-6 in log10, one differs by more than 1e-5, an
n-gram is in one model alone, or a line of the other half scores otherwise by more than 1e-5 a unit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
import orjson

from bench.places import SHARED_DATA
from crawler.classify import arpa
from crawler.classify.kneser_ney import Model, sentences, train
from crawler.storage.files.shards import read_lines

LIMIT_SECONDS = 600
MOST, NEARLY_ALL, SHARE, SCORE = 1e-5, 1e-6, 0.99, 1e-5


def main() -> int:
    """Print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder with lmplz, build_binary and query")
    parser.add_argument("--order", type=int, default=3)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    options = parser.parse_args()
    source = options.data / "wcxb-dev.jsonl.zst"
    if not source.is_file():
        sys.exit(f"{source} is not there: give --data")
    texts = _texts(source, options.texts)
    known, asked = texts[::2], [line for text in texts[1::2] for line in text.split("\n") if _units(line)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = "".join(" ".join(said) + "\n" for text in known for said in sentences(text, "words"))
        _run([options.bin / "lmplz", "-o", str(options.order), "-S", "20%", "-T", name, "--discount_fallback"],
             lines, folder / "their.arpa")  # fmt: skip
        arpa.write(folder / "our.arpa", train(known, options.order, least=1))
        sound = _grams(arpa.read(folder / "our.arpa"), arpa.read(folder / "their.arpa"))
        subprocess.run([options.bin / "build_binary", folder / "their.arpa", folder / "their.bin"],
                       check=True, capture_output=True, timeout=LIMIT_SECONDS)  # fmt: skip
        for file, model in (("their.arpa", "their.arpa"), ("their.bin", "their.arpa"), ("our.arpa", "our.arpa")):
            said = _run(
                [options.bin / "query", "-v", "sentence", folder / file], "".join(f"{_units(one)}\n" for one in asked)
            )
            sound &= _scores(f"{model}, read by us; {file}, by KenLM", arpa.read(folder / model), asked, said)
    return 0 if sound else 1


def _texts(source: Path, many: int) -> list[str]:
    found = (orjson.loads(line)["main_content"] for line in read_lines(source))
    return list(islice(filter(None, found), many))


def _units(line: str) -> str:
    return " ".join(unit for said in sentences(line, "words") for unit in said)


def _run(command: list[str | Path], text: str, out: Path | None = None) -> str:
    done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=LIMIT_SECONDS, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr.decode()[-1000:]}")
    if out is not None:
        out.write_bytes(done.stdout)
    return done.stdout.decode()


def _named(model: Model) -> list[dict[str, tuple[float, float]]]:
    size, names, found = len(model.words), list(model.words), []
    for at, grams in enumerate(model.orders):
        if at:
            names = [f"{names[key // size]} {model.words[key % size]}" for key in grams.keys.tolist()]
        found.append(dict(zip(names, zip(grams.logp.tolist(), grams.backoff.tolist(), strict=True), strict=True)))
    return found


def _grams(ours: Model, theirs: Model) -> bool:
    sound = True
    print("| n | n-grams | in one alone | log10 p: 99th percentile | most | backoff: most | within 1e-6 |")
    print("|---|---|---|---|---|---|---|")
    for n, (one, other) in enumerate(zip(_named(ours), _named(theirs), strict=True), 1):
        both = sorted((one.keys() & other.keys()) - {"<s>"})  # never predicted: 0 there, -99 here
        apart = np.abs(np.array([one[name] for name in both]) - np.array([other[name] for name in both]))
        alone, share = len(one.keys() ^ other.keys()), float((apart[:, 0] <= NEARLY_ALL).mean())
        print(f"| {n} | {len(both):,} | {alone} | {np.quantile(apart[:, 0], 0.99):.1e} | {apart[:, 0].max():.1e} "
              f"| {apart[:, 1].max():.1e} | {share:.4f} |")  # fmt: skip
        for at in np.argsort(-apart.max(1))[:2]:
            print(f"  {both[at]!r}: {one[both[at]]}, lmplz {other[both[at]]}")
        sound &= not alone and share >= SHARE and float(apart.max()) <= MOST
    return sound


def _scores(title: str, model: Model, asked: list[str], said: str) -> bool:
    theirs = [line.split() for line in said.splitlines() if line.startswith("Total:")]
    ours = [model.score(line) for line in asked]
    if len(theirs) != len(ours):
        print(f"{title}: {len(theirs):,} lines instead of {len(ours):,}")
        return False
    apart = np.array([abs(one.logp - float(other[1])) / one.units for one, other in zip(ours, theirs, strict=True)])
    unknown = sum(one.unknown != int(other[3]) for one, other in zip(ours, theirs, strict=True))
    print(
        f"{title}: {len(ours):,} lines, log10 p a unit differs by at most {apart.max():.1e}, unknown words in {unknown}"
    )
    return float(apart.max()) <= SCORE and not unknown


if __name__ == "__main__":
    sys.exit(main())
