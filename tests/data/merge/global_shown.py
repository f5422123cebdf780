#!/usr/bin/env python3
"""Makes global_shown.ptx: where an access of 16 bytes (WIDE) shows how a pointer is aligned, so that two of 4 bytes beside
each other (PAIR) become one. SPACE=global scripts/sass gives the answers, global_shown.txt.
  python3 global_shown.py >global_shown.ptx && SPACE=global ../../../scripts/sass global_shown.ptx >global_shown.txt"""

HEADER = """.version 8.0
.target sm_90
.address_size 64"""
KERNEL = """
.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u32 n) {{
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<40>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r3, [n]; cvta.to.global.u64 %rd1, %rd1;
cvta.to.global.u64 %rd2, %rd2; mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; mul.wide.u32 %rd5, %r2, 16;
mul.wide.u32 %rd6, %r3, 16; add.s64 %rd4, %rd2, %rd3; cvt.rn.f32.u32 %f1, %r2; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u64 %rd8, 0;
{text}
END: st.global.f32 [%rd4], %f1; ret;
}}"""


def wide(at="%rd7+4096"):
    return f"ld.global.v4.f32 {{%f30, %f31, %f32, %f33}}, [{at}]; fma.rn.f32 %f1, %f30, %f31, %f1; fma.rn.f32 %f1, %f32, %f33, %f1;\n"


def pair(pointer="%rd7", offset=0):
    return (f"ld.global.f32 %f2, [{pointer}+{offset}]; ld.global.f32 %f3, [{pointer}+{offset + 4}]; "
            "fma.rn.f32 %f1, %f2, %f3, %f1;\n")


def loop(body, step=16, pointer="%rd7", told='.pragma "nounroll";'):
    return (f"LOOP: {told}\n{body}add.s64 {pointer}, {pointer}, {step}; add.s32 %r4, %r4, 1; "
            "setp.lt.s32 %p2, %r4, %r3; @%p2 bra LOOP;\n")


def when(body, label="J", number=5):
    return f"setp.gt.s32 %p1, %r2, {number}; @%p1 bra {label};\n{body}{label}:\n"


def rest(pointer):
    return loop(f"ld.global.f32 %f4, [{pointer}]; add.f32 %f1, %f1, %f4;\n", 4, pointer).replace("LOOP", "REST").replace("%r4", "%r5")


