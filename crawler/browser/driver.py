"""Playwright's driver: a Node.js in its package. Before any browser starts, this program has to run on this machine."""

from __future__ import annotations

import subprocess

HOW_TO = (
    "install what it asks for (Debian: apt-get install libatomic1 for libatomic.so.1), or name another Node.js with "
    "PLAYWRIGHT_NODEJS_PATH"
)
_SECONDS = 30.0


def driver_fault() -> str:
    """What keeps the driver from running, in its own words; empty where it runs. It is started, which takes 20 ms.

    Playwright tells nothing of it but that a connection was closed: the driver's words go to the terminal.
    """
    from playwright._impl._driver import compute_driver_executable  # private; tests/browser/test_browser_driver.py

    program = "Playwright's driver"
    try:
        program = compute_driver_executable()[0]
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603  # what Playwright will start
    except Exception as error:  # its own error where the package has no Node.js
        return f"{program} does not run ({_last_line(str(error))})"
    if done.returncode == 0:
        return ""
    said = _last_line(done.stderr or done.stdout).removeprefix(f"{program}: ")
    return f"{program} does not run ({said or f'exit code {done.returncode}'})"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]
