"""Builds the native kernel for every machine, byte for byte the same on each: `crawler/native/binaries`.

    python -m venv /tmp/zig && /tmp/zig/bin/pip install ziglang==0.17.1
    python -m bench.native.build --zig /tmp/zig/bin/python      writes the binaries and binaries.json
    python -m bench.native.build --zig … --check                writes nothing; exit code 1 where they differ
    python -m bench.native.build --sanitized PATH               with this machine's gcc: AddressSanitizer and UBSan

zig is a C compiler (clang) with the headers and stubs of every platform's C library: one machine builds for all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.places import PROJECT
from crawler.native.library import VERSION

ROOM = PROJECT / "crawler" / "native"
SOURCE = ROOM / "source"
ZIG = "0.17.1"
TARGETS = {
    "linux-x86_64.so": ("-target", "x86_64-linux-gnu.2.17"),
    "linux-aarch64.so": ("-target", "aarch64-linux-gnu.2.17"),
    "darwin-aarch64.dylib": ("-target", "aarch64-macos.11.0", "-Wl,-install_name,@rpath/darwin-aarch64.dylib"),
}
FLAGS = ("-std=c11", "-O3", "-ffp-contract=off", "-fvisibility=hidden", "-fPIC", "-shared", "-s", "-Wall", "-Wextra",
         "-Werror")  # fmt: skip
SANITIZED = ("-std=c11", "-O1", "-g", "-ffp-contract=off", "-fPIC", "-shared", "-fno-omit-frame-pointer", "-Wall",
             "-Wextra", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zig", default=sys.executable, help="a Python that has the package ziglang")
    parser.add_argument("--check", action="store_true", help="write nothing; compare with what is there")
    parser.add_argument("--sanitized", type=Path, help="only build this file, with sanitizers")
    options = parser.parse_args()
    if options.sanitized:
        subprocess.run(["gcc", *SANITIZED, "-o", options.sanitized, *sources()], check=True)
        return 0
    zig = [options.zig, "-m", "ziglang"]
    found = subprocess.run([*zig, "version"], check=True, capture_output=True, text=True).stdout.strip()
    if found != ZIG:
        print(f"ziglang is {found}, the binaries are built with {ZIG}: pip install ziglang=={ZIG}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        built = {name: build(zig, Path(folder) / name, *target) for name, target in TARGETS.items()}
    if options.check:
        other = [name for name, data in built.items() if (ROOM / "binaries" / name).read_bytes() != data]
        print("\n".join(f"{name} is not what the sources give" for name in other) or "The binaries are what they were.")
        return 1 if other else 0
    for name, data in built.items():
        new = ROOM / "binaries" / f".{name}"
        new.write_bytes(data)
        new.replace(ROOM / "binaries" / name)  # a process that has loaded the old one goes on with it
        print(f"{name}: {len(data):,} bytes")
    note = {
        "version": VERSION,
        "zig": ZIG,
        "sources": digest_of_sources(),
        "binaries": {name: hashlib.sha256(data).hexdigest() for name, data in built.items()},
    }
    (ROOM / "binaries.json").write_text(json.dumps(note, indent=2) + "\n")
    return 0


def sources() -> list[Path]:
    """The C files, in a fixed order: it decides where functions stand in the binary."""
    return sorted(SOURCE.glob("*.c"))


def digest_of_sources() -> str:
    """SHA-256 of all C files and headers with their names."""
    found = hashlib.sha256()
    for path in sorted(SOURCE.glob("*.[ch]")):
        found.update(f"{path.name}\n".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def build(zig: list[str], to: Path, *target: str) -> bytes:
    """One binary; relative paths, so that none of this machine stands in it."""
    names = [path.name for path in sources()]
    subprocess.run([*zig, "cc", *target, *FLAGS, "-o", str(to), *names], check=True, cwd=SOURCE)
    return to.read_bytes()


if __name__ == "__main__":
    sys.exit(main())
