"""Makes the three headers of a signed request: Signature-Agent, Signature-Input and Signature.

By draft-ietf-webbotauth-httpsig-protocol-01 (29 October 2026).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from urllib.parse import urlsplit

from crawler.botauth.key import Key, unpadded
from crawler.botauth.message import ALGORITHM, Component, member, signature_base, signature_input

TAG = "web-bot-auth"
LABEL = "sig1"
"""Names the signature and, as the draft asks, the member of Signature-Agent that it covers."""
NONCE_BYTES = 64
_PORTS = {"http": ":80", "https": ":443"}


class RequestSigner:
    """Signs requests in the name of an agent. clock: seconds since the epoch; randomness: as `os.urandom`.

    Every call makes a signature of its own, with its own nonce, good for `seconds`: a verifier that remembers nonces
    would refuse a second request under the first one's. docs/adr/botauth-001-own-signer.md has what it costs.
    """

    def __init__(
        self,
        key: Key,
        agent: str,
        seconds: int,
        clock: Callable[[], float],
        randomness: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._key, self._seconds, self._clock, self._randomness = key, seconds, clock, randomness
        self._agent_field = member(LABEL, agent)
        self._agent = Component("signature-agent", {"key": LABEL}, f'"{agent}"')
        self.agent, self.keyid = agent, key.keyid

    def headers(self, url: str) -> dict[str, str]:
        """The headers for one request to an absolute http or https URL; they are good for its authority alone.

        Over http anybody on the way can read them. So there the scheme is signed, too: what was overheard is of no use
        for the same host over https.
        """
        scheme, authority = urlsplit(url).scheme, authority_of(url)
        plain = [Component("@scheme", {}, scheme)] if scheme == "http" else []
        covered = [Component("@authority", {}, authority), *plain, self._agent]
        created = int(self._clock())
        params: dict[str, str | int] = {
            "created": created,
            "keyid": self.keyid,
            "alg": ALGORITHM,
            "expires": created + self._seconds,
            "nonce": unpadded(self._randomness(NONCE_BYTES)),
            "tag": TAG,
        }
        written = signature_input(covered, params)
        signature = self._key.sign(signature_base(covered, written))
        return {
            "Signature-Agent": self._agent_field,
            "Signature-Input": f"{LABEL}={written}",
            "Signature": member(LABEL, signature),
        }


def authority_of(url: str) -> str:
    """Host and port as RFC 9421, section 2.2.3 signs them: lower case, without the default port of the scheme."""
    parts = urlsplit(url)
    authority = parts.netloc.rpartition("@")[2].lower().removesuffix(":")
    return authority.removesuffix(_PORTS[parts.scheme])
