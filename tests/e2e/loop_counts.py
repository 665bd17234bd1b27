"""Trip counts in the loop tree are what the programs count themselves.

tests/programs/structure/kernels: each kernel prints `loop LINE ENTRIES ITERATIONS` for each of its loops. In the builds
by GCC at -O0, -O1 and -O2 the trip counts of the tree's loops at that line must add up to these iterations, and the
entries to these entries (at -O1 and -O2: or to fewer, since a loop that is not gone round is not entered there). At -O3
and by Clang, loops are vectorised and unrolled: there must be loops in the loop's lines, no more is asked. What
compilers do to single loops is said in the source by `// expect(BUILDS): RELATION`, see kernels/counted.h.
"""

import fnmatch
import os
import re

import lf
import structure_tree

suite = lf.Suite()
KERNELS = os.path.join("structure", "kernels")
EXACT = ("gcc-O0", "gcc-O1", "gcc-O2")
OTHERS = ("gcc-O3", "clang-O2", "clang-O3")
RELATIONS = ("gone", "differs", "unclear")
FEWEST = 60  # loops that a build must have been compared for


def expectation(line, build):
    """What the comment on a loop's line says about a build; None if nothing."""
    for builds, relation in re.findall(r"expect\(([^)]*)\): (\w+)", line):
        if relation not in RELATIONS:
            raise ValueError(f"unknown relation {relation!r} in {line!r}")
        if any(fnmatch.fnmatch(build, glob) for glob in builds.split()):
            return relation
    return None


def indentation(line):
    return len(line) - len(line.lstrip())


def extent(lines, number):
    """First and last line of the loop whose line is `number`: to the closing brace, or from `do`, or from the label."""
    line = lines[number - 1]
    if re.match(r"\s*(for|while) \(.*\{", line):
        step, stop = 1, "}"
    elif re.match(r"\s*\} while", line):
        step, stop = -1, "do {"
    else:
        label = re.search(r"goto (\w+);", line).group(1)
        return 1 + next(i for i, text in enumerate(lines) if text.startswith(f"{label}:")), number
    other = number
    while True:
        other += step
        text = lines[other - 1]
        if indentation(text) == indentation(line) and text.lstrip().startswith(stop):
            return min(number, other), max(number, other)


def counted_loops(output):
    """(kernel, line, entries, iterations) as printed."""
    kernel, found = None, []
    for line in output.decode().splitlines():
        words = line.split()
        if words[0] == "kernel":
            kernel = words[1]
        elif words[0] == "loop":
            found.append((kernel, *map(int, words[1:])))
    return found


def sum_of(nodes, *keys):
    total = 0
    for node in nodes:
        for key in keys:
            node = node[key]
        total += node
    return total


def seen(nodes):
    return "seen: " + ("\n      ".join(map(structure_tree.describe, nodes)) or "no loop")


def all_loops_of(tree, file):
    nodes = [node for node in tree.find(kind="loop") if structure_tree.file_of(node) == file]
    return "all loops of the file:\n      " + "\n      ".join(map(structure_tree.describe, nodes))


def check_exact(name, build, nodes, entries, iterations, context):
    trip, entered = sum_of(nodes, "trip", "total"), sum_of(nodes, "entries")
    suite.check(f"{name}: trip counts", trip == iterations,
                f"expected {iterations}, the tree's trips add up to {trip}\n{seen(nodes)}\n{context}")
    right = entered == entries if build == "gcc-O0" else entered <= entries
    suite.check(f"{name}: entries", right, f"expected {entries}, the tree has {entered}\n{seen(nodes)}")


def check_build(build):
    program = os.path.join(KERNELS, f"all.{build}")
    if build.startswith("clang") and not os.path.exists(os.path.join(lf.PROGRAMS, program)):
        print(f"skipped {build}: clang was not there when the programs were built")
        return
    with lf.Directory() as directory:
        trace = os.path.join(directory, "trace")
        recorded = lf.record(trace, [lf.program(program)])
        if not suite.check(f"{build}: recorded", recorded.status == 0, recorded):
            return
        suite.check_vectors(build, trace)
        tree = structure_tree.load(suite, build, trace)
        if tree is None:
            return
        structure_tree.check_invariants(suite, build, tree)
    compare(build, tree, counted_loops(recorded.stdout))


def compare(build, tree, loops):
    suite.check(f"{build}: kernels counted their loops", len(loops) >= FEWEST, f"only {len(loops)}: {loops}")
    for kernel, line, entries, iterations in loops:
        file = f"{kernel}.c"
        with open(os.path.join(structure_tree.SOURCES, KERNELS, file)) as source:
            lines = source.read().splitlines()
        name = f"{build} {file}:{line}"
        nodes = tree.loops(line, file)
        expected = expectation(lines[line - 1], build)
        if expected == "gone":
            suite.check(f"{name}: gone", not nodes, seen(nodes))
        elif expected == "differs":
            suite.check(f"{name}: some loop", nodes, seen(nodes) + "\n" + all_loops_of(tree, file))
        elif expected == "unclear":
            continue
        elif build in EXACT:
            check_exact(name, build, nodes, entries, iterations, all_loops_of(tree, file))
        else:
            first, last = extent(lines, line)
            within = [node for at in range(first, last + 1) for node in tree.loops(at, file)]
            suite.check(f"{name}: some loop in lines {first} to {last}", within, all_loops_of(tree, file))


suite.each(check_build, EXACT + OTHERS)
suite.finish()
