"""C programs with OpenCL on this machine: the values of C, bit for bit, and messages for what fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import which

import pytest

from polyc.cli.commands.doctor import opencl
from polyc.runtime.call import child_output
from polyc.runtime.opencl import Support, missing, runtime_text, support
from polyc.runtime.opencl.kernel_text import INCLUDE
from polyc.runtime.process.build import build

HERE = Path(__file__).parent / "opencl"
RUNTIME = Path(__file__).parents[2] / "polyc" / "codegen" / "templates"
STRICT = ("-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-ffp-contract=off")
SAME = """\
product: same
steps: same
a * b + c: same
float quotients: same
float roots: same
denormal floats: same
"""
SUM = "__kernel void sum(__global int *a)\n{\n  a[0] += 1;\n}\n"
LIBRARY = """
void polyc_original(void **arguments)
{
  size_t groups[] = { 1 }, local[] = { 4 };
  cl_mem a = polyc_cl_buffer(4 * sizeof(int), arguments[0]);
  cl_kernel kernel = polyc_cl_kernel("__kernel void twice(__global int *a) { a[get_global_id(0)] *= 2; }", "twice");
  polyc_cl_arg(kernel, 0, sizeof a, &a);
  polyc_cl_launch(kernel, 1, groups, local);
  polyc_cl_read(a, arguments[0], 4 * sizeof(int));
  polyc_cl_free(a);
}
"""

Run = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> Support:
    one = support()
    if one is None:
        pytest.skip(f"no OpenCL: {missing()}")
    return one


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where programs and PoCL's kernels are."""
    return tmp_path_factory.mktemp("opencl")


@pytest.fixture(scope="module")
def launch(found: Support, folder: Path) -> Run:
    """Runs launch.c: its words are the source, the kernel and the number of work-items."""
    program = built(found, HERE / "launch.c", folder)
    return lambda *words, **environment: ran(found, program, *words, **environment)


def built(found: Support, source: Path, folder: Path, cc: str = "gcc") -> Path:
    program = folder / source.stem
    command = [cc, *STRICT, "-I", str(RUNTIME), str(source), "-o", str(program), *found.flags, "-lm"]
    subprocess.run(command, check=True)
    return program


def ran(found: Support, program: Path, *words: str, **environment: str) -> tuple[int, str, str]:
    """The exit code, and what was printed to both outputs."""
    own = {k: v for k, v in os.environ.items() if k not in ("PYOPENCL_HOME", "POLYC_OPENCL_DEVICE")}
    own |= found.environment(program.parent) | environment
    done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False, env=own)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("cc", ["gcc", "clang"])
def test_the_values_are_those_of_c(cc: str, found: Support, folder: Path) -> None:
    if not which(cc):
        pytest.skip(f"no {cc}")
    program = built(found, HERE / "values.c", folder, cc)
    assert ran(found, program, str(HERE / "values.cl")) == (0, SAME, "")


