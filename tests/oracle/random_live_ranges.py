"""Random schedules of random kernels, against brute force over all live ranges of the trace.

A kernel is a nest of two or three loops, with statements, siblings and guards between them, on a few small arrays and
scalars. Several of them are packed into one program. `loopfold check` is asked about random schedules of each; and so is
tests/reference/live_ranges, which takes every execution of every piece of code, as recorded, puts them into the new
order with variables treated as told, and looks what each read gets.

- `legal`, `legal after ...` must be right when run: not one exception.
- Of the orders that are right as they are, most must be called legal. How many are not, and what they are called
  instead, is in the last line.

    LOOPFOLD_SOAK  multiplies the number of kernels
    LOOPFOLD_SEED  moves the seeds
"""

import json
import os
import random
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e")]
import lf  # noqa: E402
import live_ranges  # noqa: E402

PROGRAMS = 9 * lf.SOAK
KERNELS = 7  # of a program
SCHEDULES = 10  # of a kernel
SEED = int(os.environ.get("LOOPFOLD_SEED", "0"))
TRIPS = {"i": 4, "j": 3, "k": 3}
SIZE = 9  # of every dimension of an array: more than any subscript
ARRAYS = ("a", "b", "c", "d")  # a and b have two dimensions
SCALARS = ("s", "t")
NAMES = ARRAYS + SCALARS + ("u",)
LEAST_LEGAL = 0.6  # of the orders that are right

lf.skip_library_debug_info()
suite = lf.Suite()
counts = {}
lock = threading.Lock()


def count(what):
    with lock:
        counts[what] = counts.get(what, 0) + 1


class Kernel:
    """Writes its own text; knows the lines of its loops, and which are inside which."""

    def __init__(self, rng, number, first_line):
        self.rng, self.number = rng, number
        self.lines = []
        self.has_scalar = False  # one of its own in the body of a loop
        self.first_line = first_line
        self.loops = {}  # line -> lines of the loops around it
        self.marks = {}  # line of a loop -> lines before which it can be split
        self.write()

    def here(self):
        return self.first_line + len(self.lines)

    def write(self):
        self.lines.append(f"__attribute__((noinline)) void kernel{self.number}(void) {{")
        self.lines.append("  double s = 1, t = 2;")
        self.loop("i", [])
        self.lines.append("}")

    def loop(self, counter, around):
        rng = self.rng
        line = self.here()
        bound = TRIPS[counter]
        if around and rng.random() < 0.12:
            bound = "i + 1"
        self.lines.append(f"{'  ' * (len(around) + 1)}for (int {counter} = 0; {counter} < {bound}; {counter}++) {{")
        self.loops[line] = list(around)
        self.marks[line] = []
        inside = around + [line]
        counters = "ijk"[:len(inside)]
        deeper = {"i": 1.0, "j": 0.35, "k": 0}[counter]
        shape = ["statements"]
        if rng.random() < deeper:
            shape = rng.choice([["loop"], ["loop"], ["statements", "loop"], ["loop", "statements"], ["loop", "loop"],
                                ["statements", "loop", "statements"]])
        scalar = shape[0] == "statements" and not self.has_scalar and rng.random() < 0.15
        self.has_scalar = self.has_scalar or scalar
        for at, part in enumerate(shape):
            if at > 0:
                self.marks[line].append(self.here())
            if part == "loop":
                self.loop("ijk"[len(inside)], inside)
                continue
            if scalar and at == 0:
                self.lines.append(f"{'  ' * (len(inside) + 1)}double u = {self.source(counters)};")
            for _ in range(rng.randint(1, 2)):
                guard = "if (c[i] > 2.5) " if rng.random() < 0.06 else ""
                self.lines.append(f"{'  ' * (len(inside) + 1)}{guard}{self.target(counters)} = "
                                  f"{self.sum(counters, scalar)};")
        self.lines.append(f"{'  ' * (len(around) + 1)}}}")

    def subscript(self, counters):
        rng = self.rng
        return rng.choice(list(counters) * 3 + [f"{rng.choice(counters)} + 1", "0", f"{counters[0]} % 2",
                                                f"{counters[0]} + {counters[-1]}"])

    def element(self, counters):
        name = self.rng.choice(ARRAYS)
        if name in "ab":
            return f"{name}[{self.subscript(counters)}][{self.subscript(counters)}]"
        return f"{name}[{self.subscript(counters)}]"

    def target(self, counters):
        return self.rng.choice(SCALARS) if self.rng.random() < 0.3 else self.element(counters)

    source = target

    def sum(self, counters, scalar):
        terms = [self.source(counters) for _ in range(self.rng.randint(1, 2))]
        if scalar and self.rng.random() < 0.7:
            terms.append("u")
        return " + ".join(f"0.5 * {term}" for term in terms) + f" + {self.rng.randint(1, 9) / 4}"

    def nested(self):
        return [(outer, line) for line, around in self.loops.items() for outer in around]

    def siblings(self):
        return [(a, b) for a in self.loops for b in self.loops if a < b and self.loops[a] == self.loops[b]]

    def step(self):
        """One that makes sense for the order as written."""
        rng = self.rng
        any_loop = rng.choice(list(self.loops))
        choices = [f"reverse {any_loop}", f"parallel {any_loop}"]
        outer, inner = rng.choice(self.nested() or [(None, None)])
        if outer:
            choices += [f"interchange {outer} {inner}"] * 2 + [f"tile {outer},{inner} 2", f"skew {inner} {outer} 1"]
        for a, b in self.siblings():
            choices.append(f"fuse {a} {b}")
        marks = self.marks[any_loop]
        if marks:
            choices += [f"distribute {any_loop} at {rng.choice(marks)}"] * 2
        return rng.choice(choices)

    def schedules(self):
        found = []
        for _ in range(40):
            steps = [self.step() for _ in range(self.rng.choice([1, 1, 2, 2]))]
            steps.sort(key=lambda step: step.startswith("parallel"))
            text = "; ".join(steps)
            if sum(step.startswith("parallel") for step in steps) < 2 and text not in found:
                found.append(text)
        return found[:SCHEDULES]


