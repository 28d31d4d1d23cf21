"""What a forward proxy is told and what its answers mean, which site it gets, and when it is left alone."""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import replace

import pytest

from crawler.config import ConfigError, from_mapping
from crawler.config.egress import proxy_address
from crawler.downloader.proxies import Blame, NoTunnelError, Proxy, ask_for_tunnel, greet, proxies_of
from crawler.downloader.proxy_health import LONGEST_PAUSE, RETIRED_AFTER, TOGETHER_SECONDS, TRIAL_SECONDS, ProxyHealth
from crawler.downloader.reach import DOUBT_SECONDS, Whose
from crawler.problems import InputError
from tests.support.clock import FakeClock

HTTP = Proxy(proxy_address("http://proxy.example:3128"))
HTTP_LOGIN = Proxy(replace(HTTP.address, login="env:PORTER"), b"porter", b"s:cret")
SOCKS = Proxy(proxy_address("socks5://[2001:db8::7]:1080"))
SOCKS_LOGIN = Proxy(replace(SOCKS.address, login="env:PORTER"), b"porter", b"secret")
GRANTED = b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50"


def talk(words, *answers: bytes) -> tuple[list[bytes], bytes]:
    """What was said, and what came behind the last word; every answer is given byte by byte."""
    said = [next(words)]
    try:
        for answer in answers:
            said += [words.send(bytes([byte])) for byte in answer[:-1]]
            said.append(words.send(answer[-1:]))
    except StopIteration as end:
        return [word for word in said if word], end.value
    raise AssertionError("it waits for more")


def refused(words, *answers: bytes) -> NoTunnelError:
    with pytest.raises(NoTunnelError) as caught:
        talk(words, *answers)
    return caught.value


def test_connect_names_the_address_and_no_host():
    said, rest = talk(ask_for_tunnel(HTTP, "192.0.2.7", 80), b"HTTP/1.0 200 Connection established\r\nA: b\r\n\r\n")
    assert said == [b"CONNECT 192.0.2.7:80 HTTP/1.1\r\nHost: 192.0.2.7:80\r\n\r\n"]
    assert rest == b""
    said, _ = talk(ask_for_tunnel(HTTP, "2001:db8::1", 443), b"HTTP/1.1 200 OK\r\n\r\n")
    assert said[0].startswith(b"CONNECT [2001:db8::1]:443 HTTP/1.1\r\n")


def test_bytes_behind_the_answer_are_the_sites():
    words = ask_for_tunnel(HTTP, "192.0.2.7", 80)
    next(words)
    with pytest.raises(StopIteration) as end:
        words.send(b"HTTP/1.1 200 OK\r\n\r\nfirst")
    assert end.value.value == b"first"


def test_logins_are_said_as_each_kind_wants_them():
    said, _ = talk(ask_for_tunnel(HTTP_LOGIN, "192.0.2.7", 80), b"HTTP/1.1 200 OK\r\n\r\n")
    assert b"\r\nProxy-Authorization: Basic " + base64.b64encode(b"porter:s:cret") + b"\r\n" in said[0]
    said, _ = talk(ask_for_tunnel(SOCKS_LOGIN, "127.0.0.1", 80), b"\x05\x02", b"\x01\x00", GRANTED)
    assert said == [b"\x05\x02\x00\x02", b"\x01\x06porter\x06secret", b"\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"]


def test_socks_is_given_addresses_of_both_kinds():
    said, rest = talk(ask_for_tunnel(SOCKS, "::1", 443), b"\x05\x00", b"\x05\x00\x00\x04" + bytes(18))
    assert said == [b"\x05\x01\x00", b"\x05\x01\x00\x04" + bytes(15) + b"\x01\x01\xbb"]
    assert rest == b""


@pytest.mark.parametrize(
    ("status", "blame"),
    [(407, "proxy"), (400, "proxy"), (429, "proxy"), (405, "proxy"), (301, "proxy"), (403, "unclear"),
     (500, "unclear"), (502, "unclear"), (503, "unclear"), (504, "unclear")],
)  # fmt: skip
def test_an_answer_to_connect_is_never_surely_the_sites(status, blame):
    error = refused(ask_for_tunnel(HTTP, "192.0.2.7", 80), f"HTTP/1.1 {status} No\r\n\r\n".encode())
    assert (error.blame.value, error.status) == (blame, status)
    assert "proxy.example:3128" in str(error)


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-x\r\n\r\n", b"\x05\x00" + b"\r\n\r\n", b"HTTP/2 200\r\n\r\n", b"x" * 20_000]
)
def test_what_speaks_otherwise_is_no_proxy(answer):
    assert refused(ask_for_tunnel(HTTP, "192.0.2.7", 80), answer).blame is Blame.PROXY


