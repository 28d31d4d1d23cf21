"""What a library imports for work that nobody here asks of it: later (`deferred`), or not at all (`absent`).

What a page is the first of a process to need is loaded at nobody's expense (`untimed`).
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands for a module; what is taken from it is a class that imports the module when it is called."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        module = self.__name__

        def call(_: type, *args: Any, **kwargs: Any) -> Any:
            return getattr(import_module(module), name)(*args, **kwargs)

        return type(name, (), {"__new__": call})


def deferred(*modules: str) -> AbstractContextManager[None]:
    """While this is open, importing one of these modules loads nothing; afterwards it is imported like any other.

    For libraries whose import would bring along their command line, or a client that we never use. What they take from
    such a module has to be something that they call, or name in an annotation. A module that is there already stays.
    """
    return _in_place_of({name: _Later(name) for name in modules})


def absent(*modules: str) -> AbstractContextManager[None]:
    """While this is open, these modules are not installed, for libraries that use them where they are."""
    return _in_place_of(dict.fromkeys(modules))


@contextmanager
def _in_place_of(others: Mapping[str, ModuleType | None]) -> Iterator[None]:
    stands = {name: other for name, other in others.items() if name not in sys.modules}
    sys.modules.update(stands)  # type: ignore[arg-type]  # None: as if it could not be found
    try:
        yield
    finally:
        for name, stand in stands.items():
            if sys.modules.get(name) is stand:
                del sys.modules[name]


@contextmanager
def untimed() -> Iterator[None]:
    """While this is open, no CPU time counts against a page's limit (`pool/cpu_limit.py`).

    Else its verdict would depend on whether another page came first.
    """
    left, _ = signal.setitimer(signal.ITIMER_PROF, 0.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, left)
