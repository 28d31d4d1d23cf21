"""What a repository answers by OAI-PMH 2.0."""

from __future__ import annotations

XMLNS = 'xmlns="http://www.openarchives.org/OAI/2.0/"'
IDENTIFY = "<Identify><baseURL>x</baseURL><granularity>YYYY-MM-DD</granularity></Identify>"


def answer(inner: str, moment: str = "2026-11-20T10:00:00Z") -> bytes:
    return f'<?xml version="1.0"?><OAI-PMH {XMLNS}><responseDate>{moment}</responseDate>{inner}</OAI-PMH>'.encode()


def record(number: int, *identifiers: str, rights: tuple[str, ...] = (), status: str = "") -> str:
    header = (
        f"<header{status}><identifier>oai:repo.example:{number}</identifier><datestamp>2026-11-02</datestamp></header>"
    )
    said = "".join(f"<dc:identifier>{one}</dc:identifier>" for one in identifiers)
    said += "".join(f"<dc:rights>{one}</dc:rights>" for one in rights)
    dc = f'<metadata><d:dc xmlns:d="x" xmlns:dc="http://purl.org/dc/elements/1.1/">{said}</d:dc></metadata>'
    return f"<record>{header}{'' if status else dc}</record>"


def records(*items: str, token: str | None = None) -> bytes:
    more = "" if token is None else f'<resumptionToken cursor="0">{token}</resumptionToken>'
    return answer(f"<ListRecords>{''.join(items)}{more}</ListRecords>")


def error(code: str) -> bytes:
    return answer(f'<error code="{code}">said so</error>')
