"""What is not verified is named and held, an exception is for its domain alone, and nothing is a traceback."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from crawler.config.policy import _check_domains
from tests.support.corpus_crawl import crawl
from tests.support.forward_proxies import ForwardProxy

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
PAGE = b"<!doctype html><p>A page behind a certificate, with words enough to be one, at %s."
CASES = {
    "127.50.0.1": ("good", ""),
    "127.50.0.2": ("self-signed", "it is signed by itself"),
    "127.50.0.3": ("no-san", "it is for another name"),
    "127.50.0.4": ("other-name", "it is for another name"),
    "127.50.0.5": ("expired", "it has expired"),
    "127.50.0.6": ("stranger", "its authority is not known"),
    "127.50.0.7": ("self-signed", ""),  # by exception
    "127.50.0.8": ("no-san", ""),  # by exception
}
EXEMPT = "127.50.0.7,127.50.0.8"


class Authority:
    def __init__(self, name: str) -> None:
        self.key, self.name = ec.generate_private_key(ec.SECP256R1()), _name(name)
        builder = _builder(self.name, self.name, self.key, -DAY, 9 * DAY)
        self.certificate = builder.add_extension(x509.BasicConstraints(True, None), True).sign(
            self.key, hashes.SHA256()
        )

    def issue(self, address: str, begin: datetime.timedelta, end: datetime.timedelta, names: str | None) -> bytes:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(address), self.name, key, begin, end)
        if names:
            alternative = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(names))])
            builder = builder.add_extension(alternative, False)
        return _pem(key) + builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(subject, issuer, key, begin, end):
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(NOW + begin).not_valid_after(NOW + end)


def _pem(key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def certificate(kind: str, address: str, known: Authority) -> bytes:
    if kind == "self-signed":
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(address), _name(address), key, -DAY, DAY)
        alternative = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        signed = builder.add_extension(alternative, False).sign(key, hashes.SHA256())
        return _pem(key) + signed.public_bytes(serialization.Encoding.PEM)
    authority = Authority("nobody knows it") if kind == "stranger" else known
    begin, end = (-3 * DAY, -2 * DAY) if kind == "expired" else (-DAY, DAY)
    names = {"no-san": None, "other-name": "127.50.0.99"}.get(kind, address)
    return authority.issue(address, begin, end, names)


class SecureWeb:
    """Answers on every address of CASES with its certificate."""

    def __init__(self, folder: Path, known: Authority) -> None:
        self.contexts = {}
        for address, (kind, _) in CASES.items():
            file = folder / f"{address}.pem"
            file.write_bytes(certificate(kind, address, known))
            self.contexts[address] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.contexts[address].load_cert_chain(file)
        self.socket = socket.create_server(("0.0.0.0", 0), backlog=100)
        self.port = self.socket.getsockname()[1]

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection: socket.socket) -> None:
        address = connection.getsockname()[0]
        try:
            with self.contexts[address].wrap_socket(connection, server_side=True) as secure:
                path = secure.recv(8_192).split(b" ")[1]
                body = PAGE % address.encode()
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)
                secure.sendall(head + body if path == b"/page" else b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
        except (OSError, IndexError):
            connection.close()


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SecureWeb]:
    known = Authority("known to the system")
    bundle = tmp_path / "authorities.pem"
    bundle.write_bytes(known.certificate.public_bytes(serialization.Encoding.PEM))
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    secure = SecureWeb(tmp_path, known)
    thread = threading.Thread(target=secure.serve, daemon=True)
    thread.start()
    yield secure
    secure.socket.shutdown(socket.SHUT_RDWR)
    secure.socket.close()
    thread.join(10)


@pytest.mark.parametrize("kind", ["", "tinyproxy", "microsocks"])
def test_each_certificate_is_accepted_or_held_by_name_and_exceptions_are_for_their_domain_alone(web, tmp_path, kind):
    seeds = {address: f"https://{address}:{web.port}/page" for address in CASES}
    settings = {"EXTRACTION_MIN_WORDS": 0, "CERTIFICATE_EXCEPTIONS": EXEMPT, "NEARDUP_MIN_SHINGLES": 10_000}
    with ForwardProxy(kind, tmp_path) if kind else nullcontext() as proxy:
        settings |= {"EGRESS_PROXIES": proxy.url} if proxy else {}
        done = crawl(tmp_path / "corpus", list(seeds.values()), web.port, **settings)
    assert "Traceback" not in done.log
    assert f"certificates of {EXEMPT.replace(',', ', ')} are not verified" in done.log
    for address, (_, why) in CASES.items():
        if not why:
            assert seeds[address] in done.kept, (address, done.rejected.get(seeds[address]))
            continue
        record = done.rejected[seeds[address]]
        assert record["reason"] == "hold_certificate", record
        assert record["detail"].endswith(f"certificate of {address} not accepted: {why}") or why in record["detail"]


@pytest.mark.parametrize("value", ["https://example.org", "example.org/", "a b", "example.org:443"])
def test_an_exception_that_is_no_domain_is_refused_with_a_sentence(value):
    assert value in (_check_domains((value,)) or "")
    assert _check_domains(("example.org", "127.0.0.1", "::1")) is None
