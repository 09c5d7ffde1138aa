"""What is run before a region to find out which elements it touches: a search that misses something is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from polyc.analysis.expressions.facts import mentions, with_value
from polyc.codegen.render import render_region
from polyc.codegen.text.printer import expression
from polyc.frontend import read
from polyc.model import ctree as c
from polyc.model.printed import Rendered
from polyc.model.program import InputOptions, Options
from polyc.model.scop import Scop
from polyc.pipeline import compile_region
from polyc.reread.guards import guard_faults

TEXT = """
void f(int n, int m, const int *row, const int *col, const double *v, const double *x, double *y, const int *on)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        if (on[i] > 2)
            for (int j = row[i]; j < row[i + 1]; j++) {
                int k = m;
                k = col[j] - k;
                sum += v[j] * x[k + 1];
            }
        y[i] = sum;
    }
}
"""
Body = tuple[c.Stmt, ...]
Change = Callable[[c.Node], c.Node | None]


@pytest.fixture(scope="module")
def printed() -> tuple[Scop, Rendered]:
    (region,) = read("t.c", InputOptions(detect=True), text=TEXT).regions
    program = compile_region(region, Options()).program
    assert region.scop.search is not None
    return region.scop, render_region(program, region, True)


def exchanged(one: c.Node, other: c.Node) -> Change:
    return lambda node: other if node == one else None


def without(wanted: Callable[[c.Stmt], bool]) -> Change:
    """The statements of a kind left out."""

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Block) or not any(wanted(item) for item in node.body):
            return None
        return c.Block(tuple(c.rewrite(item, change) for item in node.body if not wanted(item)))

    return change


def keeps(name: str) -> Callable[[c.Stmt], bool]:
    """Whether a statement assigns a variable."""
    return lambda item: (
        isinstance(item, c.ExprStmt) and isinstance(item.expr, c.Assign) and item.expr.target == c.Name(name)
    )


def pragmas(change: Callable[[str], str]) -> Change:
    def changed(node: c.Node) -> c.Node | None:
        if isinstance(node, c.For) and node.pragmas:
            return replace(node, pragmas=tuple(filter(None, map(change, node.pragmas))))
        return None

    return changed


def unguarded(node: c.Node) -> c.Node | None:
    return node.then if isinstance(node, c.If) else None


def assert_refused(printed: tuple[Scop, Rendered], change: Change) -> None:
    scop, rendered = printed
    assert rendered.question is not None
    body = tuple(c.rewrite(item, change) for item in rendered.question.body)
    assert body != rendered.question.body
    assert guard_faults(scop, replace(rendered, question=replace(rendered.question, body=body)))


def test_the_search_is_enough(printed: tuple[Scop, Rendered]) -> None:
    assert guard_faults(*printed) == []


CHANGES: dict[str, Change] = {
    **{f"no {name}": without(keeps(name)) for name in ("x_first", "x_last", "v_first", "col_last", "k")},
    "another subscript": exchanged(c.Literal("1"), c.Literal("2")),
    "another bound": exchanged(c.Name("n"), c.Name("m")),
    "another array": exchanged(c.Name("row"), c.Name("col")),
    "another condition": exchanged(c.Binary(">", c.Subscript(c.Name("on"), c.Name("i")), c.Literal("2")), c.Name("n")),
    "no condition": unguarded,
    "first for last": exchanged(c.Name("x_first"), c.Name("x_last")),
    "ends turned round": exchanged(c.Literal("9223372036854775807L"), c.Literal("0")),
    "a clause less": pragmas(lambda text: text.replace(", x_last", "")),
    "another clause": pragmas(lambda text: text.replace("max:", "min:")),
    "no clause": pragmas(lambda _: "omp parallel for"),
    "another step": exchanged(c.Postfix("++", c.Name("j")), c.Assign("+=", c.Name("j"), c.Literal("2"))),
    "nothing is compared": exchanged(c.Name("polyc_is_apart"), c.Name("n")),
    "another function": lambda node: replace(node, function="polyc_max") if isinstance(node, c.Call) else None,
}


@pytest.mark.parametrize("name", CHANGES)
def test_less_of_it_is_refused(name: str, printed: tuple[Scop, Rendered]) -> None:
    assert_refused(printed, CHANGES[name])


FLAT = """
void g(int n, int h, int w, const int *off, const float *a, float *s)
{
    for (int i = 0; i < n; i++) {
        float t = 0;
        for (int y = 0; y < h; y++)
            for (int x = w; x > 0; x--)
                t += a[off[i] + 2 * x + y * 3];
        s[i] = t;
    }
}
"""
H, W, ONE, TWO = c.Name("h"), c.Name("w"), c.Literal("1"), c.Literal("2")
ENDS: dict[str, Change] = {
    **{f"no {name}": without(keeps(name)) for name in ("a_first", "a_last")},
    "one iteration more": exchanged(c.Binary("-", H, ONE), H),
    "one iteration less": exchanged(c.Binary("-", H, ONE), c.Binary("-", H, TWO)),
    "another end": exchanged(c.Binary("*", TWO, ONE), c.Binary("*", TWO, TWO)),
    "another start": exchanged(c.Binary("*", TWO, W), c.Binary("*", TWO, H)),
    "no condition": unguarded,
    "another condition": exchanged(c.Binary("<", c.Literal("0"), H), c.Binary("<", c.Literal("0"), W)),
    "a narrow counter": exchanged(c.Binary("-", H, ONE), c.Cast("char", c.Binary("-", H, ONE))),
}


@pytest.fixture(scope="module")
def flat() -> tuple[Scop, Rendered]:
    (region,) = read("t.c", InputOptions(detect=True), text=FLAT).regions
    program = compile_region(region, Options()).program
    assert region.scop.search is not None
    return region.scop, render_region(program, region, True)


def test_the_ends_are_enough(flat: tuple[Scop, Rendered]) -> None:
    assert guard_faults(*flat) == []


@pytest.mark.parametrize("name", ENDS)
def test_other_ends_are_refused(name: str, flat: tuple[Scop, Rendered]) -> None:
    assert_refused(flat, ENDS[name])


LOST = """
void lost(int n, const int *col, const int *degree, double *x, double *y)
{
    double lost = 0;
    for (int i = 0; i < n; i++)
        if (degree[i] == 0)
            lost += x[i];
    for (int i = 0; i < n; i++)
        y[i] = lost + x[col[i]] / (degree[col[i]] + 1);
}
"""


@pytest.mark.parametrize("name", ["", "degree_first", "degree_last", "x_first", "x_last"])
def test_what_a_condition_touches_at_the_ends_of_a_loop(name: str) -> None:
    (region,) = read("t.c", InputOptions(detect=True), text=LOST).regions
    found = (region.scop, render_region(compile_region(region, Options()).program, region, True))
    if name:
        assert_refused(found, without(keeps(name)))
    else:
        assert guard_faults(*found) == []


BRANCHES = """
void scale(int *n, double *x, const int *at, int *step, double *s)
{
    int last, i, k, ix;
    if (*step == 1) {
        last = *n;
        for (i = 1; i <= last; ++i)
            x[i] = *s * s[at[i]];
    } else {
        ix = 1;
        last = *n;
        for (i = 1; i <= last; ++i) {
            if (at[i] > 0)
                k = at[i];
            else
                k = 2;
            x[ix] += s[k];
            ix += *step;
        }
    }
}
"""
LESS: dict[str, Change] = {
    **{f"no {name}": without(keeps(name)) for name in ("x_first", "s_last", "k")},
    "another end": exchanged(c.Name("*n"), c.Name("*step")),
    "no own end": without(lambda item: isinstance(item, c.Decl) and item.name == "last"),
    "a variable of the user's": without(lambda item: isinstance(item, c.Decl) and item.name == "k"),
    "an end that is not its own": lambda node: (
        c.ExprStmt(c.Assign("=", c.Name("last"), node.init))
        if isinstance(node, c.Decl) and node.name == "last"
        else None
    ),
}


@pytest.fixture(scope="module")
def branches() -> tuple[Scop, Rendered]:
    (region,) = read("t.c", InputOptions(detect=True), text=BRANCHES).regions
    return region.scop, render_region(compile_region(region, Options()).program, region, True)


def test_branches_with_variables_of_their_own_are_looked_at(branches: tuple[Scop, Rendered]) -> None:
    """The loops below them in threads."""
    assert guard_faults(*branches) == []
    search = branches[0].search
    assert search is not None
    assert [n.pragmas != () for s in search.loops for n in c.walk(s) if isinstance(n, c.For)] == [True, True]


@pytest.mark.parametrize("name", LESS)
def test_less_of_a_branch_is_refused(name: str, branches: tuple[Scop, Rendered]) -> None:
    assert_refused(branches, LESS[name])


def test_what_a_condition_touches_counts_below_it_as_well() -> None:
    text = """
