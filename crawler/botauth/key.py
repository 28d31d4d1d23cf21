"""The private key that signs requests: read from its file, never shown. Ed25519 (RFC 8032) as PEM (PKCS#8) or JWK.

Nothing of the private half is in an error, a representation or a pickle; what leaves this module is the public key, its
thumbprint, and signatures.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any, NoReturn

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MAX_BYTES = 16_384
_OPEN_TO_OTHERS = stat.S_IWGRP | stat.S_IRWXO
"""The group may read: a Kubernetes Secret that a user other than root reads is such a file."""
_PUBLISHED = frozenset({"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"})
"""Thumbprints of keys whose private half stands in a specification (RFC 9421, appendix B.1.4)."""


class KeyFileError(Exception):
    """A file that holds no usable key: a clause that follows its name, such as "is empty"."""


class Key:
    """A private key. keyid: the JWK thumbprint of its public half (RFC 7638), by which verifiers find it."""

    __slots__ = ("_private", "_public", "keyid")

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private, self._public = private, private.public_key().public_bytes_raw()
        self.keyid = thumbprint(self._public)

    def sign(self, message: bytes) -> bytes:
        """The 64 bytes of the signature, the same each time for the same message."""
        return self._private.sign(message)

    def jwk(self) -> dict[str, str]:
        """The public half as a directory lists it (RFC 8037)."""
        return {"kty": "OKP", "crv": "Ed25519", "kid": self.keyid, "x": unpadded(self._public), "use": "sig"}

    def __repr__(self) -> str:
        return f"Key({self.keyid!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key stays in its process")


def thumbprint(public: bytes) -> str:
    """RFC 7638, of an Ed25519 key as RFC 8037, appendix A.3 has it."""
    members = {"crv": "Ed25519", "kty": "OKP", "x": unpadded(public)}
    return unpadded(hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest())


def unpadded(data: bytes) -> str:
    """base64url without padding (RFC 7515, section 2)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def octets(text: str) -> bytes:
    """The inverse of `unpadded`. Raises: ValueError."""
    return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)


def make_key(path: str) -> Key:
    """A new key in a new file that its owner alone may read. Raises: KeyFileError, also where the file is there."""
    private = Ed25519PrivateKey.generate()
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(private.private_bytes(*form))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            Path(path).unlink()  # half a key, which would keep the next try from this name
            raise
    except FileExistsError:
        raise KeyFileError("exists already, and a key is never overwritten: name another file") from None
    except OSError as error:
        raise KeyFileError(f"cannot be written: {error.strerror}") from None
    return Key(private)


def read_key(path: str) -> Key:
    """The key of a file. Raises: KeyFileError."""
    key = Key(_private(_content(path)))
    if key.keyid in _PUBLISHED:
        raise KeyFileError("is the public test key of RFC 9421: make your own with `gristmill botkey new`")
    return key


def _content(path: str) -> bytes:
    try:
        found = Path(path).stat()
        if not stat.S_ISREG(found.st_mode):
            raise KeyFileError("is not a regular file: name the file of a private key")
        if os.name == "posix" and found.st_mode & _OPEN_TO_OTHERS:
            mode = stat.S_IMODE(found.st_mode)
            raise KeyFileError(f"can be read or changed by other users (mode {mode:04o}): chmod 600 it")
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise KeyFileError(f"cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL in the path
        raise KeyFileError("is not a file name") from None
    if not content.strip():
        raise KeyFileError("is empty")
    if len(content) > MAX_BYTES:
        raise KeyFileError(f"is larger than a key: more than {MAX_BYTES:,} bytes")
    return content


def _private(content: bytes) -> Ed25519PrivateKey:
    if content.lstrip().startswith(b"{"):
        return _of_jwk(content)
    try:
        found = serialization.load_pem_private_key(content, password=None)
    except TypeError:
        raise KeyFileError("is encrypted with a password: store it without one") from None
    except (ValueError, UnsupportedAlgorithm):
        raise KeyFileError("holds no private key, neither in PEM (PKCS#8) nor as a JWK") from None
    if not isinstance(found, Ed25519PrivateKey):
        kind = type(found).__name__.removesuffix("PrivateKey").strip("_")
        raise KeyFileError(f"holds a key of another kind ({kind}): only Ed25519 keys sign requests")
    return found


def _of_jwk(content: bytes) -> Ed25519PrivateKey:
    try:
        values: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise KeyFileError("holds no private key: its JSON cannot be read") from None
    if values.get("kty") != "OKP" or values.get("crv") != "Ed25519":
        raise KeyFileError("holds a JWK of another kind: only Ed25519 keys sign requests (kty OKP, crv Ed25519)")
    if "d" not in values:
        raise KeyFileError("holds a public key: the private one (d) is missing")
    try:
        private = Ed25519PrivateKey.from_private_bytes(octets(values["d"]))
        public = octets(values["x"]) if "x" in values else None
    except (ValueError, TypeError, binascii.Error):
        raise KeyFileError("holds a JWK that is damaged") from None
    if public not in (None, private.public_key().public_bytes_raw()):
        raise KeyFileError("holds a JWK whose public and private half (x and d) do not belong together")
    return private
