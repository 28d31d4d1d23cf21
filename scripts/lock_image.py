#!/usr/bin/env python3
"""Writes requirements-lock.txt: every package of the image with its version and hash, as pip resolves them today.

    .venv/bin/python scripts/lock_image.py

Run it with Python 3.11 on Linux x86-64, as in the image: the hashes are those of the files that fit there. Packages
without a wheel are pinned by the hash of their source.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

PROJECT = Path(__file__).resolve().parents[1]
LOCK = PROJECT / "requirements-lock.txt"
EXTRAS = ("s3", "parquet", "explore", "images")
"""Of the distribution: the driver of most object stores, and what is done with a corpus where it is needs."""
ALSO = ("async-timeout>=5",)
"""What redis-py needs up to Python 3.11.2, which Debian 12 has."""
HEAD = """\
# The packages of the image (Dockerfile): Python 3.11, Linux x86-64. Written by scripts/lock_image.py, not by hand.
"""


def lines_of(report: Path) -> list[str]:
    """name==version --hash=sha256:…, by name. Raises: KeyError where pip knows no hash."""
    found = json.loads(report.read_text())["install"]
    return sorted(
        f"{one['metadata']['name'].lower()}=={one['metadata']['version']}"
        f" --hash=sha256:{one['download_info']['archive_info']['hashes']['sha256']}"
        for one in found
    )


def extras() -> list[str]:
    """The requirements of `EXTRAS`."""
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return sorted({requirement for name in EXTRAS for requirement in declared[name]})


def main() -> int:
    """Resolve and write. Returns pip's exit code."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
                               "--report", str(report), "-r", str(PROJECT / "requirements.txt"), *extras(), *ALSO],
                              check=False)  # fmt: skip
        if done.returncode == 0:
            LOCK.write_text(HEAD + "\n".join(lines_of(report)) + "\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