void update(int n, const int *at, const double *x, double *y, const double *z, const double *s)
{
    for (int j = 1; j <= n; ++j)
        if (x[at[j]] != 0) {
            double t = *s * x[at[j]];
            for (int i = 1; i <= j; ++i)
                y[i] += t * z[at[i]];
        }
}
"""
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    assert region.scop.search is not None
    assert guard_faults(region.scop, render_region(compile_region(region, Options()).program, region, True)) == []


def test_a_counter_that_is_read_behind_its_loop() -> None:
    text = """
void scale(int *m, int n, double *a, int width, double factor, int last, int again)
{
    int i, j, first;
again:
    for (j = 1; j <= n; ++j) {
        first = *m;
        for (i = (first >= 1 ? first : 1); i <= last; ++i)
            a[i + j * width] *= factor;
    }
    if (again-- > 0)
        goto again;
}
"""
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    assert region.scop.search is not None
    assert guard_faults(region.scop, render_region(compile_region(region, Options()).program, region, True)) == []


def test_what_one_loop_leaves_to_the_next_one_is_not_seen_in_another_variable() -> None:
    """Each loop of a search has a variable of its own; the region's second loop reads that of the first one."""
    text = """
void f(int n, const int *at, const double *x, double *y, int more)
{
    int k;
again:
    for (int i = 0; i < n; i++) {
        k = at[i];
        y[i] = x[k];
    }
    for (int i = 0; i < n; i++) {
        k = at[i] + 1;
        y[i] += x[k];
    }
    if (more-- > 0)
        goto again;
}
"""
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    scop, rendered = region.scop, render_region(compile_region(region, Options()).program, region, True)
    assert guard_faults(scop, rendered) == []
    assert scop.search is not None
    assert rendered.question is not None
    sets = next(n for s in scop.search.source for n in c.walk(s) if keeps("k")(n) and "1" in expression(n.expr))

    def left(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Block) or sets not in node.body:
            return None
        return c.Block(tuple(n for n in node.body if n != sets and not isinstance(n, c.Decl)))

    source = tuple(c.rewrite(item, left) for item in scop.search.source)
    body = tuple(c.rewrite(item, left) for item in rendered.question.body)
    assert body != rendered.question.body
    other = replace(scop, search=replace(scop.search, source=source))
    (fault,) = guard_faults(other, replace(rendered, question=replace(rendered.question, body=body)))
    assert "'k'" in fault.witness