class Program:
    def __init__(self, number):
        rng = random.Random(SEED * 1000003 + number)
        lines = ["#include <stdio.h>", f"double a[{SIZE}][{SIZE}], b[{SIZE}][{SIZE}], c[{SIZE}], d[{SIZE}];"]
        self.kernels = []
        for at in range(KERNELS):
            kernel = Kernel(rng, at, len(lines) + 1)
            self.kernels.append(kernel)
            lines += kernel.lines
        lines += ["int main(void) {", f"  for (int x = 0; x < {SIZE}; x++) {{", "    c[x] = x * 0.75; d[x] = x * 0.5 + 1;",
                  f"    for (int y = 0; y < {SIZE}; y++) {{ a[x][y] = x + 0.25 * y; b[x][y] = x * 0.5 - y; }}", "  }"]
        lines += [f"  kernel{at}();" for at in range(KERNELS)]
        lines += ["  double sum = 0;", f"  for (int x = 0; x < {SIZE}; x++) {{", "    sum = sum * 0.9 + c[x] + d[x];",
                  f"    for (int y = 0; y < {SIZE}; y++) sum = sum * 0.9 + a[x][y] + b[x][y];", "  }",
                  '  printf("%.9g\\n", sum);', "  return 0;", "}"]
        self.text = "\n".join(lines) + "\n"


def look_at(number):
    program = Program(number)
    level = "-O1" if number % 3 == 2 else "-O0"
    with lf.Directory() as directory:
        path = os.path.join(directory, "kernels.c")
        with open(path, "w") as file:
            file.write(program.text)
        binary, out = os.path.join(directory, "kernels"), os.path.join(directory, "out")
        built = lf.run(["gcc", level, "-g", "-fno-tree-vectorize", "-o", binary, path])
        if not suite.check(f"program {number}: builds", built.status == 0, built):
            return
        recorded = lf.run([lf.LOOPFOLD, "record", "-q", "-o", out, "--", binary])
        suite.check(f"program {number}: is recorded", recorded.status == 0, recorded)
        with live_ranges.Replay(out, "kernels.c") as replay:
            for kernel in program.kernels:
                for schedule in kernel.schedules():
                    compare(f"program {number} {level}: {schedule}", replay, program, kernel, level, out, schedule)


def compare(what, replay, program, kernel, level, out, schedule):
    checked = lf.run([lf.LOOPFOLD, "check", "-q", "--format", "json", "--schedule", "-", out], stdin=schedule.encode())
    if checked.status == 3:  # the compiler took a loop away, or statements cannot be split there
        return count("no such loop")
    try:
        answer = json.loads(checked.stdout)
    except ValueError:
        suite.check(f"{what}: is answered", False, f"{checked}\n{program.text}")
        return
    lines = live_ranges.assigned("\n" * (kernel.first_line - 1) + "\n".join(kernel.lines), NAMES)
    born = live_ranges.declared_in_loops("\n" * (kernel.first_line - 1) + "\n".join(kernel.lines))
    nest = min(kernel.loops)
    plain = replay.ask(nest, schedule, live_ranges.variables_of(lines, born))
    if "error" in plain:  # a step on what an earlier one has torn apart
        return count("not run")
    verdict = answer["verdict"]
    count(verdict)
    if plain["right"]:
        count("right")
        count(f"right, called {verdict}")
    if verdict not in ("legal", "legal after"):
        return
    if not {one["variable"] for one in answer["requires"]} <= set(NAMES):
        return count("by register")
    told = replay.ask(nest, schedule, live_ranges.variables_of(lines, born, answer["requires"]))
    suite.check(f"{what}: {verdict} is right", told.get("right"),
                f"{told}\n{answer}\n" + "\n".join(f"{kernel.first_line + at:3} {line}" for at, line in enumerate(kernel.lines)))


def main():
    suite.each(look_at, range(PROGRAMS))
    answers = sum(counts.get(verdict, 0) for verdict in ("legal", "legal after", "illegal", "unknown"))
    print(f"{answers} schedules: " + ", ".join(f"{many} {what}" for what, many in sorted(counts.items())))
    right = max(counts.get("right", 0), 1)
    called = counts.get("right, called legal", 0) + counts.get("right, called legal after", 0)
    print(f"of {right} that are right as they are, {100 * called / right:.0f} % are called legal")
    suite.check("there were enough schedules", answers >= 500 * lf.SOAK, counts)
    suite.check("all answers occur", all(counts.get(verdict) for verdict in ("legal", "legal after", "illegal")), counts)
    suite.check("most that are right are called legal", called >= LEAST_LEGAL * right, counts)
    suite.finish()


if __name__ == "__main__":
    main()
