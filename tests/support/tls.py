"""A server of the tests behind TLS, with a certificate that signs itself."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

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


@contextlib.contextmanager
def behind_tls(redis_url: str, folder: Path) -> Iterator[Secured]:
    """The test's server, behind a TLS end of its own on a free port: the embedded one speaks no TLS."""
    authority, both = certificates(folder)
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
