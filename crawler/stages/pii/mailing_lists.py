"""Addresses of public mailing lists: they go like any other, but a page that names many is not about persons."""

from __future__ import annotations

import re

from crawler.stages.pii.page import Hit

_HOST = re.compile(
    r"@(?:.+\.)?(?:lists?|mailman|listserv|sympa|lists-\w+)\.[^@]+\Z"
    r"|@(?:googlegroups\.com|groups\.io|groups\.google\.com|freelists\.org|vger\.kernel\.org|lists?\w*\.\w+\.\w+)\Z"
)
_LOCAL = re.compile(
    r"[\w.+-]*(?:[-.](?:lists?|users?|devel|dev|discuss|discussion|announce|announcements|commits?|bugs|cvs|checkins|l"
    r"|help|request|subscribe|unsubscribe|owner|bounces)|(?:majordomo|listserv|mailman|sympa))@"
)


def is_mailing_list(hit: Hit) -> bool:
    """True for the e-mail address of a list ("debian-user@lists.debian.org", "gcc-help@…"), by its host or its name."""
    return hit.entity == "EMAIL_ADDRESS" and bool(_LOCAL.match(hit.value) or _HOST.search(hit.value))
