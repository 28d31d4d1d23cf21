"""Readers see texts without their verdicts, of sites that no rule was made with; their answers are counted."""

from __future__ import annotations

import io
import json
import random
import tarfile
import zlib
from collections import Counter
from pathlib import Path

import pytest
import zstandard

from bench.quality import blind
from bench.quality.blind import Judged, cut, draw, in_turn, pages, read_answers, read_key, scored, write
from crawler.problems import InputError


def judged(number: int, reason: str = "", site: str = "", language: str = "en") -> Judged:
    site = site or f"s{number}.example"
    return Judged(
        f"http://{site}/{number}", site, f"p{number % 5}.tgz", language, reason, f"The mill {number} stands still."
    )


def both(number: int) -> list[Judged]:
    languages = "en", "de"
    return [
        judged(2 * n + bad, "too_short" if bad else "", "", languages[n % 2]) for n in range(number) for bad in (0, 1)
    ]


def packed(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, body in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))


def lines(path: Path, *entries: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.compress(b"".join(json.dumps(one).encode() + b"\n" for one in entries)))


def test_the_same_seed_draws_the_same_pages_and_another_seed_others() -> None:
    found = [("dates", f"http://s{n}.example/", b"") for n in range(40)]
    first, again, other = (
        in_turn(random.Random(seed), order) for seed, order in ((1, found), (1, found[::-1]), (2, found))
    )
    assert first == again != other and sorted(first) == sorted(found)


def test_a_site_gives_its_second_page_after_every_other_site_gave_one() -> None:
    found = [("dates", f"http://{host}/{n}", b"") for n in range(9) for host in ("big.example", "www.big.example")]
    order = in_turn(random.Random(5), [*found, ("dates", "http://small.example/", b"")])
    assert "http://small.example/" in [url for _, url, _ in order[:2]]


def test_texts_are_drawn_until_there_are_enough_of_both_kinds_and_none_twice() -> None:
    texts = iter([None, judged(1), judged(1), *both(9)])
    drawn = draw(texts, {True: 3, False: 2})
    assert [bool(one.reason) for one in drawn] == [True] * 3 + [False] * 2 and len({one.text for one in drawn}) == 5
    assert next(texts)


def test_at_most_half_of_the_texts_are_in_one_language() -> None:
    texts = [judged(n, "too_short") for n in range(30)] + [judged(n, "too_short", language="fr") for n in range(50, 60)]
    assert {one.language for one in draw(texts, {True: 4, False: 0})} == {"en", "fr"}
    with pytest.raises(InputError, match="only 5 rejected and 0 kept texts can be drawn"):
        draw(texts[:30], {True: 10, False: 0})


def test_at_most_half_of_the_kept_texts_are_of_one_source() -> None:
    texts = [judged(n, language=f"l{n}") for n in (*range(0, 50, 5), *range(1, 50, 5))]
    assert Counter(one.source for one in draw(texts, {True: 0, False: 6})) == {"p0.tgz": 3, "p1.tgz": 3}


def test_a_new_set_has_no_site_of_an_earlier_one_and_none_that_rules_may_be_developed_on(tmp_path: Path) -> None:
    hosts = [f"s{n}.example" for n in range(12)]
    lines(tmp_path / "data/pages-dev/dates.jsonl.zst", *({"url": f"http://{h}/", "html": "<p>x"} for h in hosts))
    list(write(tmp_path / "old", [judged(1, site=host) for host in hosts[:4]], 1))
    found = list(pages(tmp_path / "data", None, without=[tmp_path / "old-key/key.jsonl"], half=True))
    sites = [url.split("/")[2] for _, url, _ in found]
    assert sites == [host for host in hosts[4:] if zlib.crc32(host.encode()) % 2] and 0 < len(sites) < 8


def test_the_files_of_the_readers_do_not_tell_the_verdict(tmp_path: Path) -> None:
    said = list(write(tmp_path / "read", draw(both(9), {True: 4, False: 4})[::-1], 3))
    assert "8 texts of 8 sites" in said[0]
    files = sorted(path.name for path in (tmp_path / "read").iterdir())
    assert files == [*(f"{n:03}.txt" for n in range(1, 9)), "README.txt"]
    assert not any(
        "too_short" in path.read_text() or "example" in path.read_text() for path in (tmp_path / "read").iterdir()
    )
    keys = read_key(tmp_path / "read-key/key.jsonl")
    assert [key.name for key in keys if key.reason] != ["001", "002", "003", "004"] and len(keys) == 8
    with pytest.raises(InputError, match="is there already"):
        list(write(tmp_path / "read", [], 3))


