"""Loops taken many iterations at a time give the profile that event by event gives, byte for byte.

`analyze` does the work of many iterations at once wherever a loop allows it; `analyze --by-events` looks at every event.
Each program is recorded once and analysed both ways, and the two profiles must be the same file:

- the programs that the other end-to-end tests record, and the kernels (kernels/, in sizes that make loops long enough),
  by GCC and Clang at all levels of optimisation, a few builds each;
- random programs, a thousand in BINARIES: those of random_strides.py, which are made for this, of
  reference/random_c.py and of random_loops.py. Of these, the default is compared for one to eight jobs, one more way to
  analyse (another kind of folding, no verdicts, few statements) is compared both ways, and so are the whole dependence
  graphs, of which a profile does not say everything (ddg_compare --by-events).

With a small memory limit the two may give up different things. That is printed, and is no failure.

    DDG_COMPARE      the comparison of graphs (default: tests/ddg_compare beside the binary)
    LOOPFOLD_SEED    the first seed (default 1), one per binary
    LOOPFOLD_SOAK    so many times as many random programs
    LOOPFOLD_ONLY    a regular expression: only programs whose name it matches
    --table          prints a line for each program
"""

import itertools
import json
import math
import os
import re
import shutil
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), below) for below in ("e2e", "reference")]
sys.argv[1:] = sorted(sys.argv[1:], key=lambda argument: argument.startswith("--"))
import lf  # noqa: E402
import random_c  # noqa: E402
import random_loops  # noqa: E402
import random_strides  # noqa: E402

SEED = int(os.environ.get("LOOPFOLD_SEED", "1"))
ONLY = re.compile(os.environ.get("LOOPFOLD_ONLY", ""))
COMPARE = os.environ.get("DDG_COMPARE") or os.path.join(os.path.dirname(lf.LOOPFOLD), "tests", "ddg_compare")
BINARIES = 20
FUNCTIONS = {"random_strides": 60, "random_c": 50, "random_loops": 20}  # in each
KERNELS = os.path.join(lf.SOURCE, "kernels")
VERDICTS = os.path.join(KERNELS, "verdicts")
INCLUDES = ["-I", KERNELS, "-I", VERDICTS, "-I", HERE, "-I", os.path.join(lf.SOURCE, "include")]
FEWEST_ITERATIONS = 36  # of the longest loops of a kernel
MOST_WORK = 40000       # product of a kernel's sizes

# Endless, waiting for a signal, refused by the recorder, or long.
LEFT_OUT = {"forever", "ticker", "split_dwarf", "avx512", "stack_overflow", "nested_forks", "noise", "late_work",
            "signal_exit", "alarm", "exceptions.O0", "exceptions.O2"}
SPOILS = 24  # ways in which ddg_compare --spoil makes a mistake
ARGUMENTS = {"fork_exec": [lf.program("hello")], "args_env": ["a", "b c"], "exec_descriptor": [lf.program("hello")]}
TEXT = b"".join(b"line %d of a text that repeats itself, itself, and itself\n" % (i * i % 97) for i in range(40))
OTHERS = [(["gzip", "-c"], TEXT), (["sort", "-r"], TEXT), (["sed", "s/itself/x/g"], TEXT)]

# Every binary of random programs takes one of these, by its seed.
WAYS = [["--no-verdicts"], ["--fold", "F"], ["--max-statements", "40"], ["--min-percent", "1"], ["--fold", "FGGW"]]
ALL = ["--min-percent", "0"]
LITTLE_MEMORY = ["--max-memory", "8MB"]

lf.skip_library_debug_info()
suite = lf.Suite()
lock = threading.Lock()
instructions, limited = [0], {"equal": 0, "different": 0}


def has_avx2():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        return " avx2 " in file.read()


AVX2 = ["-mavx2", "-mfma"] if has_avx2() else []


