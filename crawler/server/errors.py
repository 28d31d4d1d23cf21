"""What can go wrong at the frontier, as a tree of sentences for people.

FrontierError
├── FrontierUnavailable   no server answers at the address
├── FrontierMisconfigured the server would lose data or refuses what is needed; the message names the fix
└── ServerError           the embedded server cannot be found, started or stopped
"""

from __future__ import annotations


class FrontierError(Exception):
    """Base of everything the frontier raises on purpose."""


class FrontierUnavailable(FrontierError):  # noqa: N818  # a state of the world, as in httpx
    """No usable Redis or Valkey answers: a command ends with exit code 1 before any request."""


class FrontierMisconfigured(FrontierError):  # noqa: N818
    """A server answers but must not be used as it is configured."""


class ServerError(FrontierError):
    """The embedded server could not be found, started or stopped."""
