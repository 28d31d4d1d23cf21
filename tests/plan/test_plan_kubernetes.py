"""A plan as a Job or CronJob is what a cluster accepts, and its exit codes decide whether a pod is tried again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kubernetes_validate import utils as kubernetes_validate

from crawler.plan.kubernetes import manifests
from crawler.plan.model import Task
from crawler.plan.read import read
from crawler.plan.run import run
from crawler.plan.state import Runs
from crawler.plan.tasks import as_facts, tasks_of
from crawler.problems import InputError
from crawler.runtime import known_settings

VERSIONS = kubernetes_validate.all_versions()[-6:][::2]  # each is there twice, loose and strict


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "crawl.yaml").write_text("name: News.daily\ncorpus: c\nseeds: [https://example.org/]\n")
    return read(tmp_path / "crawl.yaml", known_settings())


@pytest.mark.parametrize("schedule", ["", "15 3 * * *"])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_manifests_are_what_this_version_of_kubernetes_accepts(plan, version, schedule):
    found = manifests(plan, "registry.example.org/crawler:1", schedule)
    for one in found:
        kubernetes_validate.validate(one, version, strict=True)
    assert [one["kind"] for one in found] == ["PersistentVolumeClaim", "CronJob" if schedule else "Job"]


def test_a_wrong_call_and_a_gate_fail_the_job_and_every_pod_of_it_means_the_same_run(plan):
    _, cron = manifests(plan, "crawler", "15 3 * * *")
    job = cron["spec"]["jobTemplate"]["spec"]
    (fails, _) = job["podFailurePolicy"]["rules"]
    assert (fails["action"], fails["onExitCodes"]["values"]) == ("FailJob", [2, 3])
    (container,) = job["template"]["spec"]["containers"]
    assert container["args"] == ["plan", "run", "--wait", "--run", "$(RUN)", "/plan/crawl.yaml"]
    assert cron["metadata"]["name"] == "news-daily"
    assert job["template"]["spec"]["restartPolicy"] == "Never", "a podFailurePolicy wants it"


def test_a_schedule_that_is_none_is_refused(plan):
    with pytest.raises(InputError, match="expected five fields of cron"):
        manifests(plan, "crawler", "@daily;")


@pytest.fixture
def three(tmp_path):
    steps = "gates: gates.yaml\nsteps:\n- dataset verify c\n- dataset export c --to jsonl.gz --out release-{run}\n"
    (tmp_path / "news.yaml").write_text(f"corpus: c\nseeds: [https://example.org/]\n{steps}")
    return read(tmp_path / "news.yaml", known_settings())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_run_with_a_name_is_a_job_for_each_task_as_this_version_of_kubernetes_accepts_it(three, version):
    claim, *jobs = manifests(three, "registry.example.org/crawler:1", run="2026-01-31T00:00:00+00:00")
    for one in (claim, *jobs):
        kubernetes_validate.validate(one, version, strict=True)
    facts = as_facts(three, lambda _: SimpleNamespace(digest=""))["tasks"]
    containers = [one["spec"]["template"]["spec"]["containers"][0] for one in jobs]
    for task, container in zip(facts, containers, strict=True):
        words = container["args"]
        assert words[words.index("--only") + 1] == task["name"]
        assert {"--after", "--wait", "2026-01-31T00:00:00+00:00", "/plan/news.yaml"} <= set(words)
        assert not [one for one in container["env"] if one["name"] == "RUN"]
    assert [one["metadata"]["name"] for one in jobs][:2] == [
        "news-news-2026-01-31t00-00-00-00-00", "news-news-gates-2026-01-31t00-00-00-00-00"
    ]  # fmt: skip
    (term,) = jobs[1]["spec"]["template"]["spec"]["affinity"]["podAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert term["labelSelector"]["matchLabels"].items() <= jobs[0]["spec"]["template"]["metadata"]["labels"].items()


def test_a_job_whose_name_would_be_too_long_names_its_task(three):
    with pytest.raises(InputError, match=r"news.yaml:[0-9:]+ news: .* expected at most 63 characters"):
        manifests(three, "crawler", run="x" * 60)


def test_a_task_that_comes_after_others_waits_for_them_and_ends_with_a_gate_that_does_not_hold(three):
    runs, (crawl, gates, verify, *_), looks = Runs(three), tasks_of(three), []

    def done(task: Task, state: str, code: int) -> None:
        runs.set_mark("one", task, state, code=code)

    def rest() -> None:
        looks.append(runs.mark("one", gates.name))
        done(crawl, "failed" if len(looks) == 1 else "done", 1 if len(looks) == 1 else 0)
        if len(looks) == 3:
            done(gates, "failed", 3)

    runs.begin("one")
    ended = run(three, asked="one", only=verify.name, after=True, say=print, rest=rest)
    assert (ended.code, len(looks)) == (3, 3), "a crawl that ended with 1 is tried again by its own Job"
    assert ended.problems == [f"{verify.name} comes after {gates.name}, which is not done in run one"]
    assert run(three, asked="one", only=verify.name, say=print).code == 1
