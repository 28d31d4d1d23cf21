"""Which query parameters say how a visitor came, not which page is meant: used by `urls.canonicalize`.

The list is in `docs/seeds.md`. A parameter enters it only where its name is unmistakable on every site. `ref`,
`source`, `id`, `sid` and `s` name pages somewhere: those are listed for the domains where they do not, or are known by
the shape of their value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PREFIXES: tuple[str, ...] = ("utm_", "itm_", "mtm_", "piwik_", "matomo_", "hsa_", "aspsessionid")
"""Campaign families (Google and its in-site imitation, Matomo/Piwik, HubSpot) and classic ASP sessions."""

NAMES: frozenset[str] = _names(
    # click ids of advertising networks
    "gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid fbclid msclkid yclid ymclid ysclid twclid ttclid "
    "igshid igsh li_fat_id epik srsltid mibextid rb_clickid wickedid sc_cid s_cid s_kwcid irclickid "
    # newsletters and customer tracking
    "mc_cid mc_eid mkt_tok _hsenc _hsmi __hstc __hssc __hsfp hsctatracking vero_id vero_conv oly_anon_id oly_enc_id "
    "_ke sfmc_id elqtrackid elqtrack ml_subscriber ml_subscriber_hash "
    # web analytics
    "intcmp _ga _gl _openstat ref_src ref_url xtor wt_mc wt.mc_id wt_zmc at_medium at_campaign at_custom1 at_custom2 "
    "ns_campaign ns_mchannel ns_source ns_linkname ns_fee guccounter guce_referrer guce_referrer_sig soc_src "
    "soc_trk sr_share _branch_match_id pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content pk_cid "
    # sessions, and the reply form that WordPress opens below the same article
    "replytocom phpsessid jsessionid cfid cftoken zenid oscsid"
)
"""Whole names, compared in lower case."""

BY_DOMAIN: Mapping[str, frozenset[str]] = {
    "linkedin.com": frozenset({"trk", "trkinfo", "lipi", "refid", "trackingid"}),
    "medium.com": frozenset({"source"}),
    "reddit.com": frozenset({"share_id", "rdt"}),
    "spotify.com": frozenset({"si"}),
    "twitter.com": frozenset({"s", "t"}),
    "wikipedia.org": frozenset({"wprov"}),
    "x.com": frozenset({"s", "t"}),
    "youtu.be": frozenset({"si", "feature"}),
    "youtube.com": frozenset({"si", "feature", "pp", "ab_channel"}),
}
"""Names that mean tracking on this domain and its subdomains only."""

SESSION_NAMES = frozenset({"sid", "session", "sessionid", "session_id", "sess"})
_SESSION_VALUE = re.compile(r"[0-9a-fA-F]{32,128}")  # PHP and phpBB: a hash, never a page number
SIGNATURES = _names(
    "signature sig hmac x-amz-signature x-goog-signature x-oss-signature x-ms-signature hdnea hdnts __token__"
)


@dataclass(frozen=True, slots=True)
class QueryPolicy:
    """What may be taken from a query. All names in lower case; `by_domain` holds for the domain and its subdomains."""

    prefixes: tuple[str, ...] = PREFIXES
    names: frozenset[str] = NAMES
    by_domain: Mapping[str, frozenset[str]] = field(default_factory=lambda: BY_DOMAIN)

    def extended(self, by_domain: Mapping[str, frozenset[str]]) -> QueryPolicy:
        """A policy that also removes these parameters on these domains."""
        merged = dict(self.by_domain)
        for domain, names in by_domain.items():
            merged[domain] = merged.get(domain, frozenset()) | {name.lower() for name in names}
        return replace(self, by_domain=merged)

    def apply(self, raw: str, query: str, host: str) -> str:
        """The query to keep. `raw` as it was sent, `query` with normal escapes, neither with its question mark.

        A signed query is returned as it was sent: its signature covers every byte. Only a form-like query is sorted
        (each part `name=value`, no brackets in a name): by name, the values of one name in their order.
        """
        parts = query.split("&")
        if any(part.partition("=")[0].lower() in SIGNATURES for part in parts):
            return raw
        local = self._local_names(host)
        kept = [part for part in parts if not self._is_tracking(part, local)]
        pairs = [part for part in kept if part]
        if not all(_is_form_pair(part) for part in pairs):
            return "&".join(kept)
        return "&".join(sorted(pairs, key=_name_of))

    def _local_names(self, host: str) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        while host:
            found |= self.by_domain.get(host, frozenset())
            _, _, host = host.partition(".")
        return found

    def _is_tracking(self, part: str, local: frozenset[str]) -> bool:
        name, _, value = part.partition("=")
        name = name.lower()
        if name in self.names or name in local or name.startswith(self.prefixes):
            return True
        return name in SESSION_NAMES and _SESSION_VALUE.fullmatch(value) is not None


DEFAULT_POLICY = QueryPolicy()


@lru_cache(maxsize=8)
def extended_policy(pairs: tuple[str, ...]) -> QueryPolicy:
    """The default policy and FRONTIER_TRACKING_PARAMS: `example.org:foo` names a domain, `bar` after it one more."""
    found: dict[str, set[str]] = {}
    domain = ""
    for pair in pairs:
        head, colon, name = pair.rpartition(":")
        domain = head.lower() if colon else domain
        found.setdefault(domain, set()).add(name)
    if not found:
        return DEFAULT_POLICY
    return DEFAULT_POLICY.extended({domain: frozenset(names) for domain, names in found.items()})


def _name_of(part: str) -> str:
    return part.partition("=")[0]


def _is_form_pair(part: str) -> bool:
    name, equals, _ = part.partition("=")
    return bool(name and equals) and "%5B" not in name  # a[]=1&a[0]=2: order matters across names
