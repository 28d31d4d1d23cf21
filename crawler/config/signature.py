"""Settings of the signature by which a site recognises the crawler (Web Bot Auth)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from crawler.config.declare import setting

WELL_KNOWN = "/.well-known/http-message-signatures-directory"
"""Path at which the directory of an origin is looked for (draft-ietf-webbotauth-httpsig-protocol)."""
_PLAIN = re.compile(r"[A-Za-z0-9._~:/\[\]-]+", re.ASCII)
"""What needs no quotes in a header, a shell or a server's configuration."""


def check_agent(value: str | None) -> str | None:
    """What is wrong with the address of a key directory; None where nothing is."""
    if value is None:
        return None
    expected = f"expected an https URL such as https://bot.example.org{WELL_KNOWN}"
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname or "", parts.port  # Raises: ValueError
    except ValueError as error:
        return f"{expected} ({error})"
    if parts.scheme != "https" or not host or "@" in parts.netloc:
        return expected
    if not host.isascii():
        return f"{expected}, with the name of the host in ASCII{_as_ascii(host)}"
    if not _PLAIN.fullmatch(value):
        return f"{expected}, of letters, digits and ._~-, without a query or a fragment"
    return None


def _as_ascii(host: str) -> str:
    try:
        return f": {host.encode('idna').decode('ascii')}"
    except UnicodeError:
        return ""


@dataclass(frozen=True, slots=True)
class SignatureConfig:
    """How does a site recognise the crawler?"""

    key_file: str | None = setting("BOT_SIGNATURE_KEY_FILE", None, "file with the private Ed25519 key (PEM or JWK) that "
                                   "signs every request (Web Bot Auth); unset = requests are not signed. `gristmill botkey` "
                                   "makes one", digest=False)  # fmt: skip
    agent: str | None = setting("BOT_SIGNATURE_AGENT", None, "https URL of the directory that publishes the key; sent "
                                "verbatim in the header Signature-Agent", check=check_agent, digest=False)  # fmt: skip
    seconds: int = setting("BOT_SIGNATURE_SECONDS", 300, "a signature is good for so long after its request was sent",
                           minimum=10, maximum=86_400, digest=False)  # fmt: skip
