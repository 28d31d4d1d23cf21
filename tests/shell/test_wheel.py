"""The wheel alone: built from this folder and installed into an empty environment elsewhere, it crawls and shows."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.once import made_once
from tests.support.places import PROJECT

LIMIT = 300  # seconds, on the slowest machine
NEEDED = (77, 0)
"""The setuptools that pyproject.toml asks for."""


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=PROJECT, capture_output=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.decode().split("\0") if name and (PROJECT / name).is_file()]


def build(folder: Path) -> Path:
    """The wheel and the sdist in `folder / "dist"`, from a copy of what is committed: a build writes beside it."""
    for name in tracked():
        if name.partition("/")[0] not in {"tests", "bench", "docs", "k8s"} or name == "tests/conftest.py":
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(PROJECT / name, folder / "source" / name)
    code = "from setuptools import build_meta as b; b.build_wheel('../dist'); b.build_sdist('../dist')"
    (folder / "dist").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder / "source", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder / "dist"


def make(folder: Path) -> Path:
    """An environment with our wheel, and the packages that it requires from the one that runs the tests."""
    folder.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    wheel = next(build(folder).glob("*.whl"))
    ours = folder / "env" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    with zipfile.ZipFile(wheel) as archive:  # what an installer does with a wheel of Python alone, but for its script
        archive.extractall(ours)
    (ours / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if tuple(map(int, version("setuptools").split(".")[:2])) < NEEDED:
        pytest.skip("setuptools is too old to build the wheel (make test installs it)")
    return made_once(tmp_path_factory, "wheel", make)
