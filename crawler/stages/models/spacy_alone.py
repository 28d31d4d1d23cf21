"""Importing this module, before whatever else imports spaCy, imports it without its command line.

Nor does it look for its own entry points among those of every other package, a hundred times for each model.
"""

from __future__ import annotations

from crawler.imports import deferred

with deferred("spacy.cli", "spacy.cli.info"):
    import spacy.util

_catalogue = spacy.util.catalogue
_found = _catalogue.AVAILABLE_ENTRY_POINTS
_catalogue.AVAILABLE_ENTRY_POINTS = {
    group: list(_found.select(group=group)) for group in _found.groups if group.startswith(("spacy_", "thinc_"))
}
