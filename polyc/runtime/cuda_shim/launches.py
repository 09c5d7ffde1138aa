"""Rewriting CUDA C++ for a C++ compiler: launches and PTX become calls of the shim; lines keep their numbers."""

from __future__ import annotations

import re

from polyc.records import dataclass

CLOSING = {"(": ")", "[": "]", "{": "}"}
BLANKS = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
KERNEL = re.compile(r"\b__global__\b((?:__launch_bounds__\s*\([^()]*\)|[^;{()])*)\(")
TEMPLATE = re.compile(r"\btemplate\s*<\s*typename\s+(\w+)\s*>\s*((?:static\s+)?__global__)")
BOUNDS = re.compile(r"__launch_bounds__\s*\(\s*(\d+)")
ASM = re.compile(r"\basm\b(?:\s+volatile\b)?\s*\(")
INSTRUCTION = re.compile(r"\s*([\w.]+)\s([^;]*);?\s*")
TEXT = re.compile(r'"((?:\\.|[^"\\\n])*)"')
UNROLLED = re.compile(r"^([ \t]*#[ \t]*pragma[ \t]+)unroll[ \t]*$", re.MULTILINE)
DYNAMIC_SHARED = re.compile(r"\bextern\s+__shared__\s+([\w\s]+?)\s*\b(\w+)\s*\[\s*\]\s*;")


class RewriteError(Exception):
    """The text is no CUDA program that the shim can read; the message gives the line."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function that is `__global__`."""

    name: str
    most_threads: int
    """Of a block, by its launch bounds; 0 where it has none."""


def rewrite(text: str) -> str:
    """A C++ program that calls the shim, with the table of its kernels at the end. Raises RewriteError.

    rewrite:   k<<<grid, block, 0, stream>>>(a, b); -> polyc_shim::launch("k", k, polyc_shim::Config(grid, block, 0,
               stream), a, b);
    """
    text = instantiated(text)
    table = kernels(text)
    names = "".join(f'"{kernel.name}", ' for kernel in table)
    bounds = "".join(f"{kernel.most_threads}, " for kernel in table)
    hidden = 'extern "C" __attribute__((visibility("hidden"))) const'
    return (
        rewrite_launches(rewrite_dynamic_shared(rewrite_asm(text)))
        + f"\n{hidden} char *const polyc_shim_kernels[] = {{{names}0}};\n"
        + f"{hidden} unsigned polyc_shim_kernel_threads[] = {{{bounds}0}};\n"
    )


def instantiated(text: str) -> str:
    """The text with int for the type of templates that are launched for int and long: what a shim has memory for needs
    no more, and the shared arrays of templates have no section of their own.

    rewrite:   template <typename index> __global__ void k(index n) … k<int><<<g, b>>>(n) -> __global__ void k(int n) …
               k<<<g, b>>>(n)
    """
    for match in reversed(list(TEMPLATE.finditer(blanked(text)))):
        body = text.index("{", match.end())
        end = matching(blanked(text), body)
        kernel = KERNEL.search(text, match.start(2), body)
        if kernel is None:
            continue
        name = kernel[1].split()[-1]
        launches = re.compile(rf"\b{re.escape(name)}\s*<\s*(\w+)\s*>(?=\s*<<<)")
        if {found[1] for found in launches.finditer(text)} <= {"int", "long"}:
            lines = "\n" * text.count("\n", match.start(), match.start(2))
            function = re.sub(rf"\b{match[1]}\b", "int", text[match.start(2) : end])
            text = launches.sub(name, text[: match.start()] + lines + function + text[end:])
    return text


def kernels(text: str) -> list[Kernel]:
    """The kernels that the text declares, each once."""
    found: dict[str, int] = {}
    for match in KERNEL.finditer(blanked(text)):
        bounds = BOUNDS.search(match[1])
        name = match[1].split()[-1].lstrip("*&")
        found[name] = max(found.get(name, 0), int(bounds[1]) if bounds else 0)
    return [Kernel(name, most_threads) for name, most_threads in found.items()]


def rewrite_unrolled(text: str) -> str:
    """Let the C++ compiler unroll what nvcc unrolls as a whole, so that both keep loaded values in registers.

    rewrite:   #pragma unroll -> #pragma GCC unroll 65534
    """
    return UNROLLED.sub(r"\1GCC unroll 65534", text)


def rewrite_dynamic_shared(text: str) -> str:
    """rewrite:   extern __shared__ float a[]; -> float *a = (float *)polyc_shim_dynamic_shared();"""
    return DYNAMIC_SHARED.sub(r"\1 *\2 = (\1 *)polyc_shim_dynamic_shared();", text)


