"""What a library brings along is loaded when somebody asks for it, and not before."""

from __future__ import annotations

import importlib
import signal
import sys
from pathlib import Path

import pytest

from crawler.imports import absent, deferred, untimed


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package that imports two modules of its own."""
    package = tmp_path / "borrowed_library"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from borrowed_library.client import Client, fetch\nimport borrowed_library.client\n"
        "try:\n    import borrowed_library.store as store\nexcept ImportError:\n    store = None\n"
        "def maybe(client: Client | None = None): return client\n"
    )
    (package / "client.py").write_text("def fetch(what): return f'fetched {what}'\nclass Client: kind = 'real'\n")
    (package / "store.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield package.name
    for name in [name for name in sys.modules if name.startswith(package.name)]:
        del sys.modules[name]


def test_a_deferred_module_is_loaded_by_the_first_call_of_what_was_taken_from_it(library: str) -> None:
    with deferred(f"{library}.client"):
        module = importlib.import_module(library)
    assert f"{library}.client" not in sys.modules
    assert module.maybe() is None
    assert module.fetch("it") == "fetched it"
    assert module.Client().kind == "real"
    assert sys.modules[f"{library}.client"].fetch("it") == "fetched it"


def test_a_module_that_is_loaded_already_stays(library: str) -> None:
    module = importlib.import_module(library)
    real = sys.modules[f"{library}.client"]
    with deferred(f"{library}.client"), absent(f"{library}.store"):
        assert sys.modules[f"{library}.client"] is real
    assert sys.modules[f"{library}.client"] is real
    assert module.store is not None


def test_an_absent_module_is_one_that_is_not_installed_and_afterwards_is(library: str) -> None:
    with absent(f"{library}.store"):
        module = importlib.import_module(library)
    assert module.store is None
    assert importlib.import_module(f"{library}.store")


def test_what_is_loaded_for_many_pages_takes_nothing_of_the_time_of_one() -> None:
    signal.setitimer(signal.ITIMER_PROF, 5.0)
    try:
        with untimed():
            assert signal.getitimer(signal.ITIMER_PROF)[0] == 0.0
        assert 4.0 < signal.getitimer(signal.ITIMER_PROF)[0] <= 5.01
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    with untimed():  # where there is no limit there is none afterwards
        pass
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0.0
