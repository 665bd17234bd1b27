"""Verdicts: what Loopfold says of every loop of kernels/verdicts is what its `// expect:` line says.

Each program is built by GCC and Clang at four levels, recorded, analysed, and the rows of profile.json's regions are
compared with the source (rows.py finds out which row speaks of which loop).

- At -O0, -O1 and -O2 (without vectorisation) a row is equal to its expectation, with the operators of its reductions.
  `unknown` is wrong unless it is expected. `// hidden: BUILDS: why` in the line above the head allows it in the builds
  that it names, such as `gcc -O2, clang -O1`, and each of these must need it. In optimised builds `// anew: why`
  allows `parallel` as well: the compiler replaced what is carried by what need not be.
- At -O3 a row is equal or `unknown`, and at least 70 % of the rows are decided.
- At -O0 every loop has a row; higher up a compiler may have removed it.
- A `no` names at least one instance: where the value or decision comes from and where it goes to (a decision to leave
  the loop: where it is taken), and how often. `parallel: reload x` names a load, at -O0.
- The comparison itself can fail: profiles made from the expectations pass, and each that is then made wrong is noticed.

    --table   prints every row
    LOOPFOLD_KERNELS  a regular expression: only the programs that it matches
    LOOPFOLD_BUILDS   the same for builds, such as 'gcc -O[01]'
"""

import collections
import copy
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
sys.argv[1:] = sorted(sys.argv[1:], key=lambda argument: argument.startswith("--"))
import lf  # noqa: E402
from expectations import normal, programs_in  # noqa: E402
from rows import rows_of  # noqa: E402

PROGRAMS = os.path.join(lf.SOURCE, "kernels", "verdicts")
INPUT = ("43", "1")  # size and seed, which reality.py checks too; unrolled loops go round more than once
FEWEST_DECIDED_AT_O3 = 0.7
MOST_EXCEPTIONS = 10
LEVELS = {"gcc": {"-O2": ["-fno-tree-vectorize", "-fno-tree-loop-distribute-patterns"]},
          "clang": {"-O2": ["-fno-vectorize", "-fno-slp-vectorize"]}}

lf.skip_library_debug_info()
suite = lf.Suite()


class Build:
    def __init__(self, compiler, level):
        self.compiler, self.level = compiler, level
        self.name = f"{compiler} {level}"
        self.flags = [level, *LEVELS[compiler].get(level, [])]

    def __str__(self):
        return self.name

    __repr__ = __str__


class Finding:
    """One row (or the lack of one) of a loop in one build."""

    def __init__(self, build, loop, row, problems):
        self.build, self.loop, self.row, self.problems = build, loop, row, problems

    def said(self):
        return f"{self.row.verdict()}  {self.row.why()}" if self.row else "no row"


def judge(build, loops, profile, file_name):
    """Compares a profile with the expectations. Returns a finding per row, and one per loop without any where that is
    wrong."""
    findings, seen = [], set()
    for row in rows_of(profile, file_name, loops):
        if row.loops:
            findings.append(judge_row(build, row))
            seen |= {id(loop) for loop in row.loops if len(row.loops) == 1}
    if build.level == "-O0":
        findings += [Finding(build, loop, None, ["no row at -O0"]) for loop in loops if id(loop) not in seen]
    return findings


def judge_row(build, row):
    """The loop that it suits best, if it may be several."""
    candidates = [(problems_of(build, loop, row), loop) for loop in row.loops]
    problems, loop = min(candidates, key=lambda candidate: len(candidate[0]))
    return Finding(build, loop, row, problems)


def problems_of(build, loop, row):
    verdict, problems = row.verdict(), []
    optimised = build.level != "-O0"
    accepted = {loop.expected} | ({"unknown"} if build.level == "-O3" or build.name in loop.hidden else set())
    accepted |= {"parallel", "unknown"} if loop.anew and optimised else set()
    if normal(verdict) not in map(normal, accepted):
        problems.append(f"{verdict} instead of {loop.expected}")
    if verdict == "no" and not any(names_instance(block) for block in row.entry["blocking"]):
        problems.append("a no that names no instance")
    if verdict == "unknown" and not row.entry.get("unknown"):
        problems.append("unknown without a reason")
    if verdict == "parallel" and loop.needs_reload() and not optimised and not row.entry["reload"]:
        problems.append("nothing to reload")
    return problems


def names_instance(block):
    ends = [block["source_from"], block["source_to"]]
    needed = 1 if block.get("kind") == "control" else 2
    return block["count"] > 0 and sum(end is not None for end in ends) >= needed


