"""URLs made without end are recognised, and ordinary ones are not."""

import inspect
import re
from datetime import date

import pytest

from crawler.urls import traps
from crawler.urls.traps import trap_reason
from tests.support.places import PROJECT

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://e.org/" + "a" * 2083, "too_long"),
        ("https://e.org/" + "/".join(f"s{i}" for i in range(21)), "too_deep"),
        ("https://e.org/docs/en/docs/en/docs/en/", "repeated_segment"),
        ("https://e.org/x/news/news/news", "repeated_segment"),
        ("https://e.org/docs/en/docs/fr/docs/de", "repeated_segment"),
        ("https://e.org/a/b/c/d/a/b/c/d/a/b/c/d", "repeated_segment"),
        ("https://e.org/a/b/a/b/b/", "repeated_segment"),
        ("https://e.org/a/b/b/a", "repeated_segment"),
        ("https://e.org/x/en/news/x/news/", "repeated_segment"),
        ("https://e.org/en/news/about/news/contact/about", "repeated_segment"),
        ("https://e.org/docs/en/docs/en/docs", "repeated_segment"),
        ("https://e.org/1/2/2/1/2/1/1/", "repeated_segment"),
        ("https://e.org/p?" + "&".join(f"a{i}=1" for i in range(13)), "too_many_parameters"),
        ("https://e.org/calendar/2031/05/", "calendar"),
        ("https://e.org/events/month/2031-05", "calendar"),
        ("https://e.org/events/2019/02/01", "calendar"),
        ("https://e.org/agenda?month=5&year=2040", "calendar"),
        ("https://e.org/events/?tribe-bar-date=2029-01-01", "calendar"),
        ("https://e.org/view?date=2031-05-01", "calendar"),
    ],
)
def test_a_trap_is_named(url: str, reason: str) -> None:
    assert trap_reason(url, today=TODAY) == reason


@pytest.mark.parametrize(
    "url",
    [
        "https://e.org/",
        "https://e.org/" + "/".join(f"s{i}" for i in range(20)),
        "https://e.org/p?" + "&".join(f"a{i}=1" for i in range(12)),
        "https://e.org/docs/en/docs/en",
        "https://e.org/docs/en/docs/en/install.html",
        "https://e.org/mirror/docs/en/docs/en/install.html",
        "https://e.org/blog/blog/title",
        "https://e.org/org/project/blob/master/project/src/main/java/org/project/Foo.java",
        "https://e.org/com/example/app/src/main/java/com/example/App.java",
        "https://e.org/archive/2011/11/11/notes/2011/11/12",
        "https://e.org/2011/11/11/11/title",
        "https://github.com/elki-project/elki/blob/master/elki/src/main/java/de/lmu/ifi/dbs/elki/TSNE.java",
        "https://e.org/events/2031/05/an-announced-congress",
        "https://e.org/events/2026/12",
        "https://e.org/calendar/",
        "https://e.org/archive?date=1998-05-01",
        "https://e.org/archive?year=1998&month=5",
        "https://e.org/2031/05/a-novel-about-the-future",
        "https://e.org/events?page=12345678",
        "https://e.org/events/20190",
        "https://e.org/calendar/0000/01",
    ],
)
def test_an_ordinary_url_is_no_trap(url: str) -> None:
    assert trap_reason(url, today=TODAY) is None


@pytest.mark.parametrize(("names", "most"), [("a", 3), ("ab", 16), ("abc", 110)])
def test_a_site_that_answers_every_path_with_the_same_relative_links_is_left_soon(names: str, most: int) -> None:
    found, new = set[str](), [""]
    while new:
        path = new.pop()
        for name in names:
            url = f"{path}{name}/"
            if url not in found and trap_reason(f"https://e.org/{url}", today=TODAY) is None:
                found.add(url)
                new.append(url)
    assert len(found) <= most


def test_the_documentation_names_every_rule() -> None:
    page = (PROJECT / "docs" / "seeds.md").read_text("utf-8")
    section = page.partition("## Traps")[2].partition("\n## ")[0]
    rules = {"too_long", "too_deep", "repeated_segment", "too_many_parameters", "calendar"}
    assert rules <= set(re.findall(r"`([a-z_]+)`", section))
    assert rules == set(re.findall(r'return "([a-z_]+)"', inspect.getsource(traps.trap_reason)))


def test_without_a_date_the_rule_takes_today() -> None:
    assert trap_reason("https://e.org/calendar/9990/01/") == "calendar"
