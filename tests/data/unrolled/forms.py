#!/usr/bin/env python3
"""Makes forms.ptx: loops of all kinds that the assembler may unroll, and bodies that are just short enough for that, and
one instruction too long. scripts/unrolled gives the answers, forms.txt.
  python3 forms.py >forms.ptx && scripts/unrolled forms.ptx >forms.txt"""

HEADER = """.version 8.0
.target sm_90
.address_size 64
"""
# a: memory to read; b: a word for each lane, how many iterations it has, where it leaves what it has computed.
KERNEL = """
.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u32 n) {of_kernel}{{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<70>; .reg .b64 %rd<30>; .reg .f32 %f<30>;
.shared .align 16 .b8 s[16384];
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd5, %rd1, %rd3; add.s64 %rd4, %rd2, %rd3;
ld.global.u32 %r3, [%rd4];
mov.f32 %f1, 0f00000000; mov.u32 %r4, 0; mov.u32 %r9, %r2; cvt.u16.u32 %h2, %r2;
mov.u32 %r5, s; shl.b32 %r6, %r2, 2; add.s32 %r7, %r5, %r6; add.s64 %rd8, %rd5, 65536;
{before}
{guard}
LOOP:{told}
{body}
{back}
END:
cvt.rn.f32.u32 %f20, %r9; add.f32 %f1, %f1, %f20; st.global.f32 [%rd4], %f1; ret;
}}"""
GLOBAL = "ld.global.f32 %f2, [%rd5]; add.f32 %f1, %f1, %f2; add.s64 %rd5, %rd5, 128;"
SHARED = "ld.shared.f32 %f2, [%r7]; add.f32 %f1, %f1, %f2; add.s32 %r7, %r7, 128;"


def kernel(name, body, back="add.s32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, %r3; @%p2 bra LOOP;",
           guard="setp.lt.s32 %p1, %r3, 1; @%p1 bra END;", before="", told="", of_kernel=""):
    print(KERNEL.format(name=name, body=body, back=back, guard=guard, before=before, told=told, of_kernel=of_kernel))


def shared(loads):
    return "".join(f"ld.shared.f32 %f3, [%r7+{512 * i}]; add.f32 %f1, %f1, %f3;\n" if i else
                   "ld.shared.f32 %f3, [%r7]; add.f32 %f1, %f1, %f3;\n"
                   for i in range(loads)) + "add.s32 %r7, %r7, 128;"


def around(name, most, body, **more):
    """Two kernels, with as many instructions in front of the body as leave it short enough, and one more."""
    for short, count in (("most", most), ("more", most + 1)):
        kernel(f"{name}_{short}", "popc.b32 %r9, %r9; " * count + "\n" + body, **more)


print(HEADER)
COUNTS = {
    "less": "add.s32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, %r3; @%p2 bra LOOP;",
    "less_unsigned": "add.s32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r3; @%p2 bra LOOP;",
    "at_most": "add.s32 %r4, %r4, 1; setp.le.s32 %p2, %r4, %r3; @%p2 bra LOOP;",
    "other": "add.s32 %r4, %r4, 1; setp.ne.s32 %p2, %r4, %r3; @%p2 bra LOOP;",
    "limit_first": "add.s32 %r4, %r4, 1; setp.gt.s32 %p2, %r3, %r4; @%p2 bra LOOP;",
    "by_four": "add.s32 %r4, %r4, 4; setp.lt.s32 %p2, %r4, %r3; @%p2 bra LOOP;",
    "by_three_to_other": "add.s32 %r4, %r4, 3; setp.ne.s32 %p2, %r4, %r3; @%p2 bra LOOP;",
    "down": "add.s32 %r3, %r3, -1; setp.ne.s32 %p2, %r3, 0; @%p2 bra LOOP;",
    "down_by_two": "add.s32 %r3, %r3, -2; setp.gt.s32 %p2, %r3, 3; @%p2 bra LOOP;",
    "down_subtracting": "sub.s32 %r3, %r3, 1; setp.ne.s32 %p2, %r3, 0; @%p2 bra LOOP;",
    "uniform": "add.s32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, %r1; @%p2 bra LOOP;",
    "negated": "add.s32 %r4, %r4, 1; setp.ge.s32 %p2, %r4, %r3; @!%p2 bra LOOP;",
    "left_before": "add.s32 %r4, %r4, 1; setp.ge.s32 %p2, %r4, %r3; @%p2 bra END; bra LOOP;",
    "step_of_register": "add.s32 %r4, %r4, %r1; setp.lt.s32 %p2, %r4, %r3; @%p2 bra LOOP;",
    "halved": "shr.u32 %r3, %r3, 1; setp.ne.s32 %p2, %r3, 0; @%p2 bra LOOP;",
    "by_data": "setp.lt.f32 %p2, %f1, 0f41200000; @%p2 bra LOOP;",
    "or_by_data": "add.s32 %r4, %r4, 1; setp.lt.f32 %p3, %f1, 0f41200000; "
                  "setp.lt.and.s32 %p2, %r4, %r3, %p3; @%p2 bra LOOP;",
    "compared_before": "setp.lt.s32 %p2, %r4, %r3; add.s32 %r4, %r4, 1; @%p2 bra LOOP;",
}
for name, back in COUNTS.items():
    kernel(name, GLOBAL, back)
