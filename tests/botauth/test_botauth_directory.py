"""The key directory: verified by another library, served by a real nginx, looked at over TLS as verifiers do."""

from __future__ import annotations

import datetime
import http.client
import ipaddress
import json
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import InvalidSignature

from crawler.botauth import directory
from crawler.botauth.key import Key
from crawler.botauth.published import Answer, findings, get
from tests.support.verifier import Message, Reply, verify

ORIGIN = "https://bot.example.org"
AGENT = f"{ORIGIN}/.well-known/http-message-signatures-directory"
OLD, NEW = Key(Ed25519PrivateKey.generate()), Key(Ed25519PrivateKey.generate())
NOW = int(time.time())


def served(*keys: Key, agent: str = AGENT, created: int = NOW, expires: int = NOW + 100_000, **changes: str) -> Answer:
    headers = directory.headers(keys, agent, created, expires)
    lines = {name.lower(): value for name, value in headers.items()} | {
        k.replace("_", "-"): v for k, v in changes.items()
    }
    return Answer(200, lines, directory.directory(keys))


@pytest.mark.parametrize("keys", [[NEW], [OLD, NEW]], ids=["one", "two"])
def test_every_key_of_a_directory_signs_the_answer_for_the_host_that_was_asked(keys):
    answer = served(*keys)
    reply = Reply(Message(AGENT, {}), dict(answer.headers))
    found = verify(reply, *keys, tag=directory.TAG, body=answer.body)
    assert [each.parameters["keyid"] for each in found] == [key.keyid for key in keys]
    elsewhere = Reply(Message("https://mirror.example/.well-known/x", {}), dict(answer.headers))
    with pytest.raises(InvalidSignature):
        verify(elsewhere, *keys, tag=directory.TAG)


@pytest.mark.parametrize(
    ("agent", "url"),
    [
        (ORIGIN, AGENT),
        (f"{ORIGIN}/", AGENT),
        (AGENT, AGENT),
        ("https://bot.example.org:8443", "https://bot.example.org:8443/.well-known/http-message-signatures-directory"),
        (f"{ORIGIN}/keys.json", f"{ORIGIN}/keys.json"),
    ],
)
def test_an_origin_has_its_directory_at_the_well_known_path_and_a_url_is_one_itself(agent, url):
    assert directory.directory_url(agent) == url


def test_a_directory_has_public_halves_alone():
    listed = json.loads(directory.directory([OLD, NEW]))["keys"]
    assert [key["kid"] for key in listed] == [OLD.keyid, NEW.keyid]
    assert {name for key in listed for name in key} == {"kty", "crv", "kid", "x", "use"}


# --- is what is published right? --------------------------------------------------------------------------------------


def test_the_key_in_use_is_found_among_those_of_a_rotation():
    for key in (OLD, NEW):
        found = findings(served(OLD, NEW), AGENT, key, NOW)
        assert found.problems == []
        assert found.notes[0] == f"{AGENT} holds the key in use ({key.keyid}), 1 of 2"
        assert found.notes[1].startswith("its answer is signed until 20")


def test_a_key_that_was_switched_to_before_it_was_published_is_told():
    found = findings(served(OLD), AGENT, NEW, NOW)
    assert found.problems[0] == f"{AGENT} does not hold the key in use ({NEW.keyid})"


def test_a_directory_that_is_not_signed_is_a_note():
    answer = served(NEW)
    bare = Answer(200, {"content-type": answer.headers["content-type"]}, answer.body)
    found = findings(bare, AGENT, NEW, NOW)
    assert found.problems == []
    assert "its answer is not signed: the draft recommends a signature, and Cloudflare requires one" in found.notes


def replaced(answer: Answer, **changes: object) -> Answer:
    values = {"status": answer.status, "headers": answer.headers, "body": answer.body} | changes
    return Answer(**values)  # type: ignore[arg-type]


def with_listed(**changes: object) -> bytes:
    return json.dumps({"keys": [NEW.jwk() | changes]}).encode()


