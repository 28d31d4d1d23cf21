"""Nothing of a worker that was killed stays: its stage processes and their fork server end with it."""

import subprocess
import sys
import time

import psutil
import pytest

from tests.support.places import PROJECT
from tests.support.process import clean_environment

SCRIPT = "from tests.pool.orphan_process import main; main()"
SECONDS = 10.0


def left_behind(told, *words):
    """What lives ten seconds after SIGKILL of the worker, of all that it had started."""
    worker = subprocess.Popen([sys.executable, "-c", SCRIPT, *words, str(told)], cwd=PROJECT, env=clean_environment())
    try:
        deadline = time.monotonic() + 120
        while not (told.exists() and told.read_text()):
            assert time.monotonic() < deadline and worker.poll() is None, "no stage process came to its task"
            time.sleep(0.05)  # polled: another process
        found = psutil.Process(worker.pid).children(recursive=True)
    finally:
        worker.kill()
        worker.wait()
    assert int(told.read_text()) in [process.pid for process in found]
    _, alive = psutil.wait_procs(found, timeout=SECONDS)
    left = [process for process in alive if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]
    for process in left:
        process.kill()
    return left


@pytest.mark.parametrize("doing", ["waiting", "native"])
def test_a_pool_in_the_middle_of_a_task_ends_with_its_killed_worker(tmp_path, doing):
    if doing == "native" and sys.platform != "linux":
        pytest.skip("only Linux ends a process in native code that keeps the interpreter's lock")
    assert left_behind(tmp_path / "told", doing, "pool") == []


def test_where_no_signal_comes_from_the_pipe_a_thread_ends_the_process(tmp_path):
    assert left_behind(tmp_path / "told", "waiting", "darwin") == []
