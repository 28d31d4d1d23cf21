"""How a URL is shortened within its politeness scope, and where on the server what belongs to it lies.

A packed URL is one letter for scheme and form, what stands before the scope in the authority, and the path:
`https://www.example.org/a` in the scope `example.org` becomes `swww./a`. The spelling in which a URL was found, where
that is not its canonical one, is its path and query, so that it begins with a slash. URLs as WHATWG writes them
contain neither spaces nor tabs, which makes both safe separators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    from crawler.urls.link import Link

_SCHEMES = {"s": "https://", "h": "http://"}


def pack_origin(origin: str, scope: str) -> str:
    """Shorten scheme and authority (`https://www.example.org`) within their scope; the path follows unchanged."""
    scheme, _, host = origin.partition("://")
    letter = "s" if scheme == "https" else "h"
    return f"{letter}{host[: len(host) - len(scope)]}" if host.endswith(scope) else f"{letter.upper()}{host}"


def split_origin(url: str) -> tuple[str, str]:
    """A canonical http(s) URL as its origin and what follows, path first."""
    cut = url.find("/", 8)
    return (url[:cut], url[cut:]) if cut > 0 else (url, "")


def pack_url(url: str, scope: str) -> str:
    """Shorten a canonical http(s) URL within its scope."""
    origin, path = split_origin(url)
    return pack_origin(origin, scope) + path


def unpack_url(packed: str, scope: str) -> str:
    """Inverse of `pack_url`."""
    letter, (host, slash, path) = packed[0], packed[1:].partition("/")
    return f"{_SCHEMES[letter.lower()]}{host}{scope if letter.islower() else ''}{slash}{path}"


def url_hash(url: str) -> int:
    """63-bit hash for the seen-set: as an integer it fits Redis' 8-byte intset entries."""
    return xxhash.xxh64_intdigest(url.encode()) >> 1


def seen_hash(link: Link) -> int:
    """What stands for a link in the seen-set: its name, unless a chain of redirects comes back to that otherwise."""
    return url_hash(f"again {link.asked}" if link.again else link.url)


def shard_of(scope: str, shards: int) -> int:
    """The shard all URLs of a scope live in."""
    return xxhash.xxh64_intdigest(scope.encode()) % shards if shards > 1 else 0
