#!/usr/bin/env python3
"""Makes generic.ptx: kernels of the files named below through generic addresses, and two loads or stores of neighbouring
words, or loads of one word, with something in between. SPACE=global_all scripts/sass gives the answers, generic.txt.
  python3 generic.py >generic.ptx && SPACE=global_all ../../../scripts/sass generic.ptx >generic.txt"""
import pathlib
import re

FILES = ["global", "global_bytes", "global_half", "global_low", "global_merged", "global_shown", "global_words"]
KERNEL = """
.visible .entry between_{name}(.param .u64 p, .param .u64 q, .param .u32 n) {{
.reg .b32 %r<10>; .reg .b64 %rd<6>; .reg .b16 %h<3>;
ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; mov.u32 %r9, 0;
mul.wide.u32 %rd3, %r1, 64; add.u64 %rd4, %rd1, %rd3; cvt.u16.u32 %h1, %r2; cvt.u16.u32 %h2, %r1;
{text}
ret;
}}"""
SHOWS = "ld.v2.u32 {%r6, %r7}, [%rd4+16]; add.u32 %r6, %r6, %r7; "  # how %rd4 is aligned
BETWEEN = {
    "nothing": "", "ld": "ld.u32 %r9, [%rd2];", "ld_global": "ld.global.u32 %r9, [%rd2];",
    "ld_shared": "ld.shared.u32 %r9, [%r1];", "ld_local": "ld.local.u32 %r9, [%r1];",
    "ld_nc": "ld.global.nc.u32 %r9, [%rd2];", "ld_volatile": "ld.volatile.u32 %r9, [%rd2];",
    "ld_volatile_global": "ld.volatile.global.u32 %r9, [%rd2];",
    "ld_volatile_shared": "ld.volatile.shared.u32 %r9, [%r1];", "st": "st.u32 [%rd2], %r2;",
    "st_global": "st.global.u32 [%rd2], %r2;", "st_shared": "st.shared.u32 [%r1], %r2;",
    "st_local": "st.local.u32 [%r1], %r2;", "red_global": "red.global.add.u32 [%rd2], %r2;",
    "red_shared": "red.shared.add.u32 [%r1], %r2;", "barrier": "bar.sync 0;", "warp_barrier": "bar.warp.sync -1;",
    "shuffle": "shfl.sync.idx.b32 %r9, %r2, 0, 31, -1;", "fence": "membar.cta;",
    "ldmatrix": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r1];",
    "copy": "cp.async.ca.shared.global [%r1], [%rd2], 4;", "commit": "cp.async.commit_group;",
    "wait": "cp.async.wait_all;", "prefetch": "prefetch.global.L2 [%rd2];",
    "mbarrier": "mbarrier.init.shared.b64 [%r1], 1;", "division": "div.rn.f32 %f1, %f2, %f3; mov.b32 %r9, %f1;"}
AROUND = {
    "neighbours": "ld.u32 %r4, [%rd4]; {} ld.u32 %r5, [%rd4+4]; add.u32 %r4, %r4, %r5; ",
    "same": "ld.u32 %r4, [%rd4]; {} ld.u32 %r5, [%rd4]; shl.b32 %r5, %r5, %r1; add.u32 %r4, %r4, %r5; ",
    "of_global": "ld.global.u32 %r4, [%rd4]; {} ld.global.u32 %r5, [%rd4+4]; add.u32 %r4, %r4, %r5; ",
    "stores": "st.u32 [%rd4+24], %r6; {} st.u32 [%rd4+28], %r6; mov.u32 %r4, %r6; "}

print(".version 9.0\n.target sm_90\n.address_size 64")
for name in FILES:
    header, *kernels = re.split(r"(?m)^(?=\.visible \.entry)", pathlib.Path(name + ".ptx").read_text())
    print("\n".join(re.findall(r"(?m)^\.(?:extern|shared|const|global) .*;$", header)))
    for kernel in kernels:
        if ".nc" in kernel or "[g" in kernel:  # which is of global memory, and said to be
            continue
        kernel = kernel.replace("cvta.to.global.u64", "mov.u64").replace(".entry ", f".entry {name}_", 1)
        print(re.sub(r"\b(ld|st)((?:\.\w+)*?)\.global", r"\1\2", kernel).rstrip())
for around, accesses in AROUND.items():
    for between, text in BETWEEN.items():
        text = SHOWS + accesses.format(text) + "add.u32 %r4, %r4, %r9; add.u32 %r4, %r4, %r6; st.u32 [%rd2+64], %r4;"
        if "%f" in text:
            text = ".reg .f32 %f<4>; mov.b32 %f2, %r1; mov.b32 %f3, %r2; " + text
        print(KERNEL.format(name=around + "_" + between, text=text))
