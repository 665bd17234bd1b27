"""Loops of C++, Fortran and Rust programs are named by lines that their programmers wrote, functions by their names.

The loops at the tags of tests/programs/structure/languages must be in the tree, and the hottest loop of all must be the
one at @hot: a line of the program itself, not of a header of the library that was inlined into it. No function may have
a mangled name; in Rust, none of the program's own, since its library's have a newer mangling (v0).
"""

import os
import re

import lf
import structure_tree
from structure_tree import describe, file_of, line_of

suite = lf.Suite()
DIRECTORY = os.path.join("structure", "languages")

# program, source, function of @hot, names of functions that must be there (regular expressions)
CASES = [
    ("templates.O1", "templates.cc", r"operator\*", [r"numbers::Counter::count\(", r"std::.*introsort_loop<.*>"]),
    ("templates.O2", "templates.cc", r"operator\*", [r"numbers::Counter::count\(", r"std::.*introsort_loop<.*>"]),
    ("templates.O3", "templates.cc", r"operator\*", [r"numbers::Counter::count\("]),
    ("module.O0", "module.f90", r"multiply", [r"halvings"]),
    ("module.O2", "module.f90", r"multiply", []),
    ("iterators", "iterators.rs", r"\bmultiply\b", [r"\bcount\b", r"\barea\b"]),
]
# Array expressions are loops of the compiler's making; what -O2 and -O3 may do with short loops is not asked.
OPTIONAL = {"module.O2": {"while", "calls"}, "iterators": {"shapes"}, "templates.O3": {"fill", "range"}}
MANGLED = re.compile(r"\b_Z[A-Z0-9]|::h[0-9a-f]{16}\b|\$LT\$|\$u20\$")
MANGLED_V0 = re.compile(r"\b_R[A-Z]\w*")


def check_program(case):
    program, source, function, names = case
    if source.endswith(".rs") and not os.path.exists(os.path.join(lf.PROGRAMS, DIRECTORY, program)):
        print("skipped Rust: rustc was not there when the programs were built")
        return
    with lf.Directory() as directory:
        trace = os.path.join(directory, "trace")
        result = lf.record(trace, [lf.program(os.path.join(DIRECTORY, program))])
        if not suite.check(f"{program}: recorded", result.status == 0, result):
            return
        suite.check_vectors(program, trace)
        facts = suite.check_trace(program, trace) or {}
        tree = structure_tree.load(suite, program, trace)
        if tree is None:
            return
        structure_tree.check_invariants(suite, program, tree, facts.get("instructions"))
    check_names(program, tree, source, names)
    check_loops(program, tree, source, function)


def check_names(program, tree, source, names):
    functions = {node["function"] for node in tree.nodes}
    functions |= {name for node in tree.nodes for name in node.get("inlined") or []}
    own = {node["function"] for node in tree.nodes if file_of(node) == source}
    mangled = sorted(name for name in functions if MANGLED.search(name) or name in own and MANGLED_V0.match(name))
    suite.check(f"{program}: names are demangled", not mangled, mangled[:20])
    for name in names:
        suite.check(f"{program}: a function like {name}", any(re.search(name, each) for each in functions),
                    "\n".join(sorted(functions)[:80]))


def check_loops(program, tree, source, function):
    lines = structure_tree.tags(os.path.join(DIRECTORY, source))
    own = [node for node in tree.find(kind="loop") if file_of(node) == source]
    seen = "loops of the source:\n" + "\n".join(map(describe, own))
    for tag, line in lines.items():
        if tag not in OPTIONAL.get(program, ()):
            suite.check(f"{program}: a loop at @{tag}", tree.loops(line, source),
                        f"expected one at line {line}; {seen}")
    loops = sorted(tree.find(kind="loop"), key=lambda node: node["self_ops"], reverse=True)
    if suite.check(f"{program}: has loops", loops):
        hot = loops[0]
        suite.check(f"{program}: the hottest loop is @hot", (file_of(hot), line_of(hot)) == (source, lines["hot"]),
                    f"expected {source}:{lines['hot']}, the tree has\n" + "\n".join(map(describe, loops[:5])))
        named = [hot["function"], *(hot.get("inlined") or [])]
        suite.check(f"{program}: it is in {function}", any(re.search(function, name) for name in named), named)
        percent = 100.0 * hot["self_ops"] / max(1, tree.root["ops"])
        suite.check(f"{program}: it is hot", percent > 15, f"{percent:.1f} % of the operations")


suite.each(check_program, CASES)
suite.finish()
