"""One question, one answer: is this page refused, by its address in any spelling, or by its text anywhere?"""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import DedupConfig
from crawler.dataset.exclude import WITHDRAWALS, Wish, undo, withdraw
from crawler.dataset.refused import Refusals, address_of
from crawler.dataset.text_prints import TextPrints, printed
from crawler.dataset.withdrawals import covering
from crawler.document import Document
from crawler.stages.fingerprint import FingerprintStage
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from tests.support.letters import MIRROR, OTHER, SITE, Letters, changed, fill
from tests.support.syllables import prose

TEXT = prose(200, 1)
LETTER = f"{SITE}/letter"


@pytest.fixture
def place(tmp_path):
    fill(tmp_path / "corpus")
    return Place(str(tmp_path / "corpus"))


def withdrawn(place, *urls, reach="text", **more):
    return withdraw(place, Wish("a letter", urls=frozenset(urls), reach=reach, **more), now=1.8e9)


def refused(place):
    return Refusals.of([place])


@pytest.mark.parametrize(
    "spelling",
    [
        "https://birch.example/letter",
        "HTTPS://Birch.Example/letter",
        "http://birch.example/letter",
        "https://birch.example:443/letter",
        "https://birch.example./letter",
        "https://birch.example/letter?",
        "https://birch.example/letter#part",
        "https://birch.example/letter?utm_source=mail&utm_campaign=x",
        "https://birch.example/a/../letter",
        "https://birch.example/%6Cetter",
        "  https://birch.example/letter\n",
    ],
)
def test_a_page_is_refused_in_whatever_spelling(place, spelling):
    withdrawn(place, LETTER)
    assert refused(place).refusal(spelling).what == "address"


@pytest.mark.parametrize("other", ["/Letter", "/letter/2", "/letter?page=2", "/lette", "/"])
def test_another_page_of_the_site_is_not(place, other):
    withdrawn(place, LETTER)
    assert refused(place).refusal(SITE + other) is None


@given(
    st.sampled_from(["http", "https", "HTTP"]),
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8),
    st.lists(st.sampled_from(["utm_source=a", "fbclid=b", "gclid=c"]), max_size=3),
    st.sampled_from(["", "#", "#x"]),
    st.booleans(),
)
def test_an_address_is_the_same_whatever_stands_around_it(scheme, name, tracking, fragment, upper):
    host = f"{name}.example"
    plain = f"https://{host}/{name}"
    query = "?" + "&".join(tracking) if tracking else ""
    spelt = f"{scheme}://{host.upper() if upper else host}/{name}{query}{fragment}"
    assert address_of(spelt) == address_of(plain)
    assert address_of(address_of(plain)) == address_of(plain)


def test_the_name_of_a_record_counts_beside_its_url(place):
    withdrawn(place, LETTER)
    found = refused(place)
    assert found.refusal("https://elsewhere.example/x", canonical_url=LETTER)
    assert found.of_record({"url": "https://elsewhere.example/x", "canonical_url": LETTER})


def test_the_same_text_and_nearly_the_same_are_refused_under_any_address_and_others_are_not(place):
    withdrawn(place, LETTER)
    found = refused(place)
    for text in (TEXT, TEXT.upper(), changed(TEXT)):
        assert found.of_record({"url": "https://new.example/", "text": text}).what == "text"
    assert found.of_record({"url": "https://new.example/", "text": prose(200, 99)}) is None
    assert found.of_record({"text": TEXT}).what == "text"  # a document of others has no address


def test_pages_that_are_sent_alike_and_drawn_by_a_script_are_not_one(place):
    """Their text is what counts: one shell is the body of every page of such a site."""
    more = Letters(place.url, "w2")
    for number in range(2):
        more.add(f"{OTHER}/app/{number}", prose(200, 70 + number), html="<html><script src=app.js></script></html>")
    more.close()
    done = withdrawn(place, f"{OTHER}/app/0")
    assert (done.found.kept, done.found.copies) == (1, [])
    assert refused(place).refusal(f"{OTHER}/app/1") is None


def test_a_withdrawal_of_the_address_alone_leaves_copies_and_takes_the_page_in_every_spelling(place):
    done = withdrawn(place, LETTER, reach="address")
    assert done.found.copies == [] and done.found.kept == 1
    assert refused(place).refusal("http://BIRCH.example/letter?")
    assert refused(place).of_record({"url": "https://new.example/", "text": TEXT}) is None


def test_copies_go_with_the_page_kept_ones_and_the_texts_of_rejected_ones(place):
    done = withdrawn(place, LETTER)
    assert sorted(done.found.copies) == [f"{OTHER}/copy", f"{MIRROR}/nearly", f"{MIRROR}/same"]
    assert (done.found.kept, done.found.with_text) == (3, 1)
    for url in done.found.copies:
        assert refused(place).refusal(url).what == "address"


