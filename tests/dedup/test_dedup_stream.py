"""The labelled stream of `bench/quality/dedup_stream.py` in small: what the index finds, against truth and theory."""

import asyncio
import math
import random
from collections import Counter, defaultdict
from itertools import chain

import numpy as np
import pytest

from bench.quality.dedup_stream import EDITS, Fingerprinter, extraction_pages, jaccard, pairs, texts_of
from bench.quality.eval_dedup import estimate_error, judged, share, strangers
from crawler.config import from_mapping
from crawler.dedup.index import candidate_probability, needed_agreement
from crawler.dedup.memory_index import MemoryIndex
from tests.support.places import SHARED_DATA

DATA = SHARED_DATA / "extraction"
CONFIG = from_mapping({}).dedup
POSITIONS = CONFIG.bands * CONFIG.rows

pytestmark = pytest.mark.skipif(not (DATA / "pages.tar.gz").is_file(), reason=f"no public test pages in {DATA}")


@pytest.fixture(scope="module")
def stream():
    """Some 2,000 pairs from the first 250 words of real pages."""
    texts = [" ".join(text.split(" ")[:250]) for text in texts_of(extraction_pages(DATA), 100)]
    return list(pairs(texts, CONFIG, copies=22))


def chance_to_be_found(true):
    """Bands, then verification: the estimate is nearly normal around the truth (Li and König 2010)."""
    agree = 1 / 256 + 255 / 256 * true
    spread = math.sqrt(max(1e-12, POSITIONS * agree * (1 - agree)))
    short_of = needed_agreement(CONFIG.threshold, POSITIONS) - 0.5 - POSITIONS * agree
    return candidate_probability(true, CONFIG.bands, CONFIG.rows) * 0.5 * math.erfc(short_of / spread / math.sqrt(2))


def test_the_true_similarity_is_that_of_the_sets_of_five_words():
    one, two = (Fingerprinter(CONFIG)("u", text) for text in ("a b c d e f g h", "a b c d e f g x"))
    assert one.shingles - two.shingles == {"d e f g h"}
    assert jaccard(one, two) == 3 / 5


def test_the_stream_has_every_kind_of_edit_and_every_similarity(stream):
    assert len(stream) > 1900
    assert set(EDITS) <= {pair.edit for pair in stream}
    assert all(sum(low <= p.jaccard < low + 0.1 for p in stream) > 30 for low in np.arange(0.3, 1.0, 0.1))


def test_detection_reaches_the_bars(stream):
    rows = judged(((p.original, p.copy, p.jaccard) for p in stream), CONFIG)
    assert share(rows, 0.9, 1.01)[0] >= 0.99
    assert share(rows, 0.825, 0.875)[0] >= 0.90
    assert share(rows, 0.0, 0.6)[0] < 0.001
    assert share(judged(strangers(stream, 5000), CONFIG), 0.0, 0.6)[0] == 0


def test_bands_find_what_the_curve_says_and_both_steps_what_theory_says(stream):
    """By bucket of true similarity; four standard errors are allowed, and 0.01 for curves near 0 and 1."""
    rows = judged(((p.original, p.copy, p.jaccard) for p in stream), CONFIG)
    for low in np.arange(0.3, 1.0, 0.05):
        inside = [row for row in rows if low <= row.jaccard < low + 0.05]
        for seen, expected in (
            (
                [r.candidate for r in inside],
                [candidate_probability(r.jaccard, CONFIG.bands, CONFIG.rows) for r in inside],
            ),
            ([r.found for r in inside], [chance_to_be_found(r.jaccard) for r in inside]),
        ):
            error = math.sqrt(sum(p * (1 - p) for p in expected)) / len(inside)
            assert abs(np.mean(seen) - np.mean(expected)) < 4 * error + 0.01, (low, np.mean(seen), np.mean(expected))


def test_the_estimate_is_unbiased_and_scatters_as_theory_says(stream):
    rows = judged(((p.original, p.copy, p.jaccard) for p in stream), CONFIG)
    mean, deviation, expected = estimate_error(rows, POSITIONS)
    assert abs(mean) < 4 * expected / math.sqrt(len(rows) / 22)  # copies of one page share its signature
    assert deviation == pytest.approx(expected, rel=0.15)


def similarities(docs):
    """True Jaccard similarity of all pairs, as a dense matrix: the offline computation."""
    holders = defaultdict(list)
    for number, doc in enumerate(docs):
        for piece in doc.shingles:
            holders[piece].append(number)
    rows = [np.concatenate([holders[piece] for piece in doc.shingles]) for doc in docs]
    common = np.array([np.bincount(row, minlength=len(docs)) for row in rows])
    sizes = np.array([len(doc.shingles) for doc in docs])
    return common / (sizes[:, None] + sizes[None, :] - common)


def test_online_verdicts_equal_an_offline_computation_of_all_pairs_up_to_the_curve(stream):
    """Each document is compared offline with all that the index kept before it. Where the two disagree, the estimate
    lay on the other side of the threshold, or no band was shared, or every shared band belonged to an earlier document;
    and they disagree as often as the curve says."""
    docs = list({d.url: d for d in chain.from_iterable((p.original, p.copy) for p in stream)}.values())
    random.Random(5).shuffle(docs)
    online = asyncio.run(one_after_the_other(docs))
    true, numbers = similarities(docs), {doc.url: n for n, doc in enumerate(docs)}
    kept, classes, expected = [], Counter(), 0.0
    for n, match in enumerate(online):
        best = max(((true[n, k], k) for k in kept), default=(0.0, 0))
        expected += chance_to_be_found(best[0])
        if match is not None:
            offline = true[n, numbers[match.owner]]
            assert numbers[match.owner] in kept
            assert match.exact or abs(match.similarity - offline) < 5 * 0.5 / math.sqrt(POSITIONS)
            assert not match.exact or docs[n].doc_id == docs[numbers[match.owner]].doc_id
            classes["both" if best[0] >= CONFIG.threshold else "estimate above"] += 1
            continue
        rivals = [k for k in kept if true[n, k] >= CONFIG.threshold]
        classes[why_missed(docs, n, rivals) if rivals else "neither"] += 1
        kept.append(n)
    found = sum(match is not None for match in online)
    assert found >= expected - 4 * math.sqrt(expected), (found, expected, classes)
    assert set(classes) <= {"both", "neither", "estimate above", "estimate below", "no band", "band taken"}, classes
    agreeing = classes["both"] + classes["neither"]
    assert agreeing > 0.9 * len(docs), classes
    assert classes["no band"] + classes["band taken"] < 0.02 * len(docs), classes
    assert all(true[n, k] < 0.95 for n, m in enumerate(online) if m is None for k in kept if k < n), (
        "a sure pair was missed"
    )


def why_missed(docs, n, rivals):
    """The best reason among the rivals: one that was a candidate and similar enough would have been found."""
    rows = judged([(docs[n], docs[k], 1.0) for k in rivals], CONFIG)
    needed = CONFIG.threshold
    if any(row.candidate and row.estimate >= needed for row in rows):
        return "band taken"
    return "no band" if any(row.estimate >= needed for row in rows) else "estimate below"


async def one_after_the_other(docs):
    index = MemoryIndex(CONFIG)
    return [await index.check(d.doc_id, d.signature, len(d.shingles), d.url) for d in docs]
