"""The language stage maps ISO 639-3 codes to the two-letter code this project writes instead.

Individual languages stand under their macrolanguage (Egyptian Arabic is "ar", Mandarin "zh"). Identifiers with many
languages (GlotLID) answer in these codes.
"""

from __future__ import annotations

from crawler.stages.text.tables import sections

_PAIRS = " ".join(sections(__package__, "iso_639.txt")[""]).split()
ISO_639_1: dict[str, str] = dict(pair.split("=") for pair in _PAIRS)
"""ISO 639-3 → ISO 639-1."""
