"""Whose text of a PDF is nearest to the one it was made of? `python -m bench.documents.compare [TEXTS]`

Prints for each producer and layout the F1 of words in their order (longest common subsequence), and CPU milliseconds a
page, of this project and of the peers that are installed: pdftotext, pdfminer.six, pypdf and pypdfium2's plain text.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median

from bench.documents.make import files
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


def f1(truth: str, found: str) -> float:
    """Of words in their order, 0 to 1."""
    one, other = words_of(truth), words_of(found)
    return 2 * common(one, other) / (len(one) + len(other)) if one or other else 1.0


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


def main(count: int) -> None:
    """Make the files, read them with everybody, print the table."""
    nursery = Nursery()
    readers: dict[str, Reader] = {OURS: str, **peers()}
    scores: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = defaultdict(float)
    pages = 0
    for made in files(count):
        facts = nursery.read("pdf", made.body, seconds=30, max_pages=5_000, max_links=0).facts
        pages += facts.pages if facts else 0
        for name, read in readers.items():
            text, spent = timed(nursery, name, read, made.body)
            seconds[name] += spent
            scores[made.producer, made.layout][name].append(f1(made.text, text))
    print("| made by | layout | " + " | ".join(readers) + " |")
    print("|---|---|" + "---|" * len(readers))
    for (producer, layout), row in scores.items():
        print(f"| {producer} | {layout} | " + " | ".join(f"{median(row[name]):.3f}" for name in readers) + " |")
    spent_by = " | ".join(f"{1000 * seconds[name] / pages:.1f}" for name in readers)
    print(f"| CPU ms a page | {pages} pages | {spent_by} |")
    nursery.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
