"""Which URLs may be asked for and which addresses connected to."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.policy.facts import user_agent
from crawler.policy.network import NO_CONTACT, NetworkRules

FORBIDDEN = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.9.9.9", "169.254.169.254"),
    *("172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1"),
    *("203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16", "192.88.99.1"),
    *("::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1"),
    *("2001::1", "2001:db8::1", "2002:7f00:1::", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1"),
    *("ff02::1", "5f00::1", "3fff::1", "", "localhost", "1.2.3", "not an address"),
]
OPEN = ["93.184.216.34", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8"]


@pytest.mark.parametrize("address", FORBIDDEN)
def test_an_address_that_is_not_globally_routable_is_refused(address):
    assert NetworkRules().address_complaint(address)


@pytest.mark.parametrize("address", OPEN)
def test_a_globally_routable_address_is_open(address):
    assert NetworkRules().address_complaint(address) is None


def test_network_allow_opens_what_it_names_and_nothing_else():
    rules = NetworkRules(allow=["127.0.0.0/8", "fd00::/8"])
    assert rules.address_complaint("127.0.0.1") is None
    assert rules.address_complaint("::ffff:127.0.0.1") is None
    assert rules.address_complaint("fd00:ec2::254") is None
    assert rules.address_complaint("10.0.0.1")
    assert rules.address_complaint("::1")


def test_without_a_contact_only_loopback_is_open_and_only_if_allowed():
    rules = NetworkRules(allow=["127.0.0.0/8", "10.0.0.0/8"], loopback_only=True)
    assert rules.address_complaint("127.0.0.1") is None
    assert rules.address_complaint("8.8.8.8") == NO_CONTACT
    assert rules.address_complaint("10.0.0.1") == NO_CONTACT
    assert NetworkRules(loopback_only=True).address_complaint("127.0.0.1")


@pytest.mark.parametrize(
    "url",
    [
        *(
            "ftp://a.example/",
            "file:///etc/passwd",
            "gopher://a.example/",
            "javascript:alert(1)",
            "data:,x",
            "//a.example/",
        ),
        *("http://", "http:///x", "http://user@a.example/", "http://user:pw@a.example/", "http://:pw@a.example/"),
        *("http://a.example:22/", "http://a.example:0/", "http://a.example:99999/", "http://a.example:x/"),
        *("http://a.example/\n", "http://a.example/a b", "http://a.example\\@b.example/", "http://a\x00.example/"),
        *(
            "http://[::1/",
            "http://127.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://169.254.169.254/latest",
        ),
        "http://a.example/" + "x" * 2_100,
    ],
)
def test_a_url_that_must_not_be_asked_for_is_refused(url):
    assert NetworkRules().url_complaint(url)


USUAL = [
    "http://a.example/",
    "https://a.example:443/x?y=1",
    "HTTPS://A.example",
    "http://8.8.8.8/",
    "http://a.example:80",
]


@pytest.mark.parametrize("url", USUAL)
def test_an_ordinary_url_passes(url):
    assert NetworkRules().url_complaint(url) is None


def test_ports_are_a_setting():
    rules = NetworkRules(ports=[8080])
    assert rules.url_complaint("http://a.example:8080/") is None
    assert rules.url_complaint("http://a.example/")


@settings(deadline=None, derandomize=True)
@given(st.ip_addresses())
def test_nothing_that_python_knows_to_be_private_is_open(address):
    if not ipaddress.ip_address(address).is_global:
        assert NetworkRules().address_complaint(str(address))


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=80))
def test_no_text_makes_the_url_check_raise(text):
    NetworkRules().url_complaint(text)
    NetworkRules().url_complaint(f"http://{text}")


def test_the_identity_names_the_product_its_version_and_whom_to_ask():
    assert user_agent("CorpusBot", "0.1", "https://example.org/bot") == "CorpusBot/0.1 (+https://example.org/bot)"
    assert user_agent("CorpusBot", "0.1", "") == "CorpusBot/0.1"