class Recording:
    """A program's trace, and the profiles that it gives."""

    def __init__(self, name, directory, command, stdin=b""):
        self.name, self.trace = name, os.path.join(directory, "trace")
        self.result = lf.record(self.trace, command, options=("--quiet",), cwd=directory, stdin=stdin)
        self.ready = os.path.isdir(self.trace) and self.result.status not in ("timeout", 125, 126, 127)
        suite.check(f"{name}: recorded", self.ready, self.result)

    def profile(self, *options, jobs=1):
        path = os.path.join(os.path.dirname(self.trace), "-".join(["profile", str(jobs), *options]).replace("/", "_"))
        result = lf.run([lf.LOOPFOLD, "analyze", "--quiet", "--no-advice", "--jobs", str(jobs), "-o", path, *options,
                         self.trace],
                        timeout=600)
        if not suite.check(f"{self.name}: analyze {' '.join(options)}", result.status == 0, result):
            return None
        return path

    def compare(self, *options, jobs=1):
        """True if both ways give the same bytes; else a text that says where they differ."""
        runs, events = self.profile(*options, jobs=jobs), self.profile(*options, "--by-events")
        return True if runs and events and same_bytes(runs, events) else difference(events, runs)

    def check(self, *options, jobs=1):
        result = self.compare(*options, jobs=jobs)
        return suite.check(f"{self.name}: by runs as by events {' '.join(options)} --jobs {jobs}", result is True, result)


    def check_graph(self, *options):
        result = lf.run([COMPARE, self.trace, "--by-events", *options], timeout=600)
        return suite.check(f"{self.name}: graph by runs as by events {' '.join(options)}", result.status == 0,
                           lf.shorten(result.stdout) + lf.shorten(result.stderr))

    def check_that_mistakes_are_found(self):
        for kind in range(0, SPOILS, 3):
            result = lf.run([COMPARE, self.trace, "--by-events", "--spoil", str(kind)], timeout=600)
            suite.check(f"mistake {kind} is found", result.status == 1, result)


def same_bytes(one, other):
    with open(one, "rb") as a, open(other, "rb") as b:
        return a.read() == b.read()


def difference(events, runs):
    """The first JSON path at which two profiles differ, and what is there."""
    if not events or not runs:
        return "no profile"
    with open(events, encoding="utf-8") as a, open(runs, encoding="utf-8") as b:
        found = first_difference(json.load(a), json.load(b), "")
    return found or "the same JSON in other bytes"


def first_difference(a, b, path):
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        pairs = ((f"{path}/{key}", a[key], b[key]) for key in a)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = ((f"{path}/{i}", x, y) for i, (x, y) in enumerate(zip(a, b)))
    else:
        return None if a == b else f"{path or '/'}:\n  by events {lf.shorten(a, 400)}\n  by runs   {lf.shorten(b, 400)}"
    return next(filter(None, (first_difference(x, y, name) for name, x, y in pairs)), None)


def check_differences():
    """The comparison can fail."""
    one, other = {"a": [1, {"b": 2}], "c": 0}, {"a": [1, {"b": 3}], "c": 0}
    suite.check("a difference is found", first_difference(one, other, "").startswith("/a/1/b:"))
    suite.check("lengths differ", first_difference({"a": [1]}, {"a": []}, "").startswith("/a:"))
    suite.check("keys differ", first_difference({"a": 1}, {"b": 1}, "").startswith("/:"))
    suite.check("types differ", first_difference([1], [True], "") is None and first_difference([1], ["1"], ""))
    suite.check("nothing differs", first_difference(one, one, "") is None)


def note(recording):
    """A profile that was made says how many instructions it is of."""
    facts = lf.info(recording.trace)
    count = facts["instructions"] if isinstance(facts, dict) else 0
    with lock:
        instructions[0] += count
        if "--table" in sys.argv:
            print(f"{recording.name}: {count} instructions", flush=True)


# ---- Programs that exist ----

def test_programs():
    for below in ("", "exact", "structure", "structure/kernels"):
        directory = os.path.join(lf.PROGRAMS, below)
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
            path = os.path.join(directory, name)
            plain = "." not in name or below == "structure/kernels" or re.search(r"\.(O0|O2|O3-avx2)$", name)
            if plain and not name.endswith(".o") and name not in LEFT_OUT and os.path.isfile(path) \
                    and os.access(path, os.X_OK):
                yield os.path.join(below, name), [path, *ARGUMENTS.get(name, [])], b""
    for command, stdin in OTHERS:
        if shutil.which(command[0]):
            yield command[0], command, stdin


def check_program(case):
    name, command, stdin = case
    with lf.Directory() as directory:
        recording = Recording(name, directory, command, stdin)
        if recording.ready:
            recording.check(*ALL)
            note(recording)


# ---- Kernels ----

BUILDS = [[compiler, *level.split()] for level in ("-O2", "-O0", "-O3", "-O1")
          for compiler in ("gcc", "clang") if shutil.which(compiler)]


def kernel_cases():
    """Each kernel with one build and every second one with two, so that every build has its share."""
    turn = itertools.cycle(BUILDS)
    for directory in (KERNELS, VERDICTS):
        for number, name in enumerate(name for name in sorted(os.listdir(directory)) if name.endswith((".c", ".cc"))):
            for _ in range(1 + number % 2):
                yield os.path.join(directory, name), next(turn)


def sizes_of(path):
    """The sizes that the kernel names itself, made larger alike until a loop is long enough."""
    with open(path, encoding="utf-8") as file:
        named = re.search(r": sizes (.*)", file.read())
    if os.path.dirname(path) == VERDICTS:
        return ["43", "1"]
    if not named:
        return []
    sizes = [int(size) for size in re.findall(r"\w+ = (\d+)", named.group(1))]
    factor = 1
    while max(sizes) * factor < FEWEST_ITERATIONS and math.prod(sizes) * (factor + 1) ** len(sizes) <= MOST_WORK:
        factor += 1
    return [str(size * factor) for size in sizes]


