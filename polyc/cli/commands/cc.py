"""`polyc cc`: a stand-in for the C compiler, which compiles regions first and hands everything else through."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache as kept
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polyc.cli import cache, output, words
from polyc.cli import options as o
from polyc.cli.failure import Command, spelled_out, write_report
from polyc.records import dataclass, field, replace

if TYPE_CHECKING:
    from polyc.cli.run import Run
    from polyc.explain.facts.translation_unit import UnitRecord

COMPILER = "POLYC_CC"
OPTIONS = "POLYC_CC_OPTIONS"
MACHINES = (("__aarch64__", frozenset[str](), "aarch64"), ("__x86_64__", frozenset(["__AVX2__"]), "x86-64"))
"""Macros of compilers, those that must not be there beside them, and the machine."""
INSIDE = "POLYC_CC_INSIDE"
"""Set for the compiler that polyc starts: one that starts polyc again would do so for ever."""
LONGEST_LINE = 100_000
"""Characters of a command line; a longer one goes into a file."""

_LOOP = re.compile(r"\bfor\b|^[ \t]*#[ \t]*pragma[ \t]+scop\b", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_OWN_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+polyc\b[^\n]*", re.MULTILINE)
_NAMED_LINE = re.compile(r'^#line \d+ "((?:[^"\\]|\\.)*)"$', re.MULTILINE)
_MARKER = re.compile(r'# \d+ "((?:[^"\\]|\\.)*)"([ \d]*)$')
_SPEAKS_OF_OPENMP = re.compile(r"\b_OPENMP\b|^[ \t]*#[ \t]*pragma[ \t]+omp\b|\bomp\.h\b", re.MULTILINE)
_FORBIDDEN = "-fno-openmp allows no parallel loops"
_NOT_WOKEN = (
    "the file speaks of OpenMP and is compiled without -fopenmp, so that no loop runs in parallel: add -fopenmp"
)
_PARALLEL = re.compile(r"^(?:#pragma omp\b|[ \t]*polyc_(?:plain_)?simd$)", re.MULTILINE)
_NOT_MODELLED = """
-fwrapv -fno-strict-overflow -ftrapv -traditional-cpp -traditional
-m32 -mx32 -m16 -fshort-enums -funsigned-char -fpack-struct -mabi=ilp32
"""
_OTHER_C = frozenset(_NOT_MODELLED.split())
"""With these, integers or their types are not those that polyc knows."""


_OLD_C = {
    **dict.fromkeys(("-ansi", "-std=c89", "-std=c90", "-std=iso9899:1990", "-std=iso9899:199409"), "-std=c99"),
    **dict.fromkeys(("-std=gnu89", "-std=gnu90"), "-std=gnu99"),
}
"""Standards without declarations in the head of a loop, and those that have the same and these."""


class Words(Command):
    """A command that takes all its words as they are: they are the C compiler's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args in ([], ["--help"], ["-h"]):
            click.echo(ctx.get_help())
            ctx.exit()
        ctx.params["given"] = tuple(args)
        return []


@click.command("cc", cls=Words, short_help="Compile regions, and run the C compiler.",
               options_metavar="WORDS...", add_help_option=False)  # fmt: skip
def command(given: tuple[str, ...]) -> None:
    """Run the C compiler with these words, with the regions of the C files among them compiled first.

    All words go to the compiler, which is 'cc', or what POLYC_CC or --cc names. Regions are those between '#pragma
    scop' and '#pragma endscop'; in functions without any, those that polyc finds by itself. A file that polyc cannot
    compile is compiled untouched, with a warning.

    \b
    make CC="polyc cc"                       build a project
    -Xpolyc OPTION                           an option of 'polyc compile' (-Xpolyc --target=c)
    -Xpolyc --strict                         what polyc cannot compile is an error
    -Xpolyc --no-detect                      only regions that are marked
    -Xpolyc -v                               tell what was found
    --report FILE.html                       add what became of each loop to a page about the whole build
    POLYC_CC_OPTIONS                         such options, for all commands

    Exit codes are the compiler's.
    """
    try:
        line = words.parse(given)
    except words.NoValue as problem:
        raise click.UsageError(f"'{problem}' takes a value") from None
    context = own_options([*shlex.split(os.environ.get(OPTIONS, "")), *line.own])
    compiler = shlex.split(line.compiler or os.environ.get(COMPILER, "") or o.first_compiler("cc"))
    if not compiler:
        raise click.UsageError(f"--cc or {COMPILER} names no compiler")
    if os.environ.get(INSIDE):
        raise click.UsageError(
            f"the C compiler '{compiler[0]}' is polyc cc itself: name the real one with {COMPILER} or --cc"
        )
    if line.mode == "tell" or not line.sources:
        raise click.exceptions.Exit(run_plain(compiler, line))
    with tempfile.TemporaryDirectory(prefix="polyc-cc-") as folder:
        raise click.exceptions.Exit(_Build(compiler, line, context, Path(folder)).run())


