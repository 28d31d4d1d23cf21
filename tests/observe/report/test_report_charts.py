"""The charts of the report show the counts they are given, at the place on the scale where these belong."""

from __future__ import annotations

import math
import re

import pytest

from crawler.observe import write as report
from crawler.observe.report import charts
from crawler.storage.files import accounts as counting


def drawn(chart):
    """Heights of the bars as counts, by the left end of their range."""
    most = int(chart.top.replace(",", ""))
    return [(bar.label.split(" to ")[0], round(float(bar.height) / charts.HEIGHT * most)) for bar in chart.bars]


def test_a_length_goes_into_a_bin_that_is_a_quarter_of_an_octave():
    for words in (1, 2, 3, 50, 127, 128, 129, 1000, 10**7):
        at = counting.length_bin(words)
        assert counting.length_from(at) <= words < counting.length_from(at + 1)
    assert counting.length_bin(256) - counting.length_bin(128) == 4


def test_a_page_of_ordinary_texts_has_many_bars_not_two(books_folder):
    found = report.read(str(books_folder.path))
    words = [record["word_count"] for record in books_folder.records("shards")]
    chart = charts.lengths("Words", {int(key): n for key, n in found.books.lengths["word_count"].items()})
    counted = {}
    for count in words:
        low = 2 ** (math.floor(4 * math.log2(count)) / 4)
        counted[f"{low:,.0f}"] = counted.get(f"{low:,.0f}", 0) + 1
    assert dict(drawn(chart)) == counted and len(counted) > 15
    assert f"{len(words):,} documents" in chart.label


def test_round_numbers_stand_where_their_bins_are():
    chart = charts.lengths("Words", {counting.length_bin(100): 1, counting.length_bin(600): 4})
    first, last = counting.length_bin(100) - 1, counting.length_bin(600) + 2
    for place, text in chart.ticks:
        assert float(place) == pytest.approx(100 * (4 * math.log2(int(text)) - first) / (last - first), abs=0.01)
    assert [text for _, text in chart.ticks] == ["100", "200", "500"]
    (low, high) = chart.bars
    assert float(high.x) > float(low.x) and float(high.height) == charts.HEIGHT == 4 * float(low.height)


def test_narrow_ranges_have_more_round_numbers():
    chart = charts.lengths("Words", {counting.length_bin(200): 1, counting.length_bin(300): 2})
    assert [text for _, text in chart.ticks] == ["200", "300"]


def test_wide_ranges_have_powers_of_ten_only():
    chart = charts.lengths("Words", {0: 1, counting.length_bin(2 * 10**7): 1})
    assert [text for _, text in chart.ticks] == ["1", "10", "100", "1k", "10k", "100k", "1M", "10M"]


def test_tokens_add_up_over_time_to_all_of_them(books_folder):
    found = report.read(str(books_folder.path))
    from crawler.observe.report.webpage import _over_time

    chart = next(iter(_over_time(found.books.series)))
    total = sum(record["token_estimate"] for record in books_folder.records("shards"))
    assert chart.top == f"{total:,}" and chart.label.startswith("Tokens kept, added up: ")
    heights = [float(y) for _, y in re.findall(r"([\d.]+),([\d.]+)", chart.points)]
    assert heights == sorted(heights, reverse=True) and heights[-1] == 0
    hours = sorted(record["crawled_at"][:13].replace("T", " ") for kind in ("shards", "rejected")
                   for record in books_folder.records(kind))  # fmt: skip
    assert [text for _, text in chart.ticks] == [f"{hours[0]}:00", f"{hours[-1]}:00"]


def test_files_of_an_older_version_are_drawn_in_powers_of_two():
    chart = charts.octaves("Words", {7: 3, 9: 1})
    assert drawn(chart) == [("128", 3), ("512", 1)] and [text for _, text in chart.ticks] == [
        "128",
        "256",
        "512",
        "1,024",
    ]


def test_the_page_has_all_of_it_and_needs_no_script(books_folder):
    report.write(report.read(str(books_folder.path)))
    page = (books_folder.path / "report.html").read_text()
    for part in ("Over time", "Words a document", "Requests by domain", "Concentration", "&lt;e&gt;.test"):
        assert part in page
    assert "<script" not in page and "<e>.test" not in page and 'http-equiv="Content-Security-Policy"' in page
    assert not re.findall(r"(?:src|href)=(?!\"#)", page)
    assert page.count('role="img"') == len(re.findall(r'role="img" aria-label="[^"]{10,}"', page)) >= 7
