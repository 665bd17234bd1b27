"""Advice: what Loopfold says of the kernels that carry `// expect-advice:` lines (kernels/, kernels/advice,
kernels/hidden).

Each kernel is built by GCC (gfortran), by default at -O1 and at -O2 without vectorisation, recorded in the size that it
names, and analysed. Its loops have the verdicts of their `// expect:` lines, a `no` names an instance, and all facts of
its `// expect-advice:` lines hold. docs/kernels.md has the notation; why a fact must be true stands in the kernel.

The reading of lines and the comparison are tested first: lines that say nothing sensible are refused, and made-up
profiles that are right or wrong by one thing are told apart.

If no profile says anything about advice, the lines are only read, and it is said how many facts wait. As soon as one
does, silence is a failure.

    --table           prints every row and every fact
    LOOPFOLD_KERNELS  a regular expression: only the kernels that it matches
    LOOPFOLD_BUILDS   the same for builds: -O1, -O2
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
sys.argv[1:] = sorted(sys.argv[1:], key=lambda argument: argument.startswith("--"))
import advice_selftest  # noqa: E402
import lf  # noqa: E402
import verdicts  # noqa: E402
from advice_facts import SILENT, Profile  # noqa: E402
from advice_lines import kernels_in  # noqa: E402

KERNELS = os.path.join(lf.SOURCE, "kernels")
DIRECTORIES = [KERNELS, os.path.join(KERNELS, "advice"), os.path.join(KERNELS, "hidden")]
FEWEST_KERNELS, FEWEST_FACTS = 30, 200

lf.skip_library_debug_info()
suite = lf.Suite()


class Case:
    """A kernel in one build, with what was found out about it."""

    def __init__(self, kernel, level):
        self.kernel, self.build = kernel, verdicts.Build("gcc", level)
        self.verdicts, self.facts, self.advises = [], [], False

    def __str__(self):
        return f"{self.kernel} {self.build.level}"

    def wanted_facts(self):
        return [fact for fact in self.kernel.facts if fact.level in (None, self.build.level)]

    def command(self, binary):
        return [self.kernel.compiler(), "-g", "-fno-inline", *self.build.flags, "-w", "-I", KERNELS, "-o", binary,
                self.kernel.path, "-lm"]

    def judge(self, directory):
        profile = verdicts.recorded(self.command, [*self.kernel.run.split()],
                                    os.path.join(directory, f"{self.kernel}{self.build.level}"))
        found = Profile(profile, self.kernel)
        self.advises = found.advises()
        self.verdicts = [verdicts.judge_row(self.build, row) for row in found.rows
                         if row.loops and all(loop.expected for loop in row.loops)]
        judged = {id(finding.loop) for finding in self.verdicts}
        self.verdicts += [verdicts.Finding(self.build, loop, None, ["no row"]) for loop in self.kernel.judged()
                          if id(loop) not in judged and self.build.name not in loop.hidden]
        self.facts = [finding for fact in self.wanted_facts() for finding in found.findings(fact)]


def report(case, silence_is_wrong):
    """Checks everything that a case found, and returns how many facts wait."""
    waiting = 0
    for finding in case.verdicts:
        name = f"{case.kernel}:{finding.loop.line} {case.build.level}: {finding.loop.expected}"
        suite.check(name, not finding.problems, f"{finding.loop.text}\n{finding.said()} {'; '.join(finding.problems)}")
        print_row(name, finding.said(), finding.problems)
    for finding in case.facts:
        if finding.problem == SILENT and not silence_is_wrong:
            waiting += 1
            continue
        fact = finding.fact
        name = f"{case.kernel}:{fact.loop.line} {case.build.level}: {fact.text}"
        suite.check(name, finding.problem is None, f"{fact.loop.text}\n{finding.problem}")
        print_row(name, "", finding.problem)
    return waiting


def print_row(name, said, problem):
    if "--table" in sys.argv:
        print(f"{'WRONG' if problem else '     '} {name:70} {said}")


def print_totals(cases, waiting):
    wrong = [case for case in cases if any(each.problems for each in case.verdicts)
             or any(each.problem not in (None, SILENT) for each in case.facts)]
    rows, facts = sum(len(case.verdicts) for case in cases), sum(len(case.facts) for case in cases)
    print(f"{len({case.kernel.name for case in cases})} kernels in {len(cases)} builds: {rows} verdicts, {facts} facts,"
          f" of which {waiting} wait for advice; {len(wrong)} builds with something wrong"
          + (f": {', '.join(map(str, wrong))}" if wrong else ""))


def main():
    advice_selftest.run(suite)
    wanted = os.environ.get("LOOPFOLD_KERNELS", "")
    kernels = kernels_in(DIRECTORIES, wanted)
    if not wanted:
        suite.check("enough kernels", len(kernels) >= FEWEST_KERNELS, len(kernels))
        suite.check("enough facts", sum(len(kernel.facts) for kernel in kernels) >= FEWEST_FACTS,
                    sum(len(kernel.facts) for kernel in kernels))
    cases = [Case(kernel, level) for kernel in kernels for level in kernel.levels
             if re.search(os.environ.get("LOOPFOLD_BUILDS", ""), level)]
    with lf.Directory() as directory:
        suite.each(lambda case: case.judge(directory), cases)
    advises = any(case.advises for case in cases)
    waiting = sum(report(case, advises) for case in cases)
    print_totals(cases, waiting)
    suite.finish()


if __name__ == "__main__":
    main()
