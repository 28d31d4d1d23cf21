"""Learn: from the labels of Judge to a model, what it would do to this corpus, and a version that it has judged."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from starlette.responses import RedirectResponse, Response

from crawler.classify.measures import Cut
from crawler.classify.train import LEAST
from crawler.config.config import with_classifiers
from crawler.config.text import ACTIONS, classifiers_of
from crawler.dataset.records.filters import FilterError
from crawler.explore import labels
from crawler.explore.apply import apply_of, begin
from crawler.explore.learning import NAME, Learned, learning_of
from crawler.explore.page_request import PageRequest
from crawler.explore.what_if import others
from crawler.explore.worth import worth_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE

NEAREST = 12
"""Documents that are shown of those that would go."""
DEFAULT = 0.5
_WIDTH, _HEIGHT = 100.0, 100.0
_LOST = "the model of this view is gone, or the corpus has another version since: learn again"


def learn(request: PageRequest) -> tuple[str, dict[str, Any]]:
    """The page. Raises: FilterError, NotReadyError, StorageError."""
    threshold = _threshold(dict(request.pairs))
    job, known = learning_of(request.catalogue), labels.read(request.catalogue.place)
    done = _current(request, job.done)
    return "learn.html", {
        "labels": len(known),
        "least": LEAST,
        "job": job,
        "stale": job.done is not None and done is None,
        "applying": apply_of(request.catalogue),
        "worth": worth_of(request.catalogue),
        "held_out": request.held_out,
        "threshold": f"{threshold:g}",
        "learned": done,
        "outcome": None if done is None else _outcome(request, done, threshold),
        "hindrance": "" if done is None else hindrance(request),
        "corpus": shlex.quote(request.catalogue.place.url),
    }


def begin_learning(request: PageRequest) -> Response:
    """Learn, and show the page. Raises: FilterError where nothing can be learned here."""
    if request.catalogue.place.remote:
        raise FilterError(
            f"{request.catalogue.place.url} is in a store, where there are no labels: use `gristmill classify train`"
        )
    learning_of(request.catalogue).begin(request.config)
    return RedirectResponse(f"/{request.number}/learn", 303)


def apply(request: PageRequest) -> Response:
    """Write the model into the corpus and judge all of it again. Raises: FilterError, NotReadyError, StorageError."""
    given, place = dict(request.pairs), request.catalogue.place
    threshold, action = _threshold(given), given.get("action", "drop")
    if action not in ACTIONS:
        raise FilterError(f"action={action[:40]}: expected one of {', '.join(ACTIONS)}")
    done = _current(request, learning_of(request.catalogue).done)
    if done is None:
        raise FilterError(_LOST)
    if why := hindrance(request):
        raise FilterError(why)
    try:
        path = done.saved(place.root, threshold, action)
    except OSError as error:
        raise StorageError(f"{place.root}: the model cannot be written ({error.strerror or error})") from None
    named = {**classifiers_of(request.config.classify.classifiers), NAME: str(path)}
    config = with_classifiers(request.config, tuple(f"{name}:{where}" for name, where in named.items()))
    return begin(request, config, others(request), "learn")


def begin_trial(request: PageRequest) -> Response:
    """Compare the version that was applied with the one before. Raises: FilterError where there is none."""
    applied = apply_of(request.catalogue).done
    if applied is None or applied.version is None or not request.held_out:
        raise FilterError("a trial needs a version that was applied here, and --held-out texts: start explore with it")
    worth_of(request.catalogue).begin(applied.version, request.held_out, request.config)
    return RedirectResponse(f"/{request.number}/learn", 303)


def hindrance(request: PageRequest) -> str:
    """Why this corpus cannot be judged again from here, whoever is at work; empty where it can."""
    place = request.catalogue.place
    if place.remote:
        return f"{place.url} is in a store: use `gristmill dataset rejudge`"
    if set(",#") & set(str(place.root.resolve())):
        return f"{place.url}: CLASSIFIERS cannot hold a path with a comma or #; give the folder another name"
    if not any(entry["kind"] == ARCHIVE for entry in place.manifest()["files"]):
        return (
            f"{place.url} has no archive, so that its pages cannot be judged again; train the model with `gristmill "
            "classify train` and give it to the next crawl"
        )
    return ""


def _current(request: PageRequest, done: Learned | None) -> Learned | None:
    """What was learned, where its documents are still those of the corpus."""
    return done if done is not None and done.paths == request.catalogue.paths else None


def _outcome(request: PageRequest, done: Learned, threshold: float) -> dict[str, Any]:
    gone, nearest = done.below(threshold, NEAREST)
    looked = len(done.keys) + done.unscored
    return {
        "cut": done.cuts((threshold,))[0],
        "curve": curve(done.cuts()),
        "at": f"{_WIDTH * threshold:.2f}",
        "gone": gone,
        "looked": looked,
        "sampled": looked < done.kept,
        "lost": round(gone * done.kept / looked) if looked else 0,
        "nearest": _described(request, nearest),
    }


def curve(cuts: list[Cut]) -> dict[str, str]:
    """Points of two lines over the threshold, 0 to 100 each way: share that is kept, precision where it is known."""

    def points(name: str) -> str:
        known = [(cut.threshold, getattr(cut, name)) for cut in cuts if getattr(cut, name) is not None]
        return " ".join(f"{_WIDTH * at:.1f},{_HEIGHT * (1 - value):.1f}" for at, value in known)

    return {"kept": points("kept"), "precision": points("precision")}


def _described(request: PageRequest, nearest: list[tuple[int, float]]) -> list[dict[str, Any]]:
    keys = [key for key, _ in nearest]
    rows = request.catalogue.rows(
        "SELECT id, coalesce(nullif(title, ''), canonical_url) FROM records WHERE list_contains(?, id)", [keys]
    )
    names = {int(key): str(name) for key, name in rows}
    return [{"key": key, "name": names.get(key, ""), "score": f"{score:.3f}"} for key, score in nearest]


def _threshold(given: Mapping[str, str]) -> float:
    text = given.get("threshold") or str(DEFAULT)
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value < 1.0:
        raise FilterError(f"threshold={text[:40]}: expected a number between 0 and 1")
    return value
