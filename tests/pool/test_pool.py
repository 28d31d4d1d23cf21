"""The stage pool under pages that kill, hang or fail."""

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason, Exchange
from crawler.pool.pool import GIVEN_UP, PoolError, StagePool
from crawler.stages.pii.names import installed_name
from tests.pool import poison


@pytest.fixture
def make_pool():
    pools = []

    def make(runner=poison.run, workers=2, patience=10.0, **settings):
        config = from_mapping(settings)
        pools.append(StagePool(config, workers, runner=runner, starter=poison.nothing, patience=patience))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


def run_all(pool, names):
    async def main():
        return await asyncio.gather(*(pool.run(Document(url=f"http://example.org/{name}")) for name in names))

    return asyncio.run(main())


def test_a_page_that_kills_its_worker_costs_only_itself(make_pool):
    docs = run_all(make_pool(), ["a", "crash", "b", "c", "d"])
    assert [d.verdict.reason if d.verdict else None for d in docs] == [None, DropReason.STAGE_CRASHED, None, None, None]
    assert all(d.text for d in docs if not d.verdict)


def test_a_worker_that_is_told_to_end_judges_nobody_and_another_one_does_its_page(make_pool, tmp_path):
    docs = run_all(make_pool(poison.told_to_end), ["a", f"end?{tmp_path}/mark", "b", "c"])
    assert (tmp_path / "mark").exists()
    assert [(d.verdict, bool(d.text)) for d in docs] == [(None, True)] * 4


def test_workers_that_are_told_to_end_again_and_again_stop_the_crawl(make_pool):
    with pytest.raises(PoolError, match=r"told to end \(SIGTERM\) again and again"):
        run_all(make_pool(poison.told_to_end), ["end"])


def test_a_page_that_uses_its_time_up_is_given_up_and_the_others_pass(make_pool):
    pool = make_pool(STAGE_TIMEOUT_SECONDS="0.5", patience=1000.0)
    docs = run_all(pool, ["a", "busy", "b", "one-call", "c"])
    overdue = Drop("stages", DropReason.STAGE_TIMEOUT, "longer than 0.5 s of CPU time")
    assert [d.verdict for d in docs] == [None, overdue, None, overdue, None]


def test_the_time_that_a_page_used_up_is_counted_each_time_it_did(make_pool):
    pool = make_pool(STAGE_TIMEOUT_SECONDS="0.5", patience=1000.0)
    docs = run_all(pool, ["a", "busy-late", "busy", "crash"])
    assert [d.timings.get(GIVEN_UP, 0.0) for d in docs] == [0.0, 0.5, 1.0, 0.0]


def test_time_that_a_page_spends_waiting_does_not_count(make_pool):
    (doc,) = run_all(make_pool(STAGE_TIMEOUT_SECONDS="0.5", patience=1000.0), ["patient"])
    assert doc.verdict is None


def test_a_page_that_only_waits_is_given_up_in_the_end_and_the_others_pass(make_pool):
    docs = run_all(make_pool(STAGE_TIMEOUT_SECONDS="10", patience=1.0), ["a", "hang", "b"])
    hung = Drop("stages", DropReason.STAGE_TIMEOUT, "no answer after 10 s")
    assert [d.verdict for d in docs] == [None, hung, None]


def test_each_page_has_the_whole_limit(make_pool):
    pool = make_pool(poison.burn, workers=1, patience=1000.0, STAGE_TIMEOUT_SECONDS="2")
    docs = run_all(pool, ["a", "b", "c", "d"])
    assert [d.verdict for d in docs] == [None] * 4
    assert len({d.text for d in docs}) == 1, "one process did them all, with more time than one page has"


@pytest.mark.parametrize("name", ["crash-late", "hang-late"])
def test_the_links_of_a_poisonous_page_are_still_read(make_pool, name):
    (doc,) = run_all(make_pool(STAGE_TIMEOUT_SECONDS="6", patience=1.0), [name])
    assert doc.verdict is not None
    assert doc.links == ["http://example.org/next"]
    assert doc.text == ""


def test_a_worker_that_has_no_descriptor_left_judges_no_page(make_pool):
    with pytest.raises(PoolError, match="no file descriptor left"):
        run_all(make_pool(), ["no-file"])


def test_the_pool_survives_more_crashes_than_it_has_workers(make_pool):
    pool = make_pool()
    docs = run_all(pool, [f"crash{i}" for i in range(5)] + ["fine"])
    assert [d.verdict is None for d in docs] == [False] * 5 + [True]


def test_the_raw_exchange_stays_with_the_document_but_never_travels(make_pool):
    exchange = Exchange("GET", "http://example.org/a", 200, [], [], b"body")
    doc = asyncio.run(make_pool().run(Document(url="http://example.org/a", exchange=exchange)))
    assert doc.exchange is exchange


ASK = """
import asyncio
from crawler.config import from_mapping
from crawler.document import Document
from crawler.pool.pool import StagePool
from tests.pool import poison

pool = StagePool(from_mapping({settings!r}), {workers}, runner=poison.{runner}, starter=poison.nothing)
print(asyncio.run(pool.run(Document(url="http://example.org/"))).text)
pool.close()
"""


def ask(runner, settings, workers=1):
    """The text of one document of a pool, in a process of its own.

    The fork server loads what the first to use it asks for, and there is one for all tests of a process.
    """
    script = ASK.format(runner=runner, settings=settings, workers=workers)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.strip()


def test_workers_do_not_load_the_framework():
    assert ask("modules", {}) == ""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list threads")
