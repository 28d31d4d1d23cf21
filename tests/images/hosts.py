"""A web of hosts, one for each way to say no to an image, for the tests and for `bench.images`.

The hosts are those of the crawl's own table (`tests/middlewares/wire/policy_cases.py`), with an image where the page
is; what a page could say in its head, an image says inside, or its page says for it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyarrow import parquet

from bench.web.prose import prose
from tests.images import pictures as p
from tests.middlewares.wire.policy_cases import CASES, Case
from tests.support import warm
from tests.support.corpus_crawl import SETTINGS
from tests.support.loopback_web import FORBIDDEN, Answer, PolicyWeb, Route
from tests.support.places import PROJECT

TIMEOUT = 2
HOSTS = [case for case in CASES if not case.head and case.section != "recorded"]
"""A page's header outranks the site's TDMRep file; an image is not asked for where the file reserves."""


def image_outcome(case: Case) -> tuple[str, bool]:
    """What becomes of an image on the host of a case under `strict`, and whether it is asked for."""
    how, _, reason = case.strict.partition(" ")
    protocol = "unavailable" if reason == "gone" else case.section
    asked = how != "unasked"
    if case.section == "tdmrep" and case.what.startswith("file reserves"):
        return "optout:tdmrep", False
    if case.what.startswith("yes, and `Disallow: /` for GPTBot"):
        return "optout:ai-bots", False
    if how == "kept":
        return "kept", True
    if reason == "optout":
        return f"optout:{case.signal[0] if case.signal else _PROTOCOLS.get(case.section, protocol)}", asked
    return {"robots_disallowed": "robots", "access_denied": "denied", "gone": "gone"}.get(
        reason, f"hold:{reason}"
    ), asked


_PROTOCOLS = {"status": "x-robots-tag", "trust.txt": "trust.txt", "content-usage": "content-usage"}


@dataclass(frozen=True)
class Own:
    """One image that the crawl's table does not have. asked: is its image requested?"""

    what: str
    outcome: str
    image: Route | None = None
    asked: bool = True
    files: dict[str, Route] = field(default_factory=dict)
    elsewhere: dict[str, Route] = field(default_factory=dict)
    tag: str = '<figure><img src="{url}" alt="A view of {what}"><figcaption>A view of {what}</figcaption></figure>'
    detail: str = ""


def jpeg(data: bytes | None = None, *headers: tuple[str, str], seed: object = "", kind: str = "image/jpeg") -> Answer:
    return Answer(200, p.picture(seed) if data is None else data, tuple(headers), kind)


def alone(tag: str) -> dict[str, Any]:
    """Never asked for."""
    return {"asked": False, "tag": tag}


def to(target: str) -> Answer:
    return Answer(302, headers=(("Location", target),))


