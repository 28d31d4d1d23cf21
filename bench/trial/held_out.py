"""Makes held-out texts of packages of Debian 12, none of them HTML: `python -m bench.trial.held_out FOLDER`.

Kinds: `manuals` (sources in reStructuredText of Python's documentation; PSF licence), `reference` (Perl's pages in POD;
Artistic licence or GPL) and `prose` (Ambrose Bierce's "The Devil's Dictionary", 1911, and the Jargon File; both in the
public domain). Of the first two only paragraphs are taken: lines that are indented are code or lists of arguments, and
a model that has met one page of the same code would decide for its side. Each kind is one file of records; nothing goes
through an extractor. Packages are fetched with `apt-get download` into REALWEB_CACHE or `bench/.cache`, as for
`bench/web/realweb.py`.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.trial.pages import write
from bench.web.realweb import CACHE, RealWebError, fetched

_POD = re.compile(r"^=(?:pod|cut|encoding|over|back|begin|end|for)\b.*$|^=\w+ |X<[^<>]*>", re.MULTILINE)
_POD_MARK = re.compile(r"\b[BCFILS]<+\s*([^<>|]*?)(?:\|[^<>]*)?\s*>+")
_RST = re.compile(r"^\.\. .*$|``|\*\*", re.MULTILINE)
_RST_ROLE = re.compile(r":[\w:+-]+:`[~!]?([^`<]*?)(?:\s*<[^`>]*>)?`")
_DRAWN = re.compile(r"[\u2500-\u259f]|(?:[-=+*~^.|_#\"]{4})")
_LETTERS = re.compile(r"[^\W\d_]")
LEAST = 400
"""Characters of a text that is taken."""
_ENTRY = re.compile(r"\n(?=\S)")


def paragraphs(text: str) -> str:
    """Its lines that are not indented, have no drawn line, and are letters for more than a half."""
    lines = (line for line in text.split("\n") if line[:1].strip() and not _DRAWN.search(line))
    return "\n".join(line for line in lines if 2 * len(_LETTERS.findall(line)) > len(line))


def manuals() -> Iterator[str]:
    """Python's documentation without the marks of its format."""
    for path in _files("python3.11-doc", "usr/share/doc/python3.11/html/_sources", "*.rst.txt"):
        yield paragraphs(_RST.sub("", _RST_ROLE.sub(r"\1", path.read_text("utf-8"))))


def reference() -> Iterator[str]:
    """Perl's documentation without the marks of its format."""
    for path in _files("perl-doc", "usr/share/perl", "*.pod"):
        yield paragraphs(_POD_MARK.sub(r"\1", _POD.sub("", path.read_text("utf-8", "replace"))))


def prose() -> Iterator[str]:
    """Entries of two dictionaries that are read for pleasure, some together."""
    for package in ("dict-devil", "dict-jargon"):
        for path in _files(package, "usr/share/dictd", "*.dict.dz"):
            text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
            together: list[str] = []
            for entry in _ENTRY.split(text):
                together.append(paragraphs("\n".join(line.strip() for line in entry.split("\n"))))
                if sum(map(len, together)) > 2_000:
                    yield "\n".join(together)
                    together = []
            yield "\n".join(together)


KINDS = {"manuals": manuals, "reference": reference, "prose": prose}


def make(folder: Path) -> dict[str, int]:
    """One file a kind; how many texts each has. Raises: RealWebError where a package cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, texts in KINDS.items():
        records = [{"text": text, "doc_id": f"{name}-{at}"} for at, text in enumerate(texts()) if len(text) >= LEAST]
        write(folder / f"{name}.jsonl", records)
        found[name] = len(records)
    return found


def _files(package: str, folder: str, pattern: str) -> list[Path]:
    root = fetched(package, CACHE) / folder
    found = sorted(root.rglob(pattern))
    if not found:
        raise RealWebError(
            f"{package} has no {pattern} in {folder}: this release of the package is laid out differently"
        )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    try:
        for name, count in make(options.folder).items():
            print(f"{options.folder / name}.jsonl: {count:,} texts")
    except RealWebError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
