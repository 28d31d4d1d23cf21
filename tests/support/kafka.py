"""A cluster of Kafka that is none: librdkafka's mock, in a process of its own, whose faults a test decides."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from tests.support.places import PROJECT


class Broker:
    """The mock cluster."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address = self._answer()

    def tell(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        assert self._answer() == "done"

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextlib.contextmanager
def mock_cluster(topic: str, partitions: int) -> Iterator[Broker]:
    """One broker with a topic, and `TOPIC.withdrawals` with one partition."""
    program = PROJECT / "tests" / "stream" / "broker.py"
    with subprocess.Popen(
        [sys.executable, str(program), topic, str(partitions)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Broker(process)
        finally:
            process.kill()
