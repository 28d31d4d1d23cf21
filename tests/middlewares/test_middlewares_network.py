"""The network guard on the wire: spellings, names, rebinding, contact."""

from __future__ import annotations

import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

CONTACT = {"CRAWLER_CONTACT": "https://example.org/bot"}


def test_no_spelling_of_a_forbidden_address_is_connected_to(web, crawl):
    hosts = [
        *(
            "127.0.0.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "127.1",
            "0",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "localhost",
        ),
        *(
            "[::ffff:7f00:1]",
            "10.0.0.1",
            "169.254.169.254",
            "[fd00:ec2::254]",
            "100.64.0.1",
            "168.63.129.16",
            "[64:ff9b::7f00:1]",
        ),
    ]
    urls = [f"http://{host}:{web.port}/page" for host in hosts]
    report = crawl(urls, NETWORK_ALLOW="", **CONTACT)
    for url in urls:
        outcome = report["outcomes"][url]
        assert (outcome["outcome"], outcome.get("reason")) == ("Denied", "network_forbidden"), (url, outcome)
    assert web.log == []


def test_a_name_that_resolves_to_a_forbidden_address_is_refused_and_says_so(web, crawl):
    url = f"http://intranet.example:{web.port}/page"
    report = crawl([url], hosts={"intranet.example": [["10.1.2.3"]]}, NETWORK_ALLOW="", **CONTACT)
    assert report["outcomes"][url]["reason"] == "network_forbidden"
    assert "10.1.2.3" in report["outcomes"][url]["detail"]


def test_only_the_permitted_addresses_of_a_name_are_used(web, crawl):
    web.site("127.0.0.9", {"/page": web.reply()})
    url = f"http://mixed.example:{web.port}/page"
    report = crawl([url], hosts={"mixed.example": [["10.1.2.3", "127.0.0.9"]]}, NETWORK_ALLOW="127.0.0.9/32")
    assert report["outcomes"][url]["outcome"] == "page"


def test_a_name_that_changes_its_address_between_look_ups_reaches_nothing_forbidden(web, crawl):
    """The first answer is permitted, every later one is not: each connection uses an answer that was checked."""
    web.site("127.0.0.9", {"/robots.txt": web.reply(200, b"", [("Connection", "close")]), "/page": web.reply()})
    web.site("127.0.0.1", {"/robots.txt": web.reply(200, b""), "/page": web.reply()})
    url = f"http://rebind.example:{web.port}/page"
    crawl([url], hosts={"rebind.example": [["127.0.0.9"], ["127.0.0.1"]]}, NETWORK_ALLOW="127.0.0.9/32")
    assert {address for address, _ in web.log} == {"127.0.0.9"}


def test_a_connection_that_got_past_the_resolver_is_closed_before_a_byte_is_sent(crawl, web):
    """The second lock alone: the resolver lets everything through, the socket's own address does not."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.settimeout(30)

        def listen() -> None:
            connection, _ = canary.accept()
            with connection:
                received.append(connection.recv(100))

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        url = f"http://inside.example:{canary.getsockname()[1]}/page"
        settings = {"NETWORK_ALLOW": "", "NETWORK_PORTS": str(canary.getsockname()[1]), **CONTACT}
        report = crawl([url], hosts={"inside.example": [["127.0.0.1"]]}, trusting_resolver=True, **settings)
        thread.join(30)
    assert report["outcomes"][url]["reason"] == "network_forbidden"
    assert received == [b""]


def test_ports_schemes_user_information_and_control_characters_are_refused(web, crawl):
    urls = ["http://127.0.0.2:22/", "ftp://127.0.0.2/", "file:///etc/passwd", f"http://user:pw@127.0.0.2:{web.port}/"]
    report = crawl(urls)
    for url in urls:
        outcome = report["outcomes"][url]
        assert (outcome["outcome"], outcome["reason"]) == ("Denied", "network_forbidden"), (url, outcome)
    assert web.log == []


def test_without_a_contact_the_crawl_does_not_leave_loopback_and_goes_on(web, crawl):
    away, here = f"http://away.example:{web.port}/page", web.site("127.0.0.2", {"/page": web.reply()})
    report = crawl([f"{here}/page"])
    assert report["outcomes"][f"{here}/page"]["outcome"] == "page"
    report = crawl([away, f"{here}/page"], hosts={"away.example": [["93.184.216.34"]]})
    assert (report["outcomes"][away]["outcome"], report["outcomes"][away]["reason"]) == ("Held", "hold_no_contact")
    assert "CRAWLER_CONTACT" in report["outcomes"][away]["detail"]
    assert report["outcomes"][f"{here}/page"]["outcome"] == "page"
    assert report["finish_reason"] == "finished"


def test_a_certificate_that_nobody_vouches_for_is_no_connection(web, crawl, tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_self_signed("127.0.0.2", tmp_path))
    base = web.site("127.0.0.2", {"/page": web.reply()}).replace("http:", "https:")
    web.socket = context.wrap_socket(web.socket, server_side=True)
    outcome = crawl([f"{base}/page"])["outcomes"][f"{base}/page"]
    assert (outcome["outcome"], outcome["reason"]) == ("Held", "hold_certificate")
    assert "certificate" in outcome["detail"].lower()
    assert web.log == []


def _self_signed(address: str, folder: Path) -> Path:
    """Key and certificate of a host that only vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, address)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    raw_key = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "host.pem"
    file.write_bytes(raw_key + certificate.public_bytes(pem))
    return file


def test_opening_the_network_is_said_loudly(web, crawl):
    base = web.site("127.0.0.2", {"/page": web.reply()})
    assert "NETWORK_ALLOW opens 127.0.0.0/8" in crawl([f"{base}/page"])["log"]
