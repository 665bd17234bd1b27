"""Random programs: no loop is called parallel, or a reduction, that is not.

random_loops.py makes loop nests from a seed. Built with -DREALITY, each program says what is true of each of its loops
(every iteration run alone on memory at entry, all entries studied); built by GCC or Clang at some level, the same
program on the same input is recorded and analysed. Then, for every row of the profile:

    bold      Loopfold promises more than is true. This must not happen, at any level.
    false no  Loopfold says no, and it is parallel or a reduction. Allowed, but few: at -O0, where every variable has a
              place of its own, at most FALSE_NO_AT_O0 of the rows that are not no. That is for flow that does not show
              in a value, and so is not in the truth: what is overwritten before it is read, an even number of swaps.
    weaker    a reduction that is even parallel in this run (the variable's last value alone decided what was stored).
    unknown   counted and printed.

    LOOPFOLD_SEED    the first seed (default 1), one per program
    LOOPFOLD_SOAK    so many times as many programs, each also run under sanitizers before it is trusted
    LOOPFOLD_NEST    the number of a nest: this one alone, of the first seed
    LOOPFOLD_BUILDS  a regular expression: these builds of each program, such as 'gcc -O[01]'; default: one, by the seed
    --table          prints every row
"""

import collections
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
sys.argv[1:] = sorted(sys.argv[1:], key=lambda argument: argument.startswith("--"))
import lf  # noqa: E402
import random_loops  # noqa: E402
from expectations import HEAD, Loop, nest, normal  # noqa: E402
from rows import rows_of  # noqa: E402

SEED = int(os.environ.get("LOOPFOLD_SEED", "1"))
NEST = os.environ.get("LOOPFOLD_NEST")
BUILDS = os.environ.get("LOOPFOLD_BUILDS")
PROGRAMS, NESTS = (1 if NEST else 20 * lf.SOAK), 25
INCLUDES = ["-I", os.path.join(lf.SOURCE, "kernels", "verdicts"), "-I", HERE]
RUNTIME = os.path.join(HERE, "reality_runtime.c")
FALSE_NO_AT_O0 = 0.05
FEWEST_OF_EACH = 0.15  # share of the loops that are parallel, reductions, neither
EXTRA = {"gcc -O2": ["-fno-tree-vectorize", "-fno-tree-loop-distribute-patterns"],
         "clang -O2": ["-fno-vectorize", "-fno-slp-vectorize"]}
KINDS = ["equal", "weaker", "unknown", "false no", "bold"]  # the worse, the later
LEVELS = ["-O0", "-O2", "-O1", "-O0", "-O2", "-O3", "-O1", "-O0", "-O2", "-O1"]

lf.skip_library_debug_info()
suite = lf.Suite()
Finding = collections.namedtuple("Finding", "seed build input loop row truth kind")


def classify(truth, verdict):
    """What a verdict is worth. A reduction must name operators that the source has."""
    (true, operators), (said, named) = normal(truth), normal(verdict)
    if said == "unknown":
        return "unknown"
    if said == "reduction" and true == "reduction":
        return "equal" if set(named) <= set(operators) else "bold"
    if said == true:
        return "equal"
    if said == "no":
        return "false no"
    return "weaker" if true == "parallel" else "bold"


def check_classes():
    """The comparison can fail."""
    for truth, verdict, kind in [("no", "parallel", "bold"), ("no", "reduction(+)", "bold"), ("no", "no", "equal"),
                                 ("reduction(+)", "parallel", "bold"), ("reduction(+)", "reduction(max)", "bold"),
                                 ("reduction(+,max)", "reduction(max)", "equal"), ("reduction(+)", "no", "false no"),
                                 ("parallel", "no", "false no"), ("parallel", "reduction(+)", "weaker"),
                                 ("parallel", "parallel", "equal"), ("no", "unknown", "unknown")]:
        suite.check(f"{verdict}, in truth {truth}: {kind}", classify(truth, verdict) == kind, classify(truth, verdict))


