"""Word lists by category, in a YAML file that CLASSIFIERS names like a model: `safety:safety.yaml`.

Nothing is shipped: which words count as what is the user's to say (docs/adr/classify-001-no-word-lists.md). The lists
are files beside the YAML file, a term a line, `#` begins a comment; each says for which languages it is, because a word
of one language is another word in the next.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from crawler.config import yaml_file
from crawler.config.yaml_file import Value

MAX_FILE_BYTES = 1 << 20
MAX_LIST_BYTES = 8 << 20
ACTIONS = ("hold", "score")
_KEYS = ("words", "languages", "density", "terms", "action")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
DENSITY, TERMS = 0.01, 3
C4 = "c4"
"""The category of C4's rule (Raffel et al. 2020, section 2.2): a page with one bad word was dropped. Here it is noted."""


@dataclass(frozen=True, slots=True)
class Category:
    """What is looked for, and from when on a text waits for a person.

    files: of its terms. languages: ISO 639 codes of the texts it is for. density: share of a text's words, 0–1, and
    terms: different ones of the list, both at least. action: of `ACTIONS`.
    """

    name: str
    files: tuple[Path, ...]
    languages: frozenset[str]
    density: float = DENSITY
    terms: int = TERMS
    action: str = "hold"


def read_categories(path: str) -> list[Category]:
    """The categories of a file, C4's last. Raises: InputError naming every problem with its line."""
    folder = Path(path).parent
    return yaml_file.read(Path(path), lambda value: _file(value, folder), most=MAX_FILE_BYTES)


def _file(value: Value, folder: Path) -> list[Category]:
    keys = value.mapping(("categories", C4), "expected categories, each with its words, or c4")
    found = []
    if (categories := keys.get("categories")) is not None:
        for name, one in categories.items("expected a mapping: a category's name and what belongs to it"):
            if not _NAME.fullmatch(name) or name == C4:
                one.key_problem("expected a name of a-z, then a-z, 0-9 and _, other than c4")
            else:
                found.append(_category(name, one, folder, _KEYS))
    if (rule := keys.get(C4)) is not None:
        made = _category(C4, rule, folder, _KEYS[:2])
        found.append(Category(C4, made.files, made.languages, 0.0, 1, "score"))
    if not found:
        value.problem("expected at least one category")
    return found


def _category(name: str, value: Value, folder: Path, known: tuple[str, ...]) -> Category:
    keys = value.mapping(known)
    for needed in ("words", "languages"):
        if needed not in keys:
            value.problem(f"needs {needed}")
    given = {key: keys[key].one_or_more() if key in keys else [] for key in ("words", "languages")}
    files = [one.text(lambda text: _list(folder / text)) for one in given["words"]]
    languages = [one.text(_language) for one in given["languages"]]
    return Category(
        name,
        tuple(file for file in files if file is not None),
        frozenset(language for language in languages if language is not None),
        keys["density"].number(above=0.0, most=1.0) if "density" in keys else DENSITY,
        int(keys["terms"].number(least=1.0, most=1000.0)) if "terms" in keys else TERMS,
        (keys["action"].text(_action) or "hold") if "action" in keys else "hold",
    )


def _list(path: Path) -> Path:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ValueError(f"expected a file that can be read ({error.strerror})") from None
    if size > MAX_LIST_BYTES:
        raise ValueError(f"expected a list of at most {MAX_LIST_BYTES:,} bytes")
    return path


def _language(text: str) -> str:
    if not _LANGUAGE.fullmatch(text):
        raise ValueError("expected the code of a language, such as en")
    return text


def _action(text: str) -> str:
    if text not in ACTIONS:
        raise ValueError(f"expected {' or '.join(ACTIONS)}")
    return text
