"""Which certificates are accepted: those that the system trusts and that name the host, as in browsers.

Twisted takes a certificate without a subjectAltName for a bug, prints a traceback, and goes on with the connection:
here everything that is not verified ends it, with a name. `CERTIFICATE_EXCEPTIONS` names domains that are not verified.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from OpenSSL import SSL
from service_identity import VerificationError
from service_identity.exceptions import CertificateError
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.python.failure import Failure
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer  # type: ignore[import-untyped]  # ships no types

_WHY = {
    9: "it is not valid yet",
    10: "it has expired",
    18: "it is signed by itself",
    19: "it is signed by an authority that signed itself and is not known",
    20: "its authority is not known (or the server leaves out a certificate between)",
    21: "its authority is not known (or the server leaves out a certificate between)",
    23: "it has been revoked",
}
"""What OpenSSL's numbers mean (x509_vfy.h)."""


class CertificateRefusedError(Exception):
    """The host is not who it says, as far as its certificate goes; says why, and what would admit it."""


def certificate_problem(error: BaseException) -> str:
    """What is wrong with a certificate, where that is what an exception of a download comes from; else empty."""
    return next((str(one) for one in _causes(error) if isinstance(one, CertificateRefusedError)), "")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        for reason in getattr(error, "reasons", None) or ():  # of Twisted's ResponseFailed
            yield from _causes(reason.value)
        error = error.__cause__


@implementer(IPolicyForHTTPS)
class Certificates:
    """Connections as `inner` makes them, with our verification. exceptions: domains, their subdomains included."""

    def __init__(self, inner: Any, exceptions: Collection[str]) -> None:
        self._inner = inner
        self._exceptions = exceptions

    def creatorForNetloc(self, hostname: bytes, port: int) -> Any:  # noqa: N802  # Twisted's name
        """For each connection."""
        creator, host = self._inner.creatorForNetloc(hostname, port), hostname.decode("ascii").lower()
        is_exempt = any(host == domain or host.endswith(f".{domain}") for domain in self._exceptions)
        return _Creator(creator, host, is_exempt)


@implementer(IOpenSSLClientConnectionCreator)
class _Creator:
    def __init__(self, inner: Any, host: str, is_exempt: bool) -> None:
        self._inner, self._host, self._is_exempt = inner, host, is_exempt

    def clientConnectionForTLS(self, tls: Any) -> Any:  # noqa: N802  # Twisted's name
        connection = self._inner.clientConnectionForTLS(tls)
        verify = _accept if self._is_exempt else _verifier(tls, self._host)
        connection.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, verify)
        return connection


def _accept(*_: Any) -> bool:
    return True


def _verifier(tls: Any, host: str) -> Callable[..., bool]:
    """OpenSSL calls it for each certificate of the chain, from the root; it must not raise."""
    protocol = [tls]  # given up after the first answer: OpenSSL keeps the function as long as the connection

    def verify(_connection: Any, certificate: Any, number: int, depth: int, trusted: int) -> bool:
        problem = _problem(certificate, number, depth, bool(trusted), host)
        if problem and protocol:
            refused = CertificateRefusedError(f"certificate of {host} not accepted: {problem}")
            protocol.pop().failVerification(Failure(refused))  # type: ignore[no-untyped-call]
        return not problem

    return verify


def _problem(certificate: Any, number: int, depth: int, trusted: bool, host: str) -> str:
    if not trusted:
        return _WHY.get(number, f"error {number} of OpenSSL")
    if depth:
        return ""
    try:
        is_address = isIPAddress(host) or isIPv6Address(host)
        name = IPAddress_ID(host) if is_address else DNS_ID(host)
        verify_service_identity(extract_patterns(certificate), [name], [])
    except (VerificationError, CertificateError):
        return "it is for another name"
    except Exception as error:  # whatever a certificate holds that no library can read
        return f"it cannot be read ({type(error).__name__})"
    return ""