# --- polyc's own options

OWN = (
    click.option("--strict", is_flag=True, help="What polyc cannot compile is an error."),
    click.option("--no-detect", is_flag=True, help="Compile only regions that are marked."),
    click.option("--remarks", type=click.Choice(["text", "json"]), help="Print every decision."),
    click.option("-v", "--verbose", is_flag=True, help="Print what was found, and what was left alone."),
    click.option("-q", "--quiet", is_flag=True, help="Print no warnings."),
)


@click.command("-Xpolyc", add_help_option=False)
@o.options(o.TRANSFORM, o.INPUT, OWN)
def own(**values: Any) -> None:
    """The options of `polyc cc` itself."""


def own_options(given: Sequence[str]) -> click.Context:
    """polyc's own options. Raises click.UsageError."""
    try:
        context = own.make_context("polyc cc -Xpolyc", spelled_out(list(given)))
    except click.UsageError as problem:
        raise click.UsageError(f"{problem.format_message()} (in -Xpolyc or {OPTIONS})") from None
    return context


def values_for(context: click.Context, path: str) -> dict[str, Any]:
    """The values of polyc's own options for a file. Raises click.UsageError, and UserError for a polyc.toml."""
    from polyc.cli import config

    values = dict(context.params)
    config.apply(context, values, path)
    if values["target"] not in ("openmp", "c"):
        raise click.UsageError(f"polyc cc makes code for CPUs: --target {values['target']} is for polyc compile")
    values["detect"] = not values["no_detect"]
    values["allow_no_scop"] = True
    return values


# --- the compiler


def _as_word(path: str) -> str:
    """A path that a compiler takes for nothing else."""
    return path if path.startswith("/") else f".{os.sep}{path}"


def run_plain(compiler: Sequence[str], line: words.Line) -> int:
    """The command as it was given; objects that polyc made have to be linked with OpenMP."""
    given = list(line.words)
    if line.mode == "link" and line.openmp is None and any(map(needs_openmp, line.objects)):
        given.append("-fopenmp")
    return call([*compiler, *given])


