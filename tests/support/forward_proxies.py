"""Real forward proxies of tests: tinyproxy, proxy.py and microsocks, each with its own address to connect from."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import pytest

from tests.support.ports import free_port
from tests.support.serving import DEADLINE

KINDS = ("tinyproxy", "proxy.py", "microsocks")
USER, PASSWORD = "porter", "open-Sesame-7"


class ForwardProxy:
    """One proxy on 127.0.0.1. `source`: the address that sites see (proxy.py: always 127.0.0.1)."""

    def __init__(self, kind: str, folder: Path, source: str = "", *, login: bool = False, ports: tuple[int, ...] = ()):
        if kind != "proxy.py" and shutil.which(kind) is None:
            pytest.skip(f"{kind} is not installed (scripts/setup-debian.sh)")
        self.kind, self.port, self.source, self.login = kind, free_port(), source, login
        self._folder = folder / f"proxy-{self.port}"
        self._folder.mkdir(parents=True)
        self._ports = ports
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        scheme = "socks5" if self.kind == "microsocks" else "http"
        return f"{scheme}://{self.name}" + ("?login=env:PORTER" if self.login else "")

    def start(self) -> Self:
        with (self._folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                self._command(), stdout=output, stderr=output, cwd=self._folder, start_new_session=True
            )
        until = time.monotonic() + DEADLINE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                assert self._process.poll() is None, (self._folder / "output").read_text()
                assert time.monotonic() < until
                time.sleep(0.02)
            else:
                return self

    def kill(self, sign: int = signal.SIGKILL) -> None:
        """And all that it has started."""
        assert self._process is not None
        os.killpg(self._process.pid, sign)
        if sign == signal.SIGKILL:
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.kill()

    def _command(self) -> list[str]:
        if self.kind == "microsocks":
            source = ["-b", self.source] if self.source else []
            login = ["-u", USER, "-P", PASSWORD] if self.login else []
            return ["microsocks", "-i", "127.0.0.1", "-p", str(self.port), *source, *login]
        if self.kind == "proxy.py":
            login = ["--basic-auth", f"{USER}:{PASSWORD}"] if self.login else []
            where = ["--hostname", "127.0.0.1", "--port", str(self.port), "--data-dir", str(self._folder)]
            return [sys.executable, "-m", "proxy", *where, "--num-workers", "1", "--num-acceptors", "1", *login]
        lines = [f"Port {self.port}", "Listen 127.0.0.1", "MaxClients 100", "Timeout 600", "LogLevel Critical"]
        lines += [f"Bind {self.source}"] if self.source else []
        lines += [f"BasicAuth {USER} {PASSWORD}"] if self.login else []
        lines += [f"ConnectPort {port}" for port in self._ports]
        file = self._folder / "tinyproxy.conf"
        file.write_text("\n".join(lines) + "\n")
        return ["tinyproxy", "-d", "-c", str(file)]
