"""Children: detached by default; with --follow-children each gets a directory of its own, DIR.PID."""

import os
import re

import lf

suite = lf.Suite()


def directories(parent):
    """Trace directories beside each other: the main one, and those of children."""
    names = sorted(name for name in os.listdir(parent) if name == "trace" or name.startswith("trace."))
    return names[:1], names[1:]


def compare(name, command, options, directory):
    native = lf.run_native(command, cwd=directory)
    recorded = lf.record(os.path.join(directory, "trace"), command, options=("--quiet", *options), cwd=directory)
    for what in ("stdout", "stderr", "status"):
        suite.check(f"{name}: {what}", getattr(native, what) == getattr(recorded, what), f"{native}\n{recorded}")
    return directories(directory)


def detached(case):
    name, command, _, _ = case
    with lf.Directory() as directory:
        main, others = compare(f"{name}, detached", command, (), directory)
        suite.check(f"{name}, detached: one trace", main == ["trace"] and others == [], main + others)
        suite.check_trace(f"{name}, detached", os.path.join(directory, "trace"))


def followed(case):
    name, command, fewest, programs = case
    name += ", followed"
    with lf.Directory() as directory:
        main, others = compare(name, command, ("--follow-children",), directory)
        suite.check(f"{name}: main trace", main == ["trace"], main)
        suite.check(f"{name}: at least {fewest} traces of children", len(others) >= fewest, others)
        seen = set()
        for child in main + others:
            suite.check(f"{name}: {child} is DIR.PID", re.match(r"trace(\.\d+(\.\d+|\.old)?)?$", child), child)
            facts = suite.check_trace(f"{name}: {child}", os.path.join(directory, child))
            if facts:
                seen.add(os.path.basename((facts["program"]["argv"] or ["?"])[0]))
        for program in programs:
            suite.check(f"{name}: {program} was recorded", program in seen, sorted(seen))


HELLO = lf.program("hello")
# name, command, how many children at least, programs that must be among the recorded ones
CASES = [
    ("fork", [lf.program("fork_wait")], 3, ["fork_wait"]),
    ("fork and exec", [lf.program("fork_exec"), HELLO], 1, ["fork_exec", "hello"]),
    ("fork and exec, static", [lf.program("fork_exec.static"), HELLO], 1, ["fork_exec.static", "hello"]),
    ("vfork", [lf.program("vfork_exec")], 1, ["vfork_exec", "echo"]),
    ("posix_spawn, popen, system", [lf.program("spawn")], 2, ["spawn", "echo", "sh"]),
    ("exec of itself", [lf.program("exec_self")], 0, ["exec_self"]),
    ("shell pipeline", ["/bin/sh", "-c", "seq 5 | sort -r; exit 3"], 2, ["sh", "seq", "sort"]),
]

suite.each(detached, CASES)
suite.each(followed, CASES)
suite.finish()
