"""Recording that stops early stops cleanly: a full disk, --max-instructions, --max-trace-size. The program goes on."""

import os
import re
import resource

import lf

suite = lf.Suite()
STEPS = "1500000"
COMMAND = [lf.program("noise"), STEPS]
NATIVE = lf.run_native(COMMAND)
FILE_LIMIT = 8 << 20
INSTRUCTION_LIMIT = 100_000
SIZE_LIMIT = 1 << 20


def stored(directory):
    return sum(os.path.getsize(os.path.join(directory, name)) for name in os.listdir(directory))


def unharmed(name, result):
    suite.check(f"{name}: the program's output", result.stdout == NATIVE.stdout != b"", result)
    suite.check(f"{name}: the program's status", result.status == NATIVE.status == 11, result)
    suite.check(f"{name}: a line says so", re.search(rb"^loopfold: [^\n]+", result.stderr, re.MULTILINE), result)


def full_disk(directory):
    """As on a full disk: no file may grow past the limit. SIGXFSZ must not kill the recorder either."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))

    trace = os.path.join(directory, "full")
    result = lf.record(trace, COMMAND, options=(), preexec=limit)
    unharmed("full disk", result)
    suite.check("full disk: warned", re.search(rb"^loopfold: (warning|error): ", result.stderr, re.MULTILINE), result)
    facts = suite.check_trace("full disk", trace) or {}
    suite.check("full disk: the limit was reached", FILE_LIMIT // 2 < stored(trace) <= FILE_LIMIT, stored(trace))
    suite.check("full disk: flagged as partial", facts.get("partial") is True, facts)


def max_instructions(directory):
    trace = os.path.join(directory, "instructions")
    result = lf.record(trace, COMMAND, options=("--max-instructions", str(INSTRUCTION_LIMIT)))
    unharmed("--max-instructions", result)
    facts = suite.check_trace("--max-instructions", trace) or {}
    count = facts.get("instructions", 0)
    suite.check("--max-instructions: kept to", INSTRUCTION_LIMIT * 0.9 < count <= INSTRUCTION_LIMIT + 5000, facts)


def max_trace_size(directory):
    trace = os.path.join(directory, "size")
    result = lf.record(trace, COMMAND, options=("--max-trace-size", "1M"))
    unharmed("--max-trace-size", result)
    facts = suite.check_trace("--max-trace-size", trace) or {}
    suite.check("--max-trace-size: kept to", SIZE_LIMIT // 8 < stored(trace) <= SIZE_LIMIT * 5 // 4, stored(trace))
    suite.check("--max-trace-size: less than the whole run", 0 < facts.get("instructions", 0) < 10 * int(STEPS), facts)


with lf.Directory() as temporary:
    suite.each(lambda group: group(temporary), [full_disk, max_instructions, max_trace_size])
suite.finish()
