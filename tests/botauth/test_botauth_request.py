"""Signed requests before a verifier that this project has not written (http-message-signatures)."""

from __future__ import annotations

import time

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import InvalidSignature

from crawler.botauth.key import Key
from crawler.botauth.request import RequestSigner
from tests.support.verifier import MEMBER, Message, verify

AGENT = "https://bot.example.org/.well-known/http-message-signatures-directory"
KEY = Key(Ed25519PrivateKey.generate())


def signed(url: str, *, late: float = 0, seconds: int = 300, key: Key = KEY, agent: str = AGENT) -> Message:
    return Message(url, RequestSigner(key, agent, seconds, lambda: time.time() - late).headers(url))


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a?b=c",
        "https://example.org:8443/",
        "https://[2001:db8::1]:8443/",
        "https://xn--bcher-kva.example/",
        "http://127.0.0.1:8080/robots.txt",
        "http://example.org/",
    ],
)
def test_a_request_is_verified_under_its_authority_and_agent(url):
    (found,) = verify(signed(url), KEY, require_components=('"@authority"', MEMBER))
    assert found.parameters["tag"] == "web-bot-auth"
    assert found.parameters["keyid"] == KEY.keyid
    assert found.parameters["expires"] - found.parameters["created"] == 300
    assert found.covered_components[MEMBER] == f'"{AGENT}"'


@pytest.mark.parametrize(
    "agent", ["https://bot.example.org", "https://bot.example.org:8443/keys.json", "https://xn--bcher-kva.example/a~b"]
)
def test_an_agent_with_port_path_or_encoded_name_is_sent_as_it_stands(agent):
    message = signed("https://example.org/", agent=agent)
    assert message.headers["Signature-Agent"] == f'sig1="{agent}"'
    verify(message, KEY)


def test_a_signature_is_of_no_use_for_another_host():
    message = signed("https://example.org/")
    for url in ("https://evil.example/", "https://example.org:8443/"):
        with pytest.raises(InvalidSignature):
            verify(Message(url, message.headers), KEY)


def test_what_was_overheard_over_http_is_of_no_use_over_https():
    message = signed("http://example.org/")
    verify(message, KEY)
    with pytest.raises(InvalidSignature):
        verify(Message("https://example.org/", message.headers), KEY)


def test_an_agent_that_was_changed_on_the_way_is_not_believed():
    message = signed("https://example.org/")
    message.headers["Signature-Agent"] = 'sig1="https://evil.example"'
    with pytest.raises(InvalidSignature):
        verify(message, KEY)


def test_a_key_that_is_not_in_the_directory_is_not_believed():
    other = Key(Ed25519PrivateKey.generate())
    with pytest.raises(InvalidSignature):
        verify(signed("https://example.org/", key=other), KEY)


def test_a_signature_ends_when_its_seconds_are_over():
    verify(signed("https://example.org/", late=40, seconds=60), KEY)
    with pytest.raises(InvalidSignature, match="expires"):
        verify(signed("https://example.org/", late=80, seconds=60), KEY)


def test_a_clock_that_is_ahead_makes_signatures_that_nobody_believes_yet():
    with pytest.raises(InvalidSignature, match="created"):
        verify(signed("https://example.org/", late=-60), KEY)


def test_while_keys_are_changed_both_are_verified():
    new = Key(Ed25519PrivateKey.generate())
    for key in (KEY, new):
        verify(signed("https://example.org/", key=key), KEY, new)
    with pytest.raises(InvalidSignature):
        verify(signed("https://example.org/"), new)
