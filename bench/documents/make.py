"""Files of known texts, made by Chromium and groff: one column, two columns, justified, turned, from the right."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARABIC = "السلام عليكم ورحمة الله. الطحان الأول لا ينام قبل الفجر، ولا يأكل إلا مع أهله."
HEBREW = "הטוחן הזקן קם לפני עלות השחר, והאבנים סובבות 24 שעות."
GREEK = "Ο μυλωνάς σηκωνόταν πριν από τον ήλιο και γύριζε τις πέτρες στο σκοτάδι."
RUSSIAN = "Мельник старого города вставал задолго до солнца и пускал жернова ещё в темноте."
_STYLES = {
    "one column": "",
    "two columns": "div{columns:2;column-gap:2em}",
    "justified": "p{text-align:justify;text-indent:1.5em;margin:0}",
    "landscape": "@page{size:A4 landscape}",
}


@dataclass(frozen=True, slots=True)
class Made:
    """A file and the text that it was made of. producer, layout: words for the table."""

    producer: str
    layout: str
    text: str
    body: bytes


def texts(count: int, words: int = 2_500) -> Iterator[list[str]]:
    """Paragraphs of the demo's own prose, `count` times so many words; no paragraph twice."""
    paragraphs = [
        " ".join(re.sub(r"[*_`#>|\[\]]|\(http[^)]*\)", "", paragraph).split())
        for path in sorted((ROOT / "demo" / "sites").rglob("*.md"))
        for paragraph in path.read_text("utf-8").split("\n\n")
    ]
    fresh = iter(dict.fromkeys(p for p in paragraphs if len(p.split()) > 25 and p.isascii()))
    for _ in range(count):
        found: list[str] = []
        while sum(len(p.split()) for p in found) < words and (paragraph := next(fresh, None)) is not None:
            found.append(paragraph)
        if found:
            yield found


def files(count: int) -> Iterator[Made]:
    """Each text in every layout of each tool that is installed."""
    chromium = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
    groff = shutil.which("groff")
    for paragraphs in texts(count):
        text = "\n".join(paragraphs)
        for layout, style in _STYLES.items() if chromium else ():
            yield Made("Chromium", layout, text, printed(str(chromium), paragraphs, style))
        for layout in ("one column", "two columns", "with heads") if groff else ():
            yield Made("groff", layout, text, typeset(str(groff), paragraphs, layout))
    for name, sentence, side in (("Arabic", ARABIC, "rtl"), ("Hebrew", HEBREW, "rtl"), ("Greek", GREEK, "ltr"),
                                 ("Russian", RUSSIAN, "ltr")) if chromium else ():  # fmt: skip
        paragraphs = [" ".join([*sentence.split()[n:], *sentence.split()[:n]] * 3) for n in range(8)]
        body = printed(str(chromium), paragraphs, f"body{{direction:{side};font-family:DejaVu Sans}}")
        yield Made("Chromium", name, "\n".join(paragraphs), body)


def printed(program: str, paragraphs: list[str], style: str) -> bytes:
    """What Chromium prints."""
    marked = [f"<p>{html.escape(paragraph)}</p>" for paragraph in paragraphs]
    body = "".join(f"<div>{''.join(marked[at : at + 4])}</div>" for at in range(0, len(marked), 4))
    with tempfile.TemporaryDirectory() as folder:
        page, out = Path(folder) / "page.html", Path(folder) / "page.pdf"
        head = f"<head><meta charset=utf-8><style>{style}</style></head>"
        page.write_text(f"<html>{head}<body>{body}</body></html>", "utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        _run([program, *options, f"--user-data-dir={folder}/own", f"--print-to-pdf={out}", page.as_uri()])
        return out.read_bytes()


def typeset(program: str, paragraphs: list[str], layout: str) -> bytes:
    """What groff makes of the macros -ms: page numbers on top, hyphens at line ends."""
    head = {"one column": "", "two columns": ".2C\n", "with heads": ".ds LH The Book of Mills\n.ds CF - % -\n"}[layout]
    body = head + "".join(f".PP\n{paragraph}\n" for paragraph in paragraphs)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.ms"
        source.write_text(body, "utf-8")
        return _run([program, "-k", "-ms", "-Tpdf", str(source)])


def _run(command: list[str]) -> bytes:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120).stdout