@pytest.mark.parametrize(
    ("code", "blame"),
    [(1, "unclear"), (2, "unclear"), (3, "unclear"), (4, "unclear"), (5, "site"), (6, "unclear"), (7, "proxy"),
     (8, "unclear"), (99, "proxy")],
)  # fmt: skip
def test_a_refused_connection_is_the_one_reply_of_socks_that_is_surely_the_sites(code, blame):
    error = refused(ask_for_tunnel(SOCKS, "192.0.2.7", 80), b"\x05\x00", bytes([5, code, 0, 1]) + bytes(6))
    assert error.blame.value == blame


def test_a_login_that_is_missing_or_wrong_is_the_proxys_trouble_and_not_shown():
    for words, answers in (
        (ask_for_tunnel(SOCKS, "192.0.2.7", 80), [b"\x05\xff"]),
        (ask_for_tunnel(SOCKS_LOGIN, "192.0.2.7", 80), [b"\x05\x02", b"\x01\x01"]),
        (greet(SOCKS_LOGIN), [b"\x05\x02", b"\x01\x01"]),
        (greet(HTTP_LOGIN), [b"HTTP/1.1 407 No\r\n\r\n"]),
        (greet(HTTP_LOGIN), [b"HTTP/1.1 401 No\r\n\r\n"]),
    ):
        error = refused(words, *answers)
        assert error.blame is Blame.PROXY
        assert "this login: check env:PORTER" in str(error) or "requires a login" in str(error)
        assert "cret" not in str(error)
    assert "cret" not in repr(HTTP_LOGIN) + repr(SOCKS_LOGIN)


def test_a_greeting_takes_any_word_about_a_site_as_a_sign_of_life():
    assert talk(greet(HTTP), b"HTTP/1.1 502 No\r\n\r\n")[1] == b""
    assert talk(greet(SOCKS), b"\x05\x00")[1] == b""


# --- the setting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("proxy.example:3128", "expected http://host:port"),
        ("https://proxy.example:3128", "not the scheme 'https'"),
        ("socks5h://proxy.example:1080", "checked here"),
        ("http://proxy.example", "with a port"),
        ("http://proxy.example:0", "with a port"),
        ("http://proxy.example:99999", "expected http://host:port"),
        ("http://:3128", "with a port"),
        ("http://proxy.example:3128/path", "no path"),
        ("http://proxy.example:3128?user=x", "?login=env:NAME"),
        ("http://a.example:1,http://b.example:2,http://a.example:1", "is listed twice"),
        (",", "an entry is empty"),
        (" ", "an entry is empty"),
        ("http://a.example:1,", "an entry is empty"),
        ("http://a.example:1,,http://b.example:2", "an entry is empty"),
        (["", "http://a.example:1"], "an entry is empty"),
    ],
)
def test_a_wrong_proxy_is_a_sentence(value, said):
    with pytest.raises(ConfigError) as caught:
        from_mapping({"EGRESS_PROXIES": value})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        "http://porter:s3cret@proxy.example:3128",
        "http://proxy.example:3128?login=porter:s3cret",
        "http://proxy.example:port?login=porter:s3cret,http://b.example:1",
        "http://proxy.example:3128?login=s3cret&login=env:X",
    ],
)
def test_credentials_in_the_setting_are_refused_and_not_repeated(value):
    with pytest.raises(ConfigError) as caught:
        from_mapping({"EGRESS_PROXIES": value})
    assert "s3cret" not in str(caught.value)


def test_logins_are_read_from_where_the_setting_says(tmp_path, monkeypatch):
    monkeypatch.setenv("PORTER", "porter:a:b\n")
    (tmp_path / "login").write_text("other:pässword\n", "utf-8")
    config = from_mapping(
        {"EGRESS_PROXIES": f"http://a.example:1?login=env:PORTER, socks5://b.example:2?login=file:{tmp_path}/login"}
    )
    first, second = proxies_of(config)
    assert (first.user, first.password) == (b"porter", b"a:b")
    assert (second.user, second.password) == (b"other", "pässword".encode())


@pytest.mark.parametrize("text", ["s3cret", ":s3cret", "a:s3cret\r\nX: y", "a:" + "s3cret" * 50])
def test_a_login_that_is_none_is_named_by_its_place_only(text, monkeypatch):
    monkeypatch.setenv("PORTER", text)
    config = from_mapping(
        {"EGRESS_PROXIES": "http://a.example:1?login=env:PORTER,http://b.example:1?login=env:NOBODY_"}
    )
    with pytest.raises(InputError) as caught:
        proxies_of(config)
    assert "PORTER" in str(caught.value)
    assert "NOBODY_ is not set" in str(caught.value)
    assert "s3cret" not in str(caught.value)