VIEW = 'alt="A view of {what}">'
"""End of a tag."""
TDM = Answer(body=b'[{"location": "/", "tdm-reservation": 1}]', content_type="application/json")
SORRY = Answer(body=b"<html><body>Sorry</body></html>", content_type="image/jpeg")
PACKED = p.with_packed_xmp(p.picture(3, "PNG"), p.PROHIBITED)
GREY = p.encoded(p.drawing("said before").convert("L"), "PNG")
NOBODY = Answer(body=b"User-agent: *\nDisallow: /\n", content_type="text/plain")
SAID_BEFORE = p.picture("said before")
OWN = [
    Own("XMP that prohibits training", "optout:plus-data-mining", jpeg(p.picture(1, xmp=p.PROHIBITED.encode()))),
    Own("XMP that reserves by TDMRep", "optout:tdmrep", jpeg(p.picture(2, xmp=p.RESERVED.encode()))),
    Own("XMP in a PNG, compressed", "optout:plus-data-mining", jpeg(PACKED)),
    Own("XMP in a WebP", "optout:plus-data-mining", jpeg(p.picture(4, "WEBP", xmp=p.PROHIBITED.encode()))),
    Own("XMP that allows mining", "kept", jpeg(p.picture(5, xmp=p.ALLOWED.encode()))),
    Own("C2PA in a JPEG", "optout:c2pa", jpeg(p.jpeg_with_store(p.picture(6), p.store())),
        detail="c2pa.ai_training: notAllowed"),
    Own("C2PA in a PNG", "optout:c2pa", jpeg(p.with_chunk(p.picture(7, "PNG"), b"caBX", p.store()))),
    Own("C2PA in a WebP", "optout:c2pa", jpeg(p.webp_with_chunk(p.picture(8, "WEBP"), b"C2PA", p.store()))),
    Own("C2PA under conditions", "optout:c2pa", jpeg(p.jpeg_with_store(p.picture(9), p.store("constrained")))),
    Own("C2PA nobody can read", "optout:c2pa", jpeg(p.jpeg_with_store(p.picture(10), p.unreadable_store()))),
    Own("C2PA that allows", "kept", jpeg(p.jpeg_with_store(p.picture(11), p.store("allowed")))),
    Own("a header noimageindex", "optout:noimageindex", jpeg(p.picture(12), ("X-Robots-Tag", "noimageindex"))),
    Own("noimageindex of another bot", "kept", jpeg(p.picture(13), ("X-Robots-Tag", "googlebot: noimageindex"))),
    Own("a redirect to a host that disallows", "robots", to("@there@/x.jpg"), elsewhere={"/robots.txt": NOBODY}),
    Own("a redirect to an image that says noai", "optout:x-robots-tag", to("@there@/x.jpg"),
        elsewhere={"/x.jpg": jpeg(p.picture(14), ("X-Robots-Tag", "noai"))}),
    Own("a redirect to a host that reserves", "optout:tdmrep", to("@there@/x.jpg"),
        elsewhere={"/.well-known/tdmrep.json": TDM}),
    Own("a redirect to a host that has an image", "kept", to("@there@/x.jpg"),
        elsewhere={"/x.jpg": jpeg(p.picture(15))}),
    Own("a redirect to a forbidden address", "guard:network_forbidden", to("@forbidden@/x.jpg")),
    Own("a redirect that loops", "fetch:too_many_redirects", to("/page")),
    Own("a forbidden address", "guard:network_forbidden", **alone('<img src="@forbidden@/page" ' + VIEW)),
    Own("an image that is not there", "gone", Answer(404)),
    Own("an image that was removed", "gone", Answer(410)),
    Own("a server in trouble", "unreachable", Answer(500)),
    Own("a page in place of the image", "not_image", SORRY),
    Own("an image that is called a page", "kept", jpeg(p.picture(16), kind="text/html")),
    Own("SVG under another name", "svg", jpeg(b'<svg xmlns="http://www.w3.org/2000/svg"></svg>')),
    Own("an image that moves", "animated", jpeg(p.moving(17, "GIF"), kind="image/gif")),
    Own("half an image", "broken", jpeg(p.picture(18)[:-2_000])),
    Own("4,290 million pixels", "too_large", jpeg(p.vast()), detail="65,500 × 65,500 pixels"),
    Own("a bomb in a text", "broken", jpeg(p.with_chunk(p.picture(19, "PNG"), b"zTXt", b"x\0\0" + p.BOMB))),
    Own("a file of 21 MB", "too_large", jpeg(p.picture(20) + bytes(21 * 2**20))),
    Own("a small image", "too_small", jpeg(p.picture(21, size=(120, 120)))),
    Own("a banner of text", "aspect", jpeg(p.picture(22, size=(900, 240)))),
    Own("an icon file", "icon", jpeg(p.picture(23, "ICO", (256, 256)))),
    Own("the same bytes as the next", "kept", jpeg(SAID_BEFORE)),
    Own("the same bytes as the last", "duplicate_bytes", jpeg(SAID_BEFORE)),
    Own("the same picture in grey", "duplicate_image", jpeg(GREY)),
    Own("a drawing as code", "svg", **alone('<img src="/plan.svg" ' + VIEW)),
    Own("a picture in the page", "data_url", **alone('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" ' + VIEW)),
    Own("a counter of readers", "tracking_pixel", **alone('<img src="{url}" width="1" height="1" ' + VIEW)),
    Own("an ornament", "decoration", **alone('<img src="{url}" alt="">')),
    Own("an ornament by its role", "decoration", **alone('<img src="{url}" role="presentation" ' + VIEW)),
    Own("nothing said", "no_caption", **alone('<img src="{url}">')),
    Own("one word", "short_caption", **alone('<img src="{url}" alt="Harbour">')),
    Own("a name of a file", "name_as_caption", **alone('<img src="{url}" alt="IMG_2041.JPG">')),
    Own("another scheme", "not_http", **alone('<img src="ftp://example.org/x.jpg" ' + VIEW)),
    Own("no source at all", "no_source", **alone('<img ' + VIEW)),
    Own("the widest of a set", "kept", jpeg(p.picture(24)),
        tag='<img src="/small.jpg" srcset="/small.jpg 320w, {url} 1280w" ' + VIEW),
    Own("a lazy source", "kept", jpeg(p.picture(25)),
        tag='<img src="data:image/gif;base64,R0lGODlh" data-src="{url}" ' + VIEW),
    Own("a picture with sources", "kept", jpeg(p.picture(26)),
        tag='<picture><source type="image/jxl" srcset="/x.jxl 2000w">'
        '<source srcset="{url} 900w"><img src="/small.jpg" ' + VIEW + "</picture>"),
]  # fmt: skip


