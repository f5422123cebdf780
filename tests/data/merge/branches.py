#!/usr/bin/env python3
"""Makes branches.ptx and global_branches.ptx: where the assembler makes one load of two of the same word, of which one or
both stand on a way of a branch. scripts/sass gives the answers, branches.txt and global_branches.txt.
  python3 branches.py shared >branches.ptx && ../../../scripts/sass branches.ptx >branches.txt
  python3 branches.py global >global_branches.ptx && SPACE=global ../../../scripts/sass global_branches.ptx >global_branches.txt"""
import itertools
import sys

HEADER = """.version 8.0
.target sm_90
.address_size 64"""
KERNEL = """
.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u32 n) {{
.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .f32 %f<20>; .shared .align 16 .b8 s[4096];
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r3, [n]; cvta.to.global.u64 %rd1, %rd1;
cvta.to.global.u64 %rd2, %rd2; mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 16; add.s64 %rd4, %rd2, %rd3;
add.s64 %rd5, %rd1, %rd3; shl.b32 %r7, %r2, 4; mov.u32 %r8, s; add.s32 %r7, %r7, %r8; cvt.rn.f32.u32 %f1, %r2;
mov.u32 %r4, 0; mov.u32 %r5, 0;
{text}
st.global.f32 [%rd4], %f1; ret;
}}"""
SHARED = sys.argv[1] == "shared"
OTHER = "st.global.f32 [%rd4+{}], %f1;\n" if SHARED else "st.shared.f32 [%r7+{}], %f1;\n"  # of other memory
BARRIER = "bar.sync 0;\n"
USES = (("x", "x"), ("x", "y"), ("x", "xy"), ("xy", "x"), ("x", "yz"), ("xy", "zw"), ("xyzw", "x"), ("x", "xyzw"),
        ("xw", "xw"), ("xz", "z")) if not SHARED else ()
numbers = itertools.count()


def condition(label):
    return f"setp.gt.f32 %p1, %f1, 0f40000000; @%p1 bra {label};\n"


def when(body, other=True):
    number = next(numbers)
    return f"{condition(f'J{number}')}{body}{OTHER.format(1024) if other else ''}J{number}:\n"


def either(one, two):
    number = next(numbers)
    return (f"{condition(f'E{number}')}{one}{OTHER.format(1024)}bra.uni J{number};\nE{number}:\n{two}{OTHER.format(1028)}"
            f"J{number}:\n")


def loop(body):
    label = f"L{next(numbers)}"
    return (f'{label}: .pragma "nounroll";\n{body}add.s32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, %r3; '
            f"@%p2 bra {label};\n")


def kernels(kind):
    space, base, moving = ("shared", "%r7", "%r9") if SHARED else ("global" + kind, "%rd5", "%rd7")
    a, am = (f"ld.{space}.f32 %f2, [{register}+48]; fma.rn.f32 %f1, %f2, %f2, %f1;\n" for register in (base, moving))
    move = ("shl.b32 %r10, %r4, 5; add.s32 %r9, %r7, %r10;\n" if SHARED else
            "mul.wide.s32 %rd8, %r4, 32; add.s64 %rd7, %rd5, %rd8;\n")
    def v(uses, register):  # a vector of which some elements are used
        data = [f"%f{register + k}" for k in range(4)]
        return (f"ld.{space}.v4.f32 {{{', '.join(data)}}}, [{base}+64];\n" +
                "".join(f"fma.rn.f32 %f1, %f1, {data['xyzw'.index(u)]}, %f1;\n" for u in uses))

    add, long = "fma.rn.f32 %f1, %f1, %f1, %f1;\n", "ex2.approx.f32 %f1, %f1;\n" * 12
    short = {f"length_{n}": when(add * n + a, False) + a for n in range(1, 11)}
    return {
        # On one way, and behind.
        "behind": when(long + a) + a, "behind_long": when(long + a) + long + a, "behind_way_of_two": either(a, long) + a,
        "behind_other_of_two": either(long, long + a) + a, "behind_both": either(long + a, long + a) + a,
        "in_loop": loop(when(long + a) + a), "in_loop_moving": loop(move + when(long + am) + long + am),
        "behind_next": when(long + a) + when(long) + a, "behind_two": when(long + a) + when(long) + when(long) + a,
        "behind_either": when(long + a) + either(long, long) + a, "behind_loop": when(long + a) + loop(long) + a,
        "in_next": when(long + a) + when(long + a), "of_nest": when(when(long + a)) + a,
        "of_long_nest": when(long + when(long + a)) + a, "in_nest": when(when(long + a) + a),
        "before_if": when(long + a + when(long)) + a, "behind_if": when(when(long) + long + a) + a,
        "of_nest_in_two": either(when(long + a), long) + a, "nest_in_two": either(long + a, when(long)) + a,
        "loop_in_two": either(long + a, loop(long)) + a, "in_inner_loop": when(loop(a)) + a,
        "behind_leaving": loop(move + condition("OUT") + long + am) + "OUT:\n" + am,
        # Vectors of which other words are used.
        **{f"{where}_{one}_{two}": text for one, two in USES for where, text in
           {"straight": v(one, 2) + v(two, 12), "if": v(one, 2) + when(v(two, 12)), "way": when(v(one, 2)) + v(two, 12)}.items()},
        # What changes the memory.
        "barrier_before": BARRIER + when(long + a) + a, "barrier_on_way": when(long + BARRIER + a) + a,
        "barrier_behind_way": when(long + a + BARRIER) + a, "barrier_where_they_meet": when(long + a) + BARRIER + a,
        "barrier_on_other": either(long + a, BARRIER + long) + a, "barrier_behind": when(long + a) + a + BARRIER,
        # On both ways.
        "both": either(long + a, long + a), "both_in_loop": loop(either(long + a, long + a)),
        "both_and_if": either(long + a, long + when(long + a)), "both_before_ifs": either(long + a + when(long), long + a),
        "both_of_three": either(long + a, long + either(long + a, long + a)),
        "both_behind_one": when(long + a) + either(long + a, long + a),
        "both_behind_barrier": BARRIER + either(long + a, long + a),
        **short,
    }


print(HEADER)
for suffix in ("",) if SHARED else ("", ".nc"):
    for name, text in kernels(suffix).items():
        print(KERNEL.format(name=name + suffix.replace(".", "_"), text=text))
