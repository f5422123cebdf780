#!/usr/bin/env python3
"""Prints random_ways.cu: kernels of random structured control flow.

    random_ways.py [SEED [KERNELS]]

Each place that lanes visit gets, from every lane, its share of an execution: the sum over the lanes is how often
the place was executed.
"""
import random
import sys

HEAD = """\
// Random control flow, made by random_ways.py. Lane t draws its ways from in[t]; at each place v that it comes to it
// adds shares[n] to o[32 v + t], where n lanes are there together: the sum over lanes is a multiple of n * shares[n], which
// is the same for all n, for each execution. What an H100 counts is in random_ways.csv.

#define DRAW() (r = r * 1664525u + 1013904223u, int(r >> 20))

__device__ __forceinline__ void visit(volatile unsigned long long* o, const volatile unsigned long long* shares) {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  *o = *o + shares[__popc(mask)];
}
"""


class Kernel:
    def __init__(self, rnd, with_goto, with_return):
        self.rnd, self.with_goto, self.with_return = rnd, with_goto, with_return
        self.lines, self.places, self.counters, self.labels = [], 0, 0, 0
        self.counted, self.targets = [], []
        self.budget = rnd.choice([4, 6, 8, 10])

    def put(self, indent, text):
        self.lines.append("  " * indent + text)

    def visit(self, indent):
        self.put(indent, f"visit(o + {self.places} * 32, shares);")
        self.places += 1
        self.budget -= 1

    def condition(self):
        def simple():
            bits = self.rnd.choice([1, 1, 3, 3, 7])
            value = self.rnd.randint(0, bits) if bits > 1 else 1
            return f"(DRAW() & {bits}) {self.rnd.choice(['==', '!=', '<'])} {value}"

        kind = self.rnd.random()
        if kind < 0.72:
            return simple()
        return f"{simple()} {'&&' if kind < 0.86 else '||'} {simple()}"

    def sequence(self, indent, depth, loops):
        """Whether a jump ends it."""
        for _ in range(self.rnd.choice([1, 1, 2, 2, 3])):
            if self.statement(indent, depth, loops):
                return True
            if self.budget <= 0:
                break
        return False

    def jump(self, indent, loops):
        kinds = ["break", "continue"] * (3 if loops else 0)
        kinds += ["return"] * self.with_return + [f"goto {t}" for t in self.targets[:2]]
        if kinds:
            self.put(indent, self.rnd.choice(kinds) + ";")
        return bool(kinds)

    def body(self, indent, depth, loops):
        if self.rnd.random() < 0.35:
            if self.rnd.random() < 0.7:
                self.visit(indent)
            return self.jump(indent, loops)
        return self.sequence(indent, depth + 1, loops)

    def statement(self, indent, depth, loops):
        rnd, kind = self.rnd, self.rnd.random()
        if self.budget <= 0 or depth > 4 or kind < 0.25:
            self.visit(indent)
        elif kind < 0.62:
            self.put(indent, f"if ({self.condition()}) {{")
            ended = self.body(indent + 1, depth, loops)
            if rnd.random() < 0.5:
                self.put(indent, "} else {")
                ended = self.body(indent + 1, depth, loops) and ended
            else:
                ended = False
            self.put(indent, "}")
            return ended
        elif kind < 0.68:
            self.switch(indent)
        elif kind < 0.95 or not self.with_goto:
            self.loop(indent, depth)
        else:
            label = f"label{self.labels}"
            self.labels += 1
            self.targets.append(label)
            self.put(indent, "{")
            self.sequence(indent + 1, depth + 1, loops)
            self.put(indent, "}")
            self.targets.remove(label)
            self.put(indent, f"{label}:;")
            self.visit(indent)
        return False

    def switch(self, indent):
        cases = self.rnd.choice([3, 4, 5])
        self.put(indent, "switch (DRAW() & 7) {")
        for case in range(cases):
            last = case == cases - 1 and self.rnd.random() < 0.5
            self.put(indent + 1, "default:" if last else f"case {case}:")
            self.visit(indent + 2)
            if self.rnd.random() < 0.7:
                self.put(indent + 2, "break;")
        self.put(indent, "}")

    def loop(self, indent, depth):
        name = f"i{self.counters}"
        self.counters += 1
        most, kind = self.rnd.choice([3, 7]), self.rnd.random()
        if kind < 0.5:
            self.put(indent, f"for (int {name} = 0, n = DRAW() & {most}; {name} < n; ++{name}) {{")
        else:
            self.counted.append(name)
            self.put(indent, f"{name} = DRAW() & {most};")
            self.put(indent, f"while ({name}-- > 0) {{" if kind < 0.75 else "do {")
        self.visit(indent + 1)
        self.sequence(indent + 1, depth + 1, True)
        if self.rnd.random() < 0.4:
            self.visit(indent + 1)
        self.put(indent, f"}} while (--{name} > 0);" if kind >= 0.75 else "}")

    def text(self, name):
        while self.budget > 0 and not self.sequence(1, 0, False):
            pass
        self.visit(1)
        counted = "".join(f"  int {c};\n" for c in self.counted)
        return (f'extern "C" __global__ void {name}(const unsigned* in, volatile unsigned long long* o,\n'
                "    const volatile unsigned long long* shares) {\n"
                "  unsigned r = in[threadIdx.x];\n  o += threadIdx.x;\n" + counted + "\n".join(self.lines) + "\n}\n")


def main():
    rnd = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    print(HEAD)
    for index in range(int(sys.argv[2]) if len(sys.argv) > 2 else 60):
        kernel = Kernel(random.Random(rnd.getrandbits(64)), rnd.random() < 0.25, rnd.random() < 0.4)
        print(kernel.text(f"way{index}"))


main()