def test_no_setting_of_a_crawl_changes_what_is_a_copy(place):
    withdrawn(place, LETTER)
    for dedup in (DedupConfig(), DedupConfig(threshold=1.0, bands=5, rows=3, shingle_words=2)):
        doc = Document(url="https://new.example/", text=changed(TEXT), done=["fingerprint"])
        FingerprintStage(dedup)(doc)
        assert refused(place).of_document(doc, dedup).what == "text"


def test_an_entry_that_was_taken_back_refuses_nothing_and_its_lines_stay(place):
    withdrawn(place, LETTER)
    before = lines(place)
    undo(place, 1, reason="a mistake", by="Jo", now=1.81e9)
    assert not refused(place).refusal(LETTER)
    assert not refused(place).of_record({"url": "https://x.example/", "text": TEXT})
    assert lines(place)[: len(before)] == before
    assert lines(place)[len(before) :] == [
        {"kind": "undo", "number": 1, "time": "2027-05-11T01:46:40.000Z", "reason": "a mistake", "by": "Jo"}
    ]


def test_taking_back_twice_adds_one_line_and_what_is_not_there_cannot_be_taken_back(place):
    withdrawn(place, LETTER)
    for _ in range(2):
        undo(place, 1, reason="x", by="Jo", now=1.81e9)
    assert [line["kind"] for line in lines(place)].count("undo") == 1
    with pytest.raises(StorageError, match="no entry 7; it has 1"):
        undo(place, 7, reason="x", by="Jo", now=1.81e9)


def test_what_was_taken_back_can_be_withdrawn_again_as_an_entry_of_its_own(place):
    withdrawn(place, LETTER)
    undo(place, 1, reason="x", by="Jo", now=1.81e9)
    assert withdrawn(place, LETTER).number == 2
    assert refused(place).refusal(LETTER).number == 2


def test_a_log_of_an_older_version_refuses_its_pages_for_good_and_lets_lapsed_ones_come_back(place):
    """As it was written before there were entries for pages: no `urls`, no `reach`, no texts."""
    wish = {"kind": "withdrawal", "time": "2026-02-01T00:00:00Z", "refused": [], "reason": "x", "domains": []}
    page = {"kind": "page", "was": "kept", "domain": None, "doc_id": None, "content_hash": None, "license_tag": None}
    log = [
        wish | {"number": 1, "licences": [], "rule": "allowlist sha256:0"},
        page | {"number": 1, "url": LETTER, "canonical_url": LETTER},
        wish | {"number": 2, "licences": [], "rule": "lifetimes at 2026-02-01T00:00:00Z: * 1 days"},
        page | {"number": 2, "url": f"{SITE}/other", "canonical_url": f"{SITE}/other"},
    ]
    place.put(WITHDRAWALS, b"".join(json.dumps(line).encode() + b"\n" for line in log))
    found = refused(place)
    later, earlier = "2026-03-01T00:00:00Z", "2026-01-01T00:00:00Z"
    assert found.refusal(LETTER).number == 1 and found.of_record({"url": LETTER, "crawled_at": later})
    assert found.refusal(f"{SITE}/other") is None
    assert found.of_record({"url": f"{SITE}/other", "crawled_at": earlier})
    assert not found.of_record({"url": f"{SITE}/other", "crawled_at": later})


def test_a_text_that_cannot_be_compared_stops_whoever_asks(place):
    withdrawn(place, LETTER)
    path = place.root / WITHDRAWALS
    path.write_text(path.read_text().replace("affine32/", "another/"))
    with pytest.raises(StorageError, match="entry 1 cannot be compared"):
        refused(place)


def test_what_is_refused_goes_to_another_process(place):
    withdrawn(place, LETTER)
    sent = pickle.loads(pickle.dumps(refused(place)))
    assert sent.refusal(LETTER) == refused(place).refusal(LETTER)
    assert sent.of_record({"url": "https://x.example/", "text": changed(TEXT)})


@given(st.integers(0, 10_000), st.integers(0, 3))
def test_a_print_finds_its_own_text_and_none_of_another(seed, changes):
    known = TextPrints()
    known.add(printed(prose(120, 1)), "it")
    assert known.find(printed(changed(prose(120, 1), changes, seed))) == "it"
    assert known.find(printed(prose(120, seed + 2))) is None


def test_a_domain_with_a_port_covers_that_port_only():
    assert covering({"127.0.0.1:80"}, "http://127.0.0.1:81/") == ""
    assert covering({"birch.example"}, "https://www.birch.example/") == "birch.example"
    assert covering({"birch.example"}, "https://birch.example./x") == "birch.example"


def lines(place):
    return [json.loads(line) for line in (place.root / WITHDRAWALS).read_text().splitlines()]
