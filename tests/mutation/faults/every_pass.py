"""Faults of every pass: edits of the tree that it answers, and of what no pass may change."""

from __future__ import annotations

from dataclasses import replace

from tests.mutation import edits as e
from tests.mutation.install import adding_to
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- every pass: edits of the tree that it answers -------------------------------------------------------------------

TREE: list[tuple[str, str, e.Edit]] = [
    ("steps reversed", "every sequence backwards", e.everywhere(e.reversed_steps)),
    ("inner steps reversed", "the innermost sequence backwards", e.nth(e.reversed_steps)),
    ("last two steps swapped", "of one sequence", e.nth(e.swapped_last_steps)),
    ("first step dropped", "of one sequence", e.nth(e.first_step_dropped)),
    ("last step dropped", "of one sequence", e.nth(e.last_step_dropped)),
    ("first step twice", "the filter stands there twice", e.nth(e.first_step_twice)),
    ("first step again at the end", "in every sequence", e.everywhere(e.first_step_again_at_the_end)),
    ("filter loses a row", "instances with 5 in front", e.nth(e.filter_loses_a_row)),
    ("domain loses a row", "instances with 3 in front", e.domain_without_a_row),
    ("inner loop backwards", "the innermost band's last loop", e.nth(e.band_edit(e.reversed_last))),
    ("outer loops backwards", "every band's first loop", e.everywhere(e.band_edit(e.reversed_first))),
    ("second band backwards", "its last loop", e.nth(e.band_edit(e.reversed_last), 1)),
    ("loops interchanged", "in every band", e.everywhere(e.band_edit(e.swapped_members))),
    ("inner loop lost", "of every band with several", e.everywhere(e.band_edit(e.lost_last))),
    ("statement one iteration late", "in the last loop", e.everywhere(e.band_edit(e.shifted_statement))),
    ("statement seven iterations late", "in the first loop", e.everywhere(e.band_edit(e.delayed_statement))),
    ("even iterations first", "in the innermost loop", e.nth(e.band_edit(e.strip_of_all_at_once))),
    ("all loops coincident", "as isl never said", e.everywhere(e.band_edit(e.all_coincident))),
    (
        "all loops coincident and permutable",
        "as isl never said",
        e.everywhere(e.band_edit(lambda b: e.all_coincident(replace(b, permutable=True)))),
    ),
    ("all bands permutable", "as isl never said", e.everywhere(e.band_edit(e.all_permutable))),
]
for stage_ in ("schedule", "pretiling", "basteln", "vectorize", "privatize"):
    for name_, what_, edit_ in TREE:
        if (stage_ == "privatize" and "coincident" in name_) or (stage_ == "privatize" and "permutable" in name_):
            continue  # nobody reads them any more
        if stage_ == "vectorize" and "permutable" in name_:
            continue
        add(stage_, name_, what_, after_pass(stage_, edit_))

# --- what no pass may change -----------------------------------------------------------------------------------------

SCOP: list[tuple[str, str, str, e.Edit]] = [
    ("basteln", "guard forgotten", "nothing is assumed", e.nothing_assumed),
    ("basteln", "too much assumed", "larger sizes only", e.too_much_assumed),
    ("basteln", "context narrowed", "sizes taken for known", e.context_narrowed),
    ("privatize", "nothing live-out", "and the last nest dropped", e.nothing_live_out),
    ("privatize", "original order replaced", "by a wrong one", e.original_tree_replaced),
    ("privatize", "statements add one", "their text is changed", e.statement_edit(e.value_plus_one, False)),
    ("dependences", "writes forgotten", "in the statements", e.statement_edit(e.write_forgotten, False)),
    ("schedule", "reads forgotten", "in the statements", e.statement_edit(e.reads_forgotten, False)),
    ("schedule", "may-writes as writes", "in the statements", e.statement_edit(e.may_write_as_must, False)),
]
for stage_, name_, what_, edit_ in SCOP:
    add(
        stage_ if stage_ != "dependences" else "schedule",
        name_,
        what_,
        after_pass(stage_ if stage_ != "dependences" else "schedule", edit_),
    )