def check_kernel(case):
    path, (compiler, level) = case
    name = f"{os.path.basename(path)} {compiler} {level}"
    with lf.Directory() as directory:
        binary = os.path.join(directory, "kernel")
        driver = {"gcc": "g++", "clang": "clang++"}[compiler] if path.endswith(".cc") else compiler
        extra = AVX2 if level == "-O3" else []
        if compile_program(name, [driver, "-gdwarf-4", "-w", level, *extra, *INCLUDES, path, "-o", binary, "-lm"]):
            recording = Recording(name, directory, [binary, *sizes_of(path)])
            if recording.ready:
                recording.check(*ALL)
                note(recording)


def compile_program(name, command):
    result = lf.run(command, env={**lf.ENVIRONMENT, "PATH": os.environ["PATH"]}, timeout=300)
    return suite.check(f"{name}: compiles", result.status == 0, result)


# ---- Random programs ----

def random_cases():
    for seed in range(SEED, SEED + BINARIES * lf.SOAK):
        yield seed, {3: "random_c", 4: "random_loops"}.get(seed % 5, "random_strides")


def source_of(kind, seed, numbers):
    if kind == "random_c":
        return random_c.generate(seed, len(numbers))
    if kind == "random_loops":
        return random_loops.generate(seed, numbers)
    return random_strides.generate(seed, numbers)


def record_random(directory, seed, kind, numbers):
    """Levels alternate, so that each kind of program meets all of them; every third one is Clang's."""
    level = ["-O0", "-O1", "-O2", "-O3"][(seed + seed // 5) % 4]
    compiler = "clang" if seed % 3 == 0 and shutil.which("clang") else "gcc"
    name = f"{kind} seed {seed} {compiler} {level}"
    path, binary = os.path.join(directory, "random.c"), os.path.join(directory, "random")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source_of(kind, seed, numbers))
    options = [*(AVX2 if level == "-O3" else []), *INCLUDES]
    command = [compiler, "-gdwarf-4", "-w", level, *options, path, "-o", binary, "-lpthread", "-lm"]
    if not compile_program(name, command):
        return None
    arguments = ["15", str(seed)] if kind == "random_loops" else []
    recording = Recording(name, directory, [binary, *arguments])
    suite.check(f"{name}: ran to its end", recording.result.status == 0, recording.result)
    return recording if recording.ready else None


def check_random(case):
    seed, kind = case
    with lf.Directory() as directory:
        recording = record_random(directory, seed, kind, range(FUNCTIONS[kind]))
        if recording is None:
            return
        if not recording.check(*ALL, jobs=(1, 2, 3, 8)[seed % 4]) or not recording.check_graph():
            name_functions(seed, kind)
        if seed == SEED:
            recording.check_that_mistakes_are_found()
        recording.check(*WAYS[seed // 2 % len(WAYS)], jobs=2 - seed % 2)
        if seed % 4 == 1:
            result = recording.compare(*ALL, *LITTLE_MEMORY)
            with lock:
                limited["equal" if result is True else "different"] += 1
                if result is not True:
                    print(f"{recording.name}: differs with {' '.join(LITTLE_MEMORY)}: {result}", flush=True)
        note(recording)


def name_functions(seed, kind):
    """Which functions of a program differ by themselves? Prints the first ones."""
    if kind == "random_c":
        return
    found = []
    for number in range(FUNCTIONS[kind]):
        with lf.Directory() as directory:
            recording = record_random(directory, seed, kind, [number])
            result = recording.compare(*ALL) if recording else True
            if result is True and recording and not recording.check_graph():
                result = "the graphs differ"
            if result is not True:
                found.append(number)
                text = source_of(kind, seed, [number])
                print(f"{kind} seed {seed}, function {number} alone: {result}\n"
                      + text[max(text.rfind("\nstatic NOINLINE void loop"), text.rfind("\nKERNEL")):], flush=True)
        if len(found) == 2:
            return


def main():
    check_differences()
    chosen = [(check_random, case) for case in random_cases() if ONLY.search(f"{case[1]} seed {case[0]}")]
    chosen += [(check_kernel, case) for case in kernel_cases() if ONLY.search(" ".join([case[0], *case[1]]))]
    chosen += [(check_program, case) for case in test_programs() if ONLY.search(case[0])]
    suite.each(lambda task: task[0](task[1]), chosen)
    print(f"{len(chosen)} programs, {instructions[0] / 1e6:.1f} M instructions; {' '.join(LITTLE_MEMORY)}: "
          + ", ".join(f"{count} {name}" for name, count in limited.items()))
    suite.finish()


if __name__ == "__main__":
    main()
