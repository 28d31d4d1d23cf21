"""The words of the specifications: their keys, signature bases and signatures, byte by byte."""

from __future__ import annotations

import re

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from crawler.botauth import directory
from crawler.botauth.key import Key, octets, thumbprint
from crawler.botauth.message import Component, member, signature_base, signature_input
from crawler.botauth.request import RequestSigner

TEST_KEY = Key(Ed25519PrivateKey.from_private_bytes(octets("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU")))
"""RFC 9421, appendix B.1.4."""
CREATED, EXPIRES = 1_735_689_600, 4_889_289_600


def test_a_message_is_signed_as_appendix_b_2_6_of_rfc_9421_signs_it():
    covered = [
        Component("date", {}, "Tue, 20 Apr 2021 02:07:55 GMT"),
        Component("@method", {}, "POST"),
        Component("@path", {}, "/foo"),
        Component("@authority", {}, "example.com"),
        Component("content-type", {}, "application/json"),
        Component("content-length", {}, "18"),
    ]
    written = signature_input(covered, {"created": 1618884473, "keyid": "test-key-ed25519"})
    assert written == (
        '("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"'
    )
    assert member("sig-b26", TEST_KEY.sign(signature_base(covered, written))) == (
        "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:"
    )


def test_the_thumbprint_is_that_of_rfc_8037_appendix_a_3():
    public = octets("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
    assert thumbprint(public) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_a_request_is_signed_as_the_vector_of_the_draft_signs_it():
    nonce = "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="
    covered = [
        Component("@authority", {}, "example.com"),
        Component("signature-agent", {"key": "agent2"}, '"https://signature-agent.test"'),
    ]
    written = signature_input(covered, {
        "created": CREATED, "keyid": TEST_KEY.keyid, "alg": "ed25519", "expires": EXPIRES, "nonce": nonce,
        "tag": "web-bot-auth",
    })  # fmt: skip
    assert written == (
        '("@authority" "signature-agent";key="agent2");created=1735689600'
        ';keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600'
        f';nonce="{nonce}";tag="web-bot-auth"'
    )
    assert member("sig2", TEST_KEY.sign(signature_base(covered, written))) == (
        "sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:"
    )


def test_a_request_has_the_form_of_the_vector_under_its_own_label():
    signer = RequestSigner(TEST_KEY, "https://signature-agent.test", 300, lambda: CREATED + 0.9, bytes)
    found = signer.headers("https://example.com/path/to/resource")
    assert found["Signature-Agent"] == 'sig1="https://signature-agent.test"'
    assert found["Signature-Input"] == (
        'sig1=("@authority" "signature-agent";key="sig1");created=1735689600'
        ';keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=1735689900'
        f';nonce="{"A" * 86}";tag="web-bot-auth"'
    )
    base = (
        '"@authority": example.com\n"signature-agent";key="sig1": "https://signature-agent.test"\n'
        f'"@signature-params": {found["Signature-Input"].removeprefix("sig1=")}'
    )
    assert found["Signature"] == member("sig1", TEST_KEY.sign(base.encode()))


def test_a_directory_is_what_the_vector_of_the_draft_has_and_signed_as_cloudflare_signs_it():
    assert directory.directory([TEST_KEY]) == (
        b'{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",'
        b'"x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","use":"sig"}]}'
    )
    found = directory.headers([TEST_KEY], "https://signature-agent.test", CREATED, EXPIRES)
    assert found["Content-Type"] == "application/http-message-signatures-directory+json"
    assert found["Content-Digest"] == "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"
    assert found["Signature-Input"] == (
        'binding0=("@authority";req "content-digest");created=1735689600'
        ';keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600'
        ';tag="http-message-signatures-directory"'
    )
    assert found["Signature"] == (
        "binding0=:yiHq0TXrbpzbmlttAQMpYoAufitFJUWuNsakB7QQMoN0EHbo5o51bZRVR8az/ptTWCwllix9clrKXfGKwdPzBg==:"
    )


def test_the_answer_of_a_directory_is_signed_as_the_vector_of_the_draft_signs_it():
    covered = directory.covered_by_answer(
        "https://signature-agent.test/.well-known/http-message-signatures-directory",
        directory.digest_of(directory.directory([TEST_KEY])),
    )
    params = {"created": CREATED, "expires": EXPIRES, "keyid": TEST_KEY.keyid, "tag": directory.TAG}
    assert member("binding", TEST_KEY.sign(signature_base(covered, signature_input(covered, params)))) == (
        "binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:"
    )


@pytest.mark.parametrize("url", ["https://Example.COM/a", "https://example.com:443/a", "https://u:p@example.com:/"])
def test_every_spelling_of_an_authority_is_signed_as_one(url):
    signer = RequestSigner(TEST_KEY, "https://signature-agent.test", 300, lambda: CREATED, bytes)
    assert signer.headers(url) == signer.headers("https://example.com/")


@pytest.mark.parametrize("other", ["https://example.com:8443/", "https://www.example.com/", "http://example.com/"])
def test_another_port_host_or_scheme_has_another_signature(other):
    signer = RequestSigner(TEST_KEY, "https://signature-agent.test", 300, lambda: CREATED, bytes)
    assert signer.headers(other)["Signature"] != signer.headers("https://example.com/")["Signature"]


def test_each_request_has_a_nonce_of_its_own():
    signer = RequestSigner(TEST_KEY, "https://signature-agent.test", 300, lambda: CREATED)
    inputs = [signer.headers("https://example.com/")["Signature-Input"] for _ in range(100)]
    nonces = {re.search(r'nonce="([\w-]{86})"', text)[1] for text in inputs}
    assert len(nonces) == 100
