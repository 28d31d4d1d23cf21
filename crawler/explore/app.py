"""The application: which address shows which page. The guard stands before it, `serve.py` around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from crawler.config import Config
from crawler.dataset.records.filters import FilterError
from crawler.explore import compare, corpus_page, document_page, documents_page, judge, learn, live_page, what_if
from crawler.explore.apply import settings_of
from crawler.explore.catalogue import Catalogue, NotReadyError
from crawler.explore.guard import FORM, Guard
from crawler.explore.html import STATIC, render, static
from crawler.explore.live import Live
from crawler.explore.page_request import PageRequest
from crawler.storage.files.errors import StorageError

Page = Callable[[PageRequest], Response | tuple[str, dict[str, Any]]]
PAGES: tuple[tuple[str, Page], ...] = (
    ("/", corpus_page.corpus),
    ("/documents", documents_page.documents),
    ("/documents.csv", documents_page.table),
    ("/documents/{key:int}", document_page.document),
    ("/what-if", what_if.what_if),
    ("/judge", judge.judge),
    ("/learn", learn.learn),
    ("/archived/{key:int}", document_page.archived),
)
"""Below the number of a corpus: address and the function that shows it."""


FORMS: tuple[tuple[str, Page], ...] = (
    ("/judge", judge.answer),
    ("/what-if", what_if.apply),
    ("/learn", learn.begin_learning),
    ("/learn/apply", learn.apply),
    ("/learn/trial", learn.begin_trial),
)
"""The same for what a form sends: the only addresses that write anything."""


def application(
    catalogues: Sequence[Catalogue],
    config: Config,
    token: str,
    hosts: Sequence[str] = (),
    lives: Sequence[Live] = (),
    *,
    held_out: Sequence[str] = (),
) -> Guard:
    """Everything, behind its guard. lives: the crawls of the corpora, in the same order; without them no live page.

    held_out: places of texts for trials.
    """

    def endpoint(show: Page) -> Callable[[Request], Response]:
        return _endpoint(show, catalogues, config, token, tuple(held_out))

    routes = [Route("/", lambda _: RedirectResponse("/0/live" if catalogues[0].is_empty and lives else "/0/"))]
    routes += [Route(f"/static/{name}", _file(name)) for name in STATIC]
    routes += [Route(f"/{{number:int}}{path}", endpoint(show)) for path, show in PAGES]
    routes += [Route(f"/{{number:int}}{path}", endpoint(take), methods=["POST"]) for path, take in FORMS]
    frame = partial(_framed, catalogues, token)
    routes += live_page.routes(lives, frame)
    routes += compare.routes(compare.Comparisons([catalogue.place for catalogue in catalogues]), frame)
    problems: dict[Any, Any] = {
        FilterError: _problem(400, catalogues),
        StorageError: _problem(500, catalogues),
        NotReadyError: _waiting(catalogues),
        HTTPException: _problem(404, catalogues),
    }
    return Guard(Starlette(routes=routes, exception_handlers=problems), token, hosts)


def _endpoint(
    show: Page, catalogues: Sequence[Catalogue], config: Config, token: str, held_out: tuple[str, ...]
) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        asked = replace(_asked(request, catalogues, config), held_out=held_out)
        shown = show(asked)
        if isinstance(shown, Response):
            return shown
        template, values = shown
        frame = _frame(catalogues, asked.number, token)
        return HTMLResponse(render(template, **frame, **values))

    return answer


def _asked(request: Request, catalogues: Sequence[Catalogue], config: Config) -> PageRequest:
    number, key = request.path_params["number"], request.path_params.get("key", 0)
    if number >= len(catalogues) or key.bit_length() > 62:
        raise HTTPException(404)
    catalogues[number].look_again()
    pairs = request.scope[FORM] if request.method == "POST" else request.query_params.multi_items()
    return PageRequest(catalogues[number], number, pairs, settings_of(catalogues[number], config), key)


def _frame(catalogues: Sequence[Catalogue], number: int, token: str = "") -> dict[str, Any]:
    """What stands on every page around its content."""
    names = [catalogue.place.url for catalogue in catalogues]
    return {"corpora": names, "number": number, "base": f"/{number}", "csrf": Guard.csrf_of(token) if token else ""}


def _framed(catalogues: Sequence[Catalogue], token: str, number: int) -> dict[str, Any]:
    """Raises: HTTPException where there is no such corpus."""
    if number >= len(catalogues):
        raise HTTPException(404)
    return _frame(catalogues, number, token)


def _file(name: str) -> Callable[[Request], Response]:
    return lambda _: Response(static(name), media_type=STATIC[name])


def _problem(status: int, catalogues: Sequence[Catalogue]) -> Callable[[Request, Exception], Response]:
    def answer(_: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else status
        sentence = "There is no such page." if isinstance(error, HTTPException) else str(error)
        return HTMLResponse(
            render("problem.html", **_frame(catalogues, 0), sentence=sentence, busy=None, crawls=False), code
        )

    return answer


def _waiting(catalogues: Sequence[Catalogue]) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, error: Exception) -> Response:
        number = request.path_params["number"]
        catalogue = catalogues[number]
        busy = None if catalogue.problem else (catalogue.done, max(catalogue.total, 1))
        crawls = catalogue.is_empty  # no fault: the first file of the crawl is not full yet
        page = render("problem.html", **_frame(catalogues, number), sentence=str(error), busy=busy, crawls=crawls)
        if crawls:
            return HTMLResponse(page, 503, {"Refresh": "5"})
        return HTMLResponse(page, 500 if busy is None else 503, {} if busy is None else {"Refresh": "1"})

    return answer
