#!/usr/bin/env python3
"""Runs the steps of the Dockerfile in a clean Debian, where no container engine exists; needs root and debootstrap.

    scripts/image_in_chroot.py [--target browser] [--build-arg NAME=VALUE] [--folder /var/tmp/image] -- --version

The folder becomes the image's root file system. What follows `--` is then run in it as the image would run it: its
entry point, its user, the root file system read-only, /tmp and /spool as folders of its own, the host's network.
`FROM` a Python image becomes Debian 12 with its own Python 3.11. Environment variables PIP_* and the host's
certificates and resolver are lent to the build, as a build behind a company's proxy needs them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SUITE, PACKAGES = "bookworm", "python3,python3-venv,python-is-python3,ca-certificates"
LENT = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt")


@dataclass
class Stage:
    """One FROM: its folder, and what the steps so far have set."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str = "0"
    entrypoint: list[str] = field(default_factory=list)


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """Lines joined at their backslashes, without comments."""
    lines = [line for line in dockerfile.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [(line.split(None, 1)[0], line.split(None, 1)[1].strip()) for line in joined.splitlines() if line.strip()]


def needed(dockerfile: str, target: str) -> set[str]:
    """The stages that this one is made of, itself included. Raises: SystemExit where there is none of this name."""
    parts: dict[str, set[str]] = {}
    for word, rest in instructions(dockerfile):
        if word == "FROM":
            base, _, name = rest.split()
            parts[name] = {base}
        elif word == "COPY" and rest.startswith("--from="):
            parts[name].add(rest.split()[0].removeprefix("--from="))
    if target not in parts:
        raise SystemExit(f"error: the Dockerfile has no stage {target}; there are {', '.join(parts)}")
    found = {target}
    while more := {part for stage in found for part in parts[stage] & set(parts)} - found:
        found |= more
    return found


class Build:
    """Takes the instructions one after the other. `stages` is filled by FROM."""

    def __init__(self, folder: Path, target: str, arguments: dict[str, str]) -> None:
        self.stages: dict[str, Stage] = {}
        self._folder, self._target, self._given = folder, target, arguments
        self._arguments: dict[str, str] = {}

    def run(self, dockerfile: str) -> Stage:
        """Build what the target needs. Raises: CalledProcessError, SystemExit."""
        wanted, is_wanted = needed(dockerfile, self._target), True
        for word, rest in instructions(dockerfile):
            if word == "FROM":
                is_wanted = rest.split()[2] in wanted
            if not is_wanted:
                continue
            if word == "FROM":
                self._from(rest)
            else:
                print(f"{word} {rest[:110]}", flush=True)
                getattr(self, f"_{word.lower()}")(rest)
        return self.stages[self._target]

    @property
    def _stage(self) -> Stage:
        return list(self.stages.values())[-1]

    def _from(self, rest: str) -> None:
        base, _, name = rest.split()
        print(f"FROM {rest}", flush=True)
        folder = self._folder / name
        if base in self.stages:
            before = self.stages[base]
            copy(before.folder, folder)
            self.stages[name] = Stage(folder, dict(before.env), before.workdir)
            return
        clean = self._folder / "debian"
        if not clean.is_dir():
            subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(clean)],
                           check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        copy(clean, folder)
        for file in LENT:
            shutil.copy(file, folder / file.lstrip("/"))
        self.stages[name] = Stage(folder, {"PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin"})

    def _arg(self, rest: str) -> None:
        name, _, default = rest.partition("=")
        self._arguments[name] = self._given.get(name, default)

    def _env(self, rest: str) -> None:
        for part in shlex.split(rest):
            name, _, value = part.partition("=")
            self._stage.env[name] = value.replace("$PATH", self._stage.env["PATH"])

    def _workdir(self, rest: str) -> None:
        self._stage.workdir = rest
        (self._stage.folder / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _user(self, rest: str) -> None:
        self._stage.user = rest

    def _entrypoint(self, rest: str) -> None:
        self._stage.entrypoint = json.loads(rest)

    def _cmd(self, rest: str) -> None:
        json.loads(rest)

    def _copy(self, rest: str) -> None:
        words, source = shlex.split(rest), PROJECT
        if words[0].startswith("--from="):
            source = self.stages[words.pop(0).removeprefix("--from=")].folder
        *froms, to = words
        goal = self._stage.folder / str(Path(self._stage.workdir) / to).lstrip("/")
        for name in froms:
            path = source / name.lstrip("/")
            is_folder = to.endswith("/")
            goal.mkdir(parents=True, exist_ok=True) if is_folder else goal.parent.mkdir(parents=True, exist_ok=True)
            copy(path, goal / path.name if is_folder else goal)

    def _run(self, rest: str) -> None:
        lent = {name: value for name, value in os.environ.items() if name.startswith("PIP_") and "FIND" not in name}
        inside(self._stage, ["/bin/sh", "-c", rest], {**self._arguments, **lent}, read_only=False)


def copy(source: Path, goal: Path) -> None:
    """As COPY does, without what Python leaves behind."""
    if source.is_dir():
        goal.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", f"{source}/.", str(goal)], check=True)
        if PROJECT in source.parents:
            for cache in goal.rglob("__pycache__"):
                shutil.rmtree(cache)
            subprocess.run(["chown", "-R", "0:0", str(goal)], check=True)
    else:
        shutil.copy(source, goal)


def inside(stage: Stage, command: list[str], env: dict[str, str], *, read_only: bool) -> None:
    """Run in the stage's folder, with mounts that end with it. Raises: CalledProcessError."""
    root = shlex.quote(str(stage.folder))
    steps = [f"mount --bind {root} {root}"]
    if read_only:
        steps += [f"mkdir -p {root}/spool", f"mount -o remount,ro,bind {root}"]
        steps += [f"mount -t tmpfs -o mode=0777 tmpfs {root}/{name}" for name in ("tmp", "spool")]
    steps += [f"mount -t proc proc {root}/proc", f"mount --rbind /dev {root}/dev"]
    chroot = ["chroot", f"--userspec={stage.user}:{stage.user}", str(stage.folder)]
    inner = f"cd {shlex.quote(stage.workdir)} && exec {shlex.join(command)}"
    steps.append("exec " + shlex.join([*chroot, "/bin/sh", "-c", inner]))
    subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", "\n".join(steps)],
                   check=True, env={**stage.env, **env, "HOME": "/tmp" if read_only else "/root"})  # fmt: skip


def main() -> int:
    """Build, then run what follows `--`. Returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="crawler", help="stage of the Dockerfile; default: crawler, the last one")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp/image"), help="where the root file systems grow")
    parser.add_argument("--build-arg", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("command", nargs="*", help="arguments of the entry point; default: list")
    opts = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        raise SystemExit("error: image_in_chroot needs root and debootstrap (apt-get install debootstrap)")
    for old in opts.folder.glob("*"):
        if old.name != "debian":  # the clean system is kept for the next build
            shutil.rmtree(old)
    opts.folder.mkdir(parents=True, exist_ok=True)
    arguments = dict(item.split("=", 1) for item in opts.build_arg)
    stage = Build(opts.folder, opts.target, arguments).run((PROJECT / "Dockerfile").read_text())
    settings = {name: value for name, value in os.environ.items() if name.startswith("CRAWLER_")}
    try:
        inside(stage, [*stage.entrypoint, *(opts.command or ["--version"])], settings, read_only=True)
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
