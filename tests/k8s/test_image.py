"""The image: what is installed is pinned and fits the requirements, and its steps can be run without an engine."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.places import PROJECT

LOCK = (PROJECT / "requirements-lock.txt").read_text().splitlines()
DOCKERFILE = (PROJECT / "Dockerfile").read_text()
LINE = re.compile(r"([a-z0-9._-]+)==(\S+) --hash=sha256:[0-9a-f]{64}")


def tool(name: str):
    spec = importlib.util.spec_from_file_location(name, PROJECT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def locked() -> dict[str, str]:
    found = [LINE.fullmatch(line) for line in LOCK if not line.startswith("#")]
    assert all(found), "each line has a version and a hash"
    return {canonicalize_name(match[1]): match[2] for match in found if match}


def test_every_requirement_is_locked_within_its_bounds():
    versions = locked()
    for line in (PROJECT / "requirements.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        wanted = Requirement(line.partition("#")[0].strip())
        if wanted.marker is None or wanted.marker.evaluate({"python_version": "3.11", "sys_platform": "linux"}):
            assert wanted.specifier.contains(versions[canonicalize_name(wanted.name)]), line


def test_the_image_has_what_looking_at_a_corpus_needs():
    versions, wanted = locked(), [Requirement(line) for line in tool("lock_image").extras()]
    assert {one.name for one in wanted} == {"s3fs", "pyarrow", "duckdb", "starlette", "uvicorn", "pillow"}
    for one in wanted:
        assert one.specifier.contains(versions[canonicalize_name(one.name)]), one


NOT_IN_THE_IMAGE = {
    "documents": "a crawl of PDF is asked for by name, and what reads them is large",
    "llm": "providers' clients, for whoever has an account",
    "spark": "runs on a cluster of its own",
    "stream": "Kafka's client; Redis needs nothing more",
    "trial": "PyTorch, which is larger than the image",
}


def test_every_extra_that_a_command_may_ask_for_is_in_the_image_or_left_out_with_a_reason():
    asked = re.compile(r"gristmill\[([a-z0-9]+)\]")
    named = {name for path in (PROJECT / "crawler").rglob("*.py") for name in asked.findall(path.read_text())}
    assert named >= {"images", "parquet", "explore", "browser"}
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    lacking = {
        name
        for name in named
        if any(canonicalize_name(Requirement(line).name) not in locked() for line in extras[name])
    }
    assert lacking == set(NOT_IN_THE_IMAGE)


def test_pip_installs_nothing_in_the_image_without_a_hash_but_a_driver_that_was_asked_for():
    calls = re.findall(r"pip install ([^\n;\\]+)", DOCKERFILE)
    unpinned = [call for call in calls if "--require-hashes --no-deps" not in call]
    assert [call for call in unpinned if "--no-index --no-deps --no-build-isolation" not in call] == [
        '--quiet "$STORE_DRIVER"'
    ]
    assert re.search(r"^ARG STORE_DRIVER=$", DOCKERFILE, re.MULTILINE)


def test_every_stage_that_is_run_has_the_user_and_the_command_of_the_crawler():
    for name in ("browser", "crawler"):
        stage = DOCKERFILE.split(f"FROM runtime AS {name}")[1].split("FROM ")[0]
        assert "USER 10001" in stage
        assert 'ENTRYPOINT ["gristmill"]' in stage


def test_the_tool_without_an_engine_knows_every_step_of_the_dockerfile():
    module = tool("image_in_chroot")
    steps = module.instructions(DOCKERFILE)
    assert [word for word, _ in steps].count("FROM") == 4
    for word, _ in steps:
        assert hasattr(module.Build, f"_{word.lower()}"), word
    assert not any("\\" in rest.replace("\\n", "") for _, rest in steps), "lines are joined"


def test_only_the_stages_that_are_needed_are_built():
    module = tool("image_in_chroot")
    assert module.needed(DOCKERFILE, "crawler") == {"crawler", "runtime", "build"}
    assert module.needed(DOCKERFILE, "browser") == {"browser", "runtime", "build"}
    with pytest.raises(SystemExit, match="no stage other; there are build, runtime, browser, crawler"):
        module.needed(DOCKERFILE, "other")


def test_a_lock_is_written_from_what_pip_reports(tmp_path):
    report = tmp_path / "report.json"
    report.write_text(
        '{"install": [{"metadata": {"name": "B", "version": "2"}, "download_info": {"archive_info": {"hashes": '
        f'{{"sha256": "{"b" * 64}"}}}}}}}}, {{"metadata": {{"name": "a", "version": "1"}}, "download_info": '
        f'{{"archive_info": {{"hashes": {{"sha256": "{"a" * 64}"}}}}}}}}]}}'
    )
    assert tool("lock_image").lines_of(report) == [f"a==1 --hash=sha256:{'a' * 64}", f"b==2 --hash=sha256:{'b' * 64}"]


@pytest.mark.parametrize("name", re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE))
def test_what_is_copied_is_part_of_the_build_context(name):
    lines = (PROJECT / ".dockerignore").read_text().splitlines()
    patterns = [line[1:].replace(".", r"\.").replace("*", ".*") for line in lines if line[0] == "!"]
    for each in name.split():
        assert any(re.fullmatch(pattern, each) for pattern in patterns), each
