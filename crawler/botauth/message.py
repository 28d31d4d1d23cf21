"""HTTP Message Signatures (RFC 9421) as far as this crawler needs them: what is signed, and the fields that say so.

docs/adr/botauth-001-own-signer.md says why these lines stand here. Structured fields are serialised by http-sf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import http_sf

ALGORITHM = "ed25519"
"""Its name in the registry of HTTP signature algorithms; the draft leaves `alg` out, Cloudflare's verifier wants it."""


class Component(NamedTuple):
    """A covered component: its name, the parameters of its identifier, and the value that is signed (section 2)."""

    name: str
    params: Mapping[str, Any]
    value: str

    @property
    def identifier(self) -> tuple[str, dict[str, Any]]:
        """As structured fields have it."""
        return self.name, dict(self.params)


Params = Mapping[str, str | int]
"""Signature parameters (section 2.3), in the order in which they are written."""


def signature_input(covered: Sequence[Component], params: Params) -> str:
    """The member of Signature-Input, which is the last line of the signature base, too (section 2.3)."""
    inner: Any = ([component.identifier for component in covered], dict(params))
    return http_sf.ser([inner])


def signature_base(covered: Sequence[Component], written: str) -> bytes:
    """What is signed (section 2.5); `written` is the `signature_input` of the same components.

    Raises: UnicodeEncodeError where a value is not ASCII.
    """
    lines = [f"{http_sf.ser(component.identifier)}: {component.value}" for component in covered]
    return "\n".join([*lines, f'"@signature-params": {written}']).encode("ascii")


def member(label: str, value: str | bytes) -> str:
    """One member of a dictionary field."""
    return http_sf.ser({label: (value, {})})
