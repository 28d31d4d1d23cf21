"""A copy of the project in which a test makes the additions that CONTRIBUTING describes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Copied:
    """The copy, and the files that were added to it or changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.touched: set[str] = set()
        ignore = shutil.ignore_patterns("__pycache__")
        for name in ("crawler", "docs"):
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        for name in ("pyproject.toml", "scrapy.cfg"):
            shutil.copy(ROOT / name, folder / name)

    def add(self, path: str, text: str) -> None:
        """A new file."""
        assert not (self.folder / path).exists()
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")
        self.touched.add(path)

    def insert(self, path: str, after: str, text: str) -> None:
        """`text` behind the one place where the regular expression `after` matches."""
        self.replace(path, rf"({after})", lambda found: found[0] + text)

    def replace(self, path: str, pattern: str, by: object) -> None:
        """Change the one place where `pattern` matches."""
        file = self.folder / path
        changed, count = re.subn(pattern, by, file.read_text("utf-8"), flags=re.MULTILINE)  # type: ignore[call-overload]
        assert count == 1, f"{path}: {pattern!r} matches {count} times"
        file.write_text(changed, encoding="utf-8")
        self.touched.add(path)

    def python(self, code: str) -> str:
        """What a program prints in the copy."""
        return self._run([sys.executable, "-c", code])

    def scrapy(self, *arguments: str) -> str:
        """What a command of the copy prints."""
        return self._run([sys.executable, "-m", "scrapy", *arguments])

    def lint_imports(self) -> str:
        """What import-linter says about the copy."""
        return self._run([str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"])

    def _run(self, command: list[str]) -> str:
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        environment.pop("SCRAPY_SETTINGS_MODULE", None)
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def files_of(section: str, name: str) -> set[str]:
    """The files that the table of a section of CONTRIBUTING names, with `name` for `<name>`."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    body = re.split(rf"^## {section}$", page, flags=re.MULTILINE)[1].partition("\n## ")[0]
    return {path.replace("<name>", name) for path in re.findall(r"^\| `([^`]+)` \|", body, flags=re.MULTILINE)}
