"""What compilers make of loops: verdicts and requirements hold for the source, whatever has become of it.

The programs of kernels/moved are built by GCC, Clang and GNU Fortran at several levels of optimisation. A comment in the
line of a loop says what every loop of that line must be like, in all of these builds:

    loop: verdict no unknown       its verdict is one of these
    loop: needs REGEX              if it is called parallel or a reduction, a requirement matches, or whether there are
                                   any is said to be not known
    loop: never REGEX              no requirement matches
    loop: reuse none private       what is said about memory reuse is one of these
    loop: at -O0 ...               the same, at this level only

Requirements are the clauses, or the lines, of what is private or expanded, and operator:name of what is reduced. At -O0
every such loop must be there.
"""

import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import lf  # noqa: E402

KERNELS = os.path.join(lf.SOURCE, "kernels", "moved")
COMPILERS = {".c": ("gcc", "clang"), ".cc": ("g++",), ".f90": ("gfortran",)}
LEVELS = ("-O0", "-O1", "-O2", "-O3")

lf.skip_library_debug_info()
suite = lf.Suite()


def conditions_of(text):
    """(line, condition, arguments, level or None)"""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r"(?://|!) loop: (.*)$", line)
        for part in found[1].split(";") if found else ():
            level, kind, rest = re.fullmatch(r"\s*(?:at (-O\d) )?(\w+) (.*?)\s*", part).groups()
            yield number, kind, rest, level


def requirements_of(row):
    said = [f"{reduction['operator']}:{reduction['variable']}" for reduction in row["reductions"]]
    for touched in row["private"] + row["expand"]:
        at = touched.get("source")
        said += [touched.get("clause", ""), touched.get("variable", "")]
        said += [f"{os.path.basename(at['file'])}:{at['line']}"] if at else []
    return said


def holds(row, kind, rest):
    if kind == "verdict":
        return row["parallel"] in rest.split()
    if kind == "reuse":
        return row["reuse"] in rest.split()
    matches = any(re.search(rest, said) for said in requirements_of(row))
    if kind == "never":
        return not matches
    assert kind == "needs", kind
    return matches or row["parallel"] not in ("yes", "reduction") or row["reuse"] == "unknown"


def look_at(case):
    with lf.Directory() as directory:
        look_in(directory, *case)


def look_in(directory, path, compiler, level):
    name = f"{os.path.basename(path)} {compiler} {level}"
    program = os.path.join(directory, "program")
    built = lf.run([compiler, "-g", "-w", level, "-o", program, path, "-lm"], cwd=directory,
                   env={**lf.ENVIRONMENT, "PATH": os.environ["PATH"]})
    if not suite.check(f"{name}: builds", built.status == 0, built):
        return
    trace = program + ".lf"
    lf.record(trace, [program], options=("--quiet",))
    analysed = lf.run([lf.LOOPFOLD, "analyze", "--quiet", "--min-percent", "0", trace])
    if not suite.check(f"{name}: is analysed", analysed.status == 0, analysed):
        return
    with open(os.path.join(trace, "profile.json"), encoding="utf-8") as file:
        profile = json.load(file)
    with open(path, encoding="utf-8") as file:
        conditions = list(conditions_of(file.read()))
    suite.check(f"{name}: says something", conditions)
    for line, kind, rest, only in conditions:
        if only not in (None, level):
            continue
        rows = [row for region in profile["regions"] for row in region["loops"]
                if row["source"] and row["source"]["line"] == line
                and os.path.basename(row["source"]["file"]) == os.path.basename(path)]
        suite.check(f"{name}: line {line} {kind} {rest}",
                    (rows or level != "-O0") and all(holds(row, kind, rest) for row in rows),
                    [(row["parallel"], row["reuse"], row.get("reuse_why"), requirements_of(row)) for row in rows])


def compilers_of(path):
    with open(path, encoding="utf-8") as file:
        gcc_only = "Built by GCC only" in file.readline()
    return [compiler for compiler in COMPILERS[os.path.splitext(path)[1]]
            if shutil.which(compiler) and not (gcc_only and compiler == "clang")]


def main():
    paths = [os.path.join(KERNELS, name) for name in sorted(os.listdir(KERNELS))]
    cases = [(path, compiler, level) for path in paths for compiler in compilers_of(path) for level in LEVELS]
    suite.each(look_at, cases)
    suite.finish()


if __name__ == "__main__":
    main()