# --- which proxy, and is it there ------------------------------------------------------------------------------------

PROXIES = [Proxy(proxy_address(f"http://127.0.0.{n}:3128")) for n in (1, 2, 3)]
SITES = [f"site{n}.example" for n in range(300)]


def test_a_site_has_one_proxy_and_sites_spread_over_all():
    clock = FakeClock()
    health, other = ProxyHealth(PROXIES, clock), ProxyHealth(PROXIES[::-1], clock)
    found = {site: health.of(site) for site in SITES}
    assert {site: other.of(site) for site in SITES} == found, "in whatever order they are named"
    assert min(Counter(proxy.name for proxy in found.values()).values()) > 60


def test_only_the_sites_of_a_proxy_that_fails_move_and_they_move_back():
    clock = FakeClock()
    health = ProxyHealth(PROXIES, clock)
    before = {site: health.of(site) for site in SITES}
    assert health.failed(PROXIES[0], "it is gone")
    assert not health.failed(PROXIES[0], "it is gone"), "one failure, met by two requests"
    during = {site: health.of(site) for site in SITES}
    assert {site for site in SITES if during[site] != before[site]} == {
        site for site in SITES if before[site] is PROXIES[0]
    }
    clock.advance(1.0)
    tried = [health.of(site) for site in SITES].count(PROXIES[0])
    assert tried == 1, "one request tries it"
    health.served(PROXIES[0], 80)
    assert {site: health.of(site) for site in SITES} == before


def test_pauses_grow_until_a_proxy_is_retired_and_even_then_it_may_come_back(caplog):
    clock = FakeClock()
    (proxy,) = PROXIES[:1]
    health = ProxyHealth([proxy], clock)
    pauses = []
    for _ in range(RETIRED_AFTER + 1):
        health.failed(proxy, "127.0.0.1:3128 is not reached")
        pause = 0.0
        while health.of("a.example") is None:
            clock.advance(0.5)
            pause += 0.5
        pauses.append(pause)
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, LONGEST_PAUSE, LONGEST_PAUSE]
    assert health.none_for() > LONGEST_PAUSE
    assert [record.message.count("retired") for record in caplog.records] == [0, 1]
    health.served(proxy, 80)
    assert (health.none_for(), health.of("a.example")) == (0.0, proxy)


def test_a_trial_that_nobody_ends_does_not_keep_a_proxy_away_for_ever():
    clock = FakeClock()
    health = ProxyHealth(PROXIES[:1], clock)
    health.failed(PROXIES[0], "gone")
    clock.advance(1.0)
    assert health.of("a.example") is PROXIES[0]
    assert health.of("a.example") is None
    clock.advance(TRIAL_SECONDS)
    assert health.of("a.example") is PROXIES[0]


def test_a_dead_site_is_told_from_a_proxy_that_reaches_nobody():
    clock = FakeClock()
    health = ProxyHealth(PROXIES, clock)
    proxy = PROXIES[0]
    assert health.missed(proxy, 80, "dead.example") is Whose.UNCLEAR
    clock.advance(0.1)
    health.served(proxy, 443)
    assert health.missed(proxy, 80, "dead.example") is Whose.UNCLEAR, "another port says nothing"
    health.served(proxy, 80)
    assert health.missed(proxy, 80, "dead.example") is Whose.THEIRS
    clock.advance(0.1)
    for site in ("a.example", "b.example"):
        assert health.missed(proxy, 80, site) is Whose.UNCLEAR
    clock.advance(0.1)
    assert health.missed(proxy, 80, "c.example") is Whose.OURS
    assert health.missed(PROXIES[1], 80, "c.example") is Whose.UNCLEAR, "each proxy for itself"
    clock.advance(DOUBT_SECONDS)
    assert health.missed(PROXIES[1], 80, "c.example") is Whose.THEIRS


def test_tunnels_that_end_together_accuse_the_proxy_and_those_that_we_end_do_not():
    clock = FakeClock()
    health = ProxyHealth(PROXIES, clock)
    proxy = PROXIES[0]

    def end(*sites: str, by_us: bool = False) -> None:
        for site in sites:
            health.opened(proxy, site, site)
        clock.advance(0.1)
        for site in sites:
            health.closed(proxy, site, by_us=by_us)

    end("a", "b", "c", by_us=True)
    assert not health.lost_together(proxy, "a")
    end("a", "b")
    assert not health.lost_together(proxy, "a"), "one other site is a coincidence"
    end("c")
    assert health.lost_together(proxy, "a")
    clock.advance(2 * TOGETHER_SECONDS)
    health.opened(proxy, "stays", "d")
    end("a", "b", "c")
    assert not health.lost_together(proxy, "a"), "the proxy has kept another one"