kernel("told_not_to", GLOBAL, told=' .pragma "nounroll";')
kernel("told_not_to_at_all", GLOBAL, of_kernel='.pragma "nounroll"; ')
kernel("told_before_it_begins", GLOBAL, guard='setp.lt.s32 %p1, %r3, 1; @%p1 bra END; add.s32 %r9, %r9, 1; .pragma "nounroll";')
kernel("without_guard", GLOBAL, guard="")
kernel("of_64_bits", GLOBAL, "add.s64 %rd9, %rd9, 1; setp.lt.s64 %p2, %rd9, %rd10; @%p2 bra LOOP;",
       before="cvt.s64.s32 %rd10, %r3; mov.u64 %rd9, 0;")
kernel("of_pointers", GLOBAL, "setp.ne.s64 %p2, %rd5, %rd10; @%p2 bra LOOP;",
       before="mul.wide.s32 %rd10, %r3, 128; add.s64 %rd10, %rd10, %rd5;")
kernel("limit_that_changes", GLOBAL + "add.s32 %r3, %r3, -1;")
kernel("break", GLOBAL + "setp.gt.f32 %p5, %f1, 0f4F000000; @%p5 bra END;")
IN_LOOP = {
    "shuffle": "shfl.sync.bfly.b32 %r9, %r9, 1, 31, -1;", "barrier": "bar.sync 0;", "warp_barrier": "bar.warp.sync -1;",
    "atomic": "red.shared.add.u32 [%r7], 1;", "fence": "membar.gl;", "root": "sqrt.rn.f32 %f1, %f1;",
    "store": "st.global.f32 [%rd5+65536], %f1;", "add_in_memory":
    "ld.global.f32 %f8, [%rd8]; add.f32 %f8, %f8, %f2; st.global.f32 [%rd8], %f8;",
    "add_in_shared": "ld.shared.f32 %f8, [%r7]; add.f32 %f8, %f8, %f2; st.shared.f32 [%r7], %f8;",
    "if": "setp.gt.s32 %p5, %r9, 5; @%p5 bra SKIP; ld.global.f32 %f8, [%rd5+65536]; add.f32 %f1, %f1, %f8;\nSKIP:",
    "if_else": "setp.gt.s32 %p5, %r9, 5; @%p5 bra ELSE; xor.b32 %r9, %r9, %r2; bra SKIP;\nELSE: brev.b32 %r9, %r9;\nSKIP:",
    "if_in_if": "setp.gt.s32 %p5, %r9, 5; @%p5 bra SKIP; ld.global.f32 %f8, [%rd5+65536]; add.f32 %f1, %f1, %f8; "
                "setp.gt.f32 %p6, %f8, 0f40000000; @%p6 bra SKIP; ld.global.f32 %f9, [%rd5+131072]; "
                "add.f32 %f1, %f1, %f9;\nSKIP:",
    "if_after_if": "setp.gt.s32 %p5, %r9, 5; @%p5 bra ON; ld.global.f32 %f8, [%rd5+65536]; add.f32 %f1, %f1, %f8;\nON: "
                   "setp.gt.f32 %p6, %f1, 0f40000000; @%p6 bra SKIP; xor.b32 %r9, %r9, %r2;\nSKIP:",
    "if_with_store": "setp.gt.s32 %p5, %r9, 5; @%p5 bra SKIP; st.global.f32 [%rd5+65536], %f1;\nSKIP:",
}
LOAD = "ld.global.f32 %f8, [%rd5+65536]; add.f32 %f1, %f1, %f8;"
A, B, C = ("setp.gt.s32 %p5, %r9, 5;", "setp.gt.f32 %p6, %f2, 0f40000000;", "setp.eq.s32 %p7, %r2, %r4;")
IN_LOOP |= {
    "if_or": f"{A} @%p5 bra THEN; {B} @!%p6 bra SKIP;\nTHEN: {LOAD}\nSKIP:",
    "if_or_of_loaded": f"{A} @%p5 bra THEN; ld.global.f32 %f9, [%rd5+131072]; setp.gt.f32 %p6, %f9, 0f40000000; "
                       f"@!%p6 bra SKIP;\nTHEN: {LOAD}\nSKIP:",
    "if_or_or": f"{A} @%p5 bra THEN; {B} @%p6 bra THEN; {C} @!%p7 bra SKIP;\nTHEN: {LOAD}\nSKIP:",
    "if_or_else": f"{A} @%p5 bra THEN; {B} @!%p6 bra ELSE;\nTHEN: {LOAD} bra SKIP;\nELSE: xor.b32 %r9, %r9, %r2;\nSKIP:",
    "if_and": f"{A} @!%p5 bra SKIP; {B} @!%p6 bra SKIP; {LOAD}\nSKIP:",
    "if_and_else": f"{A} @!%p5 bra ELSE; {B} @!%p6 bra ELSE; {LOAD} bra SKIP;\nELSE: xor.b32 %r9, %r9, %r2;\nSKIP:",
    "else_if": f"{A} @!%p5 bra ELSE; {LOAD} bra SKIP;\nELSE: {B} @!%p6 bra SKIP; xor.b32 %r9, %r9, %r2;\nSKIP:",
}
for name, body in IN_LOOP.items():
    kernel("with_" + name, GLOBAL + body)
