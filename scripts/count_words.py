"""Count the words of `docs/` that people write and read, page by page: `python scripts/count_words.py`.

Whole pages and parts that a command writes, or prints for a test to compare, do not count. Exit code 1 where the sum is
above `MOST`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
MOST = 45_000
"""Words of all pages together: whoever adds some takes others out."""
WRITTEN = frozenset({"json.md", "languages.md", "policy-table.md", "settings.md"})
"""Pages that a script or a bench writes."""
PART = re.compile(r"^<!-- [^\n]*(?:begin|from here) -->$.*?^<!-- [^\n]*(?:end|to here) -->$", re.MULTILINE | re.DOTALL)
"""What a command writes or prints, and a test compares."""


def words(page: Path) -> int:
    """Words of a page, as `wc -w` counts them, without what a command writes; 0 for a page that one writes whole."""
    return 0 if page.name in WRITTEN else len(PART.sub("", page.read_text("utf-8")).split())


def counts(folder: Path = DOCS) -> dict[str, int]:
    """Words by page, as paths from `folder`, the longest first."""
    found = {page.relative_to(folder).as_posix(): words(page) for page in folder.rglob("*.md")}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


if __name__ == "__main__":
    found = counts()
    lines = [*(f"{number:6,}  {page}" for page, number in found.items()), f"{sum(found.values()):6,}  in all"]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.exit(f"docs/ has more than {MOST:,} words: take some out" if sum(found.values()) > MOST else 0)