def analysed(program, build, directory):
    """The profile of a program, built and recorded."""
    def command(binary):
        return [program.compiler(build.compiler), program.standard(), "-g", *build.flags, "-w", "-o", binary,
                program.path, "-lm", "-pthread"]
    binary = os.path.join(directory, f"{program.name}.{build.compiler}{build.level}")
    return recorded(command, INPUT, binary, "--no-advice")


def recorded(command, arguments, binary, *options):
    """The profile of what a compiler's command makes, run with arguments and analysed with options."""
    trace = binary + ".lf"
    succeed(lf.run(command(binary), env={**lf.ENVIRONMENT, "PATH": os.environ["PATH"]}))
    succeed(lf.record(trace, [binary, *arguments], options=("--quiet",)))
    succeed(lf.run([lf.LOOPFOLD, "analyze", "--quiet", "--jobs", "1", "--min-percent", "0", *options, trace]))
    with open(os.path.join(trace, "profile.json"), encoding="utf-8") as file:
        profile = json.load(file)
    shutil.rmtree(trace)
    return profile


def succeed(result):
    if result.status != 0:
        raise RuntimeError(str(result))


def builds():
    wanted = os.environ.get("LOOPFOLD_BUILDS", "")
    every = [Build(compiler, level) for compiler in ("gcc", "clang") if shutil.which(compiler)
             for level in ("-O0", "-O1", "-O2", "-O3")]
    return [build for build in every if re.search(wanted, build.name)]


def print_failures(findings):
    """Grouped by loop, with what every build made of it."""
    by_loop = collections.defaultdict(list)
    for program, finding in findings:
        by_loop[program.name, finding.loop.line, finding.loop.text].append(finding)
    for (name, line, text), group in sorted(by_loop.items(), key=lambda item: item[0][:2]):
        if not any(finding.problems for finding in group):
            continue
        print(f"\n{name}:{line}  {text}\n  expected {group[0].loop.expected}: {group[0].loop.reason}")
        for finding in group:
            mark = "WRONG" if finding.problems else "     "
            extra = [problem for problem in finding.problems if "instead of" not in problem]
            print(f"  {mark} {finding.build.name:10} {finding.said()} {'; '.join(extra)}")


def print_table(findings):
    for program, finding in findings:
        mark = "WRONG" if finding.problems else "     "
        where = f"{program.name}:{finding.loop.line}"
        print(f"{mark} {where:20} {finding.build.name:10} {finding.loop.expected:18} {finding.said()}")


def is_too_bold(finding):
    """Says that iterations are free of each other when they are not: the worst that can happen."""
    order = {"parallel": 0, "reduction": 1, "unknown": 2, "no": 2}
    if finding.row is None or not finding.problems:
        return False
    return order[normal(finding.row.verdict())[0]] < order[normal(finding.loop.expected)[0]]


def print_totals(findings):
    print(f"\n{'build':10} {'rows':>5} {'equal':>6} {'unknown':>8} {'too bold':>9} {'other':>6} {'no row':>7}")
    for build in sorted({finding.build.name for _, finding in findings}):
        of_build = [finding for _, finding in findings if finding.build.name == build]
        rows = [finding for finding in of_build if finding.row]
        equal = [finding for finding in rows if normal(finding.row.verdict()) == normal(finding.loop.expected)]
        unknown = [finding for finding in rows if finding not in equal and finding.row.verdict() == "unknown"]
        bold = [finding for finding in rows if is_too_bold(finding)]
        other = len(rows) - len(equal) - len(unknown) - len(bold)
        print(f"{build:10} {len(rows):5} {len(equal):6} {len(unknown):8} {len(bold):9} {other:6} "
              f"{len(of_build) - len(rows):7}")


def check_decided(findings):
    for compiler in sorted({finding.build.compiler for _, finding in findings}):
        rows = [finding for _, finding in findings if finding.row and finding.build.name == f"{compiler} -O3"]
        decided = [finding for finding in rows if finding.row.verdict() != "unknown"]
        if rows:
            suite.check(f"{compiler} -O3: enough is decided", len(decided) >= FEWEST_DECIDED_AT_O3 * len(rows),
                        f"{len(decided)} of {len(rows)}")


def check_marks(findings):
    """A build that a `// hidden:` mark names needs it: some row of the loop is unknown there."""
    needed = {}
    for program, finding in findings:
        if finding.build.name in finding.loop.hidden:
            key = (program.name, finding.loop.line, finding.build.name)
            unknown = finding.row is not None and finding.row.verdict() == "unknown"
            needed[key] = needed.get(key, False) or unknown
    for (name, line, build), unknown in sorted(needed.items()):
        suite.check(f"{name}:{line}: {build} hides it", unknown, "it is decided there")


