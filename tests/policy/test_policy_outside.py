"""A detector of another package can only refuse, whatever it answers and however it fails."""

import pytest

from crawler.document import Signal
from crawler.policy import decide
from crawler.policy.decide import decide_body, decide_files, decide_headers
from crawler.policy.signals import registry, tdmrep
from crawler.policy.signals.base import ALLOW, DISALLOW, UNKNOWN, Context, Detector, OptOutFile
from crawler.policy.signals.outside import refusing
from crawler.problems import InputError

CONTEXT = Context("CorpusBot", "strict", 0.0)
BOT = {"product_token": "CorpusBot", "profile": "strict", "now": 0.0}


def says(protocol: str, carrier: str, verdict: str):
    return lambda *_: [Signal(protocol, carrier, "said", verdict)]


def fails(*_):
    raise RuntimeError("no")


@pytest.fixture
def beside(monkeypatch):
    """Put detectors beside the built-in ones, as if packages had added them."""

    def add(*detectors: Detector) -> None:
        every = (*registry.DETECTORS, *map(refusing, detectors))
        for module in (registry, decide):
            monkeypatch.setattr(module, "detectors", lambda: every)

    return add


def test_an_allow_becomes_unknown_and_names_and_carriers_are_its_own():
    bounded = refusing(Detector("mine", "1", headers=says("tdmrep", "meta", ALLOW)))
    assert bounded.headers([], CONTEXT) == [Signal("mine", "header", "said", UNKNOWN)]
    assert bounded.refusal == "mine refuses"
    assert (bounded.metas, bounded.robots, bounded.file, bounded.resolve) == (None, None, None, None)


def test_it_lifts_no_refusal_of_another_protocol(beside):
    reserved = tdmrep.from_headers([(b"tdm-reservation", b"1")], CONTEXT)
    beside(Detector("mine", "1", metas=says(tdmrep.NAME, "meta", ALLOW), resolve=lambda signals, _: None))
    verdict = decide_body([], [], earlier=reserved, **BOT)
    assert verdict.drop is not None and verdict.drop.detail.startswith("tdmrep in header")


def test_a_refusal_stops_the_page(beside):
    beside(Detector("mine", "1", headers=says("mine", "header", DISALLOW)))
    drop = decide_headers([], "CorpusBot", "strict", 0.0).drop
    assert drop is not None and drop.detail == "mine in header: said"


@pytest.mark.parametrize("profile", ["strict", "balanced", "minimal"])
def test_a_detector_that_fails_refuses(beside, profile):
    beside(Detector("mine", "1", headers=fails, metas=fails))
    drop = decide_headers([], "CorpusBot", profile, 0.0).drop
    assert drop is not None and drop.detail == "mine in header: the detector failed (RuntimeError)"
    assert decide_body([("a", "b")], [], product_token="CorpusBot", profile=profile, now=0.0).drop is not None


def test_a_file_that_it_fails_to_read_holds_the_host_and_one_that_it_fails_to_judge_refuses():
    file = OptOutFile("/mine.txt", unreadable=lambda _: "", parse=fails, signals=fails)
    bounded = refusing(Detector("mine", "1", file=file)).file
    assert bounded.unreadable(b"x") == "the detector mine cannot read it (RuntimeError)"
    (signal,) = bounded.signals("parsed", "/", CONTEXT)
    assert (signal.carrier, signal.verdict) == ("well-known", DISALLOW)
    assert not decide_files([signal], "strict").ok


def test_resolving_sees_its_own_statements_alone_and_a_failure_is_a_refusal():
    own, other = Signal("mine", "header", "no", DISALLOW), Signal("tdmrep", "header", "1", DISALLOW)
    seen = []
    lifts = refusing(Detector("mine", "1", resolve=lambda signals, _: seen.extend(signals)))
    assert lifts.resolve([own, other], "") is None and seen == [own]
    assert refusing(Detector("mine", "1", resolve=fails)).resolve([other, own], "") == own
    foreign = refusing(Detector("mine", "1", resolve=lambda *_: Signal("x", "y", "z", ALLOW)))
    assert foreign.resolve([own], "") is None


def test_it_cannot_change_what_the_detectors_after_it_read():
    def clears(lines, _):
        lines.clear()

    (signal,) = refusing(Detector("mine", "1", headers=clears)).headers([(b"a", b"b")], CONTEXT)
    assert signal.value == "the detector failed (AttributeError)"


def test_a_package_that_cannot_be_used_is_a_problem_before_the_first_request(monkeypatch):
    def refused(*_):
        raise InputError(["outside, entry point gristmill.signals x: cannot be loaded"])

    monkeypatch.setattr(registry, "registry", refused)
    registry.detectors.cache_clear()
    assert registry.problems() == ["outside, entry point gristmill.signals x: cannot be loaded"]
    registry.detectors.cache_clear()
