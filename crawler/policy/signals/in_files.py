"""What a file that is no web page says of its use inside: PLUS's Data Mining property in XMP, permissions of a PDF.

The parse stage hands them on as metas. TDMRep, robots directives and licences inside a file come under the names that
pages have for them, and their own detectors read them.
"""

from __future__ import annotations

from crawler.document import Signal
from crawler.policy.signals.base import ALLOW, DISALLOW, UNKNOWN, Context, Detector, Metas, signal

PLUS, PERMISSIONS = "plus-data-mining", "pdf-permissions"
CARRIER = "file"
"""Where these stand: in the file itself."""
_PLUS_META, _COPY_META = "plus:datamining", "pdf:copy"
_VERDICTS = {
    "DMI-ALLOWED": ALLOW,
    "DMI-PROHIBITED": DISALLOW,
    "DMI-PROHIBITED-AIMLTRAINING": DISALLOW,
    "DMI-PROHIBITED-GENAIMLTRAINING": DISALLOW,
    "DMI-PROHIBITED-EXCEPTSEARCHENGINEINDEXING": DISALLOW,
    "DMI-PROHIBITED-SEECONSTRAINT": DISALLOW,
    "DMI-PROHIBITED-SEEEMBEDDEDRIGHTSEXPR": DISALLOW,
    "DMI-PROHIBITED-SEELINKEDRIGHTSEXPR": DISALLOW,
}
"""The controlled vocabulary of PLUS, adopted by IPTC 2023.1; what prohibits in part prohibits for a corpus."""


def plus_from_metas(metas: Metas, _context: Context) -> list[Signal]:
    """Each value of `plus:DataMining`; one that nobody knows and that begins like a prohibition is one."""
    return [
        signal(PLUS, CARRIER, content, _verdict(content.strip().upper()))
        for name, content in metas
        if name == _PLUS_META
    ]


def _verdict(value: str) -> str:
    return _VERDICTS.get(value, DISALLOW if value.startswith("DMI-PROHIBITED") else UNKNOWN)


def permissions_from_metas(metas: Metas, _context: Context) -> list[Signal]:
    """The bit that forbids to copy text out of a PDF (ISO 32000-1, table 22, bit 5)."""
    return [signal(PERMISSIONS, CARRIER, "copy: forbidden", DISALLOW) for name, _ in metas if name == _COPY_META]


PLUS_DETECTOR = Detector(PLUS, "1", "the file's own metadata prohibit data mining (PLUS)", metas=plus_from_metas)
PERMISSIONS_DETECTOR = Detector(
    PERMISSIONS, "1", "the permissions of the PDF forbid to copy its text", metas=permissions_from_metas
)
