"""What pragmas ask for single nests, or for a region."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.errors import UserError
from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options
from polyc.model.tree import Band, Role, walk
from polyc.nests.wishes import statements_in
from polyc.pipeline import compile_region
from tests.programs import region_of

TEXT = """
void f(int n, double A[n][n], double B[n][n], double C[n][n])
{{
{before}
#pragma scop
{first}
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            B[i][j] = A[i - 1][j] + A[i + 1][j];
{second}
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            C[i][j] = B[i][j - 1] * 2 + B[i][j];
#pragma endscop
}}
"""


def made(folder: Path, before: str = "", first: str = "", second: str = "", **options: object) -> Compiled:
    lines = {
        k: f"#pragma polyc {v}" if v else "" for k, v in (("before", before), ("first", first), ("second", second))
    }
    compiled = compile_region(region_of(TEXT.format(**lines), folder), Options(**options))  # type: ignore[arg-type]
    assert compiled.verified
    return compiled


def tiles(compiled: Compiled, statement: str) -> tuple[int, ...]:
    bands = [n for n in walk(compiled.program.tree.child) if isinstance(n, Band) and statement in statements_in(n)]
    return tuple(m.size for band in bands for m in band.members if m.role is Role.TILE)


def is_parallel(compiled: Compiled, statement: str) -> bool:
    bands = [n for n in walk(compiled.program.tree.child) if isinstance(n, Band) and statement in statements_in(n)]
    return any(m.parallel for band in bands for m in band.members)


def together(compiled: Compiled) -> bool:
    return any({"S0", "S1"} <= set(group.statements) for group in compiled.program.groups)


def codes(compiled: Compiled) -> set[str]:
    return {remark.code for remark in compiled.program.remarks}


def test_without_wishes(tmp_path: Path) -> None:
    compiled = made(tmp_path)
    assert together(compiled)
    assert is_parallel(compiled, "S0")


def test_tiles_of_one_nest(tmp_path: Path) -> None:
    compiled = made(tmp_path, first="tile(8, 24) fuse(no)", second="tile(no)")
    assert (tiles(compiled, "S0"), tiles(compiled, "S1")) == ((8, 24), ())
    assert "pragma-not-honoured" not in codes(compiled)


def test_tiles_of_the_region_are_those_of_the_option(tmp_path: Path) -> None:
    asked = made(tmp_path, before="tile(8, 24)")
    assert tiles(asked, "S1") == (8, 24)
    assert asked.text.replace("16", "8") == made(tmp_path, tile_sizes=(8, 24)).text.replace("16", "8")
    assert tiles(made(tmp_path, before="tile(8, 24)", tile_sizes=(5,)), "S1") == (8, 24)
    assert tiles(made(tmp_path, before="tile(no)"), "S1") == ()


@pytest.mark.parametrize("where", ["before", "first", "second"])
def test_nests_that_stay_by_themselves(where: str, tmp_path: Path) -> None:
    compiled = made(tmp_path, **{where: "fuse(no)"})
    assert not together(compiled)
    assert "pragma-not-honoured" not in codes(compiled)


def test_loops_on_one_thread(tmp_path: Path) -> None:
    compiled = made(tmp_path, second="parallel(no)")
    assert (is_parallel(compiled, "S0"), is_parallel(compiled, "S1")) == (True, False)
    assert "pragma omp parallel" not in made(tmp_path, before="parallel(no)").text


def test_sums_on_one_thread(tmp_path: Path) -> None:
    text = """
    #pragma polyc pure(g)
    void f(int n, int m, double A[1024][1024], double B[1024][1024], double C[1024][1024], int *h, int *k)
    {
        double s = 0;
        int count[64];
    #pragma polyc parallel(no)
    #pragma scop
        for (int i = 0; i < 1024; i++)
            for (int j = 0; j < 1024; j++)
                for (int l = 0; l < 1024; l++)
                    C[i][j] += A[i][l] * B[l][j];
        for (int i = 0; i < 1024; i++)
            s += A[i][0];
        for (int i = 0; i < 64; i++)
            count[i] = 0;
        for (int i = 0; i < n; i++)
            count[k[i]]++;
    #pragma endscop
        h[0] = s + count[3];
    }
    """
    text = "\n".join(line[4:] for line in text.splitlines())
    compiled = compile_region(region_of(text, tmp_path), Options(reassociate=True, threads="always"))
    assert "register-tile" in codes(compiled)
    assert "omp parallel" not in compiled.text
    assert "omp parallel" in compile_region(
        region_of(text.replace("parallel(no)", "fuse(no)"), tmp_path), Options(reassociate=True, threads="always")
    ).text  # fmt: skip


def test_what_is_not_done_is_told(tmp_path: Path) -> None:
    compiled = made(tmp_path, first="fuse(no)", fuse="max")
    told = [r for r in compiled.program.remarks if r.code == "pragma-not-honoured"]
    assert [r.data["asked"] for r in told] == (["fuse(no)"] if together(compiled) else [])


@pytest.mark.parametrize(
    ("pragma", "message"),
    [
        ("tile(0)", "'tile(0)' takes sizes such as 'tile(32, 64)', or 'no'"),
        ("tile(4,)", "'tile(4,)' takes sizes such as 'tile(32, 64)', or 'no'"),
        ("tile(99999999)", "'tile(99999999)': a tile size has to be from 1 to 1048576"),
        ("fuse(yes)", "'fuse(yes)': 'fuse(no)' is all that can be asked"),
        ("tile(3) par", "unknown '#pragma polyc tile(3) par'"),
        ("pure(a+b)", "'pure(a+b)' takes names"),
        ("", "unknown '#pragma polyc'"),
    ],
)
def test_mistakes_have_a_place(pragma: str, message: str, tmp_path: Path) -> None:
    lines = {"before": "", "second": "", "first": f"#pragma polyc {pragma}".rstrip()}
    with pytest.raises(UserError) as caught:
        region_of(TEXT.format(**lines), tmp_path)
    (told,) = caught.value.diagnostics
    assert (told.code, told.message) == ("bad-pragma", message)
    assert told.span is not None
    assert told.span.line == 6


def test_a_pragma_before_nothing(tmp_path: Path) -> None:
    text = TEXT.format(before="", first="", second="").replace(
        "#pragma endscop", "#pragma polyc tile(4)\n#pragma endscop"
    )
    with pytest.raises(UserError, match="no loop of the region follows it"):
        region_of(text, tmp_path)
    with pytest.raises(UserError, match="no region follows it in its function"):
        region_of("#pragma polyc fuse(no)\n" + TEXT.format(before="", first="", second=""), tmp_path)


def test_regions_that_nobody_marked(tmp_path: Path) -> None:
    lines = {"before": "", "first": "#pragma polyc tile(8, 24) fuse(no)", "second": "#pragma polyc live-out(C)"}
    text = TEXT.format(**lines).replace("#pragma scop", "").replace("#pragma endscop", "")
    (tmp_path / "t.c").write_text(text.replace("double A", "double A").replace("double B[n]", "double B[restrict n]"))
    (region,) = read(str(tmp_path / "t.c"), InputOptions(detect=True)).regions
    assert {name: wish.tile for name, wish in region.scop.wishes.items()} == {"S0": (8, 24)}
    assert region.scop.live_out == {"C"}
