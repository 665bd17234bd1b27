"""What is recorded can be narrowed and widened: --from, --only, --from-start, --no-libs, markers, stripped binaries.

Counts are compared with address-space randomisation off, so that they are exact.
"""

import os
import re
import shutil

import lf

suite = lf.Suite()
VALGRIND = shutil.which("valgrind.bin") or shutil.which("valgrind")


def record(name, program, directory, *options):
    """Records a program and compares its output with the native one. Returns the trace's directory and the Result."""
    trace = os.path.join(directory, re.sub(r"\W+", "-", name))
    path = lf.program(program)
    result = lf.run(["setarch", "-R", lf.LOOPFOLD, "record", *options, "-o", trace, "--", path])
    native = lf.run_native([path])
    suite.check(f"{name}: unharmed", (result.status, result.stdout) == (native.status, native.stdout), result)
    return trace, result


def counts(name, trace):
    facts = suite.check_trace(name, trace) or {}
    return facts.get("instructions", 0), facts.get("hidden_instructions", 0)


def callgrind_count(program, function, directory):
    out = os.path.join(directory, f"callgrind.{function}")
    lf.run(["setarch", "-R", VALGRIND, "-q", "--tool=callgrind", f"--toggle-collect={function}",
            f"--callgrind-out-file={out}", lf.program(program)])
    with open(out) as file:
        return int(re.search(r"^(?:totals|summary): (\d+)", file.read(), re.MULTILINE).group(1))


def dump(trace):
    result = lf.trace("dump", trace)
    return result.stdout.decode(errors="replace") if result.status == 0 else f"failed: {result}"


def functions(directory):
    program = "scope.g"
    whole, hidden = counts("whole", record("whole", program, directory, "--quiet")[0])
    from_trace, _ = record("--from", program, directory, "--quiet", "--from", "kernel")
    only_trace, _ = record("--only", program, directory, "--quiet", "--only", "kernel")
    from_count, only_count = counts("--from", from_trace)[0], counts("--only", only_trace)[0]
    expected = callgrind_count(program, "kernel", directory)
    suite.check("--only: the function and what it calls, every time", only_count == expected > 1000,
                f"{only_count}, callgrind's count is {expected}")
    suite.check("--from: less than the whole, more than the function", only_count < from_count < whole,
                f"{only_count} {from_count} {whole}")
    for name, trace, there, not_there in (("--from", from_trace, ("kernel", "helper", "finish"), ("prepare",)),
                                          ("--only", only_trace, ("kernel", "helper"), ("prepare", "finish"))):
        text = dump(trace)
        for function in there:
            suite.check(f"{name}: {function} in the dump", re.search(rf"\b{function}\b", text), lf.shorten(text, 500))
        for function in not_there:
            suite.check(f"{name}: no {function} in the dump", not re.search(rf"\b{function}\b", text),
                        [line for line in text.splitlines() if function in line][:5])
    start = sum(counts("--from-start", record("--from-start", program, directory, "--quiet", "--from-start")[0]))
    suite.check("--from-start: the loader too", start > whole + hidden + 50_000,
                f"{start}, from main {whole} + {hidden}")
    less, more_hidden = counts("--no-libs", record("--no-libs", program, directory, "--quiet", "--no-libs")[0])
    suite.check("--no-libs: libraries are hidden, not lost",
                less + more_hidden == whole + hidden and expected <= less < whole,
                f"{less} + {more_hidden} against {whole} + {hidden}")


def never_entered(directory):
    for option in ("--from", "--only"):
        for function in ("never", "no_such_function"):
            name = f"{option} {function}"
            trace, result = record(name, "scope.g", directory, option, function)
            suite.check(f"{name}: warned", re.search(rf"^loopfold: warning: [^\n]*{function}", result.stderr.decode(),
                                                     re.MULTILINE), result)
            suite.check(f"{name}: trace check", lf.trace("check", trace).status == 0)
            facts = lf.info(trace)
            suite.check(f"{name}: nothing recorded", isinstance(facts, dict) and facts.get("instructions") == 0, facts)


def stripped(directory):
    """Starts at main as its twin with symbols does: the same number of instructions, hidden or not."""
    for twin, bare in (("scope.no-pie", "scope.stripped-no-pie"), ("scope.g", "scope.stripped"),
                       ("scope.static", "scope.stripped-static")):
        expected = sum(counts(twin, record(twin, twin, directory, "--quiet")[0]))
        found = sum(counts(bare, record(bare, bare, directory, "--quiet")[0]))
        suite.check(f"{bare}: starts where {twin} does", found == expected > 0, f"{found}, with symbols {expected}")
    # Start-up code is thousands of instructions in a static program, a hundred thousand where there is a loader.
    for name, startup in (("scope.stripped", 50_000), ("scope.stripped-static-pie", 1000)):
        found = sum(counts(name, record(f"{name} again", name, directory, "--quiet")[0]))
        everything = sum(counts(name, record(f"{name} from start", name, directory, "--quiet", "--from-start")[0]))
        suite.check(f"{name}: starts after the start-up code", 0 < found < everything - startup,
                    f"{found} of {everything}")


def markers(directory):
    for program in ("markers.g", "markers.O2", "markers.static", "markers.stripped"):
        trace, _ = record(program, program, directory, "--quiet")
        suite.check_trace(program, trace)
        about, text = lf.trace("info", trace), dump(trace)
        for marker, times in (("outer region", 2), ("inner", 10)):
            suite.check(f"{program}: {marker!r} in trace info", marker.encode() in about.stdout, about)
            lines = [line for line in text.splitlines() if f'"{marker}"' in line or f" {marker}" in line]
            suite.check(f"{program}: {marker!r} begins and ends in the dump", len(lines) == times, lines)


with lf.Directory() as temporary:
    suite.each(lambda group: group(temporary), [functions, never_entered, stripped, markers])
suite.finish()
