"""Renders pages for a browser from templates: the report and the diagnosis, one file each; explore has its own.

Everything is escaped, and a page loads nothing from elsewhere.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.number import number_of, size, written
from crawler.observe.reasons import meaning

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment

TEMPLATES = Path(__file__).with_name("templates")
_CONTROLS = {code: f"\\x{code:02x}" for code in [*range(9), 11, 12, *range(14, 32), *range(127, 160)]}
_CONTROLS |= {code: f"\\u{code:04x}" for code in [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F]}


def render(template: str, **values: object) -> str:
    """The template of this name with these values; a value that it names and does not get is an error."""
    return _own().get_template(template).render(values)


@cache
def _own() -> Environment:
    from jinja2 import FileSystemLoader  # only who writes a page needs it

    return environment(FileSystemLoader(TEMPLATES))


def environment(loader: BaseLoader) -> Environment:
    """What every page is rendered with: its rules, its filters (`n` and those of `number`), `meaning` of a reason."""
    from jinja2 import Environment, StrictUndefined

    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_written_out,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"n": _number, "written": written, "size": size, "number_of": number_of}
    made.globals["meaning"] = meaning
    return made


def _number(value: float | None) -> str:
    """A number for people; nothing for None."""
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}"


def _written_out(value: Any) -> Any:
    """Control characters and changes of direction in what comes from outside are written out: none acts on the page."""
    return value.translate(_CONTROLS) if isinstance(value, str) and not hasattr(value, "__html__") else value
