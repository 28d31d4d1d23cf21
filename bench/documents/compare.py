"""Whose text of a PDF is nearest to the one it was made of? `python -m bench.documents.compare [FOLDER]`

Reads what `python -m bench.documents.make` has made. Prints for each producer and layout median and tenth percentile of
the F1 of words in their order (longest common subsequence), of characters in scripts without spaces; the share of words
that are of running heads and page numbers; and CPU milliseconds a page: of this project and of the peers that are
installed, pdftotext, pdfminer.six, pypdf and pypdfium2's plain text. A star marks where a peer is better.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from bench.documents.by_program import HEAD
from bench.documents.make import FOLDER, UNSPACED, kept
from crawler.stages.documents.call import Nursery

Reader = Callable[[bytes], str]
OURS = "gristmill"
"""The text as the extraction stage gets it."""


def words_of(text: str) -> list[str]:
    """The words of a text, compatibility forms as letters."""
    return unicodedata.normalize("NFKC", text).split()


def common(one: list[str], other: list[str]) -> int:
    """Length of the longest common subsequence, 64 and more places at once (Hyyrö 2004)."""
    places: dict[str, int] = defaultdict(int)
    for place, word in enumerate(one):
        places[word] |= 1 << place
    full = (1 << len(one)) - 1
    row = full
    for word in other:
        hit = row & places.get(word, 0)
        row = ((row + hit) | (row - hit)) & full
    return len(one) - row.bit_count()


def f1(truth: str, found: str, *, by_sign: bool = False) -> float:
    """Of words in their order, 0 to 1; of characters, spaces aside, where by_sign."""
    one, other = words_of(truth), words_of(found)
    if by_sign:
        one, other = list("".join(one)), list("".join(other))
    return 2 * common(one, other) / (len(one) + len(other)) if one or other else 1.0


def low(values: list[float]) -> float:
    """The tenth percentile: of ten values the lowest."""
    return sorted(values)[len(values) // 10]


def heads_in(truth: str, found: str) -> float:
    """The share of words of a text that are of running heads: those of `HEAD` that the file does not say itself."""
    said = len(re.findall(re.escape(HEAD), found)) - len(re.findall(re.escape(HEAD), truth))
    numbers = sum(word.strip("-.– ").isdigit() for word in found.splitlines() if len(word.strip()) < 8)
    return (max(0, said) * len(HEAD.split()) + numbers) / max(1, len(words_of(found)))


def peers() -> dict[str, Reader]:
    """Those that are installed, by name."""
    found: dict[str, Reader] = {}
    if program := shutil.which("pdftotext"):
        found["pdftotext"] = lambda body: _pdftotext(str(program), body)
    if find_spec("pdfminer"):
        from pdfminer.high_level import extract_text

        found["pdfminer.six"] = lambda body: str(extract_text(io.BytesIO(body)))
    if find_spec("pypdf"):
        import pypdf

        found["pypdf"] = lambda body: "\n".join(p.extract_text() for p in pypdf.PdfReader(io.BytesIO(body)).pages)
    if find_spec("pypdfium2"):
        import pypdfium2

        found["pypdfium2"] = lambda body: "\n".join(
            page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(body)
        )
    return found


def _pdftotext(program: str, body: bytes) -> str:
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(body)
        file.flush()
        command = [program, file.name, "-"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.decode("utf-8", "replace")


def timed(nursery: Nursery, name: str, read: Reader, body: bytes) -> tuple[str, float]:
    """The text, and the CPU seconds that it took, those of child processes included."""
    if name == OURS:
        found = nursery.read("pdf", body, seconds=30, max_pages=5_000, max_links=0)
        return "\n".join(block.text for block in found.content.blocks) if found.content else "", found.cpu
    before = _used()
    return read(body), _used() - before


def _used() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def main(folder: Path) -> None:
    """Read the files with everybody, print the table. Raises: FileNotFoundError where none have been made."""
    nursery = Nursery()
    readers: dict[str, Reader] = {OURS: str, **peers()}
    scores: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    heads: dict[str, list[float]] = defaultdict(list)
    seconds: dict[str, float] = defaultdict(float)
    pages = 0
    for made in kept(folder):
        facts = nursery.read("pdf", made.body, seconds=30, max_pages=5_000, max_links=0).facts
        pages += facts.pages if facts else 0
        for name, read in readers.items():
            text, spent = timed(nursery, name, read, made.body)
            seconds[name] += spent
            score = f1(made.text, text, by_sign=made.script in UNSPACED)
            scores[made.producer, made.layout][name].append(score)
            if made.layout == "with heads":
                heads[name].append(heads_in(made.text, text))
    _print(readers, scores)
    if heads:
        print("| words of heads and numbers | | " + " | ".join(f"{max(heads[n]):.1%}" for n in readers) + " |")
    spent_by = " | ".join(f"{1000 * seconds[name] / max(1, pages):.1f}" for name in readers)
    print(f"| CPU ms a page | {pages} pages | {spent_by} |")
    nursery.close()


def _print(readers: dict[str, Reader], scores: dict[tuple[str, str], dict[str, list[float]]]) -> None:
    print("| made by | layout | " + " | ".join(readers) + " |")
    print("|---|---|" + "---|" * len(readers))
    for (producer, layout), row in scores.items():
        said = " | ".join(f"{median(row[name]):.3f}/{low(row[name]):.3f}" for name in readers)
        of_each: tuple[Callable[[list[float]], float], ...] = (median, low)
        best = [max(of(row[name]) for name in readers if name != OURS) for of in of_each]
        is_below = any(of(row[OURS]) < top - 0.0005 for of, top in zip(of_each, best, strict=True))
        print(f"| {producer}{' *' if is_below else ''} | {layout} | {said} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
