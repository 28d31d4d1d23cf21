"""A page that a browser has drawn is judged twice, as it was sent and as it was drawn; the better text wins.

Crawl, replay and batch job do this alike: the archive keeps both. An opt-out in either holds for the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from crawler.document import Document, Drop, DropReason, Reason, Rendering
from crawler.stages.parse.embedded import captured_text
from crawler.stages.parse.shell import LIMITS

BETTER = 1.2
"""How many times as many words the drawn page needs, where both pass: what the site sent is preferred."""
UNANSWERED = ("failed", "turn")
"""What a page in the browser asked for and may get another time: no answer, or the host's turn was too far away."""
_MUTABLE = (
    *("language_signals", "quality_signals", "pii_entity_types", "pii_spans", "parts"),
    *("legal_citations", "legal_dockets", "legal_parties", "legal_spans"),
    *(
        "redirects",
        "optout_signals",
        "done",
        "extra",
        "metas",
        "rel_links",
        "links",
        "feeds",
        "timings",
        "render_signals",
    ),
)


def copy_of(doc: Document, **changes: Any) -> Document:
    """A document of its own: what a stage writes on one does not show on the other."""
    own: dict[str, Any] = {name: type(value := getattr(doc, name))(value) for name in _MUTABLE}
    return replace(doc, **(own | changes))


def judged_twice(doc: Document, run: Callable[[Document], Document]) -> Document:
    """The better of the page as it was sent and as it was drawn, both taken through `run`."""
    rendering = doc.rendering or Rendering()
    sent = run(copy_of(doc, rendering=None))
    facts = dict(rendering.facts)
    chosen = sent
    if rendering.dom and not _refused(sent):
        drawn = run(_drawn(doc, rendering))
        if not drawn.text_allowed and not _refused(drawn) and drawn.verdict is not None:
            facts["failed"] = [drawn.verdict.reason.value, drawn.verdict.detail]  # it cannot even be read
        elif _refused(drawn) or _is_better(drawn, sent):
            chosen = _as_drawn(drawn, sent)
        _add_timings(chosen, drawn if chosen is sent else sent)
    chosen.render_signals["browser"] = facts
    if "shell" in sent.render_signals:
        chosen.render_signals["shell"] = sent.render_signals["shell"]
    if has_too_little(chosen) and (failure := _failure_of(facts)) is not None:
        chosen.verdict = failure
    return chosen


def has_too_little(doc: Document) -> bool:
    """True where the stages found next to no text on a page that they may read."""
    return doc.text_allowed and doc.word_count < LIMITS.main_words


def _failure_of(facts: dict[str, Any]) -> Drop | None:
    """What kept the browser from drawing the page, or a part of it; None where nothing did."""
    if failed := facts.get("failed"):
        reason = Reason.of(failed[0])
        known = reason if reason.meaning else DropReason.BROWSER_CRASHED  # a word of a later version
        return Drop("fetch", known, str(failed[1])[:512])
    refused = facts.get("refused")
    lacking = {name: refused[name] for name in UNANSWERED if name in refused} if isinstance(refused, dict) else {}
    if not lacking:
        return None
    detail = ", ".join(f"{name}: {count}" for name, count in lacking.items())
    return Drop("fetch", DropReason.BROWSER_INCOMPLETE, f"requests without an answer ({detail})"[:512])


def _refused(doc: Document) -> bool:
    return doc.verdict is not None and doc.verdict.stage == "optout"


def _is_better(drawn: Document, sent: Document) -> bool:
    if (drawn.verdict is None) != (sent.verdict is None):
        return drawn.verdict is None
    return drawn.word_count > BETTER * sent.word_count


def _drawn(doc: Document, rendering: Rendering) -> Document:
    """The page as it was drawn, with the running text of the JSON that it fetched, and what is said about that."""
    kind = "text/html; charset=utf-8"
    drawn = copy_of(doc, rendering=None, html=rendering.dom, content_type=kind, charset="utf-8", content_hash="")
    drawn.drawn_url = str(rendering.facts.get("renamed", ""))
    drawn.captured = captured_text(capture.body for capture in rendering.captures)
    known = doc.optout_signals
    drawn.optout_signals += [s for capture in rendering.captures for s in capture.signals if s not in known]
    return drawn


def _as_drawn(drawn: Document, sent: Document) -> Document:
    """What the server said about the body it sent says nothing about what scripts draw: no validators."""
    drawn.method_used = "captured" if drawn.method_used == "captured" else "js"
    drawn.content_type = sent.content_type
    drawn.etag = drawn.last_modified = None
    return drawn


def _add_timings(chosen: Document, other: Document) -> None:
    for stage, seconds in other.timings.items():
        chosen.timings[stage] = chosen.timings.get(stage, 0.0) + seconds
