"""Renders the pages for a browser from `templates/`: one file each, no scripts, no assets, everything escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.number import written
from crawler.observe.report.reasons import meaning
from crawler.observe.report.terminal import size

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, **values: object) -> str:
    """The template of this name with these values; a value that it names and does not get is an error."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only who writes a page needs it

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"n": "{:,}".format, "written": written, "size": size}
    environment.globals["meaning"] = meaning
    return environment