def page(number: int, tags: str, head: str = "", headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    first, *rest = prose(f"images {number}")
    text = f"<p>{first}</p>{tags}" + "".join(f"<p>{paragraph}</p>" for paragraph in rest)
    html = f"<html lang=en><head><title>Page {number}</title>{head}</head><body><main>{text}</main></body></html>"
    return Answer(200, html.encode(), headers)


def figure(url: str, caption: str) -> str:
    return f'<figure><img src="{url}" alt="{caption}"><figcaption>{caption}</figcaption></figure>'


def host_image(case: Case) -> Answer:
    return Answer(case.status, p.picture(f"case {case.number}"), case.headers, "image/jpeg")


def images(corpus: Path, out: Path, port: int, *options: str, **settings: object) -> tuple[int, dict[str, Any], str]:
    """Exit code, answer and log of `gristmill dataset images`."""
    command = [sys.executable, "-m", "scrapy", "dataset", "images", str(corpus), "--out", str(out), "--json",
               "--min-bytes", "500", *options]  # fmt: skip
    asked = {
        **SETTINGS,
        "LOG_LEVEL": "WARNING",
        "NETWORK_PORTS": port,
        "DOWNLOAD_TIMEOUT": TIMEOUT,
        "OPTOUT_PROFILE": "strict",
    }
    for name, value in {**asked, **settings}.items():
        command += ["-s", f"{name}={value}"]
    done = warm.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300)
    return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr


def rows_in(out: Path) -> list[dict[str, Any]]:
    return [row for path in sorted((out / "rows").glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


def declare(web: PolicyWeb) -> tuple[dict[str, str], list[str]]:
    """The address of each host, by what it says, and the pages that name their images."""
    address = {}
    tags = []
    for case in HOSTS:
        address[f"{case.section}/{case.what}"] = case.address
        case.declare(web)
        web.sites[case.address] = {**case.files, "/page": host_image(case)}
        tags.append(figure(f"{web.base(case.address)}/page", f"A picture for case {case.number} of hosts"))
    for number, own in enumerate(OWN):
        address[own.what] = f"127.9.0.{number + 1}"
        there = f"127.9.1.{number + 1}"
        web.site(there, own.elsewhere, there=address[own.what])
        here = web.site(address[own.what], {**own.files, **({"/page": own.image} if own.image else {})}, there=there)
        tag = own.tag.format(url=f"{here}/page", what=own.what)
        tags.append(tag.replace("@forbidden@", web.base(FORBIDDEN)))
    half = len(tags) // 2
    pages = {
        "/one": page(1, "".join(tags[:half])),
        "/two": page(2, "".join(tags[half:])),
        "/header": page(3, figure(f"{web.base('127.9.2.1')}/page", "Of a page whose header says noimageindex"),
                        headers=(("X-Robots-Tag", "noimageindex"),)),
        "/meta": page(4, figure(f"{web.base('127.9.2.2')}/page", "Of a page whose meta says noimageindex"),
                      head="<meta name=robots content=noimageindex>"),
        "/noai": page(5, figure(f"{web.base('127.9.2.3')}/page", "Of a page that says noai"),
                      head="<meta name=robots content=noai>"),
    }  # fmt: skip
    for number in (1, 2, 3):
        web.site(f"127.9.2.{number}", {"/page": jpeg(p.picture(f"page {number}"))})
    site = web.site("127.9.9.1", pages)
    return address, [f"{site}{path}" for path in pages]
