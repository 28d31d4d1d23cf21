"""The gates of the cluster are gates that the command reads, under the path that the CronJob gives it."""

from __future__ import annotations

import yaml

from crawler.observe.report.gates import read
from tests.support.kustomize import K8S

FOLDER = K8S / "components" / "gates"


def test_the_cron_job_checks_the_file_of_the_component_and_does_not_try_again() -> None:
    assert len(read(FOLDER / "gates.yaml")) == 3
    spec = yaml.safe_load((FOLDER / "cron-job.yaml").read_text())["spec"]["jobTemplate"]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    command, option, path, corpus = container["args"]
    assert (command, option, corpus) == ("report", "--check", "$(CRAWLER_CORPUS_DIR)")
    (mount,) = (mount for mount in container["volumeMounts"] if path.startswith(mount["mountPath"] + "/"))
    (volume,) = (volume for volume in spec["template"]["spec"]["volumes"] if volume["name"] == mount["name"])
    (made,) = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["configMapGenerator"]
    assert made["name"] == volume["configMap"]["name"] and path.rpartition("/")[2] in made["files"]
    assert spec["backoffLimit"] == 0  # the corpus is the same a minute later
