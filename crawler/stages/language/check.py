"""The settings of the language stage are checked here: a model that is not there, languages that nobody knows."""

from __future__ import annotations

from crawler.config import LanguageConfig
from crawler.problems import InputError
from crawler.stages.language.codes import tag
from crawler.stages.language.identifiers import Langdetect, Py3Langid, named
from crawler.stages.language.openset import UNKNOWN
from crawler.stages.language.scripts import WRITTEN


def check_identifier(config: LanguageConfig) -> list[str]:
    """Problems that must stop a crawl before its first request: a model that is not there, languages nobody knows."""
    if config.identifier != "builtin":
        try:
            known = named(config.identifier).known
        except InputError as error:
            return error.problems
        except ValueError as error:
            return [f"LANGUAGE_IDENTIFIER {error}"]
    elif config.languages or config.min_scores:
        known = Py3Langid().known | Langdetect().known
    else:
        return []
    return [
        problem
        for name, codes in (("LANGUAGES", config.languages), ("LANGUAGE_MIN_SCORES", config.min_scores))
        for code in codes
        if (problem := _problem_of(name, code.partition(":")[0], known, config.identifier == "builtin"))
    ]


def _problem_of(name: str, code: str, known: frozenset[str], is_built_in: bool) -> str:
    """What is wrong with a code; "" where nothing is. An identifier of another package knows no scripts."""
    wanted = tag(code)
    if wanted.language not in known | {UNKNOWN}:
        return (
            f"{name}: no identifier knows {code!r}, so that no page could be in it: remove it, or set "
            f"LANGUAGE_IDENTIFIER to a model that knows it"
        )
    written = [script for script, languages in WRITTEN.items() if wanted.language in languages]
    if "Hani" in written:
        written += ["Hans", "Hant"]
    if is_built_in and wanted.script and wanted.language != UNKNOWN and wanted.script not in written:
        return f"{name}: {code!r} names a script in which no page is expected; known for it: {', '.join(written)}"
    return ""
