"""Documents of a field are told by the headings under which authorities and journals have them printed.

Only the form counts, as with the law (`legal`): an article about a medicine is no product information.
`field_forms.txt` has the headings, and says where each layout is laid down.
"""

from __future__ import annotations

import re
from functools import cache

from crawler.stages.text.tables import sections

_LONGEST = 160
"""Characters of a heading."""
_NUMBER = re.compile(
    r"[#*\s]*(?:(?:item|part|section|teil|partie)\s)?(?:\d{1,2}(?:\.\d{1,2}){0,3}[a-c]?|[ivx]{1,5})[.:)]?\s+",
    re.IGNORECASE,
)


def headings_in(field: str, text: str) -> int:
    """How many parts of a document of a field have a heading of their own in a text: 0 up."""
    parts, found = _parts(field), set[int]()
    for line in map(str.strip, text.split("\n")):
        for heading in {line, line.partition(":")[0]}:  # "Methods: We weighed forty sacks" has its own, too
            if 0 < len(heading) <= _LONGEST:
                start = number.end() if (number := _NUMBER.match(heading)) else 0
                bare = heading[start:].strip(" .:：#*【】[]")
                found.update(place for place, part in enumerate(parts) if place not in found and part.fullmatch(bare))
    return len(found)


@cache
def _parts(field: str) -> list[re.Pattern[str]]:
    return [
        re.compile(line.replace("'", "['’]"), re.IGNORECASE) for line in sections(__package__, "field_forms.txt")[field]
    ]
