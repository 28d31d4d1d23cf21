"""The name of a page: every URL passes here before the frontier, the seen-set or a record sees it.

Parsing is WHATWG's (https://url.spec.whatwg.org/, by ada-url). On top of it stands what a crawler needs and a browser
does not: percent-encoding in RFC 3986 normal form (section 6.2.2), and a query policy (`crawler.urls.tracking`).
Pure functions, no Scrapy, no Redis, no network: the suffix list is tldextract's bundled snapshot.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawler.imports import deferred
from crawler.urls.resolve import resolve
from crawler.urls.tracking import DEFAULT_POLICY, QueryPolicy

if TYPE_CHECKING:
    import tldextract

MAX_URL_LENGTH = 2083
"""Characters of a canonical URL. Longer ones are nearly always generated (the limit is old Internet Explorer's)."""

_MAX_INPUT_LENGTH = 4 * MAX_URL_LENGTH  # what is removed and unescaped may still shorten it
_STRIPPED = "".join(map(chr, range(0x21)))  # WHATWG: leading and trailing C0 controls and space are not part of a URL
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ABNORMAL = re.compile(r"%([0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?]")  # everything but RFC 3986 pchar, / and ?
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SESSION_IN_PATH = re.compile(r"(?<=[^.]);jsessionid=[^/;]*", re.IGNORECASE)  # after a dot it could leave a dot segment
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")  # names become Redis keys: nothing else
_USER_INFO = re.compile(r"[^/?#@\s]*@")  # a password or an address does not belong into a log
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_PLAIN = re.compile(
    rf"(https?)://((?:[a-z0-9_-]{{1,63}}\.)*[a-z][a-z0-9-]{{1,62}}|{_OCTET}(?:\.{_OCTET}){{3}})"
    r"(?::(?!80/|443/)([1-9]\d{0,3}|[1-5]\d{4}))?(/[^\s?#\\]*)(?:\?([^\s#]*))?",
    re.ASCII,
)


class Address(NamedTuple):
    """What a page is called, and what is asked of its server: identity and request are two things.

    name: canonical. found: the URL as it was found, which a browser would send, on the origin of the name; empty where
    it is the name. A server may know one spelling only.
    """

    name: str
    found: str = ""

    @property
    def asked(self) -> str:
        """The URL to request."""
        return self.found or self.name


class _Parts(NamedTuple):
    scheme: str
    host: str  # IPv6 with its brackets
    port: str  # empty = the scheme's default
    path: str
    query: str
    sent: str = ""  # path and query as a browser sends them
    route: str = ""  # behind the "#", where it names a page


def address(
    url: str, base: str | None = None, *, policy: QueryPolicy = DEFAULT_POLICY, routes: bool = False
) -> Address | None:
    """The canonical name of a URL, and the spelling in which it was found; None where `canonicalize` answers None.

    A spelling of more than `MAX_URL_LENGTH` characters is not kept: its name is asked for.
    """
    parts = _parse(url, base, routes=routes)
    if parts is None or (name := _name(parts, policy)) is None:
        return None
    found = f"{_origin(parts)}{parts.sent}{'#' if parts.route else ''}{parts.route}"
    return Address(name, "" if found == name or len(found) > MAX_URL_LENGTH else found)


def canonicalize(
    url: str, base: str | None = None, *, policy: QueryPolicy = DEFAULT_POLICY, routes: bool = False
) -> str | None:
    """One spelling for one page, resolved against `base`; None where it is not an http(s) URL that can be crawled.

    Idempotent. Changes only what cannot change the page: case of scheme and host, IDN, default port, trailing dot of
    the host, dot segments, percent-encoding, fragment, tracking parameters, order of a form-like query. Never the case
    of a path, never a double slash, never `index.html`. routes: a fragment that names a page (`is_route`) stays.
    None: other schemes, user info, control characters inside, unusable host or port, more than `MAX_URL_LENGTH`.
    """
    parts = _parse(url, base, routes=routes)
    return None if parts is None else _name(parts, policy)


def is_route(fragment: str) -> bool:
    """True for what names a page of an application that a script draws: `/docs/start` and `!docs` (without the #)."""
    return fragment.startswith(("/", "!")) and len(fragment) > 1


def _name(parts: _Parts, policy: QueryPolicy) -> str | None:
    path, query = _SESSION_IN_PATH.sub("", normal_escapes(parts.path)), parts.query
    if query:
        query = policy.apply(query, normal_escapes(query), parts.host)
    result = f"{_origin(parts)}{path}{'?' if query else ''}{query}"
    if parts.route:
        result = f"{result}#{normal_escapes(parts.route)}"
    return result if len(result) <= MAX_URL_LENGTH else None


def _origin(parts: _Parts) -> str:
    return f"{parts.scheme}://{parts.host}{':' if parts.port else ''}{parts.port}"


def politeness_scope(url: str, by: str = "domain") -> str:
    """Whose patience a request to `url` uses up: the registrable domain, or with another `by` the host.

    An IP literal or `localhost` is its own scope with its port. Raises ValueError where `url` is not canonicalizable.
    """
    parts = _parts_of(url)
    if _is_local(parts.host):
        return _with_port(parts)
    return _registrable(parts.host) if by == "domain" else parts.host


def registrable_domain(url: str) -> str:
    """The domain somebody registered (public suffix and one label); for an IP literal or localhost `host:port`.

    Private suffixes count (`a.github.io` and `b.github.io` are two), as browsers see it. A host that is a public suffix
    itself stands for itself. Raises ValueError where `url` is not canonicalizable.
    """
    return politeness_scope(url, "domain")


def is_public_suffix(host: str) -> bool:
    """True for `co.uk` and `github.io`: names under which strangers register."""
    found = _suffixes().extract_str(host)
    return found.suffix == host and not found.domain


def is_registrable(name: str) -> bool:
    """True for a name below a suffix of the registries (`example.co.uk`, `github.io`), which one can buy."""
    found = _suffixes().extract_str(name, include_psl_private_domains=False)
    return bool(found.domain and found.suffix)


def authority(url: str) -> str:
    """`scheme://host[:port]`, the port only where it is not the default: what one robots.txt speaks for (RFC 9309 2.3).

    Raises ValueError where `url` is not canonicalizable.
    """
    return _origin(_parts_of(url))


def host_of(url: str) -> str:
    """Host as it stands in the URL with a port that is not the default: `example.org`, `127.0.0.1:8000`, `[::1]:81`.

    Raises ValueError where `url` is not canonicalizable.
    """
    return host_and_path(url)[0]


def path_and_query(url: str) -> str:
    """Everything after the authority, `/` at least: what rules of robots.txt and prefixes are matched against."""
    return host_and_path(url)[1]


def host_and_path(url: str) -> tuple[str, str]:
    """`host_of(url)` and `path_and_query(url)` for the price of one. Raises ValueError as they do."""
    _, host, port, path, query, *_ = _parts_of(url)
    return (f"{host}:{port}" if port else host), (f"{path}?{query}" if query else path)


def normal_escapes(text: str) -> str:
    """A path or query in RFC 3986 normal form (6.2.2), as every canonical URL has it.

    Unreserved characters stand bare, whatever the grammar forbids is escaped (as UTF-8), hex digits are capitals, and a
    percent sign that escapes nothing is %25.
    """
    return _ABNORMAL.sub(_normal_escape, text) if _ABNORMAL.search(text) else text


def printable(text: str) -> str:
    """A piece of text from outside for a message: quoted, cut, control characters escaped, without user names."""
    return repr(_USER_INFO.sub("…@", text[:100]))


def _parse(url: str, base: str | None, *, routes: bool = False) -> _Parts | None:
    url = url.strip(_STRIPPED)
    if len(url) > _MAX_INPUT_LENGTH or _CONTROL.search(url):
        return None
    href = resolve(base or "", url)
    return None if href is None else _split(href, routes=routes)


def _split(href: str, *, routes: bool) -> _Parts | None:
    """Take the serialisation of a WHATWG parser apart; None where it is not crawlable."""
    scheme, separator, rest = href.partition("://")
    if scheme not in ("http", "https") or not separator:
        return None
    whole, _, fragment = rest.partition("#")
    rest, _, query = whole.partition("?")
    netloc, slash, path = rest.partition("/")
    head, _, port = netloc.rpartition(":")
    host, port = (head, port) if port.isdigit() else (netloc, "")  # an IPv6 literal ends in a bracket
    host = host.removesuffix(".")
    if port == "0" or "@" in netloc or not (host.startswith("[") or _HOST.fullmatch(host)):
        return None
    route = fragment if routes and is_route(fragment) else ""
    return _Parts(scheme, host, port, slash + path, query, whole[len(netloc) :], route)


def _parts_of(url: str) -> _Parts:
    if (plain := _PLAIN.fullmatch(url)) is not None:  # what canonicalize() returns nearly always: no second parse
        return _Parts(*plain.groups(""))
    parts = _parse(url, None)
    if parts is None:
        raise ValueError(f"expected an http(s) URL, found {printable(url)}")
    return parts


def _normal_escape(match: re.Match[str]) -> str:
    found = match[0]
    if match[1] is None:
        return "".join(f"%{byte:02X}" for byte in found.encode())
    byte = int(match[1], 16)
    return chr(byte) if byte in _UNRESERVED else found.upper()


def _is_local(host: str) -> bool:
    """True for an IP literal, localhost and its subdomains: different ports are different parties."""
    return host[0] == "[" or host.rpartition(".")[2] == "localhost" or _is_ipv4(host)


def _is_ipv4(host: str) -> bool:
    return host.replace(".", "").isdigit()  # WHATWG: a host whose last label is a number is an IPv4 address


def _with_port(parts: _Parts) -> str:
    return f"{parts.host}:{parts.port or ('443' if parts.scheme == 'https' else '80')}"


@lru_cache(maxsize=16_384)
def _registrable(host: str) -> str:
    found = _suffixes().extract_str(host)
    if found.suffix:
        return found.top_domain_under_public_suffix or host
    return ".".join(host.rsplit(".", 2)[-2:])  # the list's implied rule "*": an unknown last label is a suffix


@lru_cache(maxsize=1)
def _suffixes() -> tldextract.TLDExtract:
    with deferred("requests", "requests_file", "filelock"):  # to fetch newer lists: no network here
        import tldextract

    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
