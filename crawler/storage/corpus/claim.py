"""In an object store a writer's name is claimed by an object, where no server knows all workers.

Spools are folders of their own, so their locks tell nothing of each other; two writers of one name would overwrite each
other's files. The claim is renewed by a thread of its own, because an upload may take minutes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import LEDGERS, Place

logger = logging.getLogger(__name__)

LIFE_SECONDS = 40.0
"""Age by the store's clock from which a claim has ended."""
RENEW_SECONDS = 10.0
_SETTLING = 1.0  # seconds after which a claim that was taken over must still be ours


class StoreClaim:
    """The claim of one process on a writer's name in a remote corpus."""

    def __init__(self, place: Place, writer: str, token: str, *, pause: Callable[[float], object] = time.sleep) -> None:
        self._place, self._writer, self._token = place, writer, token.encode()
        self._name = f"{LEDGERS}/.{writer}.claim"
        self._pause = pause
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._lost = False

    def take(self, predecessor: str = "") -> None:
        """Take the name. `predecessor`: token of a process that has certainly ended.

        Raises: StorageError where another process has it, or the store cannot be written.
        """
        while not self._place.create(self._name, self._token):
            holder, age = self._holder(), 0.0
            if holder is None:
                continue
            if holder != predecessor.encode() and (age := self._place.age(self._name)) < LIFE_SECONDS:
                raise self._taken(LIFE_SECONDS - age)
            self._place.put(self._name, self._token)
            self._pause(_SETTLING)  # two that take it over at once: the later one has it
            if self._holder() == self._token:
                break
        self._thread = threading.Thread(target=self._keep, name="store-claim", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raises: StorageError where another process has taken the name meanwhile."""
        if self._lost:
            raise self._taken(LIFE_SECONDS)

    def release(self) -> None:
        """The name is free at once, unless it has passed to another process."""
        self._ended.set()
        if self._thread is None:
            return
        self._thread.join()
        self._thread = None
        try:
            if self._holder() == self._token:
                self._place.remove(self._name)
        except StorageError as error:
            logger.warning("the name %s is free after %g s: %s", self._writer, LIFE_SECONDS, error)

    def renew(self) -> None:
        """Show a sign of life, where the name is still ours."""
        holder = self._holder()
        if holder in (self._token, None):
            self._place.put(self._name, self._token)
        else:
            self._lost = True

    def _keep(self) -> None:
        while not self._ended.wait(RENEW_SECONDS):
            try:
                self.renew()
            except StorageError as error:  # whoever writes next is told by the store itself
                logger.warning("%s", error)

    def _holder(self) -> bytes | None:
        try:
            return self._place.content(self._name)
        except FileNotFoundError:
            return None
        except Exception as error:  # client libraries of object stores raise errors of their own
            raise StorageError(f"{self._place.url}: the claim on {self._writer!r} cannot be read: {error}") from error

    def _taken(self, seconds: float) -> StorageError:
        return StorageError(
            f"{self._place.url}: another live process writes as {self._writer!r}; give each worker a WORKER_ID of its "
            f"own, or none; the name of a process that died is free again after {seconds:.0f} s"
        )
