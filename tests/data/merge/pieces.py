"""What around_loops.py and branches.py make their kernels of: two loads, loops, branches, and what changes memory."""
import itertools

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
HEADER = """.version 8.0
.target sm_90
.address_size 64"""
ADD = "fma.rn.f32 %f1, %f1, %f1, %f1;\n"
BARRIER = "bar.sync 0;\n"
TEST = "setp.gt.f32 %p1, %f1, 0f40000000;"
numbers = itertools.count()


class Memory:
    """Shared or global memory, which is read through a pointer that stays and one that move() computes."""

    def __init__(self, space):
        self.space, self.shared = space, space == "shared"
        self.stays, self.moves = ("%r7", "%r9") if self.shared else ("%rd5", "%rd7")

    def load(self, offset, pointer, registers=("%f2",)):
        vector = "" if len(registers) == 1 else f".v{len(registers)}"
        data = registers[0] if not vector else "{" + ", ".join(registers) + "}"
        return (f"ld.{self.space}{vector}.f32 {data}, [{pointer}+{offset}];\n" +
                "".join(f"fma.rn.f32 %f1, %f1, {r}, %f1;\n" for r in registers))

    def move(self, counter):
        return (f"shl.b32 %r10, {counter}, 5; add.s32 %r9, %r7, %r10;\n" if self.shared else
                f"mul.wide.s32 %rd8, {counter}, 32; add.s64 %rd7, %rd5, %rd8;\n")

    def store(self):
        return "st.shared.f32 [%r7+2048], %f1;\n" if self.shared else "st.global.f32 [%rd4+2048], %f1;\n"

    def other(self, offset=1024):
        """A store to the other memory."""
        return f"st.global.f32 [%rd4+{offset}], %f1;\n" if self.shared else f"st.shared.f32 [%r7+{offset}], %f1;\n"

    def when(self, body, other=True):
        label = f"J{next(numbers)}"
        return f"{TEST} @%p1 bra {label};\n{body}{self.other() if other else ''}{label}:\n"

    def either(self, one, two):
        number = next(numbers)
        return (f"{TEST} @%p1 bra E{number};\n{one}{self.other()}bra.uni J{number};\nE{number}:\n{two}"
                f"{self.other(1028)}J{number}:\n")


def loop(body, counter="%r4", told='.pragma "nounroll";'):
    label = f"L{next(numbers)}"
    return (f"{label}: {told}\n{body}add.s32 {counter}, {counter}, 1; setp.lt.s32 %p2, {counter}, %r3; "
            f"@%p2 bra {label};\n")


def inner(body):
    return "mov.u32 %r5, 0;\n" + loop(body, "%r5")


def leaving(body):
    """For use in a loop: the rest of it, left at once where a lane has enough."""
    return f"{TEST} @%p1 bra OUT;\n{body}"
