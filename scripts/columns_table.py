"""Write the table of columns in `docs/datasets.md` from the declaration of the record."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from crawler.storage.files.columns import markdown  # noqa: E402  # the project is run from its folder, not installed

TARGET = ROOT / "docs" / "datasets.md"
TABLE = re.compile(r"^\| column \| type \|\n(?:\|.*\n)+", re.MULTILINE)

if __name__ == "__main__":
    TARGET.write_text(TABLE.sub(lambda _: markdown() + "\n", TARGET.read_text("utf-8")), "utf-8")
