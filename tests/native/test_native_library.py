"""Which binary is loaded, and what happens where it is not the one that was built: Python answers the same."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.native.build import SOURCE, TARGETS, digest_of_sources
from crawler import native
from crawler.native.library import VERSION, NativeError, binary, expected, load
from tests.native.native_support import built

pytestmark = built
ROOT = Path(__file__).resolve().parents[2]
ROOM = ROOT / "crawler" / "native"


@pytest.fixture
def room(tmp_path):
    """A copy of what stands beside the loader."""
    shutil.copytree(ROOM / "binaries", tmp_path / "binaries")
    shutil.copy(ROOM / "binaries.json", tmp_path)
    return tmp_path


def test_this_machine_has_a_library_and_a_record_names_it():
    assert native.problem() == ""
    assert native.state() == f"{VERSION}+{expected()[binary()][:16]} {binary()}"


def test_the_binaries_were_built_from_the_sources_that_are_here():
    noted = json.loads((ROOM / "binaries.json").read_text())
    assert noted["sources"] == digest_of_sources()
    assert noted["version"] == VERSION
    assert f"NATIVE_VERSION {VERSION} " in (SOURCE / "native.h").read_text()
    assert sorted(noted["binaries"]) == sorted(TARGETS) == sorted(p.name for p in (ROOM / "binaries").iterdir())


@pytest.mark.parametrize("name", TARGETS)
def test_every_binary_is_the_one_that_was_noted_and_names_no_folder_of_who_built_it(name):
    import hashlib

    data = (ROOM / "binaries" / name).read_bytes()
    assert hashlib.sha256(data).hexdigest() == expected()[name]
    assert not [word for word in (b"/tmp/", b"/home/", b"/Users/", b"/root/", b"/work/") if word in data]


def test_a_damaged_binary_is_not_loaded_and_the_sentence_names_it(room):
    file = room / "binaries" / binary()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(NativeError, match=rf"native binary {binary()}: has the SHA-256 .* install the package again"):
        load(room)


@pytest.mark.parametrize("left", [b"", b"\x7fELF"])
def test_a_binary_that_is_cut_off_is_not_loaded(room, left):
    (room / "binaries" / binary()).write_bytes(left)
    with pytest.raises(NativeError, match="has the SHA-256"):
        load(room)


def test_a_binary_that_is_missing_is_a_sentence(room):
    (room / "binaries" / binary()).unlink()
    with pytest.raises(NativeError, match=rf"native binary {binary()}: cannot be loaded \(.*No such file"):
        load(room)


def test_a_binary_of_another_machine_under_our_name_is_a_sentence(room):
    """As an image for another architecture would have it: the hash is right, the machine is not."""
    other = next(name for name in TARGETS if name != binary())
    shutil.copy(room / "binaries" / other, room / "binaries" / binary())
    note = json.loads((room / "binaries.json").read_text())
    note["binaries"][binary()] = note["binaries"][other]
    (room / "binaries.json").write_text(json.dumps(note))
    with pytest.raises(NativeError, match="cannot be loaded"):
        load(room)


@pytest.mark.parametrize("noted", ["", "[]", '{"binaries": 3}', "{}", None])
def test_hashes_that_cannot_be_read_load_nothing(room, noted):
    (room / "binaries.json").unlink()
    if noted is not None:
        (room / "binaries.json").write_text(noted)
    with pytest.raises(NativeError):
        load(room)


def test_a_machine_that_no_binary_is_built_for_is_a_sentence(room):
    (room / "binaries.json").write_text('{"binaries": {}}')
    with pytest.raises(NativeError, match="no native binary is built for"):
        load(room)


ASKED = """
import logging, sys
logging.basicConfig(format="%(levelname)s %(message)s", stream=sys.stdout)
from crawler import native
from crawler.config import from_mapping
from crawler.stages import chain
config = from_mapping({"NATIVE": sys.argv[1]})
print("problems", chain.problems(config))
try:
    chain.Chain(config, ("parse",))
except native.NativeError as error:
    print("refused", error)
print("state", native.state())
"""


def asked(mode: str, folder: Path) -> str:
    environment = {"PYTHONPATH": str(folder), "PATH": "", "HOME": str(folder)}
    command = [sys.executable, "-c", ASKED, mode]
    return subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def package(tmp_path):
    """The package as it is, but for a binary that is damaged."""
    (tmp_path / "crawler").mkdir()
    for entry in (ROOT / "crawler").iterdir():
        if entry.name not in ("native", "__pycache__"):
            (tmp_path / "crawler" / entry.name).symlink_to(entry)
    shutil.copytree(ROOM, tmp_path / "crawler" / "native")
    (tmp_path / "crawler" / "native" / "binaries" / binary()).write_bytes(b"damaged")
    return tmp_path


def test_without_a_library_a_crawl_begins_in_python_and_says_so_once(package):
    said = asked("auto", package)
    assert said.count("WARNING") == 1
    assert "the stages compute everything in Python" in said
    assert "problems []" in said
    assert said.endswith("state 0+python\n")


def test_without_a_library_that_is_required_no_crawl_begins(package):
    said = asked("required", package)
    assert "problems ['NATIVE=required: native binary" in said
    assert "refused NATIVE=required: native binary" in said


def test_without_a_library_nothing_is_said_where_none_is_wanted(package):
    assert asked("off", package) == "problems []\nstate 0+python\n"


@pytest.mark.parametrize("mode", native.MODES)
def test_with_a_library_nothing_is_said(mode):
    said = asked(mode, ROOT)
    assert said == f"problems []\nstate {'0+python' if mode == 'off' else native.state()}\n"
