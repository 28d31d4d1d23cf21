"""The key directory: what is published, and the headers of its answer, which prove that the keys are the publisher's.

Each key signs the answer (appendix "Possession Proof" of draft-ietf-webbotauth-httpsig-protocol-01): the authority that
was asked, and the digest of the body. Neither changes, so the headers may be static until the signatures expire.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from crawler.botauth.key import Key
from crawler.botauth.message import ALGORITHM, Component, member, signature_base, signature_input
from crawler.botauth.request import authority_of
from crawler.config.signature import WELL_KNOWN

TAG = "http-message-signatures-directory"
MEDIA_TYPE = "application/http-message-signatures-directory+json"
CACHE_SECONDS = 86_400
"""How long verifiers may keep the directory, and so for how long a key that was taken out still verifies."""


def directory_url(agent: str) -> str:
    """Where a verifier looks for the keys: the agent itself; under an origin, at the well-known path (older drafts)."""
    parts = urlsplit(agent)
    return agent if parts.path not in ("", "/") else urlunsplit(parts._replace(path=WELL_KNOWN))


def directory(keys: Sequence[Key]) -> bytes:
    """The JSON Web Key Set of the public halves (RFC 7517, section 5), without a newline at its end."""
    return json.dumps({"keys": [key.jwk() for key in keys]}, separators=(",", ":")).encode()


def digest_of(body: bytes) -> str:
    """Content-Digest (RFC 9530)."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def covered_by_answer(url: str, digest: str) -> list[Component]:
    """What the signature of a directory's answer covers, for the URL that was asked."""
    return [Component("@authority", {"req": True}, authority_of(url)), Component("content-digest", {}, digest)]


def headers(keys: Sequence[Key], agent: str, created: int, expires: int) -> dict[str, str]:
    """The headers under which `directory(keys)` is served; times in seconds since the epoch."""
    digest = digest_of(directory(keys))
    covered = covered_by_answer(directory_url(agent), digest)
    inputs, signatures = [], []
    for number, key in enumerate(keys):
        params: dict[str, str | int] = {
            "created": created,
            "keyid": key.keyid,
            "alg": ALGORITHM,
            "expires": expires,
            "tag": TAG,
        }
        written = signature_input(covered, params)
        inputs.append(f"binding{number}={written}")
        signatures.append(member(f"binding{number}", key.sign(signature_base(covered, written))))
    return {
        "Content-Type": MEDIA_TYPE,
        "Cache-Control": f"max-age={CACHE_SECONDS}",
        "Content-Digest": digest,
        "Signature-Input": ", ".join(inputs),
        "Signature": ", ".join(signatures),
    }


def nginx(keys: Sequence[Key], agent: str, created: int, expires: int) -> str:
    """A `location` for nginx that answers with directory and headers, both from this one text."""
    lines = headers(keys, agent, created, expires)
    kind = lines.pop("Content-Type")
    path = urlsplit(directory_url(agent)).path
    return "\n".join(
        [
            f"location = {path} {{",
            "    gzip off;  # the digest is of these bytes",
            f"    default_type {kind};",
            *(f"    add_header {name} '{value}';" for name, value in lines.items()),
            f"    return 200 '{directory(keys).decode()}';",
            "}\n",
        ]
    )