class Program:
    """One random program, and what is true of its loops."""

    def __init__(self, directory, seed):
        self.seed, self.path = seed, os.path.join(directory, f"random{seed}.c")
        self.input = [str(12 + seed % 4), str(1 + seed % 9)]
        self.source = random_loops.generate(seed, [int(NEST)] if NEST else range(NESTS))
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(self.source)
        self.loops = loops_of(self.source)
        self.truth = {}

    def find_truth(self, runtime):
        """All builds agree on it; one is asked."""
        binary = self.path[:-2] + ".reality"
        flags = ["-O1", "-w", "-DREALITY", "-std=gnu17", "-fsanitize=thread", *INCLUDES]
        compile_program(["gcc", *flags, "-c", "-o", binary + ".o", self.path])
        compile_program(["gcc", "-o", binary, binary + ".o", runtime, "-lm"])
        result = succeed(lf.run([binary, *self.input], env={**lf.ENVIRONMENT, "REALITY_EVERY": "1"}))
        for line in result.stdout.decode().splitlines():
            _, number, _, longest, verdict, _ = line.split("\t")
            if int(longest) >= 2:
                self.truth[int(number)] = verdict

    def sanitize(self):
        binary = self.path[:-2] + ".sanitized"
        compile_program(["gcc", "-O1", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *INCLUDES,
                         "-o", binary, self.path])
        succeed(lf.run([binary, *self.input], env={**lf.ENVIRONMENT, "ASAN_OPTIONS": "detect_leaks=0"}))

    def builds(self):
        names = [f"{compiler} {level}" for compiler in ("gcc", "clang") for level in ("-O0", "-O1", "-O2", "-O3")]
        if BUILDS is None:
            names = [f"{'gcc' if (self.seed // 2 + self.seed) % 2 else 'clang'} {LEVELS[self.seed % len(LEVELS)]}"]
        names = [name for name in names if re.search(BUILDS or "", name)]
        return [name if shutil.which(name.split()[0]) else name.replace("clang", "gcc") for name in names]

    def profile(self, build):
        compiler, level = build.split()
        binary = f"{self.path[:-2]}.{compiler}{level}"
        compile_program([compiler, "-g", "-w", level, *EXTRA.get(build, []), *INCLUDES, "-o", binary, self.path, "-lm"])
        trace = binary + ".lf"
        succeed(lf.record(trace, [binary, *self.input], options=("--quiet",)))
        succeed(lf.run([lf.LOOPFOLD, "analyze", "--quiet", "--no-advice", "--jobs", "1", "--min-percent", "0",
                        trace]))
        with open(os.path.join(trace, "profile.json"), encoding="utf-8") as file:
            return json.load(file)

    def judge(self, build):
        """A finding per row that speaks of a loop whose truth is known; if it may be several, of the one it suits."""
        for row in rows_of(self.profile(build), os.path.basename(self.path), self.loops):
            known = [loop for loop in row.loops if loop.number in self.truth]
            if known and len(known) == len(row.loops):
                kinds = {loop: classify(self.truth[loop.number], row.verdict()) for loop in known}
                best = min(known, key=lambda loop: KINDS.index(kinds[loop]))
                yield Finding(self.seed, build, self.input, best, row, self.truth[best.number], kinds[best])

    def excerpt(self, loop):
        """The function with the loop, which is marked."""
        lines = self.source.split("\n")
        first = max(at for at in range(loop.line) if lines[at].startswith("KERNEL"))
        last = min(at for at in range(loop.line, len(lines)) if lines[at] == "}")
        marks = {loop.line - 1: ">"}
        return "\n".join(f"{marks.get(at, ' ')} {at + 1:4} {lines[at]}" for at in range(first, last + 1))


def loops_of(source):
    """The studied loops; they are numbered as the runtime numbers them, in the order of the text."""
    loops = []
    for line, text in enumerate(source.split("\n"), start=1):
        for head in HEAD.findall(text):
            studied = head.isupper()
            number = sum(loop.studied for loop in loops) if studied else None
            loops.append(Loop(line, number, studied, text.strip(), "unknown"))
    return nest(source, loops)


def compile_program(command):
    succeed(lf.run(command, env={**lf.ENVIRONMENT, "PATH": os.environ["PATH"]}, timeout=300))


def succeed(result):
    if result.status != 0 or b"reality:" in result.stderr:
        raise RuntimeError(str(result))
    return result


def reproduce(program, finding):
    function = program.excerpt(finding.loop).split("nest_")[1].split("(")[0]
    return (f"LOOPFOLD_SEED={finding.seed} LOOPFOLD_NEST={function} LOOPFOLD_BUILDS='{finding.build}' LOOPFOLD_KEEP=1 "
            f"python3 tests/oracle/random_verdicts.py {lf.LOOPFOLD}")


def report(program, finding):
    print(f"\n{finding.kind}: seed {finding.seed}, {finding.build}, input {' '.join(finding.input)}: "
          f"line {finding.loop.line} is {finding.truth}, Loopfold says {finding.row.verdict()}\n"
          f"  {finding.row.why()}\n{program.excerpt(finding.loop)}\n  {reproduce(program, finding)}", flush=True)


def print_totals(findings):
    print(f"\n{'build':10} {'rows':>5} " + " ".join(f"{kind:>9}" for kind in KINDS))
    for build in [*sorted({finding.build for finding in findings}), ""]:
        counts = collections.Counter(finding.kind for finding in findings if finding.build.startswith(build))
        shares = " ".join(f"{counts[kind]:9}" for kind in KINDS)
        print(f"{build or 'all':10} {sum(counts.values()):5} {shares}")


def check_variety(truths):
    """The programs are no good if all of their loops are alike."""
    counts = collections.Counter(normal(truth)[0] for truth in truths)
    print(f"{sum(counts.values())} loops in {PROGRAMS * NESTS} nests: "
          + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    if not NEST:
        for name in ("parallel", "reduction", "no"):
            suite.check(f"enough loops are {name}", counts[name] >= FEWEST_OF_EACH * sum(counts.values()), counts)


def check_shares(findings):
    bold = [finding for finding in findings if finding.kind == "bold"]
    suite.check("nothing is called parallel or a reduction that is not", not bold, f"{len(bold)} rows")
    free = [finding for finding in findings if finding.build.endswith("-O0") and finding.truth != "no"]
    refused = [finding for finding in free if finding.kind == "false no"]
    suite.check("few parallel loops are refused at -O0", len(refused) <= FALSE_NO_AT_O0 * len(free),
                f"{len(refused)} of {len(free)}")
    suite.check("something was compared", findings)


def main():
    findings, truths = [], []
    check_classes()

    def check_seed(seed):
        program = Program(directory, seed)
        if lf.SOAK > 1:
            program.sanitize()
        program.find_truth(runtime)
        truths.extend(program.truth.values())
        for build in program.builds():
            for finding in program.judge(build):
                findings.append(finding)
                if finding.kind == "bold" or (finding.kind != "equal" and ("--table" in sys.argv or NEST)):
                    report(program, finding)

    with lf.Directory() as directory:
        runtime = os.path.join(directory, "runtime.o")
        compile_program(["gcc", "-O1", *INCLUDES, "-c", "-o", runtime, RUNTIME])
        suite.each(check_seed, range(SEED, SEED + PROGRAMS))
    check_variety(truths)
    print_totals(findings)
    check_shares(findings)
    suite.finish()


if __name__ == "__main__":
    main()
