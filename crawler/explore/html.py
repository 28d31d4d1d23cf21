"""The pages are rendered from `templates/`, everything escaped, with the few files of `static/` beside them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from crawler.observe.report.reasons import meaning
from crawler.observe.report.terminal import size

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
    environment = Environment(
        loader=PackageLoader("crawler.explore"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_written_out,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"n": _number, "size": size}
    environment.globals["meaning"] = meaning
    return environment


def _number(value: Any) -> str:
    """A number for people; nothing for None."""
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}"


_CONTROLS = {code: f"\\x{code:02x}" for code in [*range(9), 11, 12, *range(14, 32), *range(127, 160)]}
_CONTROLS |= {code: f"\\u{code:04x}" for code in [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F]}


def _written_out(value: Any) -> Any:
    """Control characters and changes of direction in what comes from outside are written out: none acts on the page."""
    return value.translate(_CONTROLS) if isinstance(value, str) and not hasattr(value, "__html__") else value
