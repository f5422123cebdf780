#!/usr/bin/env python3
"""Makes around_loops.ptx and global_around_loops.ptx: whether the assembler merges two loads of neighbouring words, or
takes the second one of the same word for the first one, that stand before, in and behind loops, in kernels that change
that memory and in such that do not. scripts/sass gives the answers, around_loops.txt and global_around_loops.txt.
  python3 around_loops.py shared >around_loops.ptx && ../../../scripts/sass around_loops.ptx >around_loops.txt
  python3 around_loops.py global >global_around_loops.ptx
  SPACE=global ../../../scripts/sass global_around_loops.ptx >global_around_loops.txt"""
import sys

from pieces import ADD, BARRIER, HEADER, KERNEL, Memory, inner, leaving, loop


def kernels(memory, first, second):
    when, other = memory.when, memory.other()

    def aligned(pointer):  # shown by a vector
        return "" if memory.shared else memory.load(1024, pointer, ("%f2", "%f3", "%f4", "%f5"))

    def move(counter):
        return memory.move(counter) + aligned(memory.moves)

    a, b = memory.load(first, memory.stays), memory.load(second, memory.stays)
    am, bm = memory.load(first, memory.moves), memory.load(second, memory.moves)
    move4, move5, passed = move("%r4"), move("%r5"), ADD + other
    forms = {
        # The same address in all iterations.
        "before_first": a + loop(b + other), "before_second": a + loop(when(ADD) + b), "before_if": a + loop(when(b)),
        "before_unrolled": a + loop(b + ADD, told=""), "before_break": a + loop(b + leaving(other)) + "OUT:\n",
        "before_behind_break": a + loop(other + leaving(b)) + "OUT:\n", "before_in_if": a + when(loop(b)),
        "before_behind": a + loop(passed) + b, "before_behind_if": a + loop(passed) + when(b),
        "before_behind_unrolled": a + loop(ADD, told="") + b,
        "before_behind_blocks": a + loop(when(ADD)) + b, "before_behind_nest": a + loop(inner(ADD)) + b,
        "before_behind_both": a + loop(passed) + inner(passed) + b, "before_inner": a + loop(inner(b + other)),
        "before_outer": a + loop(b + inner(passed)), "before_outer_end": a + loop(inner(passed) + b),
        "first_behind": loop(a) + b, "first_second": loop(a + when(ADD) + b), "first_first": loop(a + b + other),
        "second_second": loop(when(ADD) + a + when(ADD) + b), "second_behind": loop(when(ADD) + a) + b,
        "outer_inner": loop(a + inner(b + other)), "outer_if_inner": loop(a + when(ADD) + inner(b + other)),
        "outer_inner_second": loop(a + inner(when(ADD) + b)), "outer_second_inner": loop(when(ADD) + a + inner(b + other)),
        "outer_end": loop(a + inner(passed) + b), "outer_second_end": loop(when(ADD) + a + inner(passed) + b),
        "outer_second_if_end": loop(when(ADD) + a + when(inner(ADD)) + b), "outer_behind": loop(a + inner(passed)) + b,
        "inner_end": loop(inner(a + other) + b), "inner_second_end": loop(inner(when(ADD) + a) + b),
        "inner_if_end": loop(inner(a + other) + when(ADD) + b), "between_end": loop(inner(ADD) + a + inner(ADD) + b),
        "if": a + when(ADD) + b, "in_if": a + when(b), "in_two_ifs": a + when(b) + when(b), "loop_in_if": a + when(loop(ADD)) + b,
        "two_loops": loop(a + other) + inner(b + other),
        # A pointer that moves.
        "moving_behind": loop(move4 + am + other) + bm, "moving_behind_if": loop(move4 + am + other) + when(bm),
        "moving_second_behind": loop(move4 + when(ADD) + am) + bm, "moving_second": loop(move4 + am + when(ADD) + bm),
        "moving_if": loop(move4 + am + when(bm)), "moving_inner": loop(move4 + am + inner(bm + other)),
        "moving_inner_second": loop(move4 + am + inner(when(ADD) + bm)),
        "moving_end": loop(move4 + am + inner(passed) + bm), "moving_inner_end": loop(inner(move5 + am + other) + bm),
        "moving_two_inner": loop(inner(move5 + am + other) + inner(bm + other)),
        "moving_inner_behind": loop(inner(move5 + am + other)) + bm,
        "moving_behind_both": loop(move4 + am + other) + inner(passed) + bm,
        "moving_two_loops": loop(move4 + am + other) + inner(bm + other),
        "moving_break": loop(move4 + am + leaving(other)) + "OUT:\n" + bm,
    }
    if not memory.shared:
        forms["moving_unrolled"] = loop(move4 + am + other, told="") + bm
    return {name: aligned(memory.stays) + text for name, text in forms.items()}


print(HEADER)
for space, effects in {"shared": (("shared", ("", "barrier", "store")),),
                       "global": (("global", ("barrier", "store")), ("global.nc", ("barrier",)))}[sys.argv[1]]:
    memory = Memory(space)
    for words, places in {"same": (48, 48), "next": (48, 52)}.items():
        for effect in effects:
            for name, text in kernels(memory, *places).items():
                text = {"": text, "barrier": BARRIER + text, "store": text + memory.store()}[effect]
                parts = (name, words, effect, space.partition(".")[2])
                print(KERNEL.format(name="_".join(filter(None, parts)), text=text))
