#!/usr/bin/env python3
"""Makes global_words.ptx: words of global memory that are loaded alone and in a vector, or loaded after a vector was stored.
SPACE=global scripts/sass gives the answers, global_words.txt.
  python3 global_words.py >global_words.ptx && SPACE=global ../../../scripts/sass global_words.ptx >global_words.txt"""

HEADER = """.version 8.0
.target sm_90
.address_size 64"""
KERNEL = """
.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u32 n) {{
.reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<40>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r3, [n]; cvta.to.global.u64 %rd1, %rd1;
cvta.to.global.u64 %rd2, %rd2; mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; mul.wide.u32 %rd6, %r3, 16;
add.s64 %rd4, %rd2, %rd3; mov.f32 %f1, 0f00000000;
{text}
st.global.f32 [%rd4], %f1; ret;
}}"""
POINTERS = {"lane": "add.s64 %rd7, %rd1, %rd3;", "block": "add.s64 %rd7, %rd1, %rd6;", "parameter": "mov.u64 %rd7, %rd1;",
            "further": "add.s64 %rd7, %rd1, 32;"}
OFFSETS = {"lane": (0, 4, 8)}  # where the vectors lie, from the pointer


def kernels(space, at):
    four = f"ld.{space}.v4.f32 {{%f30, %f31, %f32, %f33}}, [%rd7+{at}]; fma.rn.f32 %f1, %f30, %f31, %f1; fma.rn.f32 %f1, %f32, %f33, %f1;\n"
    two = f"ld.{space}.v2.f32 {{%f34, %f35}}, [%rd7+{at}]; fma.rn.f32 %f1, %f34, %f35, %f1;\n"

    def words(*offsets):
        return "".join(f"ld.{space}.f32 %f{2 + n}, [%rd7+{at + offset}]; fma.rn.f32 %f1, %f{2 + n}, %f{2 + n}, %f1;\n"
                       for n, offset in enumerate(offsets))

    def sequence(*accesses):  # (offset, elements)
        text, register = "", 2
        for offset, count in accesses:
            registers = [f"%f{register + k}" for k in range(count)]
            vector, data = (f".v{count}", "{" + ", ".join(registers) + "}") if count > 1 else ("", registers[0])
            text += f"ld.{space}{vector}.f32 {data}, [%rd7+{at + offset}];\n"
            text += "".join(f"fma.rn.f32 %f1, %f1, {r}, %f1;\n" for r in registers)
            register += count
        return text

    return {
        # Vectors and words of one window, whose alignment another vector shows.
        "shown_two_word": sequence((48, 4), (88, 2), (84, 1)), "shown_word_two": sequence((48, 4), (84, 1), (88, 2)),
        "shown_two_words": sequence((48, 4), (88, 2), (84, 1), (80, 1)), "shown_three": sequence((48, 4), (84, 1), (88, 1), (92, 1)),
        "shown_words": sequence((48, 4), (84, 1), (80, 1)), "shown_twos": sequence((48, 4), (80, 2), (88, 2)),
        "two_word_shown": sequence((88, 2), (84, 1), (48, 4)), "three_shown": sequence((84, 1), (88, 1), (92, 1), (48, 4)),
        "four_two_word": sequence((80, 4), (88, 2), (84, 1)), "twos_word": sequence((88, 2), (96, 2), (100, 1)),
        "four_word": four + words(4), "word_four": words(4) + four, "four_words": four + words(0, 4), "words_four": words(0, 4) + four,
        "four_middle": four + words(4, 8), "four_three": four + words(0, 4, 8), "four_beyond": four + words(0, 4, 16, 20),
        "two_word": two + words(4), "two_words": two + words(0, 4), "two_four": two + four, "four_two": four + two,
        "word_word": words(4, 4), "stored_words": f"st.global.v4.f32 [%rd7+{at}], {{%f1, %f1, %f1, %f1}};\n" + words(0, 4),
        "stored_word_two": f"st.global.f32 [%rd7+{at}], %f1;\n" + two,
        "stored_two_four": f"st.global.v2.f32 [%rd7+{at}], {{%f1, %f1}};\n" + four,
        "barrier": four + "bar.sync 0;\n" + words(4),
    }


print(HEADER)
for pointer, computed in POINTERS.items():
    for at in OFFSETS.get(pointer, (0,)):
        for kind in ("", ".nc"):
            for name, text in kernels("global" + kind, at).items():
                name = f"{pointer}_{at}__{name}{kind.replace('.', '_')}"
                print(KERNEL.format(name=name, text=computed + "\n" + text))
