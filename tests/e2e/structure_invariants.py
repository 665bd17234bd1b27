"""Whatever a program does, its tree adds up and its iteration vectors increase.

Records the programs of the other suites, one build of each, and checks what must hold of any of them: parents come
before children, operations are those of a node itself and of its children, the root has all instructions of the trace,
counts are in order; and `trace check --iteration-vectors` agrees.
"""

import os

import lf
import structure_tree

suite = lf.Suite()
HELLO = lf.program("hello")

# Those that go on for ever, that the recorder refuses, or whose point is something else and that take long.
LEFT_OUT = {"forever", "ticker", "split_dwarf", "avx512", "big_stack", "late_work", "stack_overflow", "close_fds",
            "thread_create_fails", "nested_forks", "signal_exit"}
ARGUMENTS = {"fork_exec": [HELLO], "noise": ["3000"], "args_env": ["a", "b c"], "exec_descriptor": [HELLO]}
# Besides the one build of each: what compilers and linkers make of the same source.
MORE = ["compute.O0", "compute.O3-avx2", "compute.stripped", "compute.stripped-static", "exceptions.static",
        "containers.O0", "containers.O3-avx2", "recursion.O2", "jump_table.O0", "threads.O0", "malloc_family.static"]
FEWEST = 60


def programs():
    """The plain names in the directory (variants have a dot), and those of exact/."""
    found = []
    for below in ("", "exact"):
        for name in sorted(os.listdir(os.path.join(lf.PROGRAMS, below))):
            path = os.path.join(below, name)
            if "." not in name and name not in LEFT_OUT and os.path.isfile(lf.program(path)) and os.access(
                    lf.program(path), os.X_OK):
                found.append(path)
    return found + MORE


def check_program(name):
    with lf.Directory() as directory:
        trace = os.path.join(directory, "trace")
        result = lf.record(trace, [lf.program(name), *ARGUMENTS.get(name, [])], options=("--quiet",), cwd=directory)
        suite.check(f"{name}: recorded", result.status not in ("timeout", 125, 126, 127), result)
        facts = lf.info(trace)
        if not suite.check(f"{name}: trace info", isinstance(facts, dict), facts):
            return
        suite.check_vectors(name, trace)
        tree = structure_tree.load(suite, name, trace)
        if tree is None:
            return
        structure_tree.check_invariants(suite, name, tree, facts["instructions"])
        suite.check(f"{name}: partial or not, as the trace", tree.program["partial"] == facts["partial"],
                    f"tree {tree.program['partial']}, trace {facts['partial']}")


ALL = programs()
suite.check("enough programs", len(ALL) >= FEWEST, ALL)
suite.each(check_program, ALL)
suite.finish()
