"""What is recorded is what ran: compared with callgrind's instruction counts and lackey's access sequence.

For each program of tests/programs/exact, with address-space randomisation off:
- instructions recorded from main to its return, plus the hidden ones (allocator, resolver), equal callgrind's count;
- the (kind, address, size) of every access between the two sentinel stores equals lackey's, whose M is a load and a
  store. Addresses are compared as they are. The stack's depends on the length of the environment, which differs by the
  path of a preloaded library: a variable PAD is lengthened for one of the two until the stacks coincide.
"""

import os
import re
import shutil
import subprocess
import sys

import lf

suite = lf.Suite()
PROGRAMS = ["dgemm", "stencil", "lu", "transpose", "histogram", "linked_list", "rep_strings", "vector_mix",
            "sort_pointers", "atomics"]
# Without the shell script around it, which changes the program's environment.
VALGRIND = next((path for path in (shutil.which("valgrind.bin"), shutil.which("valgrind")) if path), None)
FEWEST = 1000  # accesses and instructions that a comparison must have seen to count


def fixed_addresses(command):
    return ["setarch", "-R", *command]


def environment(pad):
    return {**lf.ENVIRONMENT, "PAD": "x" * pad}


def symbol_addresses(path):
    table = subprocess.run(["nm", path], check=True, stdout=subprocess.PIPE).stdout.decode()
    return {line.split()[2]: int(line.split()[0], 16) for line in table.splitlines() if len(line.split()) == 3}


def callgrind_count(path, directory):
    out = os.path.join(directory, "callgrind.out")
    result = lf.run(fixed_addresses([VALGRIND, "-q", "--tool=callgrind", "--toggle-collect=main",
                                     f"--callgrind-out-file={out}", path]), env=environment(0), cwd=directory)
    if result.status != 0:
        raise RuntimeError(f"callgrind failed\n{result}")
    with open(out) as file:
        return int(re.search(r"^(?:totals|summary): (\d+)", file.read(), re.MULTILINE).group(1))


def between(accesses, begin, end):
    """The accesses after the last store to `begin` and before the first one to `end`, which must both be there."""
    try:
        first = accesses.index(("S", begin, 1))
        return accesses[first + 1:accesses.index(("S", end, 1), first)]
    except ValueError:
        return []


def lackey_accesses(path, directory, pad, sentinels):
    log = os.path.join(directory, "lackey.log")
    result = lf.run(fixed_addresses([VALGRIND, "-q", "--tool=lackey", "--trace-mem=yes", f"--log-file={log}",
                                     "--vex-iropt-register-updates=allregs-at-each-insn",
                                     "--vex-iropt-unroll-thresh=0", path]), env=environment(pad), cwd=directory)
    if result.status != 0:
        raise RuntimeError(f"lackey failed\n{result}")
    accesses = []
    with open(log) as file:
        for line in file:
            match = re.match(r" ([LSM]) ([0-9a-f]+),(\d+)$", line)
            if match:
                address, size = int(match.group(2), 16), int(match.group(3))
                for kind in "LS" if match.group(1) == "M" else match.group(1):
                    accesses.append((kind, address, size))
    return between(accesses, *sentinels)


def our_accesses(trace, sentinels):
    result = lf.trace("dump", trace, "--accesses")
    if result.status != 0:
        raise RuntimeError(f"trace dump failed\n{result}")
    accesses = []
    for line in result.stdout.decode().splitlines():
        match = re.match(r"([LS]) 0x([0-9a-f]+) (\d+)$", line)
        if not match:
            raise RuntimeError(f"trace dump --accesses printed {line!r}")
        accesses.append((match.group(1), int(match.group(2), 16), int(match.group(3))))
    return between(accesses, *sentinels)


def record(path, directory, pad):
    trace = os.path.join(directory, "trace")
    shutil.rmtree(trace, ignore_errors=True)
    result = lf.run(fixed_addresses([lf.LOOPFOLD, "record", "--quiet", "--keep-preload", "-o", trace, "--", path]),
                    env=environment(pad), cwd=directory)
    if result.status != 0:
        raise RuntimeError(f"recording failed\n{result}")
    return trace


def first_difference(ours, theirs):
    for at, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            return at
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))


def describe(ours, theirs, at):
    def row(accesses, i):
        return "%s %#x %d" % accesses[i] if i < len(accesses) else "(end)"
    rows = [f"{'>' if i == at else ' '} {i:7}  {row(ours, i):28} {row(theirs, i)}"
            for i in range(max(0, at - 4), at + 6)]
    heading = f"ours {len(ours)}, lackey's {len(theirs)}\n{'#':>9}  {'ours':28} lackey"
    return "\n".join([heading, *rows])


def stack_shift(ours, theirs):
    """How much higher lackey's stack lies, if that is all there is to the first difference; else 0."""
    at = first_difference(ours, theirs)
    if at is None or at >= min(len(ours), len(theirs)):
        return 0
    (kind, address, size), (other_kind, other_address, other_size) = ours[at], theirs[at]
    shift = other_address - address
    return shift if (kind, size) == (other_kind, other_size) and shift % 16 == 0 and abs(shift) < 65536 else 0


def compare(name):
    path = lf.program(os.path.join("exact", name))
    symbols = symbol_addresses(path)
    sentinels = (symbols["sentinel_begin"], symbols["sentinel_end"])
    with lf.Directory() as directory:
        trace = record(path, directory, 0)
        facts = suite.check_trace(name, trace) or {}
        ours_count, theirs_count = facts.get("instructions", 0) + facts.get("hidden_instructions", 0), \
            callgrind_count(path, directory)
        suite.check(f"{name}: callgrind counted something", theirs_count >= FEWEST, theirs_count)
        suite.check(f"{name}: instructions", ours_count == theirs_count,
                    f"ours {facts.get('instructions')} + {facts.get('hidden_instructions')} hidden = {ours_count}, "
                    f"callgrind's {theirs_count}, ours is {ours_count - theirs_count:+d}")

        ours, theirs = our_accesses(trace, sentinels), lackey_accesses(path, directory, 0, sentinels)
        shift = stack_shift(ours, theirs)
        if shift > 0:
            theirs = lackey_accesses(path, directory, shift, sentinels)
        elif shift < 0:
            ours = our_accesses(record(path, directory, -shift), sentinels)
        suite.check(f"{name}: lackey saw something", len(theirs) >= FEWEST, len(theirs))
        at = first_difference(ours, theirs)
        suite.check(f"{name}: accesses", at is None, at is not None and describe(ours, theirs, at))


if VALGRIND is None:
    sys.exit("valgrind is not installed; run scripts/setup")
suite.each(compare, PROGRAMS)
suite.finish()
