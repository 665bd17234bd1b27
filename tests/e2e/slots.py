"""Values that are derived instead of stored are right: every one, on every program.

--verify-slots records as --naive does, and the recording process computes each derived value from the slots that would
have been stored, and compares it with the one that was. That needs no second run, so threads and signals do not disturb.
Masked lanes of a gather are not loads.
"""

import os
import re

import lf

suite = lf.Suite()

# Programs that run until they are stopped, need arguments, or take long with all values stored.
SKIPPED = {"forever", "ticker", "noise", "signal_exit", "split_dwarf", "avx512", "compute"}

COMMANDS = [
    ["gzip", "-c", __file__],
    ["bzip2", "-c", __file__],
    ["xz", "-c", __file__],
    ["perl", "-e", "my $s = 0; $s += $_ * 1.5 for 1..2000; print \"$s\\n\""],
    ["lua5.4", "-e", "local s = '' for i = 1, 300 do s = s .. i end print(#s)"],
    ["sqlite3", ":memory:", "create table t(x); insert into t values (3), (1), (2); select x from t order by x"],
    ["sort", "-r", __file__],
    ["sha256sum", __file__],
]


def own_programs():
    for directory in ("", "exact"):
        base = os.path.join(lf.PROGRAMS, directory)
        for name in sorted(os.listdir(base)):
            path = os.path.join(base, name)
            if os.path.isfile(path) and os.access(path, os.X_OK) and name.split(".")[0] not in SKIPPED:
                with open(path, "rb") as file:
                    if file.read(4) == b"\x7fELF" and ".so" not in name:
                        yield [path]


def verify(command):
    name = os.path.basename(command[0])
    with lf.Directory() as directory:
        trace = os.path.join(directory, "trace")
        native = lf.run_native(command, stdin=b"")
        result = lf.run([lf.LOOPFOLD, "record", "--quiet", "--verify-slots", "-o", trace, "--", *command], stdin=b"")
        suite.check(f"{name}: derived values", b"differ" not in result.stderr, result)
        suite.check(f"{name}: status", result.status == native.status, f"{result}\nnatively {native.status}")


def gathers():
    with lf.Directory() as directory:
        for options in ([], ["--naive"]):
            trace = os.path.join(directory, "trace" + "".join(options))
            result = lf.run(["setarch", "-R", lf.LOOPFOLD, "record", "--quiet", *options, "-o", trace, "--",
                             lf.program("gather")])
            expected = [int(lane, 16) for lane in re.findall(rb"lane (0x[0-9a-f]+)", result.stdout)]
            loads = []
            for line in lf.trace("dump", trace, "--function", "main").stdout.decode().splitlines():
                if "vgatherdpd" in line:
                    loads += [int(address, 16) for address in re.findall(r"load 8 @(0x[0-9a-f]+)", line)]
            suite.check(f"gather {options}: exactly the lanes that are on", loads == expected and len(expected) == 11,
                        f"{[hex(a) for a in loads]}\nexpected {[hex(a) for a in expected]}")


gathers()
suite.each(verify, list(own_programs()) + COMMANDS)
suite.finish()