GOOD = served(NEW)
UNSIGNED = {"content-type": directory.MEDIA_TYPE}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (replaced(GOOD, status=301), "answers 301: verifiers accept only 200"),
        (replaced(GOOD, status=404), "answers 404"),
        (replaced(GOOD, body=b"<html>"), "is not a JSON Web Key Set"),
        (replaced(GOOD, body=b"[]"), "is not a JSON Web Key Set"),
        (replaced(GOOD, body=b'{"keys": {}}'), "is not a JSON Web Key Set"),
        (replaced(GOOD, body=b'{"keys": [1]}'), "is not a JSON Web Key Set"),
        (replaced(GOOD, body=b'{"keys": [' + b"{}," * 100 + b"{}]}"), "is not a JSON Web Key Set"),
        (replaced(GOOD, body=GOOD.body + b" " * 65_536), "is not a JSON Web Key Set"),
        (replaced(GOOD, body=b"[" * 60_000), "is not a JSON Web Key Set"),
        (served(NEW, content_type="application/json"), "has to be served with the Content-Type application/http-mess"),
        (replaced(GOOD, headers=UNSIGNED, body=with_listed(d="x")), "publishes a private key (d): take it down"),
        (replaced(GOOD, headers=UNSIGNED, body=with_listed(kid="mine")), "another kid than its thumbprint"),
        (replaced(GOOD, headers=UNSIGNED, body=with_listed(x="?")), "does not hold the key in use"),
        (replaced(GOOD, headers=UNSIGNED, body=with_listed(x=None)), "does not hold the key in use"),
        (replaced(GOOD, headers=UNSIGNED, body=with_listed(kty="RSA")), "does not hold the key in use"),
        (replaced(GOOD, body=GOOD.body + b"\n"), "the signature of {} is wrong"),
        (served(NEW, signature="binding0=:AAAA:"), "the signature of {} is wrong"),
        (served(NEW, signature="x"), "the signature of {} is wrong"),
        (served(NEW, signature_input="binding0"), "the signature of {} is wrong"),
        (served(NEW, signature_input='a=("@path")'), "the signature of {} is wrong"),
        (served(NEW, signature_input="a=?"), "the signature of {} is wrong"),
        (served(NEW, signature_input="ä"), "the signature of {} is wrong"),
        (replaced(served(OLD), body=directory.directory([OLD, NEW])), "the signature of {} is wrong"),
        (served(NEW, agent="https://mirror.example"), "the signature of {} is wrong"),
        (served(NEW, created=NOW - 100, expires=10**14), "the signature of {} is wrong"),
        (served(NEW, created=NOW - 100, expires=NOW - 1), "the signature of {} has expired (20"),
        (served(NEW, created=NOW + 100), "is dated in the future"),
    ],
    ids=lambda value: value if isinstance(value, str) else "answer",
)
def test_what_a_verifier_would_not_take_is_a_problem(answer, why):
    found = findings(answer, AGENT, NEW, NOW)
    assert any(why.replace("{}", AGENT) in problem for problem in found.problems), found


def test_a_key_set_at_a_path_of_its_own_may_have_names_and_types_of_its_own():
    agent = f"{ORIGIN}/keys.json"
    answer = Answer(200, {"content-type": "application/json"}, with_listed(kid="mine"))
    assert findings(answer, agent, NEW, NOW).problems == []


# --- over TLS, from a real server -------------------------------------------------------------------------------------


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that signs itself, and its key."""
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name).issuer_name(name).public_key(private.public_key()).serial_number(1)
        .not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(9))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )  # fmt: skip
    pem, none = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "tls.crt").write_bytes(made.public_bytes(pem))
    (folder / "tls.key").write_bytes(private.private_bytes(pem, serialization.PrivateFormat.PKCS8, none))
    return folder / "tls.crt", folder / "tls.key"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@pytest.fixture
def nginx(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A real nginx with TLS that serves what `directory.nginx` writes; the agent, and the certificate to trust."""
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if program is None:
        pytest.skip("no nginx here")
    crt, key = certificate(tmp_path)
    port = free_port()
    agent = f"https://127.0.0.1:{port}/.well-known/http-message-signatures-directory"
    (tmp_path / "location").write_text(directory.nginx([OLD, NEW], agent, NOW - 5, NOW + 100_000))
    temporary = " ".join(f"{what}_temp_path {tmp_path}/{what};" for what in
                         ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))  # fmt: skip
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}}\n"
        f"http {{ access_log off; gzip on; gzip_min_length 1; gzip_types *; {temporary}\n"
        f"server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {crt}; ssl_certificate_key {key};\n"
        f"include {tmp_path}/location; }} }}\n"
    )
    process = subprocess.Popen([program, "-e", tmp_path / "error.log", "-c", tmp_path / "nginx.conf", "-p", tmp_path])
    try:
        _wait_for(port, process)
        yield agent, crt
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("nginx did not start")


def test_nginx_serves_a_directory_that_verifiers_take(nginx, monkeypatch):
    agent, crt = nginx
    monkeypatch.setenv("SSL_CERT_FILE", str(crt))
    answer = get(agent, "CorpusBot/0.1")
    assert answer.headers["content-type"] == "application/http-message-signatures-directory+json"
    assert answer.headers["cache-control"] == "max-age=86400"
    assert answer.body == directory.directory([OLD, NEW])
    found = findings(answer, agent, NEW, time.time())
    assert found.problems == []
    assert len(found.notes) == 2
    reply = Reply(Message(agent, {}), dict(answer.headers))
    assert len(verify(reply, OLD, NEW, tag=directory.TAG, body=answer.body)) == 2


def test_a_compressing_nginx_leaves_the_bytes_that_were_signed_alone(nginx):
    agent, crt = nginx
    context = ssl.create_default_context(cafile=str(crt))
    port = int(agent.split(":")[2].split("/")[0])
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=30)
    connection.request("GET", "/.well-known/http-message-signatures-directory", headers={"Accept-Encoding": "gzip"})
    response = connection.getresponse()
    assert response.read() == directory.directory([OLD, NEW])
    assert response.getheader("Content-Encoding") is None
    connection.close()


def test_a_server_whose_certificate_nobody_vouches_for_is_not_believed(nginx):
    with pytest.raises(ssl.SSLCertVerificationError):
        get(nginx[0], "CorpusBot/0.1")