def test_a_long_text_is_cut_to_its_head_middle_and_end() -> None:
    text = "a" * 5_000 + "m" * 100 + "z" * 5_000
    shown = cut(text)
    assert len(shown) <= 1_500 and shown.count("[…]") == 2
    assert shown[0] == "a" and "m" * 100 in shown and shown[-1] == "z"
    assert cut("short") == "short"


def test_no_page_is_drawn_of_a_site_that_a_rule_was_made_with(tmp_path: Path) -> None:
    lines(tmp_path / "pages-dev/news.jsonl.zst", {"url": "https://www.known.example/a"})
    dates = [{"url": f"https://{host}/b", "html": "<p>x"} for host in ("blog.known.example", "new.example")]
    lines(tmp_path / "pages-dev/dates.jsonl.zst", *dates)
    packages = tmp_path / "packages"
    packages.mkdir()
    index = json.dumps(
        {"html/0.html": {"url": "http://known.example/c"}, "html/1.html": {"url": "http://listed.example/"}}
    )
    packed(packages / "one.tar.gz", {"p/data/index.json": index.encode(), "p/data/html/0.html": b"<p>x",
                                     "p/data/html/1.html": b"<p>y"})  # fmt: skip
    stated = b"<link rel=canonical href='http://stated.example/d'><p>z"
    packed(packages / "two.tgz", {"q/a.html": stated, "q/A light | b.html": b"<p>w", "q/c.txt": b"no page"})
    assert [url for _, url, _ in pages(tmp_path, packages)] == [
        "https://new.example/b", "http://listed.example/", "http://stated.example/d", "http://a-light-b.test/",
    ]  # fmt: skip
    with pytest.raises(InputError, match="no pages in"):
        list(pages(tmp_path / "away", None))


def test_a_page_has_the_verdict_of_the_default_settings() -> None:
    menu = b"<p>" + b"Home News Sport " * 8
    said = (
        "The bridge was closed before anybody knew that the river had risen.",
        "We carried the lamps up to the school and waited there for the morning.",
        "Nobody slept, and the teacher read to the children from an old atlas until her voice was gone.",
        "At six the first boat came round the bend, with bread and with dry blankets for the smallest of us.",
        "My father rowed it together with the miller, who had lost his wheel but not his temper.",
    )
    prose = "".join(f"<p>{sentence}</p>" for sentence in said)
    short, kept = blind.judge("x", "http://a.example/", menu), blind.judge("x", "http://b.example/", prose.encode())
    assert short and short.reason == "too_short" and kept and kept.reason == "" and kept.language == "en"
    assert blind.judge("x", "http://c.example/", b"<p>Home") is None


def test_what_readers_overrule_is_counted_with_intervals_and_their_agreement() -> None:
    key = [blind.Key(f"{n:03}", "too_short" if n % 2 else "", "", "", "", "en", 50) for n in range(1, 9)]
    right = {one.name: "reject" if one.reason else "keep" for one in key}
    said = list(scored(key, {"ada": right, "bo": right | {"001": "keep", "002": "reject"}}))
    assert "ada: rejected and overruled 0 of 4: 0.000 (0.000 to 0.490)" in said
    assert "bo: rejected and overruled 1 of 4: 0.250 (0.046 to 0.699)" in said
    assert "    too_short: 1 of 4 overruled 001" in said
    assert "bo: kept and bad 1 of 4: 0.250 (0.046 to 0.699)" in said
    assert "all readers: rejected and overruled 0 of 4: 0.000 (0.000 to 0.490)" in said
    assert said[-1] == "ada and bo agree on 6 of 8, kappa 0.50"


def test_an_answer_that_is_missing_or_no_answer_is_said_with_its_place(tmp_path: Path) -> None:
    key = [blind.Key(name, "", "", "", "", "en", 50) for name in ("001", "002")]
    with pytest.raises(InputError, match="bo has 1 answers to 2 texts: see 002"):
        list(scored(key, {"bo": {"001": "keep"}}))
    file = tmp_path / "bo.txt"
    for text in ("001 keep\n002 perhaps\n", "001 keep\n001 reject\n"):
        file.write_text(text)
        with pytest.raises(InputError, match="line 2: expected a number and keep or reject"):
            read_answers(file)
    file.write_text("001 keep\n\n002\treject\n")
    assert read_answers(file) == {"001": "keep", "002": "reject"}
    with pytest.raises(InputError, match="is not a key"):
        read_key(file)
