"""The model for near misses is fitted by sites, from numbers alone, and the same rows give the same model."""

from __future__ import annotations

import json

import pytest

from bench.quality import near_misses
from bench.quality.good_and_junk import Sample, _beside, site_of
from bench.quality.near_misses import FOLDS, MODEL, SIGNALS, Measured, fit, fold_of


def rows(number: int = 120) -> list[Measured]:
    """Good ones end their lines and repeat nothing; bad ones do the opposite, and some of both are in between."""
    found = []
    for n in range(number):
        is_good, share = n % 2 == 0, (n % 7) / 10
        near = share if is_good else 1 - share
        signals = dict.fromkeys(SIGNALS, 0.1) | {"log10_words": 2.5, "fineweb_punctuated_lines": 1 - near}
        kind = "web: article" if is_good else "navigation"
        found.append(Measured(Sample(kind, f"s{n}.example", ""), is_good, signals, "", "en" if n % 4 else "de"))
    return found


def test_what_speaks_for_a_text_is_found_and_the_same_rows_give_the_same_model():
    model = fit(rows())
    good, bad = ({"fineweb_punctuated_lines": share} for share in (1.0, 0.0))
    assert model.probability(model.parts(good)) > 0.9 > 0.1 > model.probability(model.parts(bad))
    assert fit(rows()) == model
    assert model.languages == {"de", "en"} if near_misses.MANY <= 30 else not model.languages


def test_listings_and_collections_teach_nothing():
    more = [Measured(Sample("web: listing", "l.example", ""), True, one.signals, "", "en") for one in rows()]
    assert fit([*rows(), *more]) == fit(rows())


def test_all_texts_of_a_site_are_in_one_fold():
    one, two = (site_of({"url": f"https://{host}/x"}) for host in ("forum.a.example", "a.example"))
    assert fold_of(one) == fold_of(two) < FOLDS
    assert site_of({"url": "https://forum.a.example/x"}) == "a.example" and site_of({"url": ""}) == "nowhere"


def test_of_pages_those_that_opted_out_or_have_no_text_are_not_lost_to_rules(monkeypatch):
    told = "The miller told his neighbours that the wheel had stood since the river froze, and that he would wait. "
    bodies = {
        "kept": f"<p>{told * 2}<p>{told.replace('miller', 'smith')}<p>He waited until the ice was gone, and ground.",
        "opted out": f'<meta name="robots" content="noai"><p>{told * 4}',
        "no text": "<p>",
        "lost": f"<p>{'buy cheap wheels now ' * 60}",
    }
    pages = [{"url": f"https://{n}.example/", "page_type": "article", "html": b} for n, b in enumerate(bodies.values())]
    monkeypatch.setattr(near_misses, "labelled", lambda: iter(pages))
    _, row, web = near_misses._of_pages(rows())
    assert row.startswith("| article | 4 | 1 | 1 | 1 | 0.5000 [")
    assert web.startswith("| without listings and collections | 4 | 1 | 1 | 1 |")


def test_what_nobody_marked_is_a_pages_text_without_the_marked_lines():
    menu = "<nav><ul><li>Home <li>The <b>News</b></ul></nav>"
    page = f"<body>{menu}<p>The mill <i>stands</i> still.<p>Read more<!-- x --> here<script>x</script>"
    found = dict(_beside(page, "The mill stands still.", "- "))
    assert found["unmarked"] == "- Home\n- The News\nRead more here"
    assert found["navigation"] == "- Home\n- The News"
    assert dict(_beside(page, "", ""))["navigation"] == "Home\nThe News"


def test_the_shipped_model_is_numbers_alone():
    read = json.loads(MODEL.read_text("utf-8"))
    assert set(read) == {"from", "texts", "languages", "base", "curves"} and set(read["curves"]) == set(SIGNALS)
    assert all(isinstance(x, float) for curve in read["curves"].values() for side in curve for x in side)
    assert read["texts"] > 5_000


@pytest.mark.parametrize("name", SIGNALS)
def test_each_curve_has_a_height_at_each_knot_and_its_knots_rise(name):
    knots, heights = json.loads(MODEL.read_text("utf-8"))["curves"][name]
    assert len(knots) == len(heights) >= 2 and sorted(set(knots)) == knots
