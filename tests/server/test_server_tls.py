"""A server behind TLS: `rediss://`, with the authority that signed its certificate named in the address."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from crawler.config import from_mapping
from crawler.dedup.index import IndexUnavailableError
from crawler.dedup.make import make_index
from crawler.server.connection import Connection
from crawler.server.errors import FrontierUnavailable

HOST = "127.0.0.1"


class Secured(NamedTuple):
    url: str
    authority: Path


def certificates(folder: Path) -> tuple[Path, Path]:
    """A certificate for HOST that signs itself, and its file with the key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, both = folder / "ca.crt", folder / "server.pem"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    both.write_bytes(secret + public.read_bytes())
    return public, both


@pytest.fixture
def secured(redis_url: str, tmp_path: Path) -> Iterator[Secured]:
    """The test's server, behind a TLS end of its own on a free port: the embedded one speaks no TLS."""
    authority, both = certificates(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(both)
    path = unquote(redis_url.removeprefix("unix://"))
    loop, ports, closing = asyncio.new_event_loop(), [0], asyncio.Event()
    ready = threading.Event()

    async def carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()
        sink.close()

    async def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, before = await asyncio.open_unix_connection(path)
        await asyncio.gather(carry(reader, before), carry(behind, writer), return_exceptions=True)

    async def serve() -> None:
        async with await asyncio.start_server(joined, HOST, 0, ssl=context) as server:
            ports[0] = server.sockets[0].getsockname()[1]
            ready.set()
            await closing.wait()

    loop.set_exception_handler(lambda _loop, _context: None)  # clients that hang up are part of the tests
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(60)
        yield Secured(f"rediss://{HOST}:{ports[0]}/0", authority)
    finally:
        loop.call_soon_threadsafe(closing.set)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def test_a_frontier_behind_tls_is_trusted_by_the_authority_that_the_address_names(secured: Secured) -> None:
    async def scenario() -> None:
        connection = Connection(f"{secured.url}?ssl_ca_certs={secured.authority}")
        await connection.open()
        assert await connection.redis.set("key", 1)
        await connection.close()

    asyncio.run(scenario())


def test_a_certificate_that_nobody_vouches_for_is_told_with_the_way_out(secured: Secured) -> None:
    async def frontier() -> None:
        await Connection(secured.url).open()

    async def index() -> None:
        await make_index(from_mapping({"DEDUP_REDIS_URL": secured.url})).open()

    for opened, error in ((frontier, FrontierUnavailable), (index, IndexUnavailableError)):
        with pytest.raises(error, match=r"answers, but its certificate is not trusted .*\?ssl_ca_certs=") as told:
            asyncio.run(opened())
        assert "start" not in str(told.value).split("certificate", 1)[1], "it runs"