def test_a_worker_multiplies_matrices_in_its_one_thread(monkeypatch):
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert ask("threads", {}) == "0 more"


@pytest.mark.parametrize(
    ("wanted", "loaded"),
    [("fr-CA,no,en", "crawler.stages.quality.french,spacy.lang.fr,spacy.lang.nb"), ("no", "spacy.lang.nb"), ("", "")],
)
def test_the_data_of_the_named_languages_are_loaded_once_for_all_workers(wanted, loaded):
    assert ask("languages", {"LANGUAGES": wanted}) == loaded


@pytest.mark.parametrize(
    ("settings", "loaded"),
    [
        ({}, "py3langid langdetect names scipy frozen"),
        ({"PII_PERSON": "off"}, "py3langid langdetect scipy frozen"),
        ({"PII_MODELS": "de:de_core_news_sm"}, "py3langid langdetect scipy frozen"),
        ({"LANGUAGE_IDENTIFIER": "fasttext:lid.176.bin"}, "names scipy frozen"),
    ],
)
def test_the_models_that_the_settings_ask_for_are_loaded_once_for_all_workers(settings, loaded):
    if installed_name("en_core_web_sm") is None:
        loaded = loaded.replace("names ", "")
    assert ask("models", settings, workers=3) == loaded


def test_one_worker_loads_the_model_of_names_when_a_page_asks_for_it():
    assert ask("models", {}, workers=1) == "py3langid langdetect scipy frozen"


def test_the_collector_of_garbage_does_not_look_at_what_is_loaded_and_is_there_for_the_pages():
    assert ask("collector", {}) == "on, rarely at work"


def test_the_process_that_asks_the_workers_loads_no_model():
    script = ASK.format(runner="modules", settings={}, workers=1) + (
        "import sys; print([name for name in ('scipy', 'spacy', 'py3langid', 'langdetect') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split("\n")[1] == "[]"


@pytest.mark.parametrize("of", ["language.preload", "pii.preload_names"])
def test_a_model_that_cannot_be_loaded_ends_no_fork_server(of):
    script = (
        "import spacy; from py3langid import langid;"
        "langid.MODEL_FILE = 'nothing.npz.xz'; spacy.load = lambda *_, **__: 1 / 0;"
        f"import crawler.stages.{of}"
    )
    subprocess.run([sys.executable, "-c", script], timeout=120, check=True)


def test_a_process_that_dies_while_the_pool_starts_costs_a_second_start_only(tmp_path):
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "mark")})
    pool = StagePool(config, workers=1, runner=poison.run, starter=poison.die_once)
    try:
        asyncio.run(pool.warm_up())
        assert (tmp_path / "mark").exists()
    finally:
        pool.close()


class Broken:
    """A pool whose tasks all learn that it broke."""

    def schedule(self, *_args, **_options):
        future = Future()
        future.set_exception(BrokenProcessPool("planted"))
        return future


def test_a_pool_that_breaks_under_several_tasks_is_rebuilt_once(make_pool, monkeypatch):
    pool = make_pool()
    pool._pool.stop()
    pool._pool.join()
    rebuilt, rebuild = [], pool._new_pool

    def counted():
        rebuilt.append(rebuild())
        return rebuilt[-1]

    monkeypatch.setattr(pool, "_new_pool", counted)
    pool._pool = Broken()
    asyncio.run(pool.warm_up())
    run_all(pool, ["a", "b"])
    assert len(rebuilt) == 1


def test_a_pool_that_breaks_costs_none_of_the_pages_in_it(make_pool):
    pool = make_pool()
    run_all(pool, ["first"])
    whole, pool._pool = pool._pool, Broken()
    whole.stop()
    whole.join()
    docs = run_all(pool, ["a", "b", "c"])
    assert [d.verdict for d in docs] == [None] * 3
    assert all(d.text for d in docs)


def test_a_pool_that_nobody_asks_starts_no_process(tmp_path):
    pool = StagePool(from_mapping({"CORPUS_DIR": str(tmp_path / "mark")}), workers=1, starter=poison.die_once)
    pool.close()
    assert not (tmp_path / "mark").exists()


def test_loading_early_starts_no_worker(tmp_path):
    pool = StagePool(from_mapping({"CORPUS_DIR": str(tmp_path / "mark")}), workers=1, starter=poison.die_once)
    pool.start_loading()
    pool.close()
    assert not (tmp_path / "mark").exists()


def test_a_pool_without_processes_has_nothing_to_load_early():
    pool = StagePool(from_mapping({}), workers=0, starter=poison.nothing)
    pool.start_loading()
    pool.close()


def test_the_processes_start_once_and_not_in_the_thread_of_the_event_loop(make_pool, monkeypatch):
    pool, starters = make_pool(), []
    start = type(pool._pool)._start_pool

    def noted(self):
        starters.append(threading.get_ident())
        start(self)

    monkeypatch.setattr(type(pool._pool), "_start_pool", noted)
    run_all(pool, ["a", "b", "c"])
    assert starters
    assert threading.get_ident() not in starters


def test_a_task_that_comes_between_the_break_and_the_rebuilding_is_done_by_the_new_pool(make_pool):
    pool = make_pool()
    run_all(pool, ["first"])
    pool._pool.stop()
    pool._pool.join()
    docs = run_all(pool, ["a", "b", "c"])
    assert [d.verdict for d in docs] == [None] * 3
    assert all(d.text for d in docs)


def test_a_pool_that_was_closed_stays_closed(make_pool):
    pool = make_pool()
    run_all(pool, ["first"])
    pool.close()
    with pytest.raises(RuntimeError, match="not active"):
        run_all(pool, ["late"])
