"""Archives of known pages, written by the project's own archive writer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.web.prose import prose
from crawler.document import Exchange
from crawler.storage.archive.records import request_record, response_record

THIN = b"<html lang=en><title>A page</title><body><main><p>The mill is closed for the winter.</p></main></body></html>"
EPOCH = 1_767_225_600.0  # 2026-01-01


def html(seed: object, title: str = "A page", head: str = "", words: int = 260) -> bytes:
    paragraphs = "".join(f"<p>{paragraph}</p>" for paragraph in prose(seed, words))
    return (
        f"<html lang=en><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1>{paragraphs}</main>"
        '<nav><a href="/next">next</a></nav></body></html>'
    ).encode()


def edited(seed: object) -> bytes:
    """The page of `seed` with another last sentence."""
    return html(seed).replace(b"</main>", b"<p>This copy has a closing sentence of its own.</p></main>")


def exchange(url: str, body: bytes, seconds: int = 0, **headers: str) -> Exchange:
    lines = {"Content-Type": "text/html; charset=utf-8", **{k.replace("_", "-"): v for k, v in headers.items()}}
    return Exchange(
        method="GET",
        url=url,
        status=200,
        request_headers=[(b"User-Agent", b"CorpusBot/1")],
        response_headers=[(name.encode(), value.encode()) for name, value in lines.items()],
        body=body,
        fetched_at=EPOCH + seconds,
    )


def exchange_records(made: Exchange, response_id: str, request_id: str) -> tuple[bytes, bytes]:
    return response_record(made, response_id), request_record(made, request_id, response_id)


def write(path: Path, exchanges: list[Exchange]) -> Path:
    ids = (f"00000000-0000-4000-8000-{n:012d}" for n in range(10**6))
    path.write_bytes(b"".join(b"".join(exchange_records(e, next(ids), next(ids))) for e in exchanges))
    return path


def _url(host: str) -> Callable[[str], str]:
    return lambda path: f"https://{host}.example.org/{path}"


def two_archives(folder: Path) -> list[Path]:
    """Every kind of outcome that an archive can lead to, and duplicates within and across the files.

    The later archive holds the earlier copies: what counts is the order of the archives, not of the fetches.
    """
    a, b = _url("a"), _url("b")
    first = [
        exchange(a("one"), html("one"), 500),
        exchange(a("two"), html("two"), 501),
        exchange(a("refused-by-header"), html("three"), 502, X_Robots_Tag="noai"),
        exchange(a("refused-by-page"), html("four", head='<meta name=robots content="noai">'), 503),
        exchange(a("thin"), THIN, 504),
        exchange(a("same-as-one"), html("one"), 505),
        exchange(a("picture"), b"\x89PNG\r\n\x1a\n", 506, Content_Type="image/png"),
        exchange(a("one"), html("one"), 507),
        exchange(
            a("contact"), html("six").replace(b"</h1>", b"</h1><p>Write to jane.roe@meadow.example today.</p>"), 508
        ),
    ]
    second = [
        exchange(b("mirror-of-two"), html("two"), 1),
        exchange(b("nearly-one"), edited("one"), 2),
        exchange(b("seven"), html("seven"), 3, ETag='"7"', Last_Modified="Thu, 01 Jan 2026 00:00:00 GMT"),
        exchange(b("nearly-seven"), edited("seven"), 4),
    ]
    return [write(folder / "a-000000.warc.gz", first), write(folder / "b-000000.warc.gz", second)]
