"""The real SDKs against a server that speaks their protocol: each end has its word, and nothing is sent twice."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing

import pytest

from crawler.llm.model import Outcome, ProviderError, Reply, Request
from crawler.llm.named import model_of, opened
from crawler.problems import InputError
from tests.support.models import ModelServer, Say, Script

PROTOCOLS = ("anthropic", "google", "openai")
SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}
REQUEST = Request("Answer.", "=== 1 ===\nA page.\n=== 1 ===", SCHEMA, 64)
Serve = Callable[[Script], ModelServer]


def reply_to(server: ModelServer, protocol: str) -> Reply:
    with closing(opened(model_of(server.model(protocol)))) as provider:
        return provider.complete(REQUEST)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_whole_answer_comes_with_its_tokens(serve: Serve, protocol: str) -> None:
    server = serve(lambda ask: Say('{"word": "owl"}', tokens=(31, 7)))
    assert reply_to(server, protocol) == Reply(Outcome.ANSWERED, '{"word": "owl"}', 31, 7)
    (ask,) = server.asks
    assert (ask.system, ask.user, ask.schema, ask.model) == (REQUEST.system, REQUEST.user, SCHEMA, "small")


HTML = Say(raw=b"<html><body>Sign in to the hotel's network</body></html>", kind="text/html")
FAULTS = {
    "a cut answer": (Say('{"word": "owl"}', cut=True), Outcome.CUT),
    "a page of HTML with status 200": (HTML, Outcome.GARBLED),
    "JSON of another kind": (Say(raw=b'{"hello": "world"}'), Outcome.GARBLED),
    "half a JSON": (Say(raw=b'{"choices": [{"mess'), Outcome.GARBLED),
    "a list": (Say(raw=b"[1, 2]"), Outcome.GARBLED),
    "an answer that reached its most tokens": (Say('{"word": "o', ended="length"), Outcome.TRUNCATED),
    "one that is whole by chance and reached them": (Say('{"word": "owl"}', ended="length"), Outcome.TRUNCATED),
    "a refusal": (Say("I cannot help with that.", ended="refusal"), Outcome.REFUSED),
    "400": (Say(status=400), Outcome.REJECTED),
    "413": (Say(status=413), Outcome.REJECTED),
    "500": (Say(status=500), Outcome.SERVER_ERROR),
    "502 in HTML": (Say(status=502, raw=b"<h1>Bad gateway</h1>", kind="text/html"), Outcome.SERVER_ERROR),
    "503": (Say(status=503), Outcome.OVERLOADED),
    "529": (Say(status=529), Outcome.OVERLOADED),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_whole_answer_has_a_word_of_its_own_and_is_sent_once(
    serve: Serve, fault: str, protocol: str
) -> None:
    say, outcome = FAULTS[fault]
    server = serve(lambda ask: say)
    reply = reply_to(server, protocol)
    assert (reply.outcome, reply.text, len(server.asks)) == (outcome, "", 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_wait_that_is_asked_for_is_told_and_not_waited_for(serve: Serve, protocol: str) -> None:
    server = serve(lambda ask: Say(status=429, headers={"Retry-After": "90"}))
    reply = reply_to(server, protocol)
    assert (reply.outcome, reply.wait, len(server.asks)) == (Outcome.RATE_LIMITED, 90.0, 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_no_request_can_mend_is_an_error(serve: Serve, protocol: str, status: int) -> None:
    server = serve(lambda ask: Say(status=status))
    with pytest.raises(ProviderError, match=f"HTTP {status}"):
        reply_to(server, protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_without_a_count_has_none(serve: Serve, protocol: str) -> None:
    reply = reply_to(serve(lambda ask: Say('{"word": "owl"}', tokens=None)), protocol)
    unknown = (reply.tokens_in, reply.tokens_out) == (None, None)
    assert unknown or reply.outcome is Outcome.GARBLED


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_server_that_is_not_there_is_unreachable_and_unpaid(serve: Serve, protocol: str) -> None:
    server = serve(lambda ask: Say())
    server.stop()
    outcome = reply_to(server, protocol).outcome
    assert (outcome, outcome.is_unpaid) == (Outcome.UNREACHABLE, True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("url", ["http://no-such-host.invalid", "https://127.0.0.1:{port}"])
def test_an_unknown_name_or_a_failed_handshake_is_unreachable(serve: Serve, protocol: str, url: str) -> None:
    server = serve(lambda ask: Say())
    with closing(opened(model_of(f"{protocol}:small@{url.format(port=server.port)}"))) as provider:
        assert provider.complete(REQUEST).outcome is Outcome.UNREACHABLE
    assert server.asks == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_a_key_the_providers_own_address_is_a_sentence(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    with pytest.raises(InputError, match="no key; set "):
        opened(model_of(f"{protocol}:small"))


@pytest.mark.parametrize("text", ["gpt-5", "openai:", "opnai:gpt-5", "openai:a@https://me:secret@host/v1"])
def test_a_model_that_cannot_be_meant_is_refused_without_its_secret(text: str) -> None:
    with pytest.raises(InputError) as error:
        model_of(text)
    assert "secret@" not in str(error.value)
