"""The file of networks whose addresses are asked at another pace: one network a line, with its seconds."""

from __future__ import annotations

import ipaddress
import math
from pathlib import Path

USUAL_SECONDS = 0.5
"""Between two requests to one address. Source: BUbiNG's `ipDelay` (Boldi et al. 2018, section 4.3)."""
LATE = 0.1
"""Share of such a delay by which a request may be late for its turn; the next turn is later by as much."""
MAX_NETWORKS = 10_000


def read_address_delays(path: str) -> dict[str, float]:
    """Seconds by network (CIDR, canonical). `#` begins a comment.

    Raises: ValueError naming file and line; OSError where the file cannot be read.
    """
    found: dict[str, float] = {}
    for number, line in enumerate(Path(path).read_bytes().splitlines(), 1):
        words = line.decode("utf-8", "replace").partition("#")[0].split()
        if not words:
            continue
        network, seconds = _line(words, f"line {number}")
        if found.setdefault(network, seconds) != seconds:
            raise ValueError(f"line {number}: {network} is listed twice, with {found[network]:g} s and {seconds:g} s")
        if len(found) > MAX_NETWORKS:
            raise ValueError(f"more than {MAX_NETWORKS} networks")
    return found


def check_address_delays(path: str) -> str | None:
    """What is wrong with the file; None where it can be used."""
    try:
        read_address_delays(path)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except ValueError as error:
        return str(error)
    return None


def is_network(text: str) -> bool:
    """True for a network such as 192.0.2.0/24."""
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def _line(words: list[str], where: str) -> tuple[str, float]:
    try:
        network = str(ipaddress.ip_network(words[0]))
        (seconds,) = map(float, words[1:])
    except ValueError as error:
        said = (
            f"{where}: expected a network and seconds, such as 192.0.2.0/24 2.5, not {' '.join(words)[:80]!r} ({error})"
        )
        raise ValueError(said) from None
    if not (math.isfinite(seconds) and 0 <= seconds <= 86_400):
        raise ValueError(f"{where}: expected seconds from 0 (no delay of its own) to 86400, not {words[1]}")
    return network, seconds
