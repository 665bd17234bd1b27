"""A damaged trace is told from a sound one: sampled prefixes and bit flips of a real trace, through `trace check`.

Every prefix must load; a flipped bit must give a clean error or a trace flagged as partial. Never a crash, a hang, or
an unflagged acceptance. (A unit test does every prefix of a small trace and ten thousand flips, in one process.)
LOOPFOLD_SOAK multiplies the number of samples.
"""

import os
import random

import lf

suite = lf.Suite()
SAMPLES = 60 * lf.SOAK
SEED = int(os.environ.get("LOOPFOLD_SEED", "7"))
ALLOWED = (0, 1, 3)


def examine(name, data, directory):
    case = os.path.join(directory, name.replace(" ", "-"))
    os.mkdir(case)
    path = os.path.join(case, "trace.lft")
    with open(path, "wb") as file:
        file.write(data)
    result = lf.trace("check", case, timeout=60)
    suite.check(f"{name}: clean end", result.status in ALLOWED, result)
    if result.status == 3:
        suite.check_error(name, result, 3)
    elif result.status == 1:
        suite.check(f"{name}: says what is wrong", result.stdout.strip() or result.stderr.strip(), result)
    elif result.status == 0:
        facts = lf.info(case)
        suite.check(f"{name}: flagged as partial", isinstance(facts, dict) and facts.get("partial") is True, facts)
    os.remove(path)


with lf.Directory() as temporary:
    original = os.path.join(temporary, "original")
    lf.record(original, [lf.program("compute.g")])
    facts = suite.check_trace("undamaged", original) or {}
    suite.check("undamaged: not partial", facts.get("partial") is False, facts)
    with open(os.path.join(original, "trace.lft"), "rb") as file:
        whole = file.read()
    suite.check("a trace worth damaging", len(whole) > 10_000, len(whole))
    print(f"{SAMPLES} prefixes and {SAMPLES} flips of {len(whole)} bytes, seed {SEED}")

    rng = random.Random(SEED)
    lengths = [0, 1, len(whole) - 1] + [rng.randrange(len(whole)) for _ in range(SAMPLES - 3)]
    flips = [rng.randrange(8 * min(64, len(whole))) for _ in range(SAMPLES // 6)]  # the header deserves its share
    flips += [rng.randrange(8 * len(whole)) for _ in range(SAMPLES - len(flips))]

    def prefix(length):
        examine(f"prefix of {length}", whole[:length], temporary)

    def flip(bit):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        examine(f"flip of bit {bit}", data, temporary)

    suite.each(prefix, sorted(set(lengths)))
    suite.each(flip, sorted(set(flips)))
suite.finish()
