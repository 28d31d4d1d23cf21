"""`python -m bench.egress.named HOST=ADDRESS[,ADDRESS] -- WORDS …`: `gristmill WORDS` where a name has these addresses.

Only the answer of the system's resolver is made up, for this one name: a machine without a DNS server has no name with
several addresses. What is checked, connected to and tried next is the program's own.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

from crawler.commands.gristmill import main


def answering(name: str, addresses: list[str]) -> None:
    """Let `socket.getaddrinfo` answer these addresses, in this order, for the name."""
    real = socket.getaddrinfo

    def found(host: Any, port: Any, *more: Any, **named: Any) -> Any:
        if host not in (name, name.encode()):
            return real(host, port, *more, **named)
        return [entry for address in addresses for entry in real(address, port, *more, **named)]

    socket.getaddrinfo = found


if __name__ == "__main__":
    host, _, listed = sys.argv[1].partition("=")
    answering(host, listed.split(","))
    sys.argv = ["gristmill", *sys.argv[3:]]
    sys.exit(main())
