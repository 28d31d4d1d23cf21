"""Runs pytest; what failed while everything ran side by side runs once more alone, and what passes then is named.

`python scripts/run_tests.py [arguments of pytest …]`. Many tests time real browsers, servers and signals; a machine
with more to do than cores can break their bounds. A test that fails alone, too, fails the run; so does whatever is no
failed test (an error while collecting, an interrupt), and more than `MOST` failures are no accident.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 8
"""Failed tests that are worth a second look."""
TESTS_FAILED = 1  # pytest.ExitCode.TESTS_FAILED


def main(arguments: list[str]) -> int:
    """Exit code of the run: pytest's own, or 0 where all that failed has passed alone."""
    with tempfile.TemporaryDirectory(prefix="tests-") as folder:
        keep = ["-o", f"cache_dir={folder}"]  # what failed in this run, not in an earlier one
        code = _pytest(*keep, *arguments)
        failed = _failed(Path(folder)) if code == TESTS_FAILED else []
        if not 0 < len(failed) <= MOST:
            return code
        _say(f"\n{len(failed)} failed beside others; alone:")
        again = _pytest(*keep, "--last-failed", *arguments, "-n", "0")
    if again == 0:
        _say("\n  ".join(["passed only alone (each a fault to look into):", *failed]))
    return again


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _pytest(*arguments: str) -> int:
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, check=False).returncode  # noqa: S603  # what the caller gave, without a shell


def _failed(cache: Path) -> list[str]:
    found = cache / "v" / "cache" / "lastfailed"
    return sorted(json.loads(found.read_text())) if found.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