def profile_as_expected(program):
    """What Loopfold would write if it were right, at -O0: one region per loop that is not in another."""
    here = {"file": program.path, "line": 1}
    tree, regions, node_of = [{"id": 0, "parent": None, "kind": "root"}], [], {}
    for loop in program.loops:
        node_of[id(loop)] = node = len(tree)
        tree.append({"id": node, "parent": node_of[id(loop.parent)] if loop.parent else 0, "kind": "loop"})
        name, operators = normal(loop.expected)
        row = {"node": node, "nodes": [node], "source": {"file": program.path, "line": loop.line},
               "parallel": "yes" if name == "parallel" else name,
               "reductions": [{"operator": operator, "variable": "s"} for operator in operators if operator],
               "reload": [{"source": here}] if loop.needs_reload() else [], "assumes": [],
               "blocking": [{"source_from": here, "source_to": here, "object": 1, "distance": 1, "count": 5,
                             "kind": "memory"}] if name == "no" else [],
               "unknown": [{"why": "another thread"}] if name == "unknown" else []}
        if loop.parent is None:
            regions.append({"loops": []})
        regions[-1]["loops"].append(row)
    return {"tree": tree, "regions": regions}


def mistakes(row):
    """Ways to make a row wrong."""
    for verdict in ("yes", "no", "reduction", "unknown"):
        if verdict != row["parallel"]:
            yield {"parallel": verdict, "reductions": [{"operator": "+"}], "unknown": [{"why": "so"}],
                   "blocking": [{"source_from": {}, "source_to": {}, "count": 1}]}
    for block in row["blocking"]:
        yield {"blocking": []}
        yield {"blocking": [{**block, "count": 0}]}
        yield {"blocking": [{**block, "source_to": None}]}
        yield {"blocking": [{**block, "source_from": None, "source_to": None, "kind": "control"}]}
    if row["reductions"]:
        yield {"reductions": [{"operator": "/"}]}
    if row["reload"]:
        yield {"reload": []}
    if row["unknown"]:
        yield {"unknown": []}


def check_comparison(program):
    """A right profile passes; each mistake in it is found, in the row where it is."""
    build, right = Build("gcc", "-O0"), profile_as_expected(program)
    wrong = [finding for finding in judge(build, program.loops, right, program.name) if finding.problems]
    suite.check(f"{program}: a right profile passes", not wrong, [(each.loop.line, each.problems) for each in wrong])
    for region, loops in enumerate(right["regions"]):
        for at, row in enumerate(loops["loops"]):
            line = row["source"]["line"]
            for mistake in mistakes(row):
                spoiled = copy.deepcopy(right)
                spoiled["regions"][region]["loops"][at].update(mistake)
                found = [each.loop.line for each in judge(build, program.loops, spoiled, program.name) if each.problems]
                suite.check(f"{program}:{line}: {mistake} is noticed", found == [line], found)
            spoiled = copy.deepcopy(right)
            del spoiled["regions"][region]["loops"][at]
            found = {each.loop.line for each in judge(build, program.loops, spoiled, program.name) if each.problems}
            suite.check(f"{program}:{line}: a missing row is noticed", found == {line}, found)


def main():
    wanted = os.environ.get("LOOPFOLD_KERNELS", "")
    programs = programs_in(PROGRAMS, wanted)
    exceptions = sum(bool(loop.hidden or loop.anew) for program in programs for loop in program.loops)
    suite.check("few exceptions", exceptions <= MOST_EXCEPTIONS, exceptions)
    for program in programs:
        check_comparison(program)
    findings = []

    def check_case(case):
        program, build = case
        for finding in judge(build, program.loops, analysed(program, build, directory), program.name):
            findings.append((program, finding))

    with lf.Directory() as directory:
        suite.each(check_case, [(program, build) for build in builds() for program in programs])
    findings.sort(key=lambda each: (each[0].name, each[1].loop.line, each[1].build.name))
    if "--table" in sys.argv:
        print_table(findings)
    print_failures(findings)
    print_totals(findings)
    check_decided(findings)
    check_marks(findings)
    wrong = sum(bool(finding.problems) for _, finding in findings)
    suite.check("all rows are right", wrong == 0, f"{wrong} of {len(findings)} are wrong")
    suite.finish()


if __name__ == "__main__":
    main()
