"""A long run, end to end: records and analyses a regular program of at least so many instructions.

    python3 bench/large.py build/loopfold [--instructions 1e10] [--program dgemm|stencil] [--update docs/performance.md]

Short runs say how many instructions a unit of work takes; the size of the problem follows from that. It is an error if
there are fewer in the end.
"""

import math
import os
import re
import sys
import tempfile

import analysis
import measure

# name: source, arguments for a scale, scale of the first short run, the power of the scale that work grows with
PROGRAMS = {
    "dgemm": ("dgemm.c", lambda s: [str(s)], 120, 3),
    "stencil": ("stencil.c", lambda s: ["1000", str(s)], 4, 1),
}
MARGIN = 1.05
SHORTER = 16  # the second of the short runs, against the long one


def record(loopfold, directory, command):
    """The cost of recording, instructions, bytes of the trace, and memory of the recording process."""
    cost = analysis.record(loopfold, directory, command, None, "--stats")
    instructions = int(re.search(r"instructions +(\d+) recorded", cost.stderr).group(1))
    memory = int(re.search(r"in the recording process \((\d+) MB\)", cost.stderr).group(1))
    return cost, instructions, os.path.getsize(os.path.join(directory, "trace", "trace.lft")), memory


def scale_for(loopfold, directory, name, instructions):
    """The scale at which the program has so many instructions: from a very short run the one of a longer, from that the
    one asked for, since what is not the innermost loop weighs much in the first."""
    source, arguments, scale, power = PROGRAMS[name]
    for goal in (instructions / SHORTER, instructions):
        found = record(loopfold, directory, [measure.compiled(directory, source), *arguments(scale)])[1]
        scale = math.ceil(scale * (MARGIN * goal / found) ** (1 / power))
    return scale


def table(name, arguments, recorded, analysed, native, none):
    cost, instructions, trace, memory = recorded
    speed = lambda seconds: f"{instructions / seconds / 1e6:.0f}"
    both = cost + analysed.cost
    return ["| stage | CPU, s | wall, s | M instructions/s of CPU | of wall | memory, MB | bytes written |",
            "|---|---|---|---|---|---|---|",
            f"| native | {native.cpu:.1f} | {native.wall:.1f} | {speed(native.cpu)} | {speed(native.wall)} | "
            f"{native.megabytes()} | |",
            f"| `valgrind --tool=none` | {none.cpu:.1f} | {none.wall:.1f} | {speed(none.cpu)} | {speed(none.wall)} | "
            f"{none.megabytes()} | |",
            f"| record | {cost.cpu:.1f} | {cost.wall:.1f} | {speed(cost.cpu)} | {speed(cost.wall)} | "
            f"{cost.megabytes()} | {trace} (trace) |",
            f"| analyze | {analysed.cost.cpu:.1f} | {analysed.cost.wall:.1f} | {speed(analysed.cost.cpu)} | "
            f"{speed(analysed.cost.wall)} | {analysed.cost.megabytes()} | {analysed.profile} (profile) |",
            f"| record + analyze | {both.cpu:.1f} | {both.wall:.1f} | {speed(both.cpu)} | {speed(both.wall)} | "
            f"{both.megabytes()} | |", "",
            f"`{name} {' '.join(arguments)}`: {instructions / 1e9:.2f} G instructions; record + analyze takes "
            f"{both.cpu / native.cpu:.0f} times the CPU time of the program and {both.cpu / none.cpu:.1f} times that "
            f"of `valgrind --tool=none`; {both.wall / native.wall:.0f} and {both.wall / none.wall:.1f} times the elapsed "
            f"time. Memory is that of the largest process: for record the program under "
            f"Valgrind or the recording process ({memory} MB). analyze ran with --jobs {jobs()}."]


def jobs():
    return min(2, len(measure.CORES))


def main():
    loopfold = sys.argv[1]
    name = measure.option("--program", "dgemm")
    instructions = float(measure.option("--instructions", "1e10"))
    with tempfile.TemporaryDirectory(prefix="loopfold-bench-") as directory:
        source, arguments_for, _, _ = PROGRAMS[name]
        arguments = arguments_for(scale_for(loopfold, directory, name, instructions))
        command = [measure.compiled(directory, source), *arguments]
        print(f"running {name} {' '.join(arguments)} …", file=sys.stderr)
        native = measure.spend(command)
        none = measure.spend(["valgrind", "-q", "--tool=none", *command])
        print("recording …", file=sys.stderr)
        recorded = record(loopfold, directory, command)
        if recorded[1] < instructions:
            sys.exit(f"{name} {' '.join(arguments)} has {recorded[1]} instructions only")
        print(f"analysing {recorded[1] / 1e9:.2f} G instructions …", file=sys.stderr)
        analysed = analysis.analyse(loopfold, directory, jobs())
    measure.publish({"large": table(name, arguments, recorded, analysed, native, none)})


if __name__ == "__main__":
    main()
