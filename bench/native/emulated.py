"""One archive, replayed with the kernel, without it, and with another architecture's kernel under emulation.

`python -m bench.native.emulated ROOT [--pages 60]` needs root and Debian's debootstrap, qemu-user-static and
binfmt-support. ROOT becomes (or already is) Debian 12 for arm64 with the packages of requirements-lock.txt, some 2 GB;
`scrapy crawl replay` runs in it with NATIVE=required, as on such a machine. Half of the pages are documentation, half
are labelled ones of the web (`../shared/data`). Every byte of the records is compared; exit code 1 where one differs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench.native.equal import pages as web_pages
from bench.places import PROJECT, SHARED_DATA
from bench.speed.replay_input import PACKAGES, pages_of, write_archives
from demo.outputs import Record, records

SUITE, PYTHON = "bookworm", "/usr/bin/python3.11"
PLATFORMS = [
    f"manylinux{version}_aarch64" for version in ("2014", "_2_24", "_2_26", "_2_27", "_2_28", "_2_31", "_2_34")
]
WITHOUT_WHEEL = ("langdetect",)
"""Pure Python that its author never packed: those of this machine do."""
STAGE_SECONDS = 1200
"""CPU time for a page, in all three: the emulated machine takes some twenty times as long."""
EVERY = 60
"""So that the pages are of all sets."""
KINDS = ("shards", "rejected", "held/pii", "held/yield")
PROJECT_THERE, LIBRARIES = Path("project"), Path("packages")


@dataclass(frozen=True, slots=True)
class Machine:
    """What runs the replay. python: the words that call it."""

    python: list[str]
    environment: dict[str, str] | None = None


def emulated(root: Path) -> Machine:
    """Python of the other Debian, in the project's folder."""
    inside = ["/usr/sbin/chroot", str(root), "env", "-C", f"/{PROJECT_THERE}", PYTHON]
    environment = {"PYTHONPATH": f"/{PROJECT_THERE}:/{LIBRARIES}", "PATH": "/usr/bin:/bin", "HOME": "/root"}
    return Machine(inside, environment)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--pages", type=int, default=60)
    options = parser.parse_args()
    root: Path = options.root.resolve()
    make(root)
    with tempfile.TemporaryDirectory() as scratch, mounted(root, Path(scratch)):
        folder = Path(scratch)
        half = options.pages // 2
        web = islice(web_pages([SHARED_DATA], 0, EVERY), options.pages - half)
        found = [(f"https://web.test/{number}", html) for number, (_, html) in enumerate(web)]
        write_archives([*pages_of(PACKAGES, half), *found], folder / "first", 2)
        here, there = Machine([sys.executable]), emulated(root)
        ways = {
            name: replay(machine, folder, name, native)
            for name, machine, native in (
                ("kernel", here, "required"), ("python", here, "off"), ("arm64", there, "required")
            )
        }  # fmt: skip
    differ = sum(_differ(ways["kernel"], other, name) for name, other in ways.items())
    print(f"{len(ways['kernel'])} records, {differ} differ")
    return int(bool(differ) or not ways["kernel"])


def make(root: Path) -> None:
    """Debian for arm64 and the project's packages in it, where they are not there yet."""
    if not (root / PYTHON[1:]).exists():
        _run(["debootstrap", "--arch", "arm64", "--variant=minbase", "--include=python3.11,libgomp1", SUITE, str(root)])
    libraries = root / LIBRARIES
    if libraries.exists():
        return
    pinned = [line.split()[0] for line in (PROJECT / "requirements-lock.txt").read_text("utf-8").splitlines()
              if line and line[0] not in "#- "]  # fmt: skip
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    packed = [one for one in pinned if not one.startswith(WITHOUT_WHEEL)]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(libraries)]
    _run([*pip, *platforms, "--python-version", "3.11", "--only-binary=:all:", "--no-compile", *packed])
    _run([*pip, *(one for one in pinned if one not in packed)])


@contextmanager
def mounted(root: Path, scratch: Path) -> Iterator[None]:
    """The project, a folder to work in (under its own name) and what Linux gives each process, inside of the Debian."""
    places = {
        PROJECT: PROJECT_THERE,
        scratch: scratch.relative_to("/"),
        Path("/proc"): Path("proc"),
        Path("/dev"): Path("dev"),
    }
    done: list[Path] = []
    try:
        for here, there in places.items():
            (root / there).mkdir(parents=True, exist_ok=True)
            _run(["mount", "--bind", str(here), str(root / there)])
            done.append(root / there)
        yield
    finally:
        for place in reversed(done):
            _run(["umount", "--lazy", str(place)])


def replay(machine: Machine, folder: Path, name: str, native: str) -> list[Record]:
    """The records of one replay of `folder`/first, in the order in which they were written."""
    given = {"CORPUS_DIR": folder / name, "NATIVE": native, "STAGE_TIMEOUT_SECONDS": STAGE_SECONDS, "WORKER_ID": "w",
             "PROGRESS": "off", "CRAWL_ID": "bench"}  # fmt: skip
    words = ["-m", "scrapy", "crawl", "replay", "-a", f"archive={folder / 'first' / 'archive' / '*.warc*'}"]
    words += [word for setting, value in given.items() for word in ("-s", f"{setting}={value}")]
    begin = time.monotonic()
    _run([*machine.python, *words], PROJECT, machine.environment)
    found = [record for kind in KINDS for record in records(folder / name / kind)]
    print(f"{name}: {len(found)} records, {time.monotonic() - begin:.0f} s", flush=True)
    return found


def _differ(ours: list[Record], theirs: list[Record], name: str) -> int:
    found = 0
    for one, other in zip(ours, theirs, strict=False):
        if fields := sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key)):
            found += 1
            print(
                f"{name}: {one['url']}:", *(f"{key} {one.get(key)!r}, not {other.get(key)!r}"[:600] for key in fields)
            )
    return found + abs(len(ours) - len(theirs))


def _run(words: list[str], folder: Path | None = None, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words[:6])} … ended with {done.returncode}:\n{done.stderr[-3000:]}")


if __name__ == "__main__":
    sys.exit(main())
