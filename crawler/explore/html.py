"""The pages are rendered from `templates/`, as `crawler/observe/html.py` does, with the few files of `static/`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader

from crawler.observe.html import environment

STATIC: Mapping[str, str] = {"explore.css": "text/css", "explore.js": "text/javascript", "icon.svg": "image/svg+xml"}
"""Every file that is served as it is, with its type: an address names one of these or nothing."""


def render(template: str, **values: object) -> str:
    """The template of this name with these values; a value that it names and does not get is an error."""
    return _environment().get_template(template).render(values)


@cache
def static(name: str) -> bytes:
    """The content of one of the files of `STATIC`."""
    return files("crawler.explore").joinpath("static", name).read_bytes()


@cache
def _environment() -> Environment:
    return environment(PackageLoader("crawler.explore"))
