"""The settings of signatures: which addresses of a directory are accepted, and for how long a signature may be good."""

from __future__ import annotations

import pytest

from crawler.config import ConfigError, from_mapping


@pytest.mark.parametrize(
    "agent",
    [
        "https://bot.example.org",
        "https://bot.example.org/",
        "https://bot.example.org:8443/.well-known/http-message-signatures-directory",
        "https://xn--bcher-kva.example/keys.json",
        "https://[2001:db8::1]/a_b~c",
    ],
)
def test_an_https_url_is_an_agent_as_it_stands(agent):
    assert from_mapping({"BOT_SIGNATURE_AGENT": agent}).signature.agent == agent


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        ("http://bot.example.org", "expected an https URL such as https://bot.example.org/.well-known/"),
        ("bot.example.org", "expected an https URL"),
        ("https://", "expected an https URL"),
        ("https:///keys", "expected an https URL"),
        ("https://user:secret@bot.example.org", "expected an https URL"),
        ("https://bot.example.org:port", "expected an https URL .*(Port|port)"),
        ("https://[::1", "expected an https URL"),
        ("https://bücher.example/keys", "with the name of the host in ASCII: xn--bcher-kva.example"),
        ("https://bot.example.org/?a=b", "without a query or a fragment"),
        ("https://bot.example.org/#a", "without a query or a fragment"),
        ("https://bot.example.org/ä", "of letters, digits"),
        ('https://bot.example.org/"', "of letters, digits"),
        ("https://bot.example.org/a b", "of letters, digits"),
        ("https://bot.example.org/a%20b", "of letters, digits"),
        ("https://bot.example.org/$(id)", "of letters, digits"),
        ("https://bot.example.org/\n", "of letters, digits"),
    ],
)
def test_anything_else_is_refused_with_what_was_expected(agent, why):
    with pytest.raises(ConfigError, match=f"BOT_SIGNATURE_AGENT=.*{why}") as caught:
        from_mapping({"BOT_SIGNATURE_AGENT": agent})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("seconds", [9, 86_401, "soon"])
def test_a_signature_is_good_for_ten_seconds_to_a_day(seconds):
    with pytest.raises(ConfigError, match="BOT_SIGNATURE_SECONDS"):
        from_mapping({"BOT_SIGNATURE_SECONDS": seconds})
    assert from_mapping({"BOT_SIGNATURE_SECONDS": 10}).signature.seconds == 10
    assert from_mapping({"BOT_SIGNATURE_SECONDS": 86_400}).signature.seconds == 86_400


def test_nothing_is_signed_where_nothing_is_set():
    signature = from_mapping({"BOT_SIGNATURE_KEY_FILE": "", "BOT_SIGNATURE_AGENT": ""}).signature
    assert (signature.key_file, signature.agent, signature.seconds) == (None, None, 300)


def test_who_signs_decides_nothing_about_a_page():
    signed = {"BOT_SIGNATURE_KEY_FILE": "key.pem", "BOT_SIGNATURE_AGENT": "https://bot.example.org"}
    assert from_mapping(signed).digest == from_mapping({}).digest
