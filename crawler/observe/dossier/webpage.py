"""A dossier for a browser and a printer: `templates/dossier.html` and what it needs."""

from __future__ import annotations

import os
from pathlib import Path

from crawler.dataset.records.fields import SAID
from crawler.dataset.words import HOW
from crawler.number import number_of
from crawler.observe.dossier.gather import Dossier
from crawler.observe.html import render
from crawler.problems import InputError
from crawler.storage.files.place import Place

_ALWAYS = ("rejected", "held")
"""States that are named where there is none, too."""
_REFUSES = {
    "nothing": "nothing: it may come back",
    "address": "the addresses",
    "text": "the addresses, and the texts at any address",
}
"""What a withdrawal of each reach refuses, for people."""


def page(found: Dossier, *, made_at: str) -> str:
    """The dossier as a complete HTML document, without scripts; everything from outside is escaped."""
    folders = number_of(len(found.folders), "folder")
    states, said = found.states, f"{number_of(found.states['kept'], 'kept page')}"
    others = {name: states[name] for name in ("rejected", "held", "hold", "unchanged", "withdrawn")}
    said += "".join(f", {count:,} {SAID.get(name, name)}" for name, count in others.items() if count or name in _ALWAYS)
    return render(
        "dossier.html",
        title=f"What the corpus has of {found.question}",
        subtitle=f"{found.corpus}, version {found.version} · {made_at}",
        share=(("kept", states["kept"]), ("not", states["rejected"]), ("hold", states["held"])),
        legend=said,
        figures=(),
        footer=f"Read: {number_of(found.records, 'record')}, withdrawals, and every version in {folders}.",
        found=found,
        how=HOW,
        said=SAID,
        refuses=_REFUSES,
    )


def write(found: Dossier, path: Path, *, made_at: str) -> None:
    """Write the page into a file that its owner alone may read. Raises: InputError where it cannot be written."""
    content = page(found, made_at=made_at).encode()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError as error:
        raise InputError([f"--out {path}: cannot be written ({error.strerror}); give another file"]) from None


def check_outside(place: Place, path: Path) -> None:
    """A dossier names people and is no part of the data. Raises: InputError where the file would be in the corpus."""
    if not place.remote and path.resolve().is_relative_to(place.root.resolve()):
        raise InputError([f"--out {path}: a dossier is written outside the corpus only; name a file elsewhere"])
