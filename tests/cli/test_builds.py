"""The example project with make and with CMake: what changed is built again, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SCALE = """void scale(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] *= 2;
#pragma endscop
}
"""
pytestmark = pytest.mark.slow


class Project:
    """A copy of docs/example with a second file with a region, which includes nothing."""

    def __init__(self, folder: Path) -> None:
        for name in ("example", "make", "cmake"):
            shutil.copytree(DOCS / name, folder / name, ignore=shutil.ignore_patterns("build", "build-cmake"))
        self.folder = folder / "example"
        (self.folder / "scale.c").write_text(SCALE)
        tools = folder / "tools"
        tools.mkdir()
        (tools / "polyc").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m polyc "$@"\n')
        (tools / "polyc").chmod(0o755)
        # What a make around the tests hands on to ours would change what it prints.
        outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        self.environment = {
            **outside, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(DOCS.parent)
        }  # fmt: skip

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, env=self.environment
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def touch(self, name: str) -> None:
        """Make the file newer than everything that was built; make looks at the clock as well."""
        newest = max(path.stat().st_mtime_ns for path in self.folder.rglob("*") if path.is_file())
        time.sleep(max(0.0, newest / 1e9 - time.time()) + 0.02)
        (self.folder / name).touch()

    def states(self, build: str) -> dict[str, int]:
        """When what was made from C files was written, by its name."""
        found = (self.folder / build).rglob("*")
        return {path.name: path.stat().st_mtime_ns for path in found if path.name.endswith((".polyc.c", ".o"))}


def changed(before: dict[str, int], after: dict[str, int]) -> set[str]:
    assert set(before) == set(after)
    return {name for name in before if before[name] != after[name]}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_make_rebuilds_what_changed(project: Project) -> None:
    def make(*words: str) -> set[str]:
        before = project.states("build") if (project.folder / "build").exists() else {}
        project.run("make", "KERNELS=blur scale", *words)
        after = project.states("build")
        return changed(before, after) if before else set(after)

    assert make("check") == {
        "blur.polyc.c", "blur.polyc.o", "blur.o", "scale.polyc.c", "scale.polyc.o", "scale.o", "main.o"
    }  # fmt: skip
    assert make("check") == set()
    project.touch("main.c")
    assert make() == {"main.o"}
    project.touch("blur.h")
    assert make("check") == {"blur.polyc.c", "blur.polyc.o", "blur.o", "main.o"}
    project.touch("scale.c")
    assert make() == {"scale.polyc.c", "scale.polyc.o", "scale.o"}
    options = "POLYC_FLAGS=--tile-sizes 8,64 -D 'QUOTED(x)=x'"
    assert make(options, "check") == {"blur.polyc.c", "blur.polyc.o", "scale.polyc.c", "scale.polyc.o"}
    assert "in tiles of 8 x 64" in (project.folder / "build" / "blur.polyc.c").read_text()
    assert make(options) == set()
    assert project.run("make", "-n", "KERNELS=blur scale", options).count("polyc compile") == 0


def test_make_with_files_in_folders(project: Project) -> None:
    """A file of another folder finds its own headers; the first target of the Makefile stays the first."""
    for name in ("blur.c", "blur.h", "main.c"):
        (project.folder / "src").mkdir(exist_ok=True)
        (project.folder / name).rename(project.folder / "src" / name)
    (project.folder / "Makefile").write_text(
        "CFLAGS = -O2 -Wall -Wextra -Werror -Wno-unknown-pragmas\n"
        "include ../make/polyc.mk\n"
        "blur: src/main.c $(POLYC_BUILD)/src/blur.polyc.o\n"
        "\t$(CC) $(CFLAGS) -fopenmp $^ -o $@\n"
    )
    assert "-iquote src/" in project.run("make")
    assert project.run("make") == "make: 'blur' is up to date.\n"
    project.touch("src/blur.h")
    assert "polyc compile src/blur.c" in project.run("make")
    assert project.run("./blur").count("\n") > 100


@pytest.mark.parametrize("generator", ["Unix Makefiles", "Ninja"])
def test_cmake_rebuilds_what_changed(project: Project, generator: str) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    if generator == "Ninja" and shutil.which("ninja") is None:
        pytest.skip("there is no ninja")
    lists = project.folder / "CMakeLists.txt"
    configure = ("cmake", "-B", "build", "-G", generator, "-DKERNELS=blur.c;scale.c", "-Wno-dev")

    def build() -> set[str]:
        before = project.states("build")
        project.run("cmake", "--build", "build")
        after = project.states("build")
        return changed(before, after) if before else set(after)

    project.run(*configure)
    assert build() == {"blur.polyc.c", "blur.polyc.c.o", "scale.polyc.c", "scale.polyc.c.o", "blur.c.o", "scale.c.o",
                       "main.c.o"}  # fmt: skip
    assert project.run("build/blur") == project.run("build/blur-plain")
    assert build() == set()
    project.touch("main.c")
    assert build() == {"main.c.o"}
    project.touch("blur.h")
    assert build() == {"blur.polyc.c", "blur.polyc.c.o", "blur.c.o", "main.c.o"}
    project.touch("scale.c")
    assert build() == {"scale.polyc.c", "scale.polyc.c.o", "scale.c.o"}

    text = lists.read_text()
    new = text.replace(
        "polyc_add_sources(blur ${KERNELS})", "polyc_add_sources(blur ${KERNELS} OPTIONS --tile-sizes 8,64)"
    )
    new += 'target_compile_definitions(blur PRIVATE "TEXT=a b")\n'
    assert new != text
    project.touch("CMakeLists.txt")
    lists.write_text(new)
    rebuilt = build()
    assert rebuilt >= {"blur.polyc.c", "blur.polyc.c.o", "scale.polyc.c", "scale.polyc.c.o"}
    assert not rebuilt & {"blur.c.o", "scale.c.o"}
    assert "in tiles of 8 x 64" in next((project.folder / "build").rglob("blur.polyc.c")).read_text()
    assert project.run("build/blur") == project.run("build/blur-plain")
    assert build() == set()


def test_cmake_refuses_what_it_cannot_do(project: Project) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    lists = project.folder / "CMakeLists.txt"
    text = lists.read_text()
    for call, message in (
        ("polyc_add_sources(nothing blur.c)", "there is no target 'nothing'"),
        ("polyc_add_sources(blur)", "name the C files of 'blur'"),
        ("polyc_add_sources(blur blur.c OPTIONS --target cuda)", "polyc_add_sources is for CPUs"),
    ):
        lists.write_text(text.replace("polyc_add_sources(blur ${KERNELS})", call))
        done = subprocess.run(
            ["cmake", "-B", "build"], cwd=project.folder, capture_output=True, text=True, env=project.environment,
            check=False,
        )  # fmt: skip
        assert done.returncode != 0
        assert message in " ".join(done.stderr.split())
