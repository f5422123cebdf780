#!/usr/bin/env python3
"""Makes around_loops.ptx and global_around_loops.ptx: whether the assembler merges two loads of neighbouring words, or
takes the second one of the same word for the first one, that stand before, in and behind loops, in kernels that change
that memory and in such that do not. scripts/sass gives the answers, around_loops.txt and global_around_loops.txt.
  python3 around_loops.py shared >around_loops.ptx && ../../../scripts/sass around_loops.ptx >around_loops.txt
  python3 around_loops.py global >global_around_loops.ptx
  SPACE=global ../../../scripts/sass global_around_loops.ptx >global_around_loops.txt"""
import itertools
import re
import sys

HEADER = """.version 8.0
.target sm_90
.address_size 64"""
KERNEL = """
.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u32 n) {{
.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .f32 %f<8>; .shared .align 16 .b8 s[4096];
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r3, [n]; cvta.to.global.u64 %rd1, %rd1;
cvta.to.global.u64 %rd2, %rd2; mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 16; add.s64 %rd4, %rd2, %rd3;
add.s64 %rd5, %rd1, %rd3; shl.b32 %r7, %r2, 4; mov.u32 %r8, s; add.s32 %r7, %r7, %r8; cvt.rn.f32.u32 %f1, %r2;
mov.u32 %r4, 0; mov.u32 %r5, 0;
{text}
st.global.f32 [%rd4], %f1; ret;
}}"""
SHARED = sys.argv[1] == "shared"
ADD = "fma.rn.f32 %f1, %f1, %f1, %f1;\n"
OTHER = "st.global.f32 [%rd4+256], %f1;\n" if SHARED else "st.shared.f32 [%r7+1024], %f1;\n"  # of other memory
EFFECTS = {"": "", "barrier": "bar.sync 0;\n", "store": f"st.{'shared' if SHARED else 'global'}.f32 "
           f"[{'%r7' if SHARED else '%rd4'}+2048], %f1;\n"}
labels = itertools.count()


def loop(body, counter="%r4", told='.pragma "nounroll";'):
    label = f"L{next(labels)}"
    return (f"{label}: {told}\n{body}add.s32 {counter}, {counter}, 1; setp.lt.s32 %p2, {counter}, %r3; "
            f"@%p2 bra {label};\n")


def inner(body):
    return "mov.u32 %r5, 0;\n" + loop(body, "%r5")


def when(body):
    label = f"J{next(labels)}"
    return f"setp.gt.f32 %p1, %f1, 0f40000000; @%p1 bra {label};\n{body}{OTHER}{label}:\n"


def kernels(kind, first, second):
    space = "shared" if SHARED else "global" + kind

    def load(offset, moving, kind=".f32 %f2"):
        base = ("%r9" if moving else "%r7") if SHARED else ("%rd7" if moving else "%rd5")
        return f"ld.{space}{kind}, [{base}+{offset}]; fma.rn.f32 %f1, %f2, %f2, %f1;\n"

    def aligned(moving):  # shown by a vector
        return "" if SHARED else load(1024, moving, ".v4.f32 {%f2, %f3, %f4, %f5}") + "".join(
            f"fma.rn.f32 %f1, %f{k}, %f{k}, %f1;\n" for k in (3, 4, 5))

    def move(counter):  # the pointer of what moves
        return (f"shl.b32 %r10, {counter}, 5; add.s32 %r9, %r7, %r10;\n" if SHARED else
                f"mul.wide.s32 %rd8, {counter}, 32; add.s64 %rd7, %rd5, %rd8;\n") + aligned(True)

    a, b, am, bm = load(first, False), load(second, False), load(first, True), load(second, True)
    move4, move5, passed = move("%r4"), move("%r5"), ADD + OTHER
    forms = {
        # The same address in all iterations.
        "before_first": a + loop(b + OTHER), "before_second": a + loop(when(ADD) + b), "before_if": a + loop(when(b)),
        "before_behind": a + loop(passed) + b, "before_behind_if": a + loop(passed) + when(b),
        "before_behind_blocks": a + loop(when(ADD)) + b, "before_behind_nest": a + loop(inner(ADD)) + b,
        "before_behind_both": a + loop(passed) + inner(passed) + b, "before_inner": a + loop(inner(b + OTHER)),
        "before_outer": a + loop(b + inner(passed)), "before_outer_end": a + loop(inner(passed) + b),
        "first_behind": loop(a) + b, "first_second": loop(a + when(ADD) + b), "first_first": loop(a + b + OTHER),
        "second_second": loop(when(ADD) + a + when(ADD) + b), "second_behind": loop(when(ADD) + a) + b,
        "outer_inner": loop(a + inner(b + OTHER)), "outer_if_inner": loop(a + when(ADD) + inner(b + OTHER)),
        "outer_inner_second": loop(a + inner(when(ADD) + b)), "outer_second_inner": loop(when(ADD) + a + inner(b + OTHER)),
        "outer_end": loop(a + inner(passed) + b), "outer_second_end": loop(when(ADD) + a + inner(passed) + b),
        "outer_second_if_end": loop(when(ADD) + a + when(inner(ADD)) + b), "outer_behind": loop(a + inner(passed)) + b,
        "inner_end": loop(inner(a + OTHER) + b), "inner_second_end": loop(inner(when(ADD) + a) + b),
        "inner_if_end": loop(inner(a + OTHER) + when(ADD) + b), "between_end": loop(inner(ADD) + a + inner(ADD) + b),
        "if": a + when(ADD) + b, "in_if": a + when(b), "loop_in_if": a + when(loop(ADD)) + b,
        "two_loops": loop(a + OTHER) + inner(b + OTHER),
        # A pointer that moves.
        "moving_behind": loop(move4 + am + OTHER) + bm, "moving_behind_if": loop(move4 + am + OTHER) + when(bm),
        "moving_second_behind": loop(move4 + when(ADD) + am) + bm, "moving_second": loop(move4 + am + when(ADD) + bm),
        "moving_if": loop(move4 + am + when(bm)), "moving_inner": loop(move4 + am + inner(bm + OTHER)),
        "moving_inner_second": loop(move4 + am + inner(when(ADD) + bm)),
        "moving_end": loop(move4 + am + inner(passed) + bm), "moving_inner_end": loop(inner(move5 + am + OTHER) + bm),
        "moving_two_inner": loop(inner(move5 + am + OTHER) + inner(bm + OTHER)),
        "moving_inner_behind": loop(inner(move5 + am + OTHER)) + bm,
        "moving_behind_both": loop(move4 + am + OTHER) + inner(passed) + bm,
        "moving_two_loops": loop(move4 + am + OTHER) + inner(bm + OTHER),
        "moving_break": loop(move4 + am + "setp.gt.f32 %p1, %f1, 0f40000000; @%p1 bra B;\n" + OTHER) + "B:\n" + bm,
    }
    if not SHARED:
        forms["moving_unrolled"] = loop(move4 + am + OTHER, told="") + bm
    return {name: aligned(False) + text for name, text in forms.items()}


print(HEADER)
for suffix in ("",) if SHARED else ("", ".nc"):
    for words, places in {"same": (48, 48), "next": (48, 52)}.items():
        for effect, change in EFFECTS.items():
            for name, text in kernels(suffix, *places).items():
                if SHARED or effect == "barrier" or (effect == "store" and suffix == ""):
                    text = text + change if effect == "store" else change + text
                    print(KERNEL.format(name="_".join(filter(None, (name, words, effect, suffix[1:]))), text=text))
