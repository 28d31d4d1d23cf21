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


def unwritable(error: Exception) -> str:
    """Why a server that runs takes nothing in, and the way out; empty for any other error."""
    said = str(error.__cause__ or error)  # on a new connection redis-py calls it an error of the connection
    if said.startswith("MISCONF"):
        return f"runs, but cannot write its file ({said}): free space on its disk, then run the same command again"
    if said.startswith("OOM"):
        return f"runs, but its memory is full ({said}): raise its maxmemory, then run the same command again"
    return ""


def untrusted(error: Exception) -> str:
    """What is wrong with the certificate of a server that answers, and the way out; empty for any other error."""
    if "CERTIFICATE_VERIFY_FAILED" not in str(error):
        return ""
    return (
        f"answers, but its certificate is not trusted ({error}): name the file of the authority that signed it in the "
        "address, rediss://…?ssl_ca_certs=/path/to/ca.crt, and the host as the certificate names it"
    )