STEPS = """
void steps(int n, int t, const int *row, const int *col, double *x, double *y)
{
    for (int k = 0; k < t; k++) {
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = row[i]; j < row[FROM]; j++)
                sum += x[col[j]];
            y[i] = sum;
        }
        for (int i = 0; i < n; i++)
            x[i] = y[i];
    }
}
"""


@pytest.mark.parametrize("end", ["i + 1", "i + 1 + k"])
def test_steps_that_touch_the_same_are_looked_at_once(end: str) -> None:
    """And what a step touches of a sparse matrix runs in threads, in each step."""
    (region, *_) = read("t.c", InputOptions(detect=True), text=STEPS.replace("FROM", end)).regions
    result = compile_region(region, Options())
    rendered = render_region(result.program, region, True)
    assert guard_faults(region.scop, rendered) == []
    assert region.scop.search is not None
    counters = {
        n.init.name
        for s in region.scop.search.loops
        for n in c.walk(s)
        if isinstance(n, c.For) and isinstance(n.init, c.Decl)
    }
    assert ("k" in counters) == ("k" in end)
    assert "#pragma omp parallel for" in result.text.split("for (int k = 0; k < t; k++)")[-2 if "k" in end else 1]


@pytest.mark.parametrize("index", ["off[i] + x * x", "off[i + x]", "off[i] + x / 2", "off[i] + (x & 7)"])
def test_what_is_not_linear_runs_all_iterations(index: str) -> None:
    text = FLAT.replace("off[i] + 2 * x + y * 3", index)
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    assert region.scop.search is not None
    loops = [n for s in region.scop.search.loops for n in c.walk(s) if isinstance(n, c.For)]
    assert "x" in {n.init.name for n in loops if isinstance(n.init, c.Decl)}