def test_a_library_in_a_process_that_knows_nothing_of_opencl(
    found: Support, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = build(runtime_text() + LIBRARY, tmp_path, flags=found.flags)
    for name, value in found.environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    data = tmp_path / "data"
    data.write_bytes(b"".join(k.to_bytes(4, sys.byteorder) for k in (1, 2, 3, 40)))
    arguments = [{"file": str(data), "offset": 0, "result": str(data)}]
    job = {"library": str(library), "calls": [{"function": "polyc_original", "arguments": arguments}]}
    output, fault = child_output(tmp_path, job, 60)
    assert (json.loads(output), fault) == ({"function": "polyc_original", "damaged": []}, "")
    assert data.read_bytes() == b"".join(k.to_bytes(4, sys.byteorder) for k in (2, 4, 6, 80))


@pytest.mark.parametrize("cc", ["gcc", "clang"])
def test_the_runtime_alone_compiles_without_warnings(cc: str, tmp_path: Path) -> None:
    if not which(cc):
        pytest.skip(f"no {cc}")
    source = tmp_path / "empty.c"
    source.write_text(runtime_text() + "\nint polyc_nothing;\n")
    subprocess.run([cc, *STRICT, "-I", str(INCLUDE), "-c", str(source), "-o", str(tmp_path / "empty.o")], check=True)


def test_an_error_in_a_kernel_shows_the_log(launch: Run) -> None:
    code, output, said = launch(SUM.replace("1;", "undeclared;"), "sum", "1")
    assert (code, output) == (1, "")
    assert "undeclared" in said
    assert ":3:" in said, "the line is that of the source"
    assert said.endswith("polyc: OpenCL error -11 (CL_BUILD_PROGRAM_FAILURE) in clBuildProgram\n")


def test_an_unknown_kernel(launch: Run) -> None:
    message = "polyc: OpenCL error -46 (CL_INVALID_KERNEL_NAME) in clCreateKernel\n"
    assert launch(SUM, "product", "1") == (1, "", message)


def test_a_work_group_that_is_too_large(launch: Run) -> None:
    code, output, said = launch(SUM, "sum", str(1 << 24))
    assert (code, output) == (1, "")
    assert said in [
        f"polyc: OpenCL error {error} in clEnqueueNDRangeKernel\n"
        for error in ("-54 (CL_INVALID_WORK_GROUP_SIZE)", "-55 (CL_INVALID_WORK_ITEM_SIZE)")
    ]


def test_too_much_local_memory(launch: Run) -> None:
    source = SUM.replace("{\n", "{\n  __local int much[1 << 26];\n  much[a[1]] = a[0]; a[1] = much[a[0]];\n")
    code, output, said = launch(source, "sum", "1")
    assert (code, output) == (1, "")
    assert "polyc: kernel sum wants 268435456 bytes of local memory, and the device has " in said or "error -" in said


def test_the_device_is_chosen_by_the_environment(found: Support, launch: Run) -> None:
    first = found.devices[0]
    for wish in (first.place, first.name[1:].upper(), first.platform, ""):
        assert launch(SUM, "sum", "1", POLYC_OPENCL_DEVICE=wish) == (0, "2\n", "")
    rows = "".join(f"  {one.place}  {one.name}, {one.platform}\n" for one in found.devices)
    for wish in ("99:0", "no such device"):
        message = f"polyc: no OpenCL device is POLYC_OPENCL_DEVICE={wish}; there are\n{rows}"
        assert launch(SUM, "sum", "1", POLYC_OPENCL_DEVICE=wish) == (1, "", message)


def test_doctor_lists_the_devices(found: Support) -> None:
    rows = [one.found for one in opencl()]
    assert [row.split()[0] for row in rows] == [one.place for one in found.devices]
    assert found.devices[0].name in rows[0]


def test_our_header_and_the_errors_agree_with_pyopencl(found: Support, tmp_path: Path) -> None:
    """pyopencl was built with the headers of Khronos."""
    script = """if 1:
        import pyopencl as cl
        spaces = {
            "": cl.status_code, "PLATFORM_": cl.platform_info, "DEVICE_": cl.device_info,
            "DEVICE_TYPE_": cl.device_type, "FP_": cl.device_fp_config, "CONTEXT_": cl.context_properties,
            "MEM_": cl.mem_flags, "PROGRAM_BUILD_": cl.program_build_info, "KERNEL_": cl.kernel_work_group_info,
        }
        for prefix, space in spaces.items():
            for name in dir(space):
                if name.isupper():
                    print(f"CL_{prefix}{name}", getattr(space, name))
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("pyopencl is not installed")
    numbers = {name: int(value) for name, value in map(str.split, done.stdout.splitlines())}
    header = (INCLUDE / "CL" / "cl.h").read_text()
    defined = {line.split()[1] for line in header.splitlines() if line.startswith("#define CL_")}
    assert defined - set(numbers) <= {"CL_FALSE", "CL_TRUE"}
    errors = {value: name for name, value in numbers.items() if -68 <= value <= 0}
    checks = "".join(f"  ok &= {name} == {numbers[name]};\n" for name in sorted(defined & set(numbers)))
    checks += "".join(f'  ok &= strcmp(polyc_cl_error_name({n}), "{name}") == 0;\n' for n, name in errors.items())
    assert len(errors) > 55
    source = tmp_path / "numbers.c"
    source.write_text(f"{runtime_text()}\nint main(void)\n{{\n  int ok = 1;\n{checks}  return !ok;\n}}\n")
    program = tmp_path / "numbers"
    include = ("-I", str(INCLUDE))
    subprocess.run(["gcc", *STRICT, *include, str(source), "-o", str(program), *found.link_flags], check=True)
    assert ran(found, program) == (0, "", "")
