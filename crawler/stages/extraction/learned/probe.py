"""The probe is a small page with one of everything, on which no two features are the same (a test holds that).

Its features stand in the model's file and are computed again where the model is loaded: whoever swaps two columns, or
counts one otherwise, is told so before the first page (`stages/models/features.py`).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from lxml.html import document_fromstring

from crawler.stages.extraction.learned.alike import groups
from crawler.stages.extraction.learned.numbers import GROUPS, features, page_numbers
from crawler.stages.extraction.learned.said import said
from crawler.stages.extraction.learned.tables import Scores
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.models.features import Features

PROBE = """<html><head><title>How the ferry learned to wait for fog</title>
<meta property="og:type" content="article"><script type="application/ld+json">
{"@type": ["NewsArticle", "Thing"]}</script>
</head><body>
<header class="top Banner"><a href="/">Home</a> <a href="/map">Map of the river</a><p>The River Post, since 1904</p>
</header>
<nav id="mainMenu"><ul><li><a href="/1">News</a></li><li><a href="/2">Boats</a></li><li>Tides, 12</li></ul></nav>
<div hidden><p>Hidden words: 7 of them stand here.</p></div>
<div class="dialog-box" role="dialog">Do you accept? <button>Yes</button> <button>No!</button> <button>Later</button>
<button>Why?</button> <button>Never</button> <button>Ask me again</button></div>
<div class="page">
<main itemscope itemtype="https://schema.org/BlogPosting">
<h1>How the ferry learned to wait</h1>
<p class="byline">By Ada Quill, 3 May 1999</p>
<article class="story"><div class="Content body-text"><div class="inner-text">
<p>On the first day of autumn the ferry left the quay at seven, as it had done for thirty years, and the fog closed in
behind it like a door. Nobody on the bank could see it, and nobody on board could see the bank, so the captain rang
<a href="/bell">the bell</a> and waited.</p>
<p>He had been told that waiting is no work. But a boat that waits costs nobody a life, he said; "and that," he added,
is work enough for one morning. The passengers drank tea, counted the strokes of the bell and did not complain until
the tea was gone.</p>
<h2>What the bell said</h2>
<blockquote>Three strokes: we are here. <p>One stroke: we do not know where here is; come no nearer, and ring when you
hear us, please.</p> </blockquote>
<p>Since then there is a rule, painted in white letters on the wheel house, which everybody on the river knows by
heart, children first of all.</p>
</div>
<p>The second boat, which was built in the year after, has a bell of its own and a horn, and it is said to wait with
<a href="/horn">more patience</a><br>than the <a href="/first">first</a> one.</p>
<pre>ring(3)
wait()</pre>
<table><caption>Strokes by weather</caption><tr><th>Weather</th><th>Strokes</th></tr><tr><td>Fog</td><td>3</td></tr>
<tr><td>Snow</td> <td>5</td> </tr><tr><td>Hail</td> <td>7</td> </tr><tr><td>Rain, wind</td> <td>1 or <a
href="/two">2</a></td> </tr></table>
<dl><dt>Quay</dt><dd>Where boats lie.</dd><dt>Bank</dt><dd>Where people wait, mostly.</dd></dl>
</div>
<figure><figcaption>The wheel house in 1931 (photograph: unknown)</figcaption></figure>
<p>Elsewhere on the river the old rule is not known, and boats go out in every weather, with lights, with radios and
with luck, most of them.</p>
</article>
<ol><li>Ring the bell.</li><li>Wait.</li><li><pre>listen()</pre><pre>answer()</pre></li><li>Ring the bell.</li></ol>
<form action="/s"><label>Search the archive</label><div role="button">Go</div></form>
</main>
<div class="comments"><div class="reply">First! I was on that boat, and the tea was cold.</div> <div class="reply">So
was I.</div>
<article class="reply">It was warm on the upper deck, I remember it well; my aunt poured it, and she never served
anything cold in all her life.</article> </div>
<aside class="related"><h3>More stories</h3><ul><li><a href="/a">A bridge of rope</a></li> <li><a href="/b">Who paints
the buoys?</a></li>
<li><a href="/c">How the ferry learned to wait for fog</a></li></ul></aside>
<div class="grid"><div class="card"><div class="inside"><div class="text"><p>Oars, 2</p> </div></div> </div><div
class="card"><div class="inside">
<div class="text"><p>Sails</p> </div></div> <div class="inside"><div class="text"><p>Masts</p> </div></div>
</div></div> <div class="grid"><div class="card"><div class="inside"><div class="text"><p>Ropes</p> </div>
</div> </div></div> <div class="grid"><div class="card"><div class="inside"><div class="text"><p>Tar</p> </div></div>
</div></div>
</div>
<noscript><p>This page shows a map where scripts run.</p></noscript>
<footer><p>© The River Post · <a href="/imprint">Imprint</a> · 东岸渡口</p><h4>Follow us</h4></footer>
</body></html>"""


def features_of_probe() -> tuple[Features, ...]:
    """What the model is given of a page: the columns of its blocks, what they weigh, groups, page and statements."""
    tree = document_fromstring(PROBE)
    page = walk(tree)
    rows, numbers = features(page, Scores(lambda key: key % 255 - 127), tree.findtext(".//title"))
    bounds = pairwise([0, *numbers.ends])
    of_blocks = [
        Features(group, version, numbers.names[start:end], rows[:, start:end])
        for (group, version, _), (start, end) in zip(GROUPS, bounds, strict=True)
    ]
    of_page = tuple(f"{number} {name}" for number in ("mean", "most") for name in numbers.names)
    return (
        *of_blocks,
        Features("weights", 1, ("words",), numbers.words[:, None]),
        Features("alike", 1, ("two elements", "four elements", "holder"), np.stack(groups(page), 1)),
        Features("whole page", 1, of_page, page_numbers(rows)[None]),
        Features("statements", 1, ("hash",), np.array(sorted(said(tree, page.names)))[:, None]),
    )
