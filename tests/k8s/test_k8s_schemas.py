"""Every overlay is what a cluster accepts: schemas of three Kubernetes versions, names, numbers, restricted pods."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes_validate import utils as kubernetes_validate

from tests.support.kustomize import K8S, Objects, objects, pods
from tests.support.places import PROJECT

VERSIONS = kubernetes_validate.all_versions()[-6:][::2]  # each is there twice, loose and strict
CUSTOM = {"PodMonitor", "PrometheusRule", "ScaledObject"}
"""Kinds whose schemas their operators bring; the tests of this folder look at their fields one by one."""
BY_OPERATORS = {"monitoring.coreos.com/v1", "keda.sh/v1alpha1"}
USERS = {"crawler": 10001, "crawler-browser": 10001, "valkey": 999}
"""Whom the images have: ours by their Dockerfile, Valkey's by its own."""
OTHERS = ("managed-redis", "browser", "hpa", "gates", "signature")
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # RFC 1123


@pytest.fixture(scope="module")
def everything_else(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An overlay with the components that no other overlay has."""
    folder = tmp_path_factory.mktemp("overlay")
    base = Path("../" * len(folder.parts[1:])) / K8S.relative_to("/")
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [str(base / "base")],
        "components": [str(base / "components" / name) for name in OTHERS],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    return folder


@pytest.fixture(params=["k8s", "overlays/dev", "overlays/prod", "overlays/keda", "other components"])
def found(request: pytest.FixtureRequest, everything_else: Path) -> Objects:
    places = {"k8s": K8S, "other components": everything_else}
    return objects(places.get(request.param, K8S / request.param))


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def illegal_names(found: Objects) -> list[str]:
    names = [name for _, name in found]
    for spec in pods(found).values():
        names += [c["name"] for c in spec["containers"]] + [v["name"] for v in spec.get("volumes", [])]
        names += [port["name"] for c in spec["containers"] for port in c.get("ports", [])]
    return [name for name in names if not LABEL.fullmatch(name)]


def broken_rules(spec: dict[str, Any]) -> list[str]:
    """Of the profile `restricted`: https://kubernetes.io/docs/concepts/security/pod-security-standards/ (1.36)."""
    rules = {
        "host namespaces": not any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")),
        "runAsNonRoot": spec.get("securityContext", {}).get("runAsNonRoot") is True,
        "runAsUser": spec.get("securityContext", {}).get("runAsUser", 0) != 0,
        "seccomp": spec.get("securityContext", {}).get("seccompProfile", {}).get("type") == "RuntimeDefault",
        "volumes": all(
            len({"configMap", "emptyDir", "projected", "secret", "persistentVolumeClaim"} & set(volume)) == 1
            for volume in spec.get("volumes", [])
        ),
    }
    for container in [*spec["containers"], *spec.get("initContainers", [])]:
        context, name = container.get("securityContext", {}), container["name"]
        rules |= {
            f"{name} escalation": context.get("allowPrivilegeEscalation") is False,
            f"{name} capabilities": context.get("capabilities") == {"drop": ["ALL"]},
            f"{name} privileged": not context.get("privileged"),
            f"{name} host ports": not any("hostPort" in port for port in container.get("ports", [])),
            f"{name} user": context.get("runAsUser", 1) != 0 and context.get("runAsNonRoot", True) is True,
        }
    return [rule for rule, holds in rules.items() if not holds]


def test_the_versions_are_three_and_recent() -> None:
    assert len(set(VERSIONS)) == 3
    assert "1.36" in {kubernetes_validate.major_minor(version) for version in VERSIONS}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_fits_the_schema_of_its_kind(found: Objects, version: str) -> None:
    for (kind, name), one in found.items():
        if kind in CUSTOM:
            assert one["apiVersion"] in BY_OPERATORS, name
        else:
            kubernetes_validate.validate(one, version, strict=True)


def test_a_field_that_kubernetes_does_not_know_would_be_found() -> None:
    worker = objects()["StatefulSet", "worker"]
    worker["spec"]["template"]["spec"]["terminationGracePeriod"] = 180
    with pytest.raises(kubernetes_validate.ValidationError, match="terminationGracePeriod"):
        kubernetes_validate.validate(worker, VERSIONS[-1], strict=True)


def test_no_number_is_negative(found: Objects) -> None:
    assert [path for path, number in numbers(list(found.values())) if number < 0] == []


def test_all_names_are_legal(found: Objects) -> None:
    assert illegal_names(found) == []
    assert illegal_names({("Service", "Wrong_name"): {}, **found}) == ["Wrong_name"]


def test_every_pod_is_restricted_as_the_namespace_demands(found: Objects) -> None:
    labels = found["Namespace", "crawler"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert {name: broken_rules(spec) for name, spec in pods(found).items() if broken_rules(spec)} == {}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"hostNetwork": True}, "host namespaces"),
        ({"securityContext": {}}, "runAsNonRoot"),
        ({"volumes": [{"name": "x", "hostPath": {"path": "/"}}]}, "volumes"),
        ({"containers": [{"name": "x", "securityContext": {"privileged": True}}]}, "x privileged"),
    ],
)
def test_a_pod_that_is_not_restricted_would_be_found(change: dict[str, Any], rule: str) -> None:
    spec = pods(objects())["StatefulSet/worker"]
    assert broken_rules(spec) == []
    assert rule in broken_rules(spec | change)


def test_every_root_file_system_is_read_only_and_no_pod_has_a_token(found: Objects) -> None:
    for name, spec in pods(found).items():
        assert spec["automountServiceAccountToken"] is False, name
        assert all(c["securityContext"]["readOnlyRootFilesystem"] is True for c in spec["containers"]), name


def test_every_pod_runs_as_the_user_of_its_image(found: Objects) -> None:
    for name, spec in pods(found).items():
        for container in spec["containers"]:
            image = container["image"].rpartition("/")[2].partition(":")[0]
            assert spec["securityContext"]["runAsUser"] == USERS[image], name
    assert re.findall(r"^USER (\d+)$", (PROJECT / "Dockerfile").read_text(), re.MULTILINE)[-1] == str(USERS["crawler"])


def test_every_pod_says_what_it_needs_and_at_most_takes(found: Objects) -> None:
    for name, spec in pods(found).items():
        for container in spec["containers"]:
            resources = container["resources"]
            assert {"cpu", "memory"} <= set(resources["requests"]), name
            assert "memory" in resources["limits"], name


def test_every_mount_has_its_volume(found: Objects) -> None:
    for (kind, name), one in found.items():
        if kind not in {"StatefulSet", "Deployment", "Job", "CronJob"}:
            continue
        spec = pods({(kind, name): one})[f"{kind}/{name}"]
        volumes = {v["name"] for v in spec.get("volumes", [])}
        volumes |= {claim["metadata"]["name"] for claim in one["spec"].get("volumeClaimTemplates", [])}
        mounts = {mount["name"] for c in spec["containers"] for mount in c.get("volumeMounts", [])}
        assert mounts == volumes, name


def test_every_image_has_a_version(found: Objects) -> None:
    for spec in pods(found).values():
        for container in spec["containers"]:
            tag = container["image"].rpartition("/")[2].partition(":")[2]
            assert tag not in {"", "latest"}, container["image"]
