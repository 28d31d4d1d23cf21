"""`postal_in` finds postal addresses of a certain form: street, house number, postcode and place.

`postal_forms.txt` has the forms, with the sources. A street without a place is none, nor is a place without a street:
the words would stand for much else. The name above an address is a matter for `names`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from crawler.stages.pii.outline import Outline
from crawler.stages.pii.page import Hit, lower_keeping_offsets
from crawler.stages.text.tables import sections

POSTAL = "POSTAL_ADDRESS"
_BEFORE, _BEHIND = 160, 160  # characters of an address on each side of where its postcode begins


class _Form(NamedTuple):
    shape: re.Pattern[bytes]
    before: re.Pattern[str]
    behind: re.Pattern[str]


def postal_in(outline: Outline) -> Iterator[Hit]:
    """Every address in the text of the outline. Its value is the address in small letters, without marks."""
    text, skeleton = outline.text, outline.skeleton
    shapes, forms = _forms()
    for found in shapes.finditer(skeleton):
        at = found.start()
        for form in forms:
            if not form.shape.match(skeleton, at) or not (behind := form.behind.match(text, at, at + _BEHIND)):
                continue
            window = text[max(0, at - _BEFORE) : at]
            if before := form.before.search(window):
                start = at - len(window) + before.start()
                value = " ".join(re.findall(r"\w+", lower_keeping_offsets(text[start : behind.end()])))
                yield Hit(start, behind.end(), POSTAL, value)
                break


@cache
def _forms() -> tuple[re.Pattern[bytes], list[_Form]]:
    """The shape of any postcode, and the forms; compiled when the first text has a figure."""
    lines = sections(__package__, "postal_forms.txt")["forms"]
    shapes = [shape if "(?<=" in shape else f"0(?<![0A.]0){shape[1:]}" for shape in lines[::3]]
    forms = [
        _Form(re.compile(shape.encode()), re.compile(rf"(?<![^\W_])(?:{before})\Z"), re.compile(behind))
        for shape, before, behind in zip(shapes, lines[1::3], lines[2::3], strict=True)
    ]
    any_shape = "|".join(dict.fromkeys(shape[1:] for shape in shapes))  # searched from figure to figure
    return re.compile(f"0(?:{any_shape})".encode()), forms
