"""The table of what happens on the wire: one case, one site, one page; what the site says, and what must come of it.

`docs/policy-table.md` is written from this table and from measured crawls (`python -m bench.quality.optout_table`).

An outcome is one of
    kept                        the page is in the corpus
    unasked <reason>            the page was never requested
    head <reason>               stopped on the response line or headers, the body unread
    body <reason>               read, then stopped before anything of it was written
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from bench.web.prose import prose
from tests.support.loopback_web import Answer, PolicyWeb, Route
from tests.support.serving import hang, reset

PROFILES = ("strict", "balanced", "minimal")
FUTURE, PAST = "Wed, 25 Jun 2087 15:00:00 GMT", "Wed, 25 Jun 2008 15:00:00 GMT"
Signal = tuple[str, str, str, str]  # protocol, carrier, part of the raw value, verdict


@dataclass(frozen=True, eq=False)
class Case:
    """One site. `strict`, `balanced` and `minimal` are outcomes; an empty one is that of the profile before it."""

    section: str
    what: str
    strict: str
    balanced: str = ""
    minimal: str = ""
    files: dict[str, Route] = field(default_factory=dict)
    elsewhere: dict[str, Route] = field(default_factory=dict)  # files of the site that `@there@` names
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    head: str = ""  # inside <head>
    detail: str = ""  # part of the record's detail, where the page was stopped under `strict`
    signal: Signal | None = None  # among the record's signals under `strict`, kept or not
    number: int = 0

    @property
    def address(self) -> str:
        return f"127.1.{self.number // 200}.{self.number % 200 + 1}"

    @property
    def secret(self) -> str:
        """A word that stands on this page and nowhere else."""
        digits = hashlib.sha256(f"{self.section}/{self.what}".encode()).hexdigest()[:14]
        return "zq" + digits.translate(str.maketrans("0123456789", "ghijklmnop"))

    def expected(self, profile: str) -> str:
        outcomes = {"strict": self.strict, "balanced": self.balanced, "minimal": self.minimal}
        return next(outcomes[name] for name in reversed(PROFILES[: PROFILES.index(profile) + 1]) if outcomes[name])

    def page(self, patient: bool) -> Answer:
        """The page under test: title, description and text hold the secret."""
        meta = f'<meta name="description" content="About the {self.secret} of the harbour">'
        text = "".join(f"<p>{self.secret} {paragraph}</p>" for paragraph in _prose(self.secret))
        html = f"<html lang=en><head><title>The {self.secret}</title>{meta}{self.head}</head><body><main>{text}</main>"
        return Answer(self.status, html.encode(), self.headers, patient=patient)

    def declare(self, web: PolicyWeb, profile: str = "") -> str:
        """Put the case's sites into the web; answers the URL of its page.

        Where the profile stops the page on its headers, the site waits for that before it sends the body.
        """
        patient = bool(profile) and self.expected(profile).startswith("head ")
        there = self.address.replace("127.1.", "127.2.")
        web.site(there, self.elsewhere, there=self.address)
        return web.site(self.address, {"/page": self.page(patient), **self.files}, there=there) + "/page"


def _prose(seed: str) -> list[str]:
    """Prose in which no rule recognises a placeholder text."""
    texts = (prose(f"{seed}/{n}") for n in count())
    return next(text for text in texts if "lorem" not in " ".join(text).lower())


def robots(text: str | bytes, **values: object) -> dict[str, Route]:
    """A site whose robots.txt is this."""
    return {"/robots.txt": plain(text, **values)}


def plain(text: str | bytes, **values: object) -> Answer:
    body = text.encode() if isinstance(text, str) else text
    return Answer(body=body, content_type="text/plain", **values)  # type: ignore[arg-type]


def to(target: str, status: int = 302) -> Answer:
    return Answer(status, headers=(("Location", target),))


NOBODY = "User-agent: *\nDisallow: /\n"
US = "User-agent: CorpusBot\n"
ALL = "User-agent: *\n"
HELD, DISALLOWED = "unasked hold_robots_unreachable", "unasked robots_disallowed"


def hops(count: int) -> dict[str, Route]:
    """A robots.txt that is found after so many redirects and disallows everything."""
    chain = {f"/hop{n}": to(f"/hop{n + 1}") for n in range(1, count)}
    return {"/robots.txt": to("/hop1"), **chain, f"/hop{count}": plain(NOBODY)}


FETCH = [
    Case("fetch", "404", "kept", files={"/robots.txt": Answer(404)}),
    Case("fetch", "410", "kept", files={"/robots.txt": Answer(410)}),
    *(
        Case("fetch", str(s), DISALLOWED, files={"/robots.txt": Answer(s)}, detail=f"robots.txt answered {s}")
        for s in (401, 403, 429, 451)
    ),
    *(
        Case("fetch", str(s), HELD, files={"/robots.txt": Answer(s)}, detail=f"robots.txt answered {s}")
        for s in (500, 503)
    ),
    Case("fetch", "connection reset", HELD, files={"/robots.txt": reset}, detail="out of reach"),
    Case("fetch", "no answer within DOWNLOAD_TIMEOUT", HELD, files={"/robots.txt": hang}, detail="out of reach"),
    Case("fetch", "redirect to another site, whose file disallows", DISALLOWED,
         files={"/robots.txt": to("@there@/robots.txt")}, elsewhere=robots(NOBODY), detail="group *, line 2"),
    Case("fetch", "redirect to another site, whose file allows", "kept",
         files={"/robots.txt": to("@there@/robots.txt")}, elsewhere=robots(ALL + "Allow: /\n")),
    Case("fetch", "redirect to an address that the guard refuses", HELD,
         files={"/robots.txt": to("@forbidden@/robots.txt")}, detail="127.200.0.1 is not a globally routable address"),
    Case("fetch", "redirect loop", HELD, files={"/robots.txt": to("/a"), "/a": to("/robots.txt")}, detail="loop"),
    Case("fetch", "5 redirects, then a file that disallows", DISALLOWED, files=hops(5), detail="line 2"),
    Case("fetch", "6 redirects", HELD, files=hops(6), detail="more than 5 redirects"),
    Case("fetch", "700,000 bytes, our rule among the first 512,000", DISALLOWED,
         files=robots(NOBODY + "# filler\n" * 80_000), detail="line 2"),
    Case("fetch", "700,000 bytes, our rule behind the first 512,000", "kept",
         files=robots("# filler\n" * 80_000 + NOBODY)),
    Case("fetch", "more than 50,000 rules", DISALLOWED,
         files=robots(ALL + "Allow: /\n" * 50_001), detail="more than 50000 rules"),
    Case("fetch", "UTF-8 with a byte order mark", DISALLOWED,
         files=robots(b"\xef\xbb\xbf" + NOBODY.encode()), detail="line 2"),
    Case("fetch", "UTF-16, little endian, with a byte order mark", DISALLOWED,
         files=robots(b"\xff\xfe" + NOBODY.encode("utf-16-le")), detail="line 2"),
    Case("fetch", "UTF-16, big endian, with a byte order mark", DISALLOWED,
         files=robots(b"\xfe\xff" + NOBODY.encode("utf-16-be")), detail="line 2"),
    Case("fetch", "UTF-16 without a byte order mark", HELD,
         files=robots(NOBODY.encode("utf-16-le")), detail="not text in a known encoding"),
    Case("fetch", "a gzip file in place of text", HELD,
         files=robots(b"\x1f\x8b\x08\x00" + bytes(40)), detail="compressed or binary"),
    Case("fetch", "an HTML page in place of text (status 200)", "kept",
         files={"/robots.txt": Answer(body=b"<!doctype html><html><body><h1>Welcome</h1></body></html>")}),
    Case("fetch", "empty", "kept", files=robots("")),
]  # fmt: skip

RULES = [
    Case("robots.txt", "`Disallow: /` for `*`", DISALLOWED, files=robots(NOBODY), detail="group *, line 2: Disallow: /"),
    Case("robots.txt", "`Disallow: /` for our token, `*` may", DISALLOWED,
         files=robots(f"{ALL}Allow: /\n\n{US}Disallow: /\n"), detail="group corpusbot, line 5"),
    Case("robots.txt", "our token may, `Disallow: /` for `*`", "kept", files=robots(f"{NOBODY}\n{US}Allow: /\n")),
    Case("robots.txt", "`User-agent: CorpusBot/2.1`", DISALLOWED,
         files=robots("User-agent: CorpusBot/2.1\nDisallow: /page\n"), detail="line 2: Disallow: /page"),
    Case("robots.txt", "two groups for us, the second disallows", DISALLOWED,
         files=robots(f"{US}Disallow: /x\n\nUser-agent: Other\nAllow: /\n\n{US}Disallow: /page\n"), detail="line 8"),
    Case("robots.txt", "an unknown record between user-agent lines", DISALLOWED,
         files=robots(f"{US}Host: example\nUser-agent: Other\nDisallow: /page\n"), detail="line 4"),
    Case("robots.txt", "the longest match allows", "kept", files=robots(f"{ALL}Disallow: /\nAllow: /page$\n")),
    Case("robots.txt", "a percent-encoded rule", DISALLOWED, files=robots(f"{ALL}Disallow: /%70age\n"), detail="/%70age"),
    Case("robots.txt", "`User-agent: Googlebot, *`", DISALLOWED, files=robots("User-agent: Googlebot, *\nDisallow: /page\n"),
         detail="group *, line 2"),
    Case("robots.txt", "`User-agent: *,`", DISALLOWED, files=robots("User-agent: *,\nDisallow: /page\n")),
    Case("robots.txt", "`User-agent: Googlebot, CorpusBot` may, `Disallow: /` for `*`", DISALLOWED,
         files=robots(f"User-agent: Googlebot, CorpusBot\nAllow: /\n\n{NOBODY}"), detail="group *"),
    Case("robots.txt", "a misspelt rule (`Dissalow`)", DISALLOWED, files=robots(f"{ALL}Dissalow: /page\n")),
]  # fmt: skip

TRAINING_BOTS = (
    *("GPTBot", "CCBot", "ClaudeBot", "anthropic-ai", "Google-Extended", "Applebot-Extended", "Meta-ExternalAgent"),
    *("Bytespider", "Amazonbot", "cohere-ai", "AI2Bot", "img2dataset", "Diffbot"),
)
UNASKED = "unasked optout"
AI_BOTS = [
    *(
        Case("ai-bots", f"`{bot}` may not fetch", UNASKED, minimal="kept",
             files=robots(f"User-agent: {bot}\nDisallow: /\n\n{ALL}Allow: /\n"),
             detail=f"ai-bots in robots.txt: {bot}: line 2: Disallow: /",
             signal=("ai-bots", "robots.txt", f"{bot}: line 2", "disallow"))
        for bot in TRAINING_BOTS
    ),
    Case("ai-bots", "one of three named bots may not fetch", UNASKED, balanced="kept",
         files=robots("User-agent: GPTBot\nDisallow: /\n\nUser-agent: CCBot\nUser-agent: Diffbot\nAllow: /\n"),
         signal=("ai-bots", "robots.txt", "GPTBot", "disallow")),
    Case("ai-bots", "a named bot may not fetch another path", "kept",
         files=robots("User-agent: GPTBot\nDisallow: /other\n"), signal=("ai-bots", "robots.txt", "GPTBot", "unknown")),
    Case("ai-bots", "a search engine's bot may not fetch", "kept", files=robots("User-agent: Bingbot\nDisallow: /\n")),
]  # fmt: skip


def tagged(what: str, strict: str, *values: str, **rest: object) -> Case:
    lines = tuple(("X-Robots-Tag", value) for value in values)
    return Case("x-robots-tag", what, strict, headers=lines, **rest)  # type: ignore[arg-type]


def meta(what: str, strict: str, head: str, **rest: object) -> Case:
    return Case("meta-robots", what, strict, head=head, **rest)  # type: ignore[arg-type]


HEAD, BODY, TAG = "head optout", "body optout", "x-robots-tag"
DIRECTIVES = [
    *(
        tagged(f"`{word}`", HEAD, word, detail=f"x-robots-tag in header: {word}", signal=(TAG, "header", word, "disallow"))
        for word in ("noai", "noimageai", "noml")
    ),
    *(
        tagged(f"`{word}`", HEAD, word, balanced="kept", signal=(TAG, "header", word, "disallow"))
        for word in ("noindex", "none", "noarchive", "nocache")
    ),
    tagged("two headers, the second says `noai`", HEAD, "index", "noai", detail="noai"),
    tagged("`nosnippet` (recorded only)", "kept", "nosnippet", signal=(TAG, "header", "nosnippet", "unknown")),
    tagged("`max-snippet:-1, max-image-preview:large, noai`", HEAD, "max-snippet:-1, max-image-preview:large, noai"),
    tagged("`otherbot: noindex, nofollow` (another bot's scope)", "kept", "otherbot: noindex, nofollow",
           signal=(TAG, "header", "otherbot: noindex", "unknown")),
    tagged("`otherbot: nofollow, corpusbot: noindex`", HEAD, "otherbot: nofollow, corpusbot: noindex", balanced="kept",
           signal=(TAG, "header", "corpusbot: noindex", "disallow")),
    tagged("`otherbot: noai` (AI use refused under any name)", HEAD, "otherbot: noai"),
    tagged("`unavailable_after:` a past date with a comma", "head gone", f"unavailable_after: {PAST}", detail=PAST),
    tagged("`unavailable_after:` a future date with a comma, then `noai`", HEAD, f"unavailable_after: {FUTURE}, noai"),
    tagged("`unavailable_after:` a future date", "kept", f"unavailable_after: {FUTURE}"),
    *(
        meta(f"`<meta name=robots content={word}>`", BODY, f"<meta name=robots content={word}>",
             detail=f"meta-robots in meta: robots: {word}", signal=("meta-robots", "meta", f"robots: {word}", "disallow"))
        for word in ("noai", "noimageai", "noml")
    ),
    *(
        meta(f"`<meta name=robots content={word}>`", BODY, f"<meta name=robots content={word}>", balanced="kept",
             signal=("meta-robots", "meta", f"robots: {word}", "disallow"))
        for word in ("noindex", "none", "noarchive", "nocache")
    ),
    meta("`<META NAME='ROBOTS' CONTENT='Index, NoAI'>`", BODY, "<META NAME='ROBOTS' CONTENT='Index, NoAI'>"),
    meta("`<meta name=corpusbot content=noindex>` (our name)", BODY, "<meta name=corpusbot content=noindex>", balanced="kept"),
    meta("`<meta name=gptbot content=noai>` (any bot's name)", BODY, "<meta name=gptbot content=noai>"),
    meta("`<meta name=robots content=nosnippet>` (recorded only)", "kept", "<meta name=robots content=nosnippet>",
         signal=("meta-robots", "meta", "nosnippet", "unknown")),
    meta("`unavailable_after:` a past date", "body gone",
         f'<meta name=robots content="unavailable_after: {PAST}">', detail="2008"),
]  # fmt: skip


def tdm(what: str, strict: str, file: str = "", header: str = "", meta: str = "", **rest: object) -> Case:
    files = {"/.well-known/tdmrep.json": Answer(body=file.encode(), content_type="application/json")} if file else {}
    headers = (("tdm-reservation", header),) if header else ()
    head = f'<meta name="tdm-reservation" content="{meta}">' if meta else ""
    return Case("tdmrep", what, strict, files=files, headers=headers, head=head, **rest)  # type: ignore[arg-type]


RESERVED, FREE = '[{"location": "/", "tdm-reservation": 1}]', '[{"location": "/", "tdm-reservation": 0}]'
SEQUENCE = '[{"location": "/page", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]'
TDMREP = [
    tdm("file reserves", BODY, RESERVED, detail="tdmrep in well-known: 1", signal=("tdmrep", "well-known", "1", "disallow")),
    tdm("file: first match in sequence", "kept", SEQUENCE, signal=("tdmrep", "well-known", "0", "allow")),
    tdm("header reserves", BODY, header="1", signal=("tdmrep", "header", "1", "disallow")),
    tdm("meta reserves", BODY, meta="1", signal=("tdmrep", "meta", "1", "disallow")),
    tdm("file reserves, header does not", "kept", RESERVED, header="0"),
    tdm("header reserves, meta does not", "kept", header="1", meta="0"),
    tdm("file does not, header does not, meta reserves", BODY, FREE, header="0", meta="1"),
    tdm("header with a value that is neither 0 nor 1", "kept", header="2", signal=("tdmrep", "header", "2", "unknown")),
    tdm("file reserves, header unreadable (absence never resets)", BODY, RESERVED, header="maybe"),
    tdm("file is broken JSON", "unasked hold_control_file", "[{", detail="broken JSON"),
    Case("tdmrep", "file: HTML in its place", "kept", files={"/.well-known/tdmrep.json": Answer(body=b"<html>404</html>")}),
    Case("tdmrep", "file: 503", "unasked hold_control_file", files={"/.well-known/tdmrep.json": Answer(503)}),
]  # fmt: skip


def usage(what: str, strict: str, *values: str, **rest: object) -> Case:
    lines = tuple(("Content-Usage", value) for value in values)
    return Case("content-usage", what, strict, headers=lines, **rest)  # type: ignore[arg-type]


CU, CS = "content-usage", "content-signal"
PREFERENCES = [
    usage("header `train-ai=n`", HEAD, "train-ai=n", signal=(CU, "header", "train-ai=n", "disallow")),
    usage("header `train-ai=y, train-ai=n` (the last duplicate wins)", HEAD, "train-ai=y, train-ai=n"),
    usage("header `train-ai=n, train-ai=y`", "kept", "train-ai=n, train-ai=y", signal=(CU, "header", "train-ai", "allow")),
    usage("two header lines, the last says n", HEAD, "train-ai=y", "train-ai=n"),
    usage("header malformed (`train-ai=n;;`)", "kept", "train-ai=n;;", signal=(CU, "header", "train-ai=n;;", "unknown")),
    usage("header `search=n` (not about training)", "kept", "search=n"),
    Case(CU, "robots.txt `Content-Usage: train-ai=n`", UNASKED, files=robots(f"{ALL}Allow: /\nContent-Usage: train-ai=n\n"),
         detail="content-usage in robots.txt", signal=(CU, "robots.txt", "train-ai=n", "disallow")),
    Case(CU, "robots.txt, the longest path allows", "kept",
         files=robots(f"{ALL}Content-Usage: / train-ai=n\nContent-Usage: /page train-ai=y\n")),
    Case(CU, "robots.txt, identical paths, one refuses", UNASKED,
         files=robots(f"{ALL}Content-Usage: /page train-ai=y\nContent-Usage: /page train-ai=n\n")),
    Case(CU, "robots.txt, another bot's group", "kept", files=robots(f"User-agent: Other\nContent-Usage: train-ai=n\n\n{US}Allow: /\n")),
    Case(CS, "robots.txt `Content-Signal: search=yes, ai-train=no`", UNASKED,
         files=robots(f"{ALL}Content-Signal: search=yes, ai-train=no\nAllow: /\n"),
         detail="content-signal in robots.txt", signal=(CS, "robots.txt", "ai-train=no", "disallow")),
    Case(CS, "robots.txt `ai-train=no` before any group", UNASKED, files=robots(f"Content-Signal: ai-train=no\n{ALL}Allow: /\n")),
    Case(CS, "robots.txt `search=yes, ai-input=no`", "kept", files=robots(f"{ALL}Content-Signal: search=yes, ai-input=no\nAllow: /\n")),
    Case(CS, "header `ai-train=no`", HEAD, headers=(("Content-Signal", "ai-train=no"),), signal=(CS, "header", "ai-train=no", "disallow")),
]  # fmt: skip


def rsl(inner: str) -> Answer:
    xml = f'<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>{inner}</license></content></rsl>'
    return Answer(body=xml.encode(), content_type="application/rsl+xml")


def licensed(what: str, strict: str, licence: Route, **rest: object) -> Case:
    files = {**robots(f"License: @here@/licence.xml\n{ALL}Allow: /\n"), "/licence.xml": licence}
    return Case("rsl", what, strict, minimal="kept", files=files, **rest)  # type: ignore[arg-type]


RSL_TYPE = 'type="application/rsl+xml"'
LICENCES = [
    licensed("robots.txt `License:` prohibits `ai-train`", UNASKED, rsl('<prohibits type="usage">ai-train</prohibits>'),
             signal=("rsl", "robots.txt", "/licence.xml", "disallow")),
    licensed("… permits, for free", "kept", rsl('<permits type="usage">ai-train</permits><payment type="free"/>'),
             signal=("rsl", "robots.txt", "/licence.xml", "allow")),
    licensed("… permits, for free, and the page names the same licence", "kept",
             rsl('<permits type="usage">ai-train</permits><payment type="free"/>'),
             head=f'<link rel=license {RSL_TYPE} href="/licence.xml">', signal=("rsl", "meta", "/licence.xml", "unknown")),
    licensed("… permits, against payment", UNASKED, rsl('<permits type="usage">ai-train</permits><payment type="purchase"/>')),
    licensed("… permits and prohibits", UNASKED,
             rsl('<permits type="usage">all</permits><prohibits type="usage">ai-train</prohibits>')),
    licensed("… cannot be read", "unasked hold_control_file", Answer(body=b"<rsl><broken"), detail="no well-formed XML"),
    licensed("… answers 404", "unasked hold_control_file", Answer(404), detail="answered 404"),
    Case("rsl", "robots.txt `License:` without a value", "kept", files=robots(f"License:\n{ALL}Allow: /\n")),
    Case("rsl", "`Link:` header names a licence that was not read", BODY, minimal="kept",
         headers=(("Link", f'</licence.xml>; rel="license"; {RSL_TYPE}'),), detail="rsl in header"),
    Case("rsl", "`<link rel=license>` names a licence that was not read", BODY, minimal="kept",
         head=f'<link rel=license {RSL_TYPE} href="/licence.xml">', detail="rsl in meta"),
]  # fmt: skip

FILES = [
    Case("ai.txt", "`Disallow: /`", UNASKED, minimal="kept", files={"/ai.txt": plain(NOBODY)},
         detail="ai.txt in well-known: line 2", signal=("ai.txt", "well-known", "Disallow: /", "disallow")),
    Case("ai.txt", "`Disallow: *.txt`, `Allow: /`", "kept", files={"/ai.txt": plain(f"{ALL}Disallow: *.txt\nAllow: /\n")}),
    Case("ai.txt", "500", "unasked hold_control_file", minimal="kept", files={"/ai.txt": Answer(500)}, detail="/ai.txt: answered 500"),
    Case("trust.txt", "`datatrainingallowed=no`", UNASKED, minimal="kept",
         files={"/trust.txt": plain("member=https://a.example\ndatatrainingallowed=no\n")},
         signal=("trust.txt", "well-known", "datatrainingallowed=no", "disallow")),
    Case("trust.txt", "`datatrainingallowed=yes`", "kept", files={"/trust.txt": plain("datatrainingallowed=yes\n")}),
    Case("trust.txt", "`datatrainingallowed=no` in `/.well-known/trust.txt`", UNASKED, minimal="kept",
         files={"/.well-known/trust.txt": plain("datatrainingallowed=no\n")},
         signal=("trust.txt", "well-known", "datatrainingallowed=no", "disallow")),
    Case("trust.txt", "yes in `/trust.txt`, no in `/.well-known/trust.txt`", UNASKED, minimal="kept",
         files={"/trust.txt": plain("datatrainingallowed=yes\n"),
                "/.well-known/trust.txt": plain("datatrainingallowed=no\n")}),
    Case("trust.txt", "yes, and `Disallow: /` for GPTBot in robots.txt", UNASKED, minimal="kept",
         files={**robots("User-agent: GPTBot\nDisallow: /\n"), "/trust.txt": plain("datatrainingallowed=yes\n")}),
    Case("trust.txt", "500 for `/.well-known/trust.txt`", "unasked hold_control_file", minimal="kept",
         files={"/.well-known/trust.txt": Answer(500)}, detail="/.well-known/trust.txt: answered 500"),
]  # fmt: skip

CC = "https://creativecommons.org/licenses/by/4.0/"
RECORDED = [
    Case("recorded", "`/ai-policy.json`", "kept", files={"/ai-policy.json": plain('{"training": "no"}')},
         signal=("ai-policy", "well-known", '"training": "no"', "unknown")),
    Case("recorded", "`/ai-policy.json` answers 500", "kept", files={"/ai-policy.json": Answer(500)}),
    Case("recorded", "`/llms.txt`", "kept", files={"/llms.txt": plain("# A site\n> about tea\n")},
         signal=("llms.txt", "well-known", "21 bytes, sha256 ", "unknown")),
    Case("recorded", "`<link rel=license>` to Creative Commons", "kept", head=f'<link rel=license href="{CC}">',
         signal=("creative-commons", "meta", CC, "unknown")),
    Case("recorded", "`Link:` header to Creative Commons", "kept", headers=(("Link", f'<{CC}>; rel="license"'),),
         signal=("creative-commons", "header", CC, "unknown")),
]  # fmt: skip

STATUS = [
    *(
        Case("status", str(status), "body access_denied", status=status, detail=f"HTTP {status}")
        for status in (401, 402, 403, 451)
    ),
    Case("status", "noai in the header, permission everywhere else (any refusal wins)", HEAD,
         files={**robots(f"{ALL}Allow: /\nContent-Signal: ai-train=yes\n"), "/ai.txt": plain(f"{ALL}Allow: /\n")},
         headers=(("X-Robots-Tag", "noai"), ("Content-Usage", "train-ai=y"), ("tdm-reservation", "0"))),
    Case("status", "says nothing at all (the control)", "kept"),
]  # fmt: skip

SECTIONS = {
    "fetch": "robots.txt that cannot be fetched as usual",
    "robots.txt": "robots.txt rules",
    "ai-bots": "robots.txt groups that name training bots",
    "x-robots-tag": "`X-Robots-Tag` header",
    "meta-robots": "`<meta>` addressed to robots",
    "tdmrep": "TDMRep",
    "content-usage": "AIPREF `Content-Usage`",
    "content-signal": "Content Signals",
    "rsl": "RSL licences",
    "ai.txt": "`/ai.txt`",
    "trust.txt": "`trust.txt`",
    "recorded": "Recorded, never obeyed (the two files with OPTOUT_NOTED_FILES)",
    "status": "Denials on the response line, and several statements together",
}
"""Heading of each section, in the order of the page."""


def _numbered() -> Iterator[Case]:
    every = [*FETCH, *RULES, *AI_BOTS, *DIRECTIVES, *TDMREP, *PREFERENCES, *LICENCES, *FILES, *RECORDED, *STATUS]
    for number, case in enumerate(every):
        yield replace(case, number=number)


CASES = tuple(_numbered())