CHAINS = """
void g(int n, int m, const int *col, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        int k = i;
        double sum = 0;
        for (int j = 0; j < m; j++) {
            k = col[FROM];
            sum += x[k];
        }
        y[i] = sum;
    }
}
"""


@pytest.mark.parametrize(("index", "ends"), [("k", ()), ("j", (c.Literal("0"), c.Binary("-", c.Name("m"), ONE)))])
def test_values_of_each_iteration_are_looked_at_in_each(index: str, ends: tuple[c.Expr, ...]) -> None:
    """What one iteration leaves to the next one, or computes of its counter, is no reason to run only one or two."""
    (region,) = read("t.c", InputOptions(detect=True), text=CHAINS.replace("FROM", index)).regions
    found = (region.scop, render_region(compile_region(region, Options()).program, region, True))
    assert guard_faults(*found) == []

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.For) or not isinstance(node.init, c.Decl) or node.init.name != "j":
            return None
        bodies = [c.rewrite(node.body, exchanged(c.Name("j"), end)) for end in ends] or [node.body]
        inside = c.Block(tuple(item for body in bodies for item in c.items(body)))
        return c.If(c.Binary("<", c.Literal("0"), c.Name("m")), inside)

    assert_refused(found, change)


def test_a_quotient_at_the_end_of_a_loop_below_a_condition() -> None:
    """The head of the loop has divided by the same number already."""
    text = """
void f(int n, int m, const int *at, double *x, double *y)
{
    for (int i = 0; i < n; i++)
        x[at[i]] = 1;
    for (int i = 0; i < n / m; i++)
        if (*y < 0.5)
            y[i + 1] += x[i];
}
"""
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    rendered = render_region(compile_region(region, Options()).program, region, True)
    assert rendered.question is not None
    assert any(isinstance(s, c.If) and "n" in mentions(s.condition) for s in rendered.question.body)
    assert guard_faults(region.scop, rendered) == []


def test_a_counter_without_a_sign_that_is_declared_before() -> None:
    text = """
void f(long n, int m, const double *a, double *b, const double *s)
{
    unsigned long i;
    for (i = 0; i < n; i++)
        if (*s > 1)
            b[2 * i + 1] = a[(int)i * m];
}
"""
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    rendered = render_region(compile_region(region, Options()).program, region, True)
    assert guard_faults(region.scop, rendered) == []


def test_an_answer_that_is_given_again(printed: tuple[Scop, Rendered]) -> None:
    scop, rendered = printed
    assert rendered.question is not None
    again = c.ExprStmt(c.Assign("=", c.Name(rendered.question.answer), c.Literal("1")))
    more = replace(rendered.question, body=(*rendered.question.body, again))
    (fault,) = guard_faults(scop, replace(rendered, question=more))
    assert "decides nothing" in fault.message


def test_a_search_by_one_thread_is_right(printed: tuple[Scop, Rendered]) -> None:
    scop, rendered = printed
    assert rendered.question is not None
    body = tuple(c.rewrite(item, pragmas(lambda _: "")) for item in rendered.question.body)
    assert guard_faults(scop, replace(rendered, question=replace(rendered.question, body=body))) == []


@pytest.mark.parametrize("position", range(16))
def test_no_statement_is_too_many(position: int, printed: tuple[Scop, Rendered]) -> None:
    scop, rendered = printed
    assert rendered.question is not None
    body = rendered.question.body
    if position < len(body):
        less = replace(rendered.question, body=(*body[:position], *body[position + 1 :]))
        assert guard_faults(scop, replace(rendered, question=less))


def test_sizes_that_are_read_first_stand_before_its_branches() -> None:
    text = """
struct image { int gray; unsigned width; };
void f(const struct image *im, unsigned char **map, const short *in, unsigned char *out)
{
    if (im->gray) {
        for (unsigned col = im->width; col > 0; col--) {
            int c = *in++;
            *out++ = map[0][c];
        }
    } else {
        for (unsigned col = im->width; col > 0; col--) {
            int c = *in++;
            *out++ = map[1][c];
            *out++ = map[2][c];
        }
    }
}
"""
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    compiled = compile_region(region, Options(machine="x86-64"))
    assert compiled.certificate is not None
    assert compiled.certificate.text == "shown"
    assert "im_width_at" in compiled.text
    assert "map_0_first" in compiled.text


