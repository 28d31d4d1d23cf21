"""Sites of pages that cost the stages little: what a crawl of them measures is requests, waiting and politeness.

Each text is too short to be kept, so every page ends as a rejected record.
"""

from __future__ import annotations

from pathlib import Path

from bench.web.known_site import page_html
from bench.web.prose import prose
from bench.web.target import Answer, Target

ROBOTS = Answer(b"User-agent: *\nDisallow: /private/\n", kind="text/plain")


def short_page(name: str) -> bytes:
    """A page of one paragraph."""
    return page_html(name, [" ".join(prose(name, 40))[:300]])


def site(host: str, pages: int, latency: float) -> dict[str, Answer]:
    """robots.txt and the pages /p/0, /p/1, … of a host, each answered after so many seconds."""
    found = {f"/p/{n}": Answer(short_page(f"{host}/{n}"), seconds=latency) for n in range(pages)}
    return found | {"/robots.txt": ROBOTS}


def urls_of(target: Target) -> list[str]:
    """Every page /p/… of the target, a page of each host in turn."""
    places = [
        (int(path.rpartition("/")[2]), host) for host in target.hosts for path in target.sites[host] if "/p/" in path
    ]
    return [f"{target.base(host)}/p/{number}" for number, host in sorted(places)]


def write_seeds(target: Target, file: Path) -> Path:
    """A list of seeds of every page."""
    file.write_text("".join(f"{url}\n" for url in urls_of(target)), "utf-8")
    return file
