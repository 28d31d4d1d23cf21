"""A plan as a Job or CronJob is what a cluster accepts, and its exit codes decide whether a pod is tried again."""

from __future__ import annotations

import pytest
from kubernetes_validate import utils as kubernetes_validate

from crawler.plan.kubernetes import manifests
from crawler.plan.read import read
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
