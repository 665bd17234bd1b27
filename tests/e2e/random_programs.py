"""The dependence graph of random programs is what the naive reference says.

Loop nests made by reference/random_c.py are compiled at four levels of optimisation, by GCC and (two of them) by Clang,
and recorded, and ddg_compare computes the dependence graph of each trace twice: as Loopfold does, and the slow and
obvious way. The two must be equal, stream by stream and point by point, however streams are folded. The same for the
programs of the other suites, and for short runs of other people's.

    DDG_COMPARE     the comparison (default: tests/ddg_compare beside the binary)
    LOOPFOLD_SEED   the first seed (default 1); a failure says which seed to give to random_c.py
    LOOPFOLD_SOAK   so many times as many nests; then the programs also run under sanitizers, before they are trusted
"""

import os
import shutil
import sys

import lf

sys.path.insert(0, os.path.join(lf.SOURCE, "tests", "reference"))
import random_c  # noqa: E402

COMPARE = os.environ.get("DDG_COMPARE") or os.path.join(os.path.dirname(lf.LOOPFOLD), "tests", "ddg_compare")
SEED = int(os.environ.get("LOOPFOLD_SEED", "1"))
NESTS, BINARIES = 50, 4
LEVELS = ["-O0", "-O1", "-O2", "-O3"]
VARIANTS = ["F", "FW", "FGG", "FGGW"]
CC = shutil.which("gcc") or "cc"
OTHER_CC = shutil.which("clang")
SPOILS = 24  # ways in which ddg_compare --spoil makes a mistake

def has_avx2():
    with open("/proc/cpuinfo") as file:
        return " avx2 " in file.read()


AVX2 = has_avx2()

# Too long for the reference, endless, or refused by the recorder.
LEFT_OUT = {"forever", "ticker", "split_dwarf", "avx512", "late_work", "stack_overflow", "nested_forks", "noise",
            "big_stack", "close_fds", "thread_create_fails", "signal_exit"}
ARGUMENTS = {"fork_exec": [lf.program("hello")], "args_env": ["a", "b c"], "exec_descriptor": [lf.program("hello")]}
TEXT = b"".join(b"line %d of a text that repeats itself, itself, and itself\n" % (i * i % 97) for i in range(12))
OTHERS = [(["gzip", "-c"], TEXT), (["bzip2", "-c"], TEXT[:200]), (["sort", "-r"], TEXT),
          (["lua5.4", "-e", "local t = {} for i = 1, 20 do t[i] = i * i end print(#t, t[7])"], b""),
          (["sed", "s/itself/x/g"], TEXT[:300])]

lf.skip_library_debug_info()
suite = lf.Suite()


def compare(name, trace, *options):
    """True if the trace was short enough to be compared."""
    result = lf.run([COMPARE, trace, *options], timeout=600)
    too_long = result.status == 3 and b"too long" in result.stderr
    if not too_long:
        suite.check(f"{name}: dependence graph {' '.join(options)}", result.status == 0,
                    "\n".join([" ".join(result.command), result.stdout.decode(errors="replace"),
                               result.stderr.decode(errors="replace")]))
    return not too_long


class Source:
    """One random program; it must print the same at every level."""

    def __init__(self, directory, seed):
        self.seed, self.path, self.printed = seed, os.path.join(directory, f"random{seed}.c"), None
        with open(self.path, "w") as file:
            file.write(random_c.generate(seed, NESTS))

    def build(self, name, *options, compiler=CC):
        binary = f"{self.path[:-2]}{name}"
        result = lf.run([compiler, "-g", "-w", *options, self.path, "-o", binary, "-lpthread"], timeout=300)
        suite.check(f"seed {self.seed} {name}: compiles", result.status == 0, result)
        return binary

    def check_output(self, name, result):
        suite.check(f"seed {self.seed} {name}: ran", result.status == 0, result)
        if self.printed is None:
            self.printed = result.stdout
        suite.check(f"seed {self.seed} {name}: prints the same", self.printed == result.stdout,
                    lf.difference("output", self.printed, result.stdout))

    def sanitize(self):
        binary = self.build("-sanitized", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
        result = lf.run([binary])
        suite.check(f"seed {self.seed}: no undefined behaviour", result.status == 0, result)

    def check(self, level, variant, options=(), recorder=(), compiler=CC):
        name = " ".join([f"seed {self.seed} {os.path.basename(compiler)} {level}", *options, *recorder])
        binary = self.build(f"{level}-{os.path.basename(compiler)}", level, *options, compiler=compiler)
        trace = f"{binary}.trace"
        self.check_output(level, lf.record(trace, [binary], options=("--quiet", *recorder)))
        suite.check(f"{name}: short enough", compare(name, trace), "too long")
        compare(name, trace, "--fold", variant)
        return trace


def check_seed(seed):
    with lf.Directory() as directory:
        source = Source(directory, seed)
        if lf.SOAK > 1:
            source.sanitize()
        for i, level in enumerate(LEVELS):
            options = ["-mavx2"] if level == "-O3" and AVX2 and seed % 2 == 0 else []
            recorder = ["--no-libs"] if level == "-O1" and seed % 2 == 0 else []
            trace = source.check(level, VARIANTS[(seed + i) % len(VARIANTS)], options, recorder)
            if seed == SEED and level == "-O1":
                check_that_mistakes_are_found(trace)
            if OTHER_CC and (seed + i) % 2 == 0:
                source.check(level, VARIANTS[(seed + i) % len(VARIANTS)], compiler=OTHER_CC)


def check_that_mistakes_are_found(trace):
    for kind in range(SPOILS):
        result = lf.run([COMPARE, trace, "--spoil", str(kind)], timeout=600)
        suite.check(f"mistake {kind} is found", result.status == 1, result)


def programs():
    found = []
    for below in ("", "exact", "structure"):
        directory = os.path.join(lf.PROGRAMS, below)
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
            path = lf.program(os.path.join(below, name))
            if "." not in name and name not in LEFT_OUT and os.path.isfile(path) and os.access(path, os.X_OK):
                found.append(([path, *ARGUMENTS.get(name, [])], b""))
    return found


compared = []


def check_program(case):
    command, stdin = case
    with lf.Directory() as directory:
        trace = os.path.join(directory, "trace")
        name = os.path.basename(command[0])
        result = lf.record(trace, command, options=("--quiet",), cwd=directory, stdin=stdin)
        suite.check(f"{name}: recorded", result.status not in ("timeout", 125, 126, 127), result)
        if compare(name, trace):
            compared.append(name)


suite.each(check_seed, range(SEED, SEED + BINARIES * lf.SOAK))
suite.each(check_program, programs() + [case for case in OTHERS if shutil.which(case[0][0])])
suite.check("enough programs were short enough", len(compared) >= 50, compared)
suite.finish()