kernel("in_a_loop", f"""mov.u32 %r30, 0; @%p1 bra SKIP;
INNER:
{GLOBAL} add.s32 %r30, %r30, 1; setp.lt.s32 %p6, %r30, %r3; @%p6 bra INNER;
SKIP:""")
around("nothing", 18, "")
around("global", 43, GLOBAL)
around("shared", 20, SHARED)
around("shared_3", 24, shared(3))
around("shared_8", 34, shared(8))
around("shared_20", 36, shared(20))
around("offset", 41, "ld.global.f32 %f1, [%rd5+512];" + GLOBAL)
around("both", 40, GLOBAL + SHARED.replace("%f2", "%f3"))
COSTS = {
    "guarded": (3, "setp.gt.s32 %p5, %r9, 5; @%p5 add.s32 %r9, %r9, %r2;"),
    "move": (1, "mov.u32 %r10, %r9; xor.b32 %r9, %r10, %r2;"), "unchanging": (1, "mul.lo.s32 %r10, %r1, %r2; add.s32 %r9, %r9, %r10;"),
    "unused": (0, "mul.lo.s32 %r10, %r4, %r2;"), "pair": (2, "fma.rn.f16x2 %r9, %r9, %r2, %r1;"),
    "byte": (4, "ld.global.u8 %h1, [%rd8]; cvt.u32.u16 %r10, %h1; xor.b32 %r9, %r9, %r10;"),
    "exponential": (6, "ex2.approx.f32 %f1, %f1;"), "exponential_ftz": (1, "ex2.approx.ftz.f32 %f1, %f1;"),
    "quotient": (18, "div.u32 %r9, %r9, 7;"), "leading_zeros": (2, "clz.b32 %r9, %r9;"),
    "vector": (5, "ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd8]; add.s32 %r9, %r9, %r11; add.s32 %r9, %r9, %r12; "
                  "add.s32 %r9, %r9, %r13; add.s32 %r9, %r9, %r14;"),
}
for name, (cost, body) in COSTS.items():
    around("and_" + name, 43 - cost, GLOBAL + body)
