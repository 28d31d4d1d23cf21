"""A plan as a Kubernetes Job, or as a CronJob: `gristmill plan steps --kubernetes IMAGE`.

One Job runs all tasks one after the other, on a volume that holds the plan's folder. The run bears the name of the Job,
so that a pod that takes the place of another goes on with its run. Exit codes after which a second try changes nothing
fail the Job at once, through its podFailurePolicy.

With a run's name there is a Job for each task instead. All may be started together: each waits until the tasks before
it are done. Their pods stand on one node, where the locks and the volume are.
"""

from __future__ import annotations

import re
from typing import Any

from crawler.plan.model import NEVER, Plan
from crawler.plan.tasks import tasks_of
from crawler.problems import InputError

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,49}[a-z0-9])?")  # RFC 1123; a CronJob's name has 52 characters
_FOLDER, _USER = "/plan", 10001
_LABEL_OF_PLAN, _LONGEST_NAME = "gristmill/plan", 63
_FIELD = re.compile(r"[0-9*,/A-Za-z-]+")


def manifests(plan: Plan, image: str, schedule: str = "", run: str = "") -> list[dict[str, Any]]:
    """The claim of the volume and the Job; with a schedule (five fields of cron) a CronJob, with a run's name a Job for
    each task. Raises: InputError."""
    name = re.sub(r"[^a-z0-9-]+", "-", plan.name.lower()).strip("-")
    if not _LABEL.fullmatch(name):
        raise InputError([f"{plan.path}: name: expected at most 51 letters, digits and '-' for Kubernetes"])
    if schedule and (len(schedule.split()) != 5 or not all(map(_FIELD.fullmatch, schedule.split()))):
        raise InputError([f"--schedule {schedule!r}: expected five fields of cron, such as '15 3 * * *'"])
    if run:
        return [_claim(name), *_jobs(plan, name, image, run)]
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": _job(plan, name, image)}
    if schedule:
        job["kind"] = "CronJob"
        job["spec"] = {
            "schedule": schedule,
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 3600,
            "jobTemplate": {"spec": job["spec"]},
        }
    return [_claim(name), job]


def _claim(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        # one node: the locks of a plan hold there, and nowhere else
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "100Gi"}}},
    }


def _jobs(plan: Plan, name: str, image: str, run: str) -> list[dict[str, Any]]:
    found = {}
    for task in tasks_of(plan):
        own = re.sub(r"[^a-z0-9-]+", "-", f"{name}-{task.name}-{run}".lower()).strip("-")
        if len(own) > _LONGEST_NAME or own in found:
            raise InputError([
                f"{plan.path}:{task.at}: {task.name}: {own} would be the name of its Job: expected at most "
                f"{_LONGEST_NAME} characters, and another one than that of each other task"
            ])  # fmt: skip
        spec = _job(plan, name, image)
        pod = spec["template"]
        pod["metadata"]["labels"][_LABEL_OF_PLAN] = name
        pod["spec"]["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {_LABEL_OF_PLAN: name}}}
        ]}}  # fmt: skip
        (container,) = pod["spec"]["containers"]
        container["args"] = ["plan", "run", "--only", task.name, "--after", "--wait", "--run", run,
                             f"{_FOLDER}/{plan.path.name}"]  # fmt: skip
        container["env"] = [one for one in container["env"] if one["name"] != "RUN"]
        metadata = {"name": own, "labels": {_LABEL_OF_PLAN: name}}
        found[own] = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    return list(found.values())


def _job(plan: Plan, name: str, image: str) -> dict[str, Any]:
    run = {"fieldRef": {"fieldPath": "metadata.labels['batch.kubernetes.io/job-name']"}}
    container = {
        "name": "plan",
        "image": image,
        "args": ["plan", "run", "--wait", "--run", "$(RUN)", f"{_FOLDER}/{plan.path.name}"],
        "env": [{"name": "HOME", "value": "/tmp"}, {"name": "RUN", "valueFrom": run}],  # noqa: S108  # of the pod
        "envFrom": [
            {"prefix": "CRAWLER_", "configMapRef": {"name": "crawler-config", "optional": True}},
            {"prefix": "CRAWLER_", "secretRef": {"name": f"{name}-secrets", "optional": True}},
        ],
        "resources": {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "8Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "plan", "mountPath": _FOLDER}, {"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
    }
    return {
        "backoffLimit": 6,
        "podFailurePolicy": {
            "rules": [
                {"action": "FailJob", "onExitCodes": {"containerName": "plan", "operator": "In", "values": [*NEVER]}},
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            ]
        },
        "template": {
            "metadata": {"labels": {"app.kubernetes.io/name": "task"}},
            "spec": {
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 120,
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": _USER,
                    "runAsGroup": _USER,
                    "fsGroup": _USER,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [container],
                "volumes": [
                    {"name": "plan", "persistentVolumeClaim": {"claimName": name}},
                    {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}},
                ],
            },
        },
    }
