"""The loop tree of programs that nobody here wrote: gzip, bzip2 and lua, built from Debian's sources with -g -O2.

Not a part of `make test`: the sources come from the network. Run it with the directory that
scripts/build-debian-programs filled:

    scripts/build-debian-programs DIR && tests/e2e/debian_programs.py build/loopfold DIR [INSTRUCTIONS]

For each program it prints how long recording, reading and the tree took, and the hottest loops with the source line
that the tree names. The statement that a loop's line belongs to has `for`, `while`, `do` or `goto`, or is a closing
brace; whether that is so is printed for each, and must be so for most of the operations.
"""

import os
import random
import re
import sys
import time

import lf
import structure_tree
from structure_tree import file_of, line_of

suite = lf.Suite()
LOOP_LINE = re.compile(r"\b(for|while|do|goto)\b|^\s*\}")
HOTTEST = 12
RIGHT_SHARE = 0.6  # of the hottest loops' operations, named by a statement that looks like a loop's

LUA = """
local function sieve(n)
  local composite, found = {}, 0
  for i = 2, n do
    if not composite[i] then
      found = found + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return found
end
local words = {}
for i = 1, 20000 do words[i] = string.format("%x", (i * 7919) % 65537) end
table.sort(words)
local lengths = {}
for _, word in ipairs(words) do lengths[#word] = (lengths[#word] or 0) + 1 end
print(sieve(40000), words[1], lengths[4])
"""


def text(size):
    """Compressible, and the same every time."""
    generator = random.Random(7)
    words = ["".join(generator.choice("etaoinshrdlu") for _ in range(generator.randint(2, 9))) for _ in range(900)]
    out = bytearray()
    while len(out) < size:
        out += generator.choice(words).encode() + generator.choice(b" \n,.").to_bytes(1, "little")
    return bytes(out[:size])


class Sources:
    """Lines of the unpacked sources, by the base name of the file."""

    def __init__(self, directory):
        self.files = {}
        for parent, _, names in os.walk(directory):
            for name in names:
                if name.endswith((".c", ".h")):
                    self.files.setdefault(name, os.path.join(parent, name))

    def statement(self, file, number):
        """The line, after the lines above it that belong to the same statement; None if it is not in these sources."""
        if file not in self.files:
            return None
        with open(self.files[file], errors="replace") as opened:
            lines = opened.read().splitlines()
        if not 0 < number <= len(lines):
            return None
        first = number - 1
        while first > 0 and number - first < 8 and not re.search(r"([;{}:>]|\*/)\s*$|^\s*(#.*)?$", lines[first - 1]):
            first -= 1
        return " ".join(line.strip() for line in lines[first:number])


def report(name, tree, sources):
    total = tree.root["ops"]
    by_line = {}
    for node in tree.find(kind="loop"):
        key = (node["function"], file_of(node), line_of(node))
        ops, iterations = by_line.get(key, (0, 0))
        by_line[key] = (ops + node["self_ops"], iterations + node["iterations"])
    rows = sorted(by_line.items(), key=lambda item: item[1][0], reverse=True)[:HOTTEST]
    right, named, shown = 0, 0, 0
    for (function, file, number), (ops, iterations) in rows:
        statement = sources.statement(file, number) if file else None
        looks = bool(statement is not None and LOOP_LINE.search(statement))
        if statement is not None:
            named += ops
            right += ops if looks else 0
        shown += ops
        where = f"{file}:{number}" if file else "?"
        print(f"  {100 * ops / total:5.1f} %  {iterations:>12} iterations  {where:24} {function:24.24} "
              f"{'loop' if looks else 'other' if statement is not None else 'elsewhere':9} {(statement or '')[-60:]}")
    suite.check(f"{name}: hot loops lie in its sources", named > 0.5 * shown,
                f"{named} of {shown} operations of the hottest loops")
    suite.check(f"{name}: hot loops are named by statements of loops", right > RIGHT_SHARE * named,
                f"{right} of {named} operations")


def check_program(name, command, directory, instructions, sources, stdin=b""):
    trace = os.path.join(directory, name)
    recorded = lf.record(trace, command, options=("--quiet", "--max-instructions", instructions), stdin=stdin,
                         timeout=900)
    suite.check(f"{name}: recorded", recorded.status == 0, recorded)
    facts = lf.info(trace)
    if not suite.check(f"{name}: trace info", isinstance(facts, dict), facts):
        return
    vectors = lf.trace("check", trace, "--iteration-vectors", timeout=900)
    suite.check(f"{name}: iteration vectors increase", vectors.status == 0, vectors)
    began = time.monotonic()
    tree = structure_tree.load(suite, name, trace)
    seconds = time.monotonic() - began
    if tree is None:
        return
    count, size = facts["instructions"], os.path.getsize(os.path.join(trace, "trace.lft"))
    print(f"{name}: {count / 1e6:.0f} M instructions, {size / 1e6:.1f} MB, recorded in {recorded.seconds:.1f} s, "
          f"vectors checked in {vectors.seconds:.1f} s, tree of {len(tree.nodes)} nodes in {seconds:.1f} s "
          f"({count / 1e6 / max(seconds, 1e-9):.0f} M/s)")
    structure_tree.check_invariants(suite, name, tree, count)
    report(name, tree, sources)


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: debian_programs.py LOOPFOLD DIR [INSTRUCTIONS]; scripts/build-debian-programs fills DIR")
    built, instructions = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "500M"
    sources = Sources(os.path.join(built, "source"))
    with lf.Directory() as directory:
        script, data = os.path.join(directory, "script.lua"), text(6_000_000)
        with open(script, "w") as file:
            file.write(LUA)
        for name, arguments, stdin in (("gzip", ["-c"], data), ("bzip2", ["-c"], data[:1_500_000]),
                                       ("lua", [script], b"")):
            path = os.path.join(built, name)
            if suite.check(f"{name}: built", os.access(path, os.X_OK), f"{path}: run scripts/build-debian-programs"):
                check_program(name, [path, *arguments], directory, instructions, sources, stdin)


main()
suite.finish()
