"""Parts of other packages are found by their entry points, and what is wrong with one is a sentence."""

import sys
from importlib import invalidate_caches
from pathlib import Path

import pytest

from crawler.plugins import added, packages
from crawler.problems import InputError

MODULES = "class Part: pass\nPART, OTHER, NUMBER = Part(), Part(), 7\n"


@pytest.fixture(autouse=True)
def _forget():
    added.cache_clear()
    yield
    added.cache_clear()


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, package: str, *entries: str) -> None:
    """What pip leaves behind: a module, and metadata with its entry points."""
    (folder / "plugged.py").write_text(MODULES)
    info = folder / f"{package}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[gristmill.stages]\n" + "\n".join(entries) + "\n")
    if str(folder) not in sys.path:
        monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "plugged", raising=False)
    invalidate_caches()


def test_a_declared_part_of_an_installed_package_is_loaded_by_its_name(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, "safety", "safe = plugged:PART")
    import plugged

    assert added("stages", plugged.Part) == {"safe": plugged.PART}
    assert packages()["safety"] == "1.2"


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("safe = absent_module:PART", "absent_module:PART cannot be loaded (ModuleNotFoundError"),
        ("safe = plugged:NUMBER", "plugged:NUMBER is a int; expected a Part"),
        ("Safe! = plugged:PART", "a part's name has lower-case letters"),
        ("parse = plugged:PART", "gristmill has a part of this name"),
    ],
)
def test_a_part_that_cannot_be_used_is_refused_with_package_and_entry_point(tmp_path, monkeypatch, entry, says):
    install(tmp_path, monkeypatch, "safety", entry)
    import plugged

    with pytest.raises(InputError) as caught:
        added("stages", plugged.Part, taken=frozenset({"parse"}))
    (problem,) = caught.value.problems
    assert problem.startswith(f"safety, entry point gristmill.stages {entry.split(' =')[0]}: ")
    assert says in problem


def test_two_packages_with_a_part_of_one_name_are_refused_together(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, "safety", "safe = plugged:PART")
    install(tmp_path, monkeypatch, "another", "safe = plugged:OTHER")
    import plugged

    with pytest.raises(InputError, match=r"another and safety, .*uninstall all but one"):
        added("stages", plugged.Part)
