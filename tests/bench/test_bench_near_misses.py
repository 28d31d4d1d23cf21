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
    one, two = (Measured(Sample(kind, "a.example", ""), True, {}, "", "en") for kind in ("news", "footers"))
    assert fold_of(one) == fold_of(two) < FOLDS
    assert site_of({"url": "https://forum.a.example/x"}) == "a.example" and site_of({"url": ""}) == "nowhere"


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
