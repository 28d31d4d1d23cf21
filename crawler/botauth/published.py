"""Looks at the directory that is really published: does it hold the key in use, and would a verifier take it?

Everything in the answer is somebody's claim: bounded, and shown only as far as it is known here.
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import http_sf
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from crawler.botauth.directory import MEDIA_TYPE, TAG, covered_by_answer, digest_of, directory_url
from crawler.botauth.key import Key, octets, thumbprint
from crawler.botauth.message import signature_base, signature_input
from crawler.config.signature import WELL_KNOWN
from crawler.times import rfc3339

MAX_BYTES = 65_536
MAX_KEYS = 100
TIMEOUT = 30.0
_LATEST = 253_402_300_800  # the year 10000, which no time is written in


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said. headers: by lower-case name, repeated ones joined."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class Findings:
    """problems: why a verifier would not take a request; notes: what is right, or only recommended."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def get(agent: str, identity: str) -> Answer:
    """One GET of the directory as a verifier makes it: over TLS, without redirects. Raises: OSError, HTTPException."""
    parts = urlsplit(directory_url(agent))
    connection = http.client.HTTPSConnection(
        parts.hostname or "", parts.port, timeout=TIMEOUT, context=ssl.create_default_context()
    )
    try:
        connection.request("GET", parts.path, headers={"Accept": MEDIA_TYPE, "User-Agent": identity})
        response = connection.getresponse()
        found: dict[str, str] = {}
        for name, value in response.getheaders():
            key = name.lower()
            found[key] = f"{found[key]}, {value}" if key in found else value
        return Answer(response.status, found, response.read(MAX_BYTES + 1))
    finally:
        connection.close()


def findings(answer: Answer, agent: str, key: Key, now: float) -> Findings:
    """What is to be said of the answer. now: seconds since the epoch."""
    found, url = Findings(), directory_url(agent)
    if answer.status != 200:
        found.problems.append(f"{url} answers {answer.status}: verifiers accept only 200 and follow no redirect")
        return found
    keys = _keys(answer.body)
    if keys is None:
        found.problems.append(f"{url} is not a JSON Web Key Set: publish the file of `gristmill botkey directory`")
        return found
    kind = answer.headers.get("content-type", "").split(";")[0].strip().lower()
    if urlsplit(url).path == WELL_KNOWN and kind != MEDIA_TYPE:
        found.problems.append(f"{url} has to be served with the Content-Type {MEDIA_TYPE}")
    if any("d" in listed for listed in keys):
        found.problems.append(f"{url} publishes a private key (d): take it down, and make a new key")
    _look_for(key, keys, url, found)
    _look_at_proof(answer, url, key, now, found)
    return found


def _keys(body: bytes) -> list[dict[str, Any]] | None:
    try:
        values = json.loads(body) if len(body) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        return None
    keys = values.get("keys") if isinstance(values, dict) else None
    if not isinstance(keys, list) or len(keys) > MAX_KEYS or not all(isinstance(listed, dict) for listed in keys):
        return None
    return keys


def _look_for(key: Key, keys: list[dict[str, Any]], url: str, found: Findings) -> None:
    listed = next((entry for entry in keys if _thumbprint(entry) == key.keyid), None)
    if listed is None:
        found.problems.append(f"{url} does not hold the key in use ({key.keyid})")
    elif urlsplit(url).path == WELL_KNOWN and listed.get("kid", key.keyid) != key.keyid:
        found.problems.append(f"{url} gives the key in use another kid than its thumbprint, {key.keyid}")
    else:
        found.notes.append(f"{url} holds the key in use ({key.keyid}), 1 of {len(keys)}")


def _thumbprint(listed: dict[str, Any]) -> str | None:
    if (listed.get("kty"), listed.get("crv")) != ("OKP", "Ed25519"):
        return None
    try:
        return thumbprint(octets(listed["x"]))
    except (KeyError, TypeError, ValueError):
        return None


def _look_at_proof(answer: Answer, url: str, key: Key, now: float, found: Findings) -> None:
    """A directory need not be signed; one that is has to be signed well."""
    if "signature-input" not in answer.headers:
        found.notes.append("its answer is not signed: the draft recommends a signature, and Cloudflare requires one")
        return
    try:
        params = _proven(answer, url, key)
    except (ValueError, KeyError, TypeError, InvalidSignature):
        found.problems.append(f"the signature of {url} is wrong: publish body and headers of the same call")
        return
    if params["created"] > now:
        found.problems.append(f"the signature of {url} is dated in the future ({rfc3339(params['created'])})")
    elif params["expires"] < now:
        found.problems.append(f"the signature of {url} has expired ({rfc3339(params['expires'])}): write it again")
    else:
        found.notes.append(f"its answer is signed until {rfc3339(params['expires'])}")


def _moment(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value < _LATEST:
        raise ValueError("no time")
    return value


def _proven(answer: Answer, url: str, key: Key) -> dict[str, int]:
    """The parameters of the signature by our key. Raises: ValueError and others where there is none that holds."""
    inputs: Any = http_sf.parse(answer.headers["signature-input"].encode("ascii"), tltype="dictionary")
    signatures: Any = http_sf.parse(answer.headers["signature"].encode("ascii"), tltype="dictionary")
    digest = digest_of(answer.body)
    if answer.headers.get("content-digest", digest) != digest:
        raise ValueError("another body")
    values = {component.name: component for component in covered_by_answer(url, digest)}
    public = Ed25519PublicKey.from_public_bytes(octets(key.jwk()["x"]))
    for label, (components, params) in inputs.items():
        if params.get("keyid") == key.keyid and params.get("tag") == TAG:
            covered = [values[name]._replace(params=flags) for name, flags in components]
            public.verify(signatures[label][0], signature_base(covered, signature_input(covered, params)))
            return {name: _moment(params[name]) for name in ("created", "expires")}
    raise ValueError("no signature by the key in use")
