#!/usr/bin/env python3
"""Makes unrolled.ptx and global_unrolled.ptx: loops that the assembler unrolls, whose iterations access memory side by
side. scripts/sass gives the answers, unrolled.txt and global_unrolled.txt.
  python3 unrolled.py shared >unrolled.ptx && ../../../scripts/sass unrolled.ptx >unrolled.txt
  python3 unrolled.py global >global_unrolled.ptx && SPACE=global_all ../../../scripts/sass global_unrolled.ptx >global_unrolled.txt"""
import sys

SPACE = sys.argv[1]
SHARED = SPACE == "shared"
HEADER = """.version 8.0
.target sm_90
.address_size 64
.global .align 16 .b8 g[65536];"""
KERNEL = """
.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u32 n) {{
.reg .pred %p<9>; .reg .b16 %h<20>; .reg .b32 %r<70>; .reg .b64 %rd<30>; .reg .f32 %f<40>; .reg .f64 %d<20>;
.shared .align 16 .b8 s[16384];
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r3, [n];
cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd2, %rd3;
mov.f32 %f1, 0f00000000; mov.f64 %d1, 0d0000000000000000; mov.u32 %r4, 0; mov.u32 %r5, s; mov.u64 %rd5, g; mov.u32 %r9, 0; mov.u16 %h1, 1;
{before}
setp.lt.s32 %p1, %r3, 1; @%p1 bra END;
LOOP:
{body}
{back} @%p2 bra LOOP;
END:
cvt.rn.f32.u32 %f20, %r9; add.f32 %f1, %f1, %f20; cvt.rn.f32.f64 %f21, %d1; add.f32 %f1, %f1, %f21;
st.global.f32 [%rd4], %f1; ret;
}}"""
POINTER, BITS = ("%r7", 32) if SHARED else ("%rd7", 64)


def load(kind, offset, n):
    at = f"[{POINTER}+{offset}]"
    return {
        "float": f"ld.{SPACE}.f32 %f{n}, {at}; add.f32 %f1, %f1, %f{n};",
        "double": f"ld.{SPACE}.f64 %d{n}, {at}; add.f64 %d1, %d1, %d{n};",
        "half": f"ld.{SPACE}.u16 %h{n}, {at}; cvt.u32.u16 %r{30 + n}, %h{n}; add.s32 %r9, %r9, %r{30 + n};",
        "byte": f"ld.{SPACE}.u8 %h{n}, {at}; cvt.u32.u16 %r{30 + n}, %h{n}; add.s32 %r9, %r9, %r{30 + n};",
        "float2": f"ld.{SPACE}.v2.f32 {{%f{n}, %f{n + 10}}}, {at}; fma.rn.f32 %f1, %f{n}, %f{n + 10}, %f1;",
        "store": f"st.{SPACE}.u32 {at}, %r4;",
    }[kind]


def moved(step):
    return f"add.s{BITS} {POINTER}, {POINTER}, {step};"


def body(kind, offsets, step):
    return "\n".join(load(kind, offset, 2 + n) for n, offset in enumerate(offsets)) + "\n" + moved(step)


def start(lane_bytes, offset):
    """Where the first iteration reads: an array, a piece of it for each lane, so many bytes further."""
    if SHARED:
        at = f"mad.lo.s32 %r7, %r2, {lane_bytes}, %r5;" if lane_bytes else "mov.u32 %r7, %r5;"
    else:
        at = f"mul.wide.u32 %rd7, %r2, {lane_bytes}; add.s64 %rd7, %rd5, %rd7;" if lane_bytes else "mov.u64 %rd7, %rd5;"
    return at + (f" add.s{BITS} {POINTER}, {POINTER}, {offset};" if offset else "")


STARTS = {"array": (0, 0), "array_4": (0, 4), "array_8": (0, 8), "lane_4": (4, 0), "lane_8": (8, 0), "lane_64": (64, 0)}
BODIES = {
    "float_4": body("float", [0], 4), "float_8": body("float", [0], 8), "float_12": body("float", [0], 12),
    "float_128": body("float", [0], 128), "back": body("float", [0], -4),
    "two_4": body("float", [0, 4], 4), "two_8": body("float", [0, 4], 8), "three_4": body("float", [-4, 0, 4], 4),
    "four_16": body("float", [4, 8, 12, 16], 16), "apart_8": body("float", [0, 8], 8), "far_4": body("float", [0, 64], 4),
    "double_8": body("double", [0], 8), "doubles_16": body("double", [8, 16], 16), "half_2": body("half", [0], 2),
    "half_4": body("half", [0, 2], 4), "byte_1": body("byte", [0], 1), "float2_8": body("float2", [0], 8),
    "store_4": body("store", [0], 4), "store_8": body("store", [0, 4], 8),
    "add": f"ld.{SPACE}.f32 %f2, [{POINTER}]; add.f32 %f1, %f1, %f2; st.{SPACE}.f32 [{POINTER}], %f1; {moved(4)}",
    "other": f"ld.{SPACE}.f32 %f2, [{POINTER}]; add.f32 %f1, %f1, %f2; st.{SPACE}.f32 [{POINTER}+4096], %f1; {moved(4)}",
}
if SHARED:
    BODIES["same"] = "ld.shared.f32 %f2, [%r5+64]; fma.rn.f32 %f1, %f1, %f2, %f2;\n" + body("float", [0], 128)
    BODIES["index"] = "shl.b32 %r8, %r4, 2; add.s32 %r10, %r7, %r8; ld.shared.f32 %f2, [%r10]; add.f32 %f1, %f1, %f2;"
else:
    VECTOR = "ld.global.v4.f32 {%f30, %f31, %f32, %f33}, [%rd7+4096]; fma.rn.f32 %f1, %f30, %f31, %f1; fma.rn.f32 %f1, %f32, %f33, %f1;\n"
    BODIES |= {f"shown_{step}": VECTOR + body("float", [0, 4], step) for step in (16, 32)}
    STARTS = {name: STARTS[name] for name in ("array", "array_8", "lane_8")}
LESS = "add.s32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, %r3;"
OTHER = "add.s32 %r3, %r3, -1; setp.ne.s32 %p2, %r3, 0;"  # the one copy is a loop then
print(HEADER)
for place, given in STARTS.items():
    for name, text in BODIES.items():
        print(KERNEL.format(name=f"{place}__{name}", before=start(*given), body=text, back=LESS))
for name in ("float_4", "float_8", "two_4", "two_8", "four_16", "half_2", "half_4", "store_4", "store_8", "double_8"):
    print(KERNEL.format(name=f"until_other__{name}", before=start(0, 0), body=BODIES[name], back=OTHER))
if SHARED:  # the register is counted up again behind the loop, one by one
    REST = "mov.u32 %r6, 0; REST: .pragma \"nounroll\";\nld.shared.f32 %f9, [%r7]; add.f32 %f1, %f1, %f9; add.s32 %r7, %r7, 4; " \
           "add.s32 %r6, %r6, 1; setp.lt.s32 %p2, %r6, %r2; @%p2 bra REST;\n"
    for name in ("float_4", "float_8", "four_16", "two_8"):
        print(KERNEL.format(name=f"and_a_rest__{name}", before=start(0, 0), body=BODIES[name], back=LESS).replace("END:\n", "END:\n" + REST))