@kept
def machine_for(command: tuple[str, ...]) -> str | None:
    """The machine that a compiler makes code for, by the instructions that its options allow; None for the default."""
    words_ = [*command, "-E", "-dM", "-w", "-x", "c", os.devnull]
    try:
        done = subprocess.run(words_, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except (OSError, UnicodeDecodeError):
        return None
    macros = set(re.findall(r"^#define (\w+)", done.stdout, re.MULTILINE))
    return next((name for macro, others, name in MACHINES if macro in macros and not others & macros), None)


def needs_openmp(path: str) -> bool:
    """Whether an object or an archive starts threads of OpenMP; those of link-time optimisation name no functions, but
    the options that they were compiled with."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return False
    return any(word in data for word in (b"GOMP_", b"__kmpc_", b"'-fopenmp'"))


def call(command: Sequence[str], errors: list[bytes] | None = None) -> int:
    """Run the compiler; answers its exit code, or that of a shell where a signal ended it.

    errors: gets what it writes to standard error, which is shown otherwise
    """
    sys.stdout.flush()
    sys.stderr.flush()
    environment = {**os.environ, INSIDE: "1"}
    try:
        with short_enough(command) as words_:
            pipe = None if errors is None else subprocess.PIPE
            done = subprocess.run(words_, check=False, env=environment, stderr=pipe)
    except OSError as problem:
        from polyc.errors import UserError

        hint = f"name a C compiler with {COMPILER} or --cc"
        raise UserError.of("no-compiler", f"'{command[0]}' does not run: {problem.strerror}", hint=hint) from None
    if errors is not None:
        errors.append(done.stderr)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


@contextlib.contextmanager
def short_enough(command: Sequence[str]) -> Iterator[list[str]]:
    """The command, with its words in a file where they are too many."""
    if sum(map(len, command)) < LONGEST_LINE:
        yield list(command)
        return
    with tempfile.NamedTemporaryFile("w", prefix="polyc-cc-", suffix=".rsp", errors="surrogateescape") as file:
        file.writelines('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"\n' for word in command[1:])
        file.flush()
        yield [command[0], f"@{file.name}"]


# --- a build


_LOOSE = ("shadow", "nested-externs", "vla", "declaration-after-statement")
"""Warnings that somebody has to ask for, and that loops as polyc prints them have."""


def quieter(given: list[str]) -> list[str]:
    """Options that take these warnings back where the command line asks for them."""
    asked = [name for name in _LOOSE if any(re.fullmatch(rf"-W(error=)?{name}(=.*)?", word) for word in given)]
    return [f"-Wno-{name}" for name in asked]


def newer(given: Sequence[str]) -> list[str]:
    """Words that ask for C99 where C90 was asked for, as polyc declares in loops' heads, with the `inline` of C90."""
    old = [word for word in given if word in _OLD_C or word.startswith("-std=")]
    return [_OLD_C[old[-1]], "-fgnu89-inline"] if old and old[-1] in _OLD_C else []


@dataclass(frozen=True, slots=True)
class Made:
    """A C file that polyc transformed."""

    source: words.Source
    path: str
    """Of the transformed text: a file of the same name in a folder of its own."""
    parallel: bool
    """Whether it has loops for OpenMP."""
    included: tuple[str, ...] = ()
    """The files whose text stands in the place of their `#include`."""


@dataclass(slots=True)
class _Build:
    """One call of the compiler with C files."""

    compiler: list[str]
    line: words.Line
    context: click.Context
    """Of polyc's own options."""
    folder: Path
    made: dict[int, Made] = field(default_factory=dict)
    """By position of the source's word."""
    records: dict[str, UnitRecord] = field(default_factory=dict)
    """Of `--report`, by path."""
    configs: dict[str, str] = field(default_factory=dict)
    """The polyc.toml of each source that has one."""

    def run(self) -> int:
        """The exit code of the compiler."""
        refused = False
        for source in self.line.sources:
            try:
                made = self.transformed(source)
            except Untouched as reason:
                refused = self.warn(source, reason) or refused
                self.record_untouched(source, str(reason))
                continue
            if made is not None:
                self.made[source.position] = made
        if refused:
            return 1
        try:
            return self.built()
        finally:
            self.save_records()

    def built(self) -> int:
        """The exit code of the compiler, run on what was made."""
        if not self.made:
            code = run_plain(self.compiler, self.line)
            self.name_sources_in_rules()
            return code
        errors: list[bytes] = []
        code = self.compiled(errors)
        if code == 0:
            show(errors)
            self.name_sources_in_rules()
            return 0
        # The user's own text gets the compiler's complaints: about lines that the user has.
        plain = run_plain(self.compiler, self.line)
        for made in self.made.values():
            self.record_untouched(made.source, "the compiler refused what polyc printed")
        if plain == 0 and not self.context.params["quiet"]:
            names = ", ".join(made.source.path for made in self.made.values())
            click.echo(
                f"polyc: warning: {names}: compiled untouched: the compiler refused what polyc printed", err=True
            )
            details = b"".join(errors).decode("utf-8", "replace")
            texts = "\n".join(Path(made.path).read_text(errors="replace") for made in self.made.values())
            with contextlib.suppress(OSError):
                click.echo(f"polyc: a report is in {write_report(details + texts, None)}", err=True)
        return plain

    # --- one file

    def transformed(self, source: words.Source) -> Made | None:
        """The file with its regions compiled; None where it has none. Raises Untouched."""
        try:
            text = Path(source.path).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            return None  # the compiler says it better
        includes = _INCLUDE.search(text) is not None or "-include" in self.line.reading
        if not _LOOP.search(text) and not (includes and self.includes_loops(source)):
            return None
        given = set(self.line.words)
        if odd := sorted(given & (_OTHER_C)):
            raise Untouched(f"polyc does not know the C of '{odd[0]}'", told=False)
        values = values_for(self.context, source.path)
        if values["config"] is not None:
            self.configs[source.path] = values["config"].path
        woken = self.told_of_openmp(values, self.line.openmp is None and _SPEAKS_OF_OPENMP.search(text) is not None)
        values["any_build"] = False
        values["expands"] = True
        key = self.key(source, text, values)
        entry = cache.load(key) if key is not None else None
        if entry is None:
            start = time.perf_counter()
            run = self.compile(source, values)
            if self.line.openmp is None and values["target"] != "c" and not woken and included_openmp(run):
                woken = self.told_of_openmp(values, True)
                run = self.compile(source, values)
            warned = self.tell(source, run)
            self.record(run, time.perf_counter() - start)
            parallel = woken or any(_PARALLEL.search(one.text) for one in run.compiled)
            entry = cache.Entry(self.with_lines(source, run) if run.compiled else "", parallel)
            unchanged = run.source.written == text and key is not None and self.key(source, text, values) == key
            if key is not None and unchanged and not warned:
                cache.store(key, entry)
        if not entry.text:
            return None
        place = self.folder / str(source.position) / os.path.basename(source.path)
        place.parent.mkdir()
        place.write_bytes(entry.text.encode("utf-8", "surrogateescape"))
        return Made(source, str(place), entry.parallel, included_in(entry.text, source.path))

    def told_of_openmp(self, values: dict[str, Any], speaks: bool) -> bool:
        """Set a file's target and flags; answers whether its own pragmas come to life.

        speaks: the file has some, and nothing in the command is about OpenMP
        """
        woken = speaks and values["openmp"] == "replace"
        if ((speaks and not woken) or self.line.openmp is False) and values["target"] != "c":
            values |= {"target": "c", "one_thread": _FORBIDDEN if self.line.openmp is False else _NOT_WOKEN}
        values["flags"] = (*self.line.reading, *(["-fopenmp"] if woken else []))
        return woken

    def includes_loops(self, source: words.Source) -> bool:
        """Whether files of the project that one without loops includes have some. Most have none, and are compiled
        without all that it takes to read C."""
        given = [*self.compiler, *self.line.reading, "-E", "-w", "-x", "c", _as_word(source.path)]
        try:
            done = subprocess.run(given, check=False, capture_output=True, stdin=subprocess.DEVNULL)
        except OSError:
            return False  # the compiler says it better
        return done.returncode == 0 and in_project(done.stdout.decode("utf-8", "surrogateescape"))

    def key(self, source: words.Source, text: str, values: dict[str, Any]) -> str | None:
        """What the file's transformed text depends on; None where it is not to be kept: details were asked for, or the
        machine that runs this is described anew at any time."""
        params = self.context.params
        if self.line.report is not None:
            return None
        if cache.folder() is None or params["verbose"] or params["remarks"] or values["machine"] == "host":
            return None
        parts = [source.path, text, *self.compiler, *values["flags"]]
        others = {"config", "cc", "launcher", "whole", "expands"}
        parts += [f"{name}={values[name]!r}" for name in sorted(values.keys() - others)]
        given = [*values["flags"], "-E", "-dD", "-w", "-x", "c", *(f"-I{one}" for one in values["include_dirs"])]
        given += [*(f"-D{one}" for one in values["defines"]), *(f"-U{one}" for one in values["undefines"])]
        try:
            files = [] if values["config"] is None else [values["config"].path]
            files += [values["machine"]] if os.path.isfile(values["machine"] or "") else []
            kept = [Path(name).read_bytes() for name in files]
            words_ = [*self.compiler, *given, _as_word(source.path)]
            done = subprocess.run(words_, check=False, capture_output=True, stdin=subprocess.DEVNULL)
        except OSError:
            return None
        if done.returncode:
            return None
        return cache.key_of([*(part.encode("utf-8", "surrogateescape") for part in parts), *kept, done.stdout])

    def compile(self, source: words.Source, values: dict[str, Any]) -> Run:
        """Read and compile. Raises Untouched."""
        from polyc.cli.run import compile_file
        from polyc.errors import UserError
        from polyc.frontend.text.report import render_all

        values["cc"] = self.compiler[-1]
        values["launcher"] = tuple(self.compiler[:-1])
        values["whole"] = True
        try:
            # Not asked for the key, which has the compiler and its options: what is kept needs no second process.
            machine = values["machine"] or machine_for((*self.compiler, *values["flags"]))
            return compile_file(source.path, {**values, "machine": machine})
        except UserError as problem:
            if any(one.code == "preprocessor" for one in problem.diagnostics):
                raise Untouched("the preprocessor refused it", told=False) from None
            first = problem.diagnostics[0]
            raise Untouched(f"{first.message} [{first.code}]", render_all(problem.diagnostics)) from None
        except (click.ClickException, KeyboardInterrupt):
            raise
        except Exception as problem:
            import traceback

            report = write_report("".join(traceback.format_exception(problem)), source.path)
            raise Untouched(f"internal error of polyc; a report is in {report}") from None

    def with_lines(self, source: words.Source, run: Run) -> str:
        """The file's text, with what tells the compiler which lines of the user's file it comes from."""
        from polyc import codegen

        name = in_quotes(source.path)
        text = run.source.text

        def plain(start: int, end: int) -> str:
            return _OWN_PRAGMA.sub("", text[start:end])

        parts = [f'#line 1 "{name}"\n']
        position = 0
        for region, compiled in zip(run.source.regions, run.compiled, strict=True):
            following = text.count("\n", 0, region.end) + 1
            if run.source.expansion is not None:
                file, following = run.source.expansion.place(following)
                name = in_quotes(file)
            printed = codegen.on_lines(text, region, compiled.in_file).rstrip(" ")
            ending = "" if printed.endswith("\n") else "\n"
            parts += [plain(position, region.start), printed, f'{ending}#line {following} "{name}"\n']
            position = region.end
        return "".join([*parts, plain(position, len(text))])

    def tell(self, source: words.Source, run: Run) -> bool:
        """What was found, where the user asks; answers whether there was anything to warn of."""
        from polyc.cli import messages
        from polyc.explain.words.summary import summary

        fallbacks = list(messages.fallbacks(run))
        if not self.context.params["quiet"]:
            for warning, details in fallbacks:
                click.echo(warning, err=True)
                with contextlib.suppress(OSError):
                    click.echo(f"polyc: a report is in {write_report(details, source.path)}", err=True)
        if self.context.params["verbose"]:
            click.echo(messages.findings(run), err=True, nl=False)
        if self.context.params["remarks"] is not None:
            click.echo(
                messages.remarks(run.compiled, self.context.params["remarks"], run.source.left), err=True, nl=False
            )
        if self.context.params["verbose"]:
            click.echo(summary(source.path, run.compiled, run.source.left), err=True)
        return bool(fallbacks)

    def warn(self, source: words.Source, reason: Untouched) -> bool:
        """Tell why a file is compiled as it is; answers whether that is an error."""
        if self.context.params["strict"] and reason.told:
            click.echo(reason.details or f"polyc: {source.path}: error: {reason}", err=True)
            return True
        if (reason.told and not self.context.params["quiet"]) or self.context.params["verbose"]:
            click.echo(f"polyc: warning: {source.path}: compiled untouched: {reason}", err=True)
        return False

    # --- the report of a build

    def record(self, run: Run, seconds: float) -> None:
        """Keep what became of a file's loops, for `--report`."""
        if self.line.report is not None:
            from polyc.explain.facts.translation_unit import unit_records

            for one in unit_records(run.source, run.compiled, seconds):
                self.records[one.path] = one

    def record_untouched(self, source: words.Source, reason: str) -> None:
        """The same for a file that is compiled as it is."""
        if self.line.report is not None:
            from polyc.explain.facts.translation_unit import untouched_record

            text = Path(source.path).read_bytes().decode("utf-8", "surrogateescape")
            self.records[source.path] = untouched_record(source.path, text, reason)

    def save_records(self) -> None:
        """Add to the report of the build. Raises UserError."""
        from polyc.cli import project

        for record in self.records.values():
            project.save(replace(record, path=os.path.abspath(record.path)), str(self.line.report))

    # --- all of them

    def compiled(self, errors: list[bytes]) -> int:
        """Run the compiler on what was made."""
        folders = {os.path.dirname(made.source.path) for made in self.made.values()}
        if len(self.line.sources) == 1 or (self.line.mode == "link" and len(folders) == 1):
            return self.called(self.replaced(), list(self.made.values()), errors)
        if self.line.mode == "link":
            return self.linked(errors)
        codes = [self.alone(source, errors) for source in self.line.sources]
        return max(codes)

    def replaced(self) -> list[str]:
        return [self.made[n].path if n in self.made else word for n, word in enumerate(self.line.words)]

    def alone(self, source: words.Source, errors: list[bytes]) -> int:
        """Compile one of several files."""
        others = {other.position for other in self.line.sources} - {source.position}
        given = [word for n, word in enumerate(self.replaced()) if n not in others]
        made = self.made.get(source.position)
        return self.called(given, [made] if made is not None else [], errors)

    def linked(self, errors: list[bytes]) -> int:
        """Compile files of several folders one by one, each of which finds the headers beside it, and link them."""
        given = self.replaced()
        for position, made in self.made.items():
            target = f"{made.path}.o"
            stem = Path(made.source.path).stem
            rule = ["-MT", f"{stem}.o"] if self.line.has_rule else []
            if self.line.has_rule and not self.line.rule_files:
                rule += ["-MF", f"{self.line.output or 'a'}-{stem}.d"]
            code = self.called([*self.line.without_linker, *rule, "-c", made.path, "-o", target], [made], errors)
            if code:
                return code
            given[position] = target
        # An object is no C file, whatever '-x' says.
        return self.called(given, [], errors, any(made.parallel for made in self.made.values()))

    def called(self, given: list[str], made: list[Made], errors: list[bytes], parallel: bool = False) -> int:
        """One call of the compiler. Headers beside a source are found, and what is made of it has the source's name."""
        beside: list[str] = []
        for one in made:
            home = os.path.dirname(one.source.path) or "."
            beside += ["-iquote", home] if home not in beside else []
            beside.append(f"-fdebug-prefix-map={os.path.dirname(one.path)}={home}")
        parallel = parallel or any(one.parallel for one in made)
        parallel = parallel or (self.line.mode == "link" and any(map(needs_openmp, self.line.objects)))
        openmp = ["-fopenmp"] if parallel and self.line.openmp is None else []
        colours = []
        if sys.stderr.isatty() and not any(word.startswith("-fdiagnostics-color") for word in given):
            colours = ["-fdiagnostics-color=always"]
        return call(
            [*self.compiler, *colours, *beside, *given, *openmp, *(newer(given) + quieter(given) if made else [])],
            errors,
        )

    def name_sources_in_rules(self) -> None:
        """Rules for make name the user's files, and what polyc read beside them."""
        if not self.line.has_rule:
            return
        for name in self.rule_files():
            file = Path(name)
            with contextlib.suppress(OSError):
                text = old = file.read_text(errors="surrogateescape")
                for made in self.made.values():
                    text = text.replace(output.quoted(made.path), output.quoted(made.source.path))
                read = [(source, config) for source, config in self.configs.items()]
                read += [(made.source.path, name) for made in self.made.values() for name in made.included]
                for source, other in read:
                    word = re.compile(rf"(?<=\s){re.escape(output.quoted(source))}(?=\s)")
                    found = word.search(text)
                    if found is not None:
                        text = f"{text[: found.end()]} {output.quoted(other)}{text[found.end() :]}"
                if text != old:
                    file.write_text(text, errors="surrogateescape")

    def rule_files(self) -> set[str]:
        """Where the compiler may have written rules: where it was told to, or beside its output, by its name."""
        found = set(self.line.rule_files)
        target = self.line.output
        for source in self.line.sources:
            stem = Path(source.path).stem
            found.add(f"{stem}.d")
            for name in (target, "a") if target is not None else ("a",):
                found |= {f"{name}-{stem}.d", f"{name}.d", str(Path(str(name)).with_suffix(".d"))}
                found.add(os.path.join(os.path.dirname(str(name)), f"{stem}.d"))
        return found


def included_openmp(run: Run) -> bool:
    """Whether files that stand in the place of their `#include` speak of OpenMP."""
    files = {} if run.source.expansion is None else run.source.expansion.files
    return any(_SPEAKS_OF_OPENMP.search(text) for text in files.values())


def in_project(preprocessed: str) -> bool:
    """Whether a preprocessed text has loops, without those of the headers that the system brings."""
    system: set[str] = set()
    name = ""
    for line in preprocessed.splitlines():
        marker = _MARKER.match(line)
        if marker is None:
            if name not in system and _LOOP.search(line):
                return True
            continue
        name = marker[1]
        if marker[2].startswith(" 1 3"):
            system.add(name)
    return False


def in_quotes(path: str) -> str:
    """A path as a `#line` has it."""
    return path.replace("\\", "\\\\").replace('"', '\\"')


def included_in(text: str, path: str) -> tuple[str, ...]:
    """The other files that the `#line` directives of what is printed for a file name."""
    found = dict.fromkeys(name.replace('\\"', '"').replace("\\\\", "\\") for name in _NAMED_LINE.findall(text))
    return tuple(name for name in found if name != path)


class Untouched(Exception):
    """A file that polyc does not compile."""

    def __init__(self, reason: str, details: str = "", told: bool = True) -> None:
        super().__init__(reason)
        self.details = details
        self.told = told
        """Whether to warn: of what the compiler itself complains about, or what the user chose, nothing is said."""


def show(errors: list[bytes]) -> None:
    """What the compiler said."""
    sys.stderr.flush()
    for data in errors:
        sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()