SUM = "add.s64 %rd7, %rd1, %rd3;\n"
PARAMETER = "mov.u64 %rd7, %rd1;\n"
FURTHER = "add.s64 %rd9, %rd7, 16;\n"  # a pointer of its own
STORE = "st.global.f32 [%rd4+8192], %f1;\n"
WIDE, PAIR = wide(), pair()
LAST = "ld.global.f32 %f4, [%rd7]; add.f32 %f1, %f1, %f4;\n"
TIMES = "fma.rn.f32 %f1, %f1, %f1, %f1; "
GUARD = "setp.gt.s32 %p1, %r2, 5; "
KERNELS = {
    # In the piece of code that computes the pointer.
    "straight": SUM + WIDE + PAIR, "behind": SUM + PAIR + WIDE, "narrower": SUM + wide().replace("4096", "4104") + PAIR,
    "wide_in_an_if": SUM + when(STORE + WIDE + PAIR), "wide_in_a_short_if": SUM + when(WIDE + PAIR + TIMES),
    "wide_behind_an_if": SUM + when(STORE) + WIDE + PAIR, "wide_behind_a_short_if": SUM + when(TIMES) + WIDE + PAIR,
    "pair_in_an_if": SUM + WIDE + when(STORE + PAIR), "both_in_the_if": when(STORE + SUM + WIDE + PAIR),
    "moved_in_the_if": SUM + when(STORE + "add.s64 %rd7, %rd7, 32;\n" + WIDE + PAIR),
    "computed_twice": when(STORE + SUM + WIDE) + SUM + PAIR, "computed_again": SUM + WIDE + when(STORE + SUM + PAIR),
    "two_ifs": SUM + when(STORE + WIDE) + when(STORE + PAIR, "J2", 4),
    "nested": SUM + when(STORE + WIDE + when(STORE + PAIR, "J2", 4)),
    "barrier": SUM + "bar.sync 0;\n" + WIDE + PAIR, "store": SUM + STORE + WIDE + PAIR,
    "ballot": SUM + GUARD + "vote.sync.ballot.b32 %r9, %p1, -1; cvt.rn.f32.u32 %f1, %r9;\n" + WIDE + PAIR,
    "global_atomic": SUM + "red.global.add.f32 [%rd4+64], %f1;\n" + WIDE + PAIR,
    "shared_atomic": SUM + "mov.u32 %r9, 0; red.shared.add.f32 [%r9], %f1;\n" + WIDE + PAIR,
    "division": SUM + "div.rn.f32 %f1, %f1, %f1;\n" + WIDE + PAIR,
    "root": SUM + "sqrt.rn.f32 %f1, %f1;\n" + WIDE + PAIR,
    "integer_division": SUM + "div.s32 %r8, %r3, %r2; cvt.rn.f32.s32 %f1, %r8;\n" + WIDE + PAIR,
    "guarded_store": SUM + GUARD + "@%p1 st.global.f32 [%rd4+64], %f1;\n" + WIDE + PAIR,
    "guarded_load": SUM + GUARD + "@%p1 ld.shared.f32 %f1, [%r2];\n" + WIDE + PAIR,
    "guarded_barrier": SUM + GUARD + "@%p1 bar.sync 0;\n" + WIDE + PAIR,
    "guarded_prefetch": SUM + GUARD + "@%p1 prefetch.global.L1 [%rd4];\n" + WIDE + PAIR,
    "guarded_exit": SUM + GUARD + "@%p1 exit;\n" + WIDE + PAIR,
    "guarded_sum": SUM + GUARD + "@%p1 add.s64 %rd7, %rd7, 32;\n" + WIDE + PAIR,
    "guarded_reciprocal": SUM + GUARD + "@%p1 rcp.approx.f32 %f1, %f1;\n" + WIDE + PAIR,
    # No multiple of 16 bytes further.
    "wide_4_further": SUM + wide("%rd7+4100") + pair("%rd7", 12), "wide_8_further": SUM + wide("%rd7+4104") + PAIR,
    # What is computed from it later.
    "either": SUM + WIDE + when(STORE + "add.s64 %rd7, %rd7, 32;\n") + PAIR,
    "either_8": SUM + WIDE + when(STORE + "add.s64 %rd7, %rd7, 8;\n") + PAIR,
    "either_unknown": SUM + WIDE + when(STORE + "add.s64 %rd7, %rd7, %rd3;\n") + PAIR,
    "chosen": SUM + WIDE + "add.s64 %rd9, %rd7, 32; " + GUARD + "selp.b64 %rd7, %rd7, %rd9, %p1;\n" + PAIR,
    "sum": SUM + WIDE + "add.s64 %rd7, %rd7, %rd6;\n" + PAIR, "sum_of_lanes": SUM + WIDE + "add.s64 %rd7, %rd7, %rd5;\n" + PAIR,
    "sum_in_an_if": SUM + WIDE + when(STORE + "add.s64 %rd7, %rd7, %rd5;\n" + PAIR),
    "wide_of_the_sum": SUM + "mov.u64 %rd8, %rd7; add.s64 %rd7, %rd7, %rd6;\n" + WIDE + pair("%rd8"),
    "masked": SUM + WIDE + "and.b64 %rd7, %rd7, -8;\n" + PAIR,
    "loop": SUM + WIDE + loop(PAIR), "loop_8": SUM + WIDE + loop(PAIR, 8), "loop_4": SUM + WIDE + loop(PAIR, 4),
    "loop_by_register": SUM + WIDE + loop(PAIR, "%rd5"), "loop_in_place": SUM + WIDE + loop(STORE + PAIR, 0, "%rd9"),
    "loop_and_behind": SUM + WIDE + loop(PAIR) + LAST, "perhaps_loop": SUM + WIDE + when(loop(PAIR)),
    "perhaps_loop_and_behind": SUM + WIDE + when(loop(PAIR)) + LAST,
    "perhaps_further_and_behind": SUM + wide("%rd7") + FURTHER + when(loop(pair("%rd9"), pointer="%rd9")) + LAST.replace("%rd7", "%rd9"),
    # One register in two loops.
    "two_loops": SUM + WIDE + loop(PAIR) + rest("%rd7"), "two_loops_and_a_copy": SUM + WIDE + loop(PAIR) + "mov.u64 %rd9, %rd7;\n" + rest("%rd9"),
    # What was computed from it before.
    "further_before": SUM + FURTHER + wide("%rd9") + loop(pair("%rd9"), pointer="%rd9"),
    "further_than_wide": SUM + FURTHER + wide("%rd7") + loop(pair("%rd9"), pointer="%rd9"),
    "further_after": SUM + wide("%rd7") + FURTHER + loop(pair("%rd9"), pointer="%rd9"),
    "wide_further": SUM + FURTHER + wide("%rd9") + loop(pair()),
    "sum_further": SUM + FURTHER + wide("%rd7") + "add.s64 %rd9, %rd9, %rd6;\n" + pair("%rd9"),
    # What a loop counts up.
    "in_a_loop": SUM + loop(WIDE + PAIR), "behind_in_a_loop": SUM + loop(PAIR + WIDE),
    "in_an_if_in_a_loop": SUM + loop(when(STORE + WIDE + PAIR)), "for_an_if_in_a_loop": SUM + loop(WIDE + when(STORE + PAIR)),
    "behind_a_loop": SUM + loop("") + WIDE + PAIR, "shown_in_the_loop_before": SUM + loop(WIDE) + PAIR,
    "in_place_in_a_loop": SUM + loop(STORE + WIDE + PAIR, 0, "%rd9"),
    "index_in_a_loop": loop("mul.wide.u32 %rd8, %r4, 16; add.s64 %rd7, %rd1, %rd8;\n" + WIDE + PAIR, 0, "%rd9"),
    # Parameters of the kernel.
    "parameter": PARAMETER + WIDE + PAIR, "parameter_in_an_if": PARAMETER + when(STORE + WIDE + PAIR),
    "parameter_for_an_if": PARAMETER + WIDE + when(STORE + PAIR), "parameter_behind_an_if": PARAMETER + when(STORE + WIDE) + PAIR,
    "parameter_nested": PARAMETER + when(STORE + WIDE + when(STORE + PAIR, "J2", 4)),
    "parameter_in_a_loop": PARAMETER + loop(STORE + WIDE + PAIR, 0, "%rd9"),
    "parameter_sum": PARAMETER + WIDE + "add.s64 %rd7, %rd7, %rd6;\n" + PAIR,
    "parameter_either": PARAMETER + WIDE + when(STORE + "add.s64 %rd7, %rd7, 32;\n") + PAIR,
    "parameter_loop": PARAMETER + WIDE + loop(PAIR), "parameter_unrolled": PARAMETER + WIDE + loop(PAIR, told=""),
    "unrolled": SUM + WIDE + loop(PAIR, told=""), "in_an_unrolled_loop": SUM + loop(WIDE + PAIR, told=""),
}
print(HEADER)
for name, text in KERNELS.items():
    print(KERNEL.format(name=name, text=text))
