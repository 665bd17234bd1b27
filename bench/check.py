#!/usr/bin/env python3
"""Measures what `loopfold check` costs: nests of 2 to 6 loops and of 10 to 200 statements.

    bench/check.py [build/loopfold] [--depths 2,3,4,5,6] [--statements 10,20,50,100,200] [--quick]
                   [--update docs/check.md]

Every statement sets a scalar of its own from one that the one before has set, and an element of an array. The two
innermost loops are interchanged and the outermost is parallel, so that all scalars collide and need a repair. The
costs are CPU seconds of the check itself, as `--stats` says, and of the whole command, which analyses the trace first.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import measure

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ITERATIONS = 64  # of all loops together, or a little more
LONG = 3  # seconds: once is enough
VALUES = 4  # statements of one straight piece of code


def program(depth, statements):
    """The text of it, and the lines of its loops. A piece of code is at most VALUES statements: inner `if`s part them."""
    trips = max(2, round(ITERATIONS ** (1 / depth)))
    counters = [f"i{k}" for k in range(depth)]
    element = "".join(f"[{counter}]" for counter in counters)
    arrays = (statements + VALUES - 1) // VALUES
    lines = ["#include <stdio.h>"]
    lines += [f"double a{n}{f'[{trips}]' * depth};" for n in range(arrays)]
    lines.append("__attribute__((noinline)) void kernel(void) {")
    lines += [f"  double s{n};" for n in range(statements)]
    loops = []
    for k, counter in enumerate(counters):
        loops.append(len(lines) + 1)
        lines.append(f"{'  ' * (k + 1)}for (int {counter} = 0; {counter} < {trips}; {counter}++) {{")
    for n in range(statements):
        if n % VALUES == 0 and n > 0:
            lines.append(f"    if ({counters[-1]} < {trips}) {{")
        before = f"s{n - 1}" if n > 0 else counters[0]
        lines.append(f"    s{n} = {before} * 0.5 + {n};")
        if n % VALUES == VALUES - 1 or n == statements - 1:
            lines.append(f"    a{n // VALUES}{element} = s{n};")
            if n >= VALUES:
                lines.append("    }")
    lines += ["  " * (k + 1) + "}" for k in reversed(range(depth))]
    lines += ["}", "int main(void) {", "  kernel();", f"  printf(\"%g\\n\", a0{'[0]' * depth});", "  return 0;", "}"]
    return "\n".join(lines) + "\n", loops


def measured(loopfold, directory, depth, statements):
    """CPU seconds of the check and of the whole command, and what the check said."""
    text, loops = program(depth, statements)
    source, binary = os.path.join(directory, "nest.c"), os.path.join(directory, "nest")
    trace, steps = os.path.join(directory, "trace"), os.path.join(directory, "steps")
    with open(source, "w") as file:
        file.write(text)
    with open(steps, "w") as file:
        file.write(f"interchange {loops[-2]} {loops[-1]}; parallel {loops[0] if depth > 2 else loops[-1]}\n")
    subprocess.run(["gcc", "-O0", "-g", source, "-o", binary], check=True)
    subprocess.run([loopfold, "record", "-q", "-o", trace, "--", binary], check=True, stdout=subprocess.DEVNULL)
    check = [loopfold, "check", "-q", "--stats", "--format", "json", "--schedule", steps, trace]
    costs = []
    for _ in range(measure.REPEAT):
        before = os.times()
        done = subprocess.run(check, capture_output=True, text=True, check=False)
        after = os.times()
        own = float(re.search(r"check +([0-9.]+) s", done.stderr).group(1))
        whole = after.children_user + after.children_system - before.children_user - before.children_system
        costs.append((own, whole))
        if whole > LONG:
            break
    return min(costs), json.loads(done.stdout)


def numbers(name, default):
    return [int(one) for one in measure.option(name, default).split(",")]


def table(loopfold):
    depths = numbers("--depths", "2,4,6" if measure.QUICK else "2,3,4,5,6")
    sizes = numbers("--statements", "10,50" if measure.QUICK else "10,20,50,100,200")
    lines = ["| statements | " + " | ".join(f"{depth} loops" for depth in depths) + " |",
             "|--:" * (len(depths) + 1) + "|"]
    with tempfile.TemporaryDirectory(prefix="loopfold-bench-") as directory:
        for size in sizes:
            cells = []
            for depth in depths:
                print(f"checking {size} statements in {depth} loops …", file=sys.stderr)
                (own, whole), answer = measured(loopfold, directory, depth, size)
                said = "" if answer["verdict"] == "legal after" else f" ({answer['verdict']})"
                cells.append(f"{own:.2f} of {whole:.2f}{said}")
            lines.append(f"| {size} | " + " | ".join(cells) + " |")
    return lines


def main():
    loopfold = next((word for word in sys.argv[1:] if os.path.isfile(word)), os.path.join(SOURCE, "build", "loopfold"))
    lines = ["CPU seconds of the check, of those of the whole command, which analyses the trace first; programs at -O0. The "
             "answer is `legal after` where there is no other.", "", *table(os.path.abspath(loopfold))]
    measure.publish({"checks": lines})


if __name__ == "__main__":
    main()
