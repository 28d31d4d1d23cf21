"""Files of known texts, made by real tools: `python -m bench.documents.make [TEXTS] [FOLDER]`

Each text in every layout of each tool that is installed; those that are not are named. Without a folder they lie in
`bench/.cache/documents`: NAME.pdf, and `index.jsonl` with producer, layout, script and the text of each.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.documents import by_library, by_program

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "bench" / ".cache" / "documents"
MOST_BYTES = 20 * 2**20
"""Of all files that are kept."""
SCRIPTS = {
    "Arabic": "السلام عليكم ورحمة الله. الطحان الأول لا ينام قبل الفجر، ولا يأكل إلا مع أهله.",
    "Hebrew": "הטוחן הזקן קם לפני עלות השחר, והאבנים סובבות 24 שעות.",
    "Greek": "Ο μυλωνάς σηκωνόταν πριν από τον ήλιο και γύριζε τις πέτρες στο σκοτάδι.",
    "Russian": "Мельник старого города вставал задолго до солнца и пускал жернова ещё в темноте.",
    "Japanese": "水車小屋の主人は夜明け前に起きて、石臼を静かに回し始めた。川の音だけが聞こえていた。",
    "Chinese": "老城的磨坊主在日出之前就起床，在黑暗中推动石磨。河水的声音整夜不停。",
    "Thai": "เจ้าของโรงสีเก่าตื่นก่อนรุ่งสางทุกวัน และเริ่มหมุนหินโม่ในความมืด เสียงแม่น้ำดังทั้งคืน",
}
RTL = frozenset({"Arabic", "Hebrew"})
UNSPACED = frozenset({"Japanese", "Chinese", "Thai"})
"""Scripts without spaces between words: they are compared by characters."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a file is made of. rows: of a table behind the first paragraph; notes: by paragraph, from 0."""

    layout: str
    paragraphs: list[str]
    script: str = "Latin"
    rows: list[list[str]] = field(default_factory=list)
    notes: dict[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """In the order in which a person reads it: a note behind its paragraph."""
        found = []
        for number, paragraph in enumerate(self.paragraphs):
            found += [paragraph, *([self.notes[number]] if number in self.notes else [])]
            if number == 0:
                found += (" ".join(row) for row in self.rows)
        return "\n".join(found)


@dataclass(frozen=True, slots=True)
class Made:
    """A file and the text that it was made of. producer, layout, script: words for the table."""

    producer: str
    layout: str
    script: str
    text: str
    body: bytes


def texts(count: int, words: int = 1_300) -> Iterator[list[str]]:
    """Paragraphs of the demo's own prose, `count` times so many words; no paragraph twice."""
    paragraphs = [
        " ".join(re.sub(r"[*_`#>|\[\]]|\(http[^)]*\)", "", paragraph).split())
        for path in sorted((ROOT / "demo" / "sites").rglob("*.md"))
        for paragraph in path.read_text("utf-8").split("\n\n")
    ]
    fresh = iter(dict.fromkeys(p for p in paragraphs if len(p.split()) > 25 and p.isascii() and "\\" not in p))
    for _ in range(count):
        found: list[str] = []
        while sum(len(p.split()) for p in found) < words and (paragraph := next(fresh, None)) is not None:
            found.append(paragraph)
        if found:
            yield found


def sources(count: int) -> Iterator[Source]:
    """Each text in each layout, and two files of each script."""
    for number, paragraphs in enumerate(texts(count)):
        for layout in ("one column", "two columns", "with heads"):
            yield Source(layout, paragraphs)
        words = paragraphs[-1].split()
        rows = [[f"item {n}", " ".join(words[2 * n : 2 * n + 2]), str(100 * number + n)] for n in range(1, 12)]
        yield Source("table", paragraphs[:5], rows=rows)
        notes = {n: f"Told by a witness of the {n + 1}th house, {1900 + n}." for n in (1, 3)}
        yield Source("footnotes", paragraphs[:6], notes=notes)
    for name, sentences in SCRIPTS.items():
        for size in (8, 14):
            yield Source(name, [_turned(sentences, n, name) for n in range(size)], name)


def _turned(sentences: str, by: int, script: str) -> str:
    """Three times the sentences, begun at another place, so that no two paragraphs are the same."""
    if script in UNSPACED - {"Thai"}:
        parts = re.findall(r"[^。，、]+[。，、]", sentences)
        at = by % len(parts)
        return "".join([*parts[at:], *parts[:at]]) * (2 + by % 3)
    words = sentences.split()
    at = by % len(words)
    return " ".join([*words[at:], *words[:at]] * 3)


def files(count: int, there: Container[tuple[str, str, str]] = ()) -> Iterator[Made]:
    """Each source by each tool that is installed and can make it; tools that are not installed are named.

    there: producer, layout and text of files that need not be made again.
    """
    makers = {**by_library.found(), **by_program.found()}
    missing = [name for name in (*by_library.MAKERS, *by_program.MAKERS) if name not in makers]
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
    for name, maker in makers.items():
        for source in sources(count):
            if (name, source.layout, source.text) not in there and (body := maker(source)) is not None:
                yield Made(name, source.layout, source.script, source.text, body)


def kept(folder: Path = FOLDER) -> Iterator[Made]:
    """The files of a folder. Raises: FileNotFoundError where none have been made."""
    for line in (folder / "index.jsonl").read_text("utf-8").splitlines():
        said = json.loads(line)
        body = (folder / said.pop("file")).read_bytes()
        yield Made(body=body, **said)


def main(count: int, folder: Path = FOLDER) -> None:
    """Make the files that are not there yet. Raises: SystemExit where they take more than `MOST_BYTES`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.jsonl").touch()
    old = list(kept(folder))
    size, producers, started = sum(len(made.body) for made in old), {made.producer for made in old}, time.monotonic()
    number = len(old)
    with (folder / "index.jsonl").open("a", encoding="utf-8") as index:
        for made in files(count, {(one.producer, one.layout, one.text) for one in old}):
            number += 1
            size += len(made.body)
            if size > MOST_BYTES:
                raise SystemExit(f"the files take more than {MOST_BYTES:,} bytes: ask for fewer texts")
            (folder / f"{number:04}.pdf").write_bytes(made.body)
            said = asdict(made)
            del said["body"]
            index.write(json.dumps({"file": f"{number:04}.pdf", **said}, ensure_ascii=False) + "\n")
            index.flush()
            producers.add(made.producer)
    seconds = time.monotonic() - started
    print(f"{number} files of {len(producers)} producers, {size:,} bytes, in {seconds:.0f} s: {folder}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, Path(sys.argv[2]) if len(sys.argv) > 2 else FOLDER)