def rewrite_asm(text: str) -> str:
    """Replace each instruction of PTX by a call of a function with its name. Raises RewriteError.

    rewrite:   asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a) : "f"(b)); -> polyc_shim::ptx_cvt_rna_tf32_f32(a, b);
    """
    code = blanked(text)
    pieces: list[str] = []
    done = 0
    while match := ASM.search(code, done):
        opening = match.end() - 1
        end = matching(code, opening)
        parts = _split(code, text, opening + 1, end, ":")
        words = "".join(TEXT.findall(parts[0]))
        instruction = INSTRUCTION.fullmatch(words)
        operands = [
            part[part.index("(") + 1 : part.rindex(")")]
            for group in parts[1:3]
            for part in _split(blanked(group), group, 0, len(group), ",")
            if "(" in part
        ]
        numbers = [int(number) for number in re.findall(r"%(\d+)", instruction[2])] if instruction else []
        if instruction is None or any(number >= len(operands) for number in numbers):
            raise RewriteError(f"line {line(code, opening)}: the shim knows single instructions of PTX only")
        name = instruction[1].replace(".", "_")
        lines = "\n" * text.count("\n", match.start(), end)
        call = f"polyc_shim::ptx_{name}({', '.join(operands[number].strip() for number in numbers)})"
        pieces += [text[done : match.start()], call, lines]
        done = end + 1
    return "".join([*pieces, text[done:]])


def _split(code: str, text: str, start: int, end: int, at: str) -> list[str]:
    """The parts of a text between separators that stand in no parentheses; `code` is the text without literals."""
    parts, depth, begin = [], 0, start
    for place in range(start, end):
        depth += (code[place] in CLOSING) - (code[place] in CLOSING.values())
        if depth == 0 and code[place] == at:
            parts.append(text[begin:place])
            begin = place + 1
    return [*parts, text[begin:end]]


def rewrite_launches(text: str) -> str:
    """Replace each launch by a call of the shim's function. Raises RewriteError."""
    code = blanked(text)
    pieces: list[str] = []
    done = 0
    while (opening := code.find("<<<", done)) >= 0:
        start = kernel_start(code, opening)
        closing = end_of_configuration(code, opening + 3)
        parenthesis = after_space(code, closing + 3)
        if parenthesis == len(code) or code[parenthesis] != "(":
            raise RewriteError(f"line {line(code, closing)}: no '(' after '>>>'")
        end = matching(code, parenthesis)
        kernel, configuration = text[start:opening].strip(), text[opening + 3 : closing]
        name = kernel.partition("<")[0].split("::")[-1].strip()
        # What is launched inside of the arguments is no program that anybody prints.
        arguments = text[parenthesis + 1 : end]
        comma = ", " if arguments.strip() else ""
        pieces += [
            text[done:start],
            f'polyc_shim::launch("{name}", {kernel}, polyc_shim::Config({configuration}){comma}{arguments})',
        ]
        done = end + 1
    return "".join([*pieces, text[done:]])


def blanked(text: str) -> str:
    """The text with comments and literals as spaces: every character keeps its place, every line its number."""
    return BLANKS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def kernel_start(code: str, end: int) -> int:
    """Where the kernel's name begins that ends before `end`: `k`, `space::k`, `k<float, f<(1 > 0)>()>`."""
    at = before_space(code, end)
    if at > 0 and code[at - 1] == ">":
        at = before_space(code, template_start(code, at - 1))
    name = re.search(r"(?:::\s*)?\w+(?:\s*::\s*\w+)*$", code[:at])
    if not name:
        raise RewriteError(f"line {line(code, end)}: no kernel before '<<<'")
    return name.start()


def template_start(code: str, closing: int) -> int:
    """The `<` of the `>` at `closing`; what stands in parentheses has nothing to do with either."""
    depth = parentheses = 0
    for at in range(closing, -1, -1):
        char = code[at]
        parentheses += (char in ")]}") - (char in "([{")
        if parentheses == 0:
            depth += (char == ">") - (char == "<")
            if depth == 0:
                return at
    raise RewriteError(f"line {line(code, closing)}: '>' without '<'")


def end_of_configuration(code: str, start: int) -> int:
    """The place of the `>>>` that ends a configuration: none in parentheses, nor that of a template's arguments."""
    at = start
    while at < len(code):
        if code[at] in CLOSING:
            at = matching(code, at)
        elif code.startswith(">>>", at) and not code.startswith(">>>>", at):
            return at
        at += 1
    raise RewriteError(f"line {line(code, start)}: '<<<' without '>>>'")


def matching(code: str, opening: int) -> int:
    """The place of the parenthesis that closes the one at `opening`."""
    waiting: list[str] = []
    for at in range(opening, len(code)):
        char = code[at]
        if char in CLOSING:
            waiting.append(CLOSING[char])
        elif waiting and char == waiting[-1]:
            waiting.pop()
            if not waiting:
                return at
    raise RewriteError(f"line {line(code, opening)}: '{code[opening]}' is not closed")


def after_space(code: str, at: int) -> int:
    while at < len(code) and code[at].isspace():
        at += 1
    return at


def before_space(code: str, at: int) -> int:
    while at > 0 and code[at - 1].isspace():
        at -= 1
    return at


def line(code: str, at: int) -> int:
    return code.count("\n", 0, at) + 1
