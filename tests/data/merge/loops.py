#!/usr/bin/env python3
"""Makes loops.ptx and global_loops.ptx: where the assembler knows in a loop, or behind one, what was loaded before.
scripts/sass gives the answers, loops.txt and global_loops.txt.
  python3 loops.py shared >loops.ptx && ../../../scripts/sass loops.ptx >loops.txt
  python3 loops.py global >global_loops.ptx && SPACE=global ../../../scripts/sass global_loops.ptx >global_loops.txt"""
import sys

HEADER = """.version 8.0
.target sm_90
.address_size 64"""
KERNEL = """
.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u32 n) {{
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<40>; .shared .align 16 .b8 s[4096];
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r3, [n]; cvta.to.global.u64 %rd1, %rd1;
cvta.to.global.u64 %rd2, %rd2; mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd2, %rd3;
add.s64 %rd7, %rd1, %rd3; shl.b32 %r7, %r2, 2; cvt.rn.f32.u32 %f1, %r2; mov.u32 %r4, 0; mov.u32 %r5, 0;
{text}
st.global.f32 [%rd4], %f1; ret;
}}"""
SHARED = sys.argv[1] == "shared"
OTHER = "st.global.f32 [%rd4+256], %f1;\n" if SHARED else "st.shared.f32 [%r7+1024], %f1;\n"  # of other memory
ADD = "fma.rn.f32 %f1, %f1, %f1, %f1;\n"


def loop(body, told='.pragma "nounroll";', number=""):
    counter = "%r5" if number else "%r4"
    return (f"LOOP{number}: {told}\n{body}add.s32 {counter}, {counter}, 1; setp.lt.s32 %p2, {counter}, %r3; "
            f"@%p2 bra LOOP{number};\n")


def when(body, label="J"):
    return f"setp.gt.f32 %p1, %f1, 0f40000000; @%p1 bra {label};\n{body}{label}:\n"


def kernels(kind):
    space, at = ("shared", "%r7") if SHARED else ("global" + kind, "%rd7")
    load = f"ld.{space}.f32 %f2, [{at}]; fma.rn.f32 %f1, %f2, %f2, %f1;\n"
    inner = "mov.u32 %r4, 0;\n"
    return {
        "before": load + loop(load + OTHER), "before_unrolled": load + loop(load + OTHER, ""),
        "behind": load + loop(ADD + OTHER) + load, "behind_unrolled": load + loop(ADD + OTHER, "") + load,
        "in_and_behind": loop(load + OTHER) + load, "for_an_if_in": load + loop(when(OTHER + load) + OTHER),
        "for_behind_an_if_in": load + loop(when(OTHER) + load + OTHER), "for_an_if": load + when(OTHER + load) + OTHER,
        "for_two_ifs": load + when(OTHER + load) + when(OTHER + load, "J2") + OTHER,
        "before_two_loops": load + loop(inner + loop(load + OTHER), number=2),
        "before_the_inner_loop": loop(load + inner + loop(load + OTHER), number=2),
        "around_the_inner_loop": loop(load + inner + loop(ADD + OTHER) + load, number=2),
        "for_a_loop_in_an_if": load + when(loop(load + OTHER)), "behind_a_loop_in_an_if": load + when(loop(ADD + OTHER)) + load,
        "before_a_break": load + loop(load + "setp.gt.f32 %p1, %f1, 0f40000000; @%p1 bra J;\n" + OTHER) + "J:",
        "behind_a_break": load + loop(OTHER + "setp.gt.f32 %p1, %f1, 0f40000000; @%p1 bra J;\n" + load) + "J:",
    }


print(HEADER)
for suffix in ("",) if SHARED else ("", ".nc"):
    for name, text in kernels(suffix).items():
        print(KERNEL.format(name=name + suffix.replace(".", "_"), text=text))
