#!/usr/bin/env python3
"""Makes branches.ptx and global_branches.ptx: where the assembler makes one load of two of the same word, of which one or
both stand on a way of a branch. scripts/sass gives the answers, branches.txt and global_branches.txt.
  python3 branches.py shared >branches.ptx && ../../../scripts/sass branches.ptx >branches.txt
  python3 branches.py global >global_branches.ptx && SPACE=global ../../../scripts/sass global_branches.ptx >global_branches.txt"""
import sys

from pieces import ADD, BARRIER, HEADER, KERNEL, TEST, Memory, leaving, loop

LONG = "ex2.approx.f32 %f1, %f1;\n" * 12
DIVISION = "div.rn.f32 %f1, %f1, %f1;\n"
SIGNED = "div.s32 %r10, %r2, %r3; cvt.rn.f32.s32 %f3, %r10; add.f32 %f1, %f1, %f3;\n"
SECOND = "setp.lt.s32 %p2, %r2, 17;"
USES = (("x", "x"), ("x", "y"), ("x", "xy"), ("xy", "x"), ("x", "yz"), ("xy", "zw"), ("xyzw", "x"), ("x", "xyzw"),
        ("xw", "xw"), ("xz", "z"))


def kernels(memory):
    when, either = memory.when, memory.either
    a, am, move = memory.load(48, memory.stays), memory.load(48, memory.moves), memory.move("%r4")

    def some(uses, register):  # a vector of which some elements are used
        data = [f"%f{register + k}" for k in range(4)]
        return (f"ld.{memory.space}.v4.f32 {{{', '.join(data)}}}, [{memory.stays}+64];\n" +
                "".join(f"fma.rn.f32 %f1, %f1, {data['xyzw'.index(u)]}, %f1;\n" for u in uses))

    def both_of(body, between=""):
        return f"{TEST} @%p1 bra AND;\n{between}{SECOND} @%p2 bra AND;\n{body}{memory.other()}AND:\n"

    def one_of(body, between=""):
        return f"{TEST} @%p1 bra OR;\n{between}{SECOND} @%p2 bra NEITHER;\nOR:\n{body}{memory.other()}NEITHER:\n"

    forms = {
        # On one way, and behind.
        "behind": when(LONG + a) + a, "behind_long": when(LONG + a) + LONG + a, "behind_way_of_two": either(a, LONG) + a,
        "behind_other_of_two": either(LONG, LONG + a) + a, "behind_both": either(LONG + a, LONG + a) + a,
        "in_loop": loop(when(LONG + a) + a), "in_loop_moving": loop(move + when(LONG + am) + LONG + am),
        "behind_next": when(LONG + a) + when(LONG) + a, "behind_two": when(LONG + a) + when(LONG) + when(LONG) + a,
        "behind_either": when(LONG + a) + either(LONG, LONG) + a, "behind_loop": when(LONG + a) + loop(LONG) + a,
        "in_next": when(LONG + a) + when(LONG + a), "of_nest": when(when(LONG + a)) + a,
        "of_long_nest": when(LONG + when(LONG + a)) + a, "in_nest": when(when(LONG + a) + a),
        "before_if": when(LONG + a + when(LONG)) + a, "behind_if": when(when(LONG) + LONG + a) + a,
        "of_nest_in_two": either(when(LONG + a), LONG) + a, "nest_in_two": either(LONG + a, when(LONG)) + a,
        "loop_in_two": either(LONG + a, loop(LONG)) + a, "in_inner_loop": when(loop(a)) + a,
        "behind_leaving": loop(move + leaving(LONG + am)) + "OUT:\n" + am,
        # What changes the memory.
        "barrier_before": BARRIER + when(LONG + a) + a, "barrier_on_way": when(LONG + BARRIER + a) + a,
        "barrier_behind_way": when(LONG + a + BARRIER) + a, "barrier_where_they_meet": when(LONG + a) + BARRIER + a,
        "barrier_on_other": either(LONG + a, BARRIER + LONG) + a, "barrier_behind": when(LONG + a) + a + BARRIER,
        # What the assembler expands, a division.
        "division_before": DIVISION + when(a) + a, "division_on_way": when(DIVISION + a) + a,
        "division_behind_on_way": when(a + DIVISION) + a, "division_on_other": either(a, DIVISION) + a,
        "division_where_they_meet": when(a) + DIVISION + a, "division_behind": when(a) + a + DIVISION,
        "signed_before": SIGNED + when(a) + a, "signed_on_way": when(SIGNED + a) + a, "signed_on_other": either(a, SIGNED) + a,
        "signed_where_they_meet": when(a) + SIGNED + a,
        # Two conditions.
        "and": both_of(a) + a, "and_long": both_of(LONG + a) + a, "and_more": both_of(a, ADD * 2) + a,
        "or": one_of(a) + a, "or_long": one_of(LONG + a) + a, "or_more": one_of(a, ADD * 2) + a,
        # On both ways.
        "both_in_if": when(either(LONG + a, LONG + a), False) + ADD, "both_in_chain": either(LONG + a, either(LONG + a, LONG + a)),
        "both_before_store": either(a + memory.store(), a),
        "both": either(LONG + a, LONG + a), "both_in_loop": loop(either(LONG + a, LONG + a)),
        "both_and_if": either(LONG + a, LONG + when(LONG + a)), "both_before_ifs": either(LONG + a + when(LONG), LONG + a),
        "both_of_three": either(LONG + a, LONG + either(LONG + a, LONG + a)),
        "both_behind_one": when(LONG + a) + either(LONG + a, LONG + a),
        "both_behind_barrier": BARRIER + either(LONG + a, LONG + a),
    }
    forms.update({f"length_{n}": when(ADD * n + a, False) + a for n in range(1, 11)})
    if not memory.shared:  # vectors of which other words are used
        for one, two in USES:
            forms[f"straight_{one}_{two}"] = some(one, 2) + some(two, 12)
            forms[f"if_{one}_{two}"] = some(one, 2) + when(some(two, 12))
            forms[f"way_{one}_{two}"] = when(some(one, 2)) + some(two, 12)
    return forms


print(HEADER)
for space in {"shared": ("shared",), "global": ("global", "global.nc")}[sys.argv[1]]:
    for name, text in kernels(Memory(space)).items():
        print(KERNEL.format(name="_".join(filter(None, (name, space.partition(".")[2]))), text=text))
