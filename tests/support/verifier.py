"""A site that knows Web Bot Auth: it verifies each request by a library that this project does not sign with."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms

from crawler.botauth.key import Key, octets
from tests.support.loopback_web import Answer, PolicyWeb

MEMBER = '"signature-agent";key="sig1"'


@dataclass
class Message:
    """A request as the library takes it."""

    url: str
    headers: dict[str, str]
    method: str = "GET"


@dataclass
class Reply:
    """A response and the request that it answers."""

    request: Message
    headers: dict[str, str]
    status_code: int = 200


class Keys(HTTPSignatureKeyResolver):
    """Public keys by keyid."""

    def __init__(self, *keys: Key) -> None:
        self._keys = {key.keyid: Ed25519PublicKey.from_public_bytes(octets(key.jwk()["x"])) for key in keys}

    def resolve_public_key(self, key_id: str) -> Any:
        return self._keys[key_id]

    def resolve_private_key(self, key_id: str) -> Any:
        raise NotImplementedError


def verify(message: Message | Reply, *keys: Key, tag: str = "web-bot-auth", **more: Any) -> Any:
    """The one signature of a message. Raises: InvalidSignature."""
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Keys(*keys))
    return verifier.verify(message, expect_tag=tag, **more)


def nonce_of(headers: Mapping[str, str]) -> str:
    found = re.search(r'nonce="([^"]+)"', headers["Signature-Input"])
    assert found is not None
    return found[1]


@dataclass
class Seen:
    """One request: its host, its path, what it said, and why it was not believed."""

    host: str
    path: str
    headers: dict[str, str]
    error: str = ""
    at: float = field(default_factory=time.time)


@dataclass
class Log:
    """Everything that came, in order."""

    seen: list[Seen] = field(default_factory=list)

    def paths(self, host: str) -> list[str]:
        return [request.path for request in self.seen if request.host.split(":")[0] == host]


class VerifyingWeb(PolicyWeb):
    """A `PolicyWeb` that verifies each request before it answers; `log.seen` says what it found."""

    def __init__(self, *keys: Key) -> None:
        super().__init__()
        self.keys, self.log = keys, Log()
        answers = self.RequestHandlerClass

        class Verifies(answers):  # type: ignore[valid-type, misc]
            def respond(self) -> None:
                self.server.note(self.path, dict(self.headers.items()))
                super().respond()

        self.RequestHandlerClass = Verifies

    def note(self, path: str, headers: Mapping[str, str]) -> None:
        found = Seen(headers.get("Host", ""), path, dict(headers))
        try:
            verify(
                Message(f"http://{found.host}{path}", found.headers),
                *self.keys,
                require_components=('"@authority"', '"@scheme"', MEMBER),
            )
        except Exception as error:
            found.error = f"{type(error).__name__}: {error}"
        self.log.seen.append(found)


__all__ = ["MEMBER", "Answer", "Keys", "Message", "Reply", "VerifyingWeb", "nonce_of", "verify"]