@pytest.mark.parametrize(("type_", "begins"), [("long", "if (0 <= n - 3)"), ("unsigned long", "i <= n - 3; i++")])
def test_an_unsigned_number_is_not_compared_with_0(type_: str, begins: str) -> None:
    """Compilers warn of what is always so: such a loop stays, though one iteration touches what all of them do."""
    text = f"""
void f({type_} n, const int *col, double *y, const double *x)
{{
    for ({type_} i = 0; i < n; i++)
        y[i] = x[col[i]];
    for ({type_} i = 0; i <= n - 3; i++)
        y[n + i] = x[0];
}}
"""
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    compiled = compile_region(region, Options(threads="always"))
    assert compiled.certificate is not None
    assert compiled.certificate.text == "shown"
    asked = compiled.in_file.partition("polyc_is_apart &=")[0]
    assert begins in asked
    assert ("0 <= " in asked) == (type_ == "long")


def test_a_sum_with_a_counter_that_is_0() -> None:
    """The search has values for the inner counter first, its check for the outer one: `(i + j)` (20281320:282)."""
    i, j, zero = c.Name("i"), c.Name("j"), c.Literal("0")
    for total in (c.Binary("+", i, j), c.Binary("+", j, i)):
        assert with_value(total, "i", zero) == j
        assert with_value(with_value(total, "i", zero), "j", c.Name("n")) == c.Name("n")
    assert with_value(c.Binary("+", i, c.Binary("+", i, j)), "i", zero) == j


def test_a_loop_inside_may_end_early_that_touches_nothing_of_it() -> None:
    text = """
void f(int n, int hop, int width, int most, float *x, float *out, float mean)
{
    int i, k, size = n * hop + width + most;
    float d[1024];
    for (i = 0; i < size; i++)
        x[i] -= mean;
    for (int m = 0; m < n; m++) {
        const float *w = x + m * hop;
        for (k = 1; k <= most; k++) {
            float s = 0;
            for (i = 0; i < width; i++) {
                float e = w[i] - w[i + k];
                s += e * e;
            }
            d[k] = s;
        }
        int best = 0;
        for (k = 1; k < most; k++)
            if (d[k] > 2.0f) {
                best = k;
                break;
            }
        out[m] = best;
    }
}
"""
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    compiled = compile_region(region, Options())
    assert region.scop.search is not None
    assert compiled.certificate is not None
    assert compiled.certificate.text == "shown"
    assert "verification-failed" not in {remark.code for remark in compiled.program.remarks}


APPROACHING = """
void f(int n, double b[1], double c[7])
{
    for (int i = 0, end = n; i < end; i++, end--)
        for (int j = 0, to = n; j < to; j++, to--)
            c[(j * i % 7 + 7) % 7] = b[0];
}
"""


def test_a_bound_with_its_counter_in_it_is_none_for_openmp() -> None:
    """`j < n - j`, of two counters that approach each other."""
    for region in read("t.c", InputOptions(detect=True), text=APPROACHING).regions:
        search = region.scop.search
        for loop in (n for s in search.loops for n in c.walk(s) if isinstance(n, c.For)) if search else ():
            assert not loop.pragmas or {"i", "j"}.isdisjoint(mentions(loop.condition.right))  # type: ignore[union-attr, arg-type]


SAME_BRANCHES = """
void f(int n, int c[n + 2][32], float t[5][n + 2], int at[n - 1])
{
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n - 1; j++) {
            float b[3];
            if (j > 0.07)
                for (int w = 0; w < 3; w++)
                    b[w] = c[i + 2][j + 1] + c[j - 1][i + 1];
            if (j > 0.07)
                for (int w = 0; w < 3; w++)
                    c[i + 2][j + 1] -= ((b[w] > 0.25) + (t[at[j]][j + 3] > 0.25)) % 1009;
        }
}
"""


def test_a_branch_before_with_the_same_condition() -> None:
    """It touches nothing that is looked for. The rows that are parts of a loop have arrays of their own."""
    (region,) = read("t.c", InputOptions(detect=True), text=SAME_BRANCHES).regions
    found = compile_region(region, Options(threads="always"))
    assert found.verified
    assert not [r for r in found.program.remarks if r.code == "verification-failed"]
    assert "polyc_min(t_first" in found.text
