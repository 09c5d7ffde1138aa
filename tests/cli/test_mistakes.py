"""Each mistake on the command line, with everything that polyc says about it.

`mistakes/<name>.expected` is the command, its whole output, and its exit code. `pytest --update-golden` writes
them anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Polyc = Callable[..., Result]
FOLDER = Path(__file__).parent / "mistakes"
COMPILE = {
    "tile-size-zero": ["--tile-sizes", "0"],
    "tile-size-negative": ["--tile-sizes=-8"],
    "tile-size-huge": ["--tile-sizes", "9999999"],
    "tile-size-word": ["--tile-sizes", "32,wide"],
    "tile-sizes-empty": ["--tile-sizes", ""],
    "fuse-unknown": ["--fuse", "all"],
    "target-unknown": ["--target", "fpga"],
    "emit-unknown": ["--emit", "asm"],
    "remarks-unknown": ["--remarks=xml"],
    "param-without-value": ["--param", "n"],
    "param-no-number": ["--param", "n=many"],
    "param-unknown": ["--param", "m=3"],
    "assume-unknown": ["--assume", "m >= 3"],
    "assume-not-affine": ["--assume", "n * n > 4"],
    "assume-no-condition": ["--assume", "n +"],
    "assume-impossible": ["--param", "n=3", "--assume", "n > 5"],
    "live-out-no-name": ["--live-out", "a b"],
    "live-out-unknown": ["--live-out", "a,b"],
    "max-recompute-negative": ["--max-recompute", "-1"],
    "max-recompute-word": ["--max-recompute", "little"],
    "strips-word": ["--strips", "few"],
    "budget-negative": ["--budget", "-1"],
    "budget-word": ["--budget", "1e6"],
    "define-no-name": ["-D", "1x"],
    "undefine-no-name": ["-U", "a b"],
    "include-empty": ["-I", ""],
    "option-unknown": ["--nonsense"],
    "option-misspelt": ["--tile-size", "8"],
    "option-without-value": ["--fuse"],
    "one-file-twice": ["t.c"],
    "no-folder-for-two-files": ["u.c", "-o", "out.c"],
    "one-rule-for-two-files": ["u.c", "-MF", "t.d"],
    "jobs-none": ["-j", "0"],
    "compiler-missing": ["--cc", "no-such-compiler"],
    "compiler-with-words": ["--cc", "gcc -m32"],
    "output-is-input": ["-o", "./t.c"],
    "output-folder-missing": ["-o", "nowhere/out.c"],
    "output-below-a-file": ["-o", "t.c/out.c"],
    "rule-is-output": ["-o", "x.c", "-MF", "x.c"],
    "rule-is-folder": ["-MF", "folder"],
    "rule-folder-missing": ["-MF", "nowhere/t.d"],
}
OTHER = {
    "no-command": [],
    "command-unknown": ["compil", "t.c"],
    "option-of-another-command": ["explain", "t.c", "--emit", "tree"],
    "no-file": ["compile"],
    "file-missing": ["compile", "no.c"],
    "file-misspelt": ["compile", "folder/../tt.c"],
    "command-left-out": ["t.c"],
    "explain-why-word": ["explain", "t.c", "--why", "loop"],
    "file-is-folder": ["compile", "folder"],
    "file-is-binary": ["compile", "binary.c"],
    "file-is-a-device": ["compile", "/dev/null"],
    "file-below-a-file": ["compile", "t.c/x.c"],
    "explain-format-unknown": ["explain", "t.c", "--format", "pdf"],
    "explain-pass-unknown": ["explain", "t.c", "--pass", "optimise"],
    "explain-what-of-text": ["explain", "t.c", "--what", "graph"],
    "explain-text-to-file": ["explain", "t.c", "-o", "out.txt"],
    "explain-output-is-input": ["explain", "t.c", "--format", "html", "-o", "./t.c"],
    "explain-pass-and-all": ["explain", "t.c", "--pass", "final", "--all-passes"],
    "explain-pages-of-two-files": ["explain", "t.c", "u.c", "--format", "html"],
    "explain-why-of-two-files": ["explain", "t.c", "u.c", "--why", "3"],
    "verify-compiler-missing": ["verify", "t.c", "--cc", "no-such-compiler"],
    "doctor-with-file": ["doctor", "t.c"],
}
MISTAKES = {**{name: ["compile", "t.c", *words] for name, words in COMPILE.items()}, **OTHER}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(polyc: Polyc, tmp_path: Path, name: str, golden: Callable[[Path, str], None]) -> None:
    shutil.copy(FOLDER / "t.c", tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary.c").write_bytes(b"\0\1\2")
    words = MISTAKES[name]
    result = polyc(*words)
    shown = " ".join(word if word.isprintable() and word and " " not in word else repr(word) for word in words)
    golden(FOLDER / f"{name}.expected", f"$ polyc {shown}\n{result.output}exit code {result.exit_code}\n")
    assert result.exit_code in (1, 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["binary.c", "folder", "t.c"]
    assert (tmp_path / "t.c").read_bytes() == (FOLDER / "t.c").read_bytes()


def test_every_mistake_has_its_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.expected")} == set(MISTAKES)
