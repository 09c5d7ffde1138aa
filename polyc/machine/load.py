"""Find a machine: by its name where polyc ships one, from a TOML file otherwise."""

from __future__ import annotations

from dataclasses import replace

from polyc.errors import UserError
from polyc.machine.cpu import Cpu
from polyc.machine.description import CODE, Machine, diagnostic, kind_line
from polyc.machine.gpu import Gpu
from polyc.machine.host import as_toml, host_file, quick_host
from polyc.machine.shipped import (
    FOLDERS,
    GENERIC,
    GENERIC_CPU,
    HOST,
    described_by,
    from_file,
    is_file,
    known,
    named,
    names_in,
)


def load(name_or_file: str) -> Machine:
    """The machine with this name, or that a file describes: what has a slash or ends in `.toml` is a file.

    Raises UserError with every problem of the file, in its order.
    """
    if name_or_file == HOST:
        return load_host()
    if is_file(name_or_file):
        return from_file(name_or_file)
    return named(name_or_file)


def text_of(name_or_file: str) -> str:
    """The TOML text of a machine: of one that polyc ships, of this one, or of a file. Raises as `load`."""
    machine = load(name_or_file)
    for folder in FOLDERS.values():
        if not is_file(name_or_file) and name_or_file in names_in(folder):
            return (folder / f"{name_or_file}.toml").read_text(encoding="utf-8")
    if is_file(name_or_file):
        return described_by(name_or_file)
    assert isinstance(machine, Cpu)
    return as_toml(machine)


def load_host() -> Cpu:
    """This machine, as it was measured or as the system describes it. Raises UserError for a broken file."""
    file = host_file()
    if not file.exists():
        return quick_host()
    try:
        found = from_file(str(file))
    except UserError as error:
        anew = "'polyc machine detect' writes this file anew"
        raise UserError([replace(problem, hint=anew) for problem in error.diagnostics]) from None
    if isinstance(found, Cpu):
        return found
    raise _other_kind(str(file), "GPU", "CPU", "cpu", "'polyc machine detect', which writes this file anew")


def load_gpu(name_or_file: str) -> Gpu:
    """The GPU with this name, or that a file describes. Raises UserError, also where it is a CPU."""
    found = load(name_or_file)
    if isinstance(found, Gpu):
        return found
    raise _other_kind(name_or_file, "CPU", "GPU", "gpu", "--target openmp or c")


def load_cpu(name_or_file: str) -> Cpu:
    """The CPU with this name, or that a file describes. Raises UserError, also where it is a GPU."""
    found = load(GENERIC_CPU if name_or_file == GENERIC else name_or_file)
    if isinstance(found, Cpu):
        return found
    raise _other_kind(name_or_file, "GPU", "CPU", "cpu", "--target cuda or opencl")


def _other_kind(name: str, is_one: str, wanted: str, kind: str, targets: str) -> UserError:
    message = f"'{name}' is a {is_one}, and the target runs on a {wanted}"
    hint = f"name one of {', '.join(known(kind))}, or choose {targets}"
    if is_file(name):
        return UserError([diagnostic(name, kind_line(described_by(name)), message, hint)])
    return UserError.of(CODE, message, None, hint)
