"""Random schedules of random kernels: whatever `loopfold check` calls legal is right when the program is run that way.

A kernel is a loop over i with statements and one or two loops over j in it, on a few small arrays and scalars. The script
knows what every statement reads and writes, so it can run the kernel itself, statement by statement: as written, and in
the order that a schedule asks for, with private copies and expansions as `check` tells. It knows nothing of live ranges:
a schedule is right if every read gets the value that it got as written, the arrays are the same at the end, and no two
iterations of a parallel loop touch one place, one of them writing. What is never used does not count at -O1, where the
compiler leaves it out.

- `legal`, `legal after ...` must be right: not one exception.
- `illegal` must not be said where the plain order is right.
- `unknown` is allowed; at least two thirds of the answers are something else.

    LOOPFOLD_SOAK  multiplies the number of kernels
    LOOPFOLD_SEED  moves the seeds
"""

import json
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import lf  # noqa: E402

KERNELS = 16 * lf.SOAK
SEED = int(os.environ.get("LOOPFOLD_SEED", "0"))
N, M = 5, 4
ARRAYS = {"a": N * M, "b": N + M, "c": N + M}
SCALARS = ("s", "t")

lf.skip_library_debug_info()
suite = lf.Suite()
counts = {}


class Reference:
    """A place that a statement reads or writes: an array element, or a scalar."""

    def __init__(self, name, text="", index=None):
        self.name, self.text, self.index = name, text, index

    def source(self):
        return f"{self.name}[{self.text}]" if self.index else self.name

    def cell(self, i, j):
        return (self.name, self.index(i, j) if self.index else 0)


def reference(rng, has_j, written):
    if rng.random() < 0.35:
        return Reference(rng.choice(SCALARS))
    choices = [("i", lambda i, j: i), ("i + 1", lambda i, j: i + 1), ("0", lambda i, j: 0), ("i % 2", lambda i, j: i % 2)]
    if has_j:
        choices += [("j", lambda i, j: j), ("j + 1", lambda i, j: j + 1), ("i + j", lambda i, j: i + j)] * 2
        if rng.random() < 0.5:
            shift = rng.choice([0, 0, 0, 1])
            return Reference("a", f"i * {M} + j" + (f" - {shift} + {shift}" if written else ""),
                             lambda i, j: i * M + j)
    text, index = rng.choice(choices)
    return Reference(rng.choice(["b", "c"]), text, index)


class Statement:
    def __init__(self, rng, has_j):
        self.target = reference(rng, has_j, True)
        self.sources = [reference(rng, has_j, False) for _ in range(rng.randint(1, 2))]
        self.constant = rng.randint(1, 9) / 4

    def source(self):
        terms = " + ".join(f"0.5 * {one.source()}" for one in self.sources)
        return f"{self.target.source()} = {terms} + {self.constant};"

    def value(self, values):
        total = None
        for one in values:
            total = 0.5 * one if total is None else total + 0.5 * one
        return total + self.constant


class Kernel:
    """self.parts: in the order of the body of i; a part is a list of statements, and whether it is a loop over j."""

    def __init__(self, number):
        rng = self.rng = random.Random(SEED * 1000003 + number)
        shapes = [[True], [False, True], [True, False], [True, True], [False, True, False], [False, True, True]]
        self.parts = [(loop, [Statement(rng, loop) for _ in range(rng.randint(1, 2))])
                      for loop in rng.choice(shapes)]
        self.lines = {}

    def text(self):
        lines = ["#include <stdio.h>"]
        lines += [f"double {name}[{size + 2}];" for name, size in ARRAYS.items()]
        lines += ["__attribute__((noinline)) void kernel(void) {", f"  double {', '.join(f'{s} = 1' for s in SCALARS)};"]
        lines.append(f"  for (int i = 0; i < {N}; i++) {{")
        self.lines["I"] = len(lines)
        for number, (loop, statements) in enumerate(self.parts):
            if loop:
                lines.append(f"    for (int j = 0; j < {M}; j++) {{")
                self.lines[number] = len(lines)
            lines += ["      " + statement.source() for statement in statements]
            if loop:
                lines.append("    }")
        lines += ["  }", "}", "int main(void) {"]
        lines += [f"  for (int k = 0; k < {size}; k++) {name}[k] = k * 0.75 + {at};"
                  for at, (name, size) in enumerate(ARRAYS.items())]
        lines += ["  kernel();", "  double sum = 0;"]
        lines += [f"  for (int k = 0; k < {size}; k++) sum = sum * 0.9 + {name}[k];" for name, size in ARRAYS.items()]
        lines += ['  printf("%.9g\\n", sum);', "  return 0;", "}"]
        return "\n".join(lines) + "\n"

    def instances(self):
        """(part, statement, i, j), as written."""
        for i in range(N):
            for number, (loop, statements) in enumerate(self.parts):
                for j in range(M) if loop else [0]:
                    for at in range(len(statements)):
                        yield number, at, i, j

    def loops(self):
        return [number for number, (loop, _) in enumerate(self.parts) if loop]

    def schedules(self):
        """Lists of steps: ("interchange", part), ("reverse", I or part), ("parallel", I or part), ..."""
        loops = self.loops()
        singles = [[("reverse", "I")], [("parallel", "I")]]
        for loop in loops:
            singles += [[("interchange", loop)], [("reverse", loop)], [("parallel", loop)],
                        [("interchange", loop), ("parallel", loop)], [("interchange", loop), ("parallel", "I")]]
        if len(loops) == 2:
            singles += [[("distribute", loops[1])], [("fuse", loops[0], loops[1])],
                        [("distribute", loops[1]), ("parallel", "I")]]
        return self.rng.sample(singles, min(6, len(singles)))

    def step_text(self, steps):
        words = []
        for step in steps:
            if step[0] == "interchange":
                words.append(f"interchange {self.lines['I']} {self.lines[step[1]]}")
            elif step[0] == "distribute":
                words.append(f"distribute {self.lines['I']} at {self.lines[step[1]]}")
            elif step[0] == "fuse":
                words.append(f"fuse {self.lines[step[1]]} {self.lines[step[2]]}")
            else:
                words.append(f"{step[0]} {self.lines[step[1]]}")
        return "; ".join(words)


def ordered(kernel, steps):
    """All instances with their times, and the row of the time that is parallel for each, if there is one."""
    result = []
    for number, at, i, j in kernel.instances():
        rows = [["place", 0], ["I", i], ["place", number], [number if kernel.parts[number][0] else None, j], ["place", at]]
        parallel = []
        for step in steps:
            if step[0] == "interchange":
                other = step[1]
                side = 1 if number == other else 0 if number < other else 2
                where_i = next(k for k, row in enumerate(rows) if row[0] == "I")
                if number == other:
                    where_j = next(k for k, row in enumerate(rows) if row[0] == other)
                    rows[where_i], rows[where_j] = rows[where_j], rows[where_i]
                rows.insert(min(where_i, len(rows)), ["place", side])
            elif step[0] == "reverse":
                for row in rows:
                    if row[0] == step[1]:
                        row[1] = -row[1]
            elif step[0] == "distribute":
                where = next(k for k, row in enumerate(rows) if row[0] == "I")
                rows.insert(where, ["place", 0 if number < step[1] else 1])
            elif step[0] == "fuse":
                if number == step[2]:
                    rows[2][1] = step[1]
                    rows[4][1] += len(kernel.parts[step[1]][1])
                    rows[3][0] = step[1]
            else:
                parallel.append(step[1])
        row = next((k for k, row in enumerate(rows) if row[0] in parallel and row[0] is not None), None)
        result.append(((number, at, i, j), [row[1] for row in rows], row))
    return result


def as_written(kernel):
    """By instance the sources of its reads, and what is left in the arrays: instances that wrote it."""
    memory, sources = {}, {}
    for instance in kernel.instances():
        number, at, i, j = instance
        statement = kernel.parts[number][1][at]
        sources[instance] = [memory.get(one.cell(i, j)) for one in statement.sources]
        memory[statement.target.cell(i, j)] = instance
    return sources, {cell: by for cell, by in memory.items() if cell[0] in ARRAYS}


def leave(lasts, memory):
    """The end of a parallel loop: lastprivate variables get their values."""
    for cell, (_, where) in lasts.items():
        memory[(cell,)] = memory[where]
    lasts.clear()


def used(kernel, sources, left):
    """Instances whose values end up in an array."""
    found, todo = set(), list(left.values())
    while todo:
        instance = todo.pop()
        if instance is None or instance in found:
            continue
        found.add(instance)
        todo += sources[instance]
    return found


def is_right(kernel, steps, answer, dead_code):
    """Runs the order with the copies that the answer asks for."""
    sources, left = as_written(kernel)
    live = set(kernel.instances()) if dead_code else used(kernel, sources, left)
    private = {one["variable"]: one["clause"] or "private" for one in answer["requires"] if one["kind"] == "private"}
    expanded = {one["variable"]: one["lines"] for one in answer["requires"] if one["kind"] == "expand"}
    events = sorted(ordered(kernel, steps), key=lambda event: event[1] + [event[0][0], event[0][1]])

    def counters(instance, lines):
        number, _, i, j = instance
        return tuple(i if line == str(kernel.lines["I"]) else j for line in lines)

    def place(name, cell, instance, source, time, row):
        """Where a value is: the cell in one of its copies."""
        if name in expanded:
            return (cell, "new", counters(source, expanded[name])) if source is not None else (cell, "old")
        if name in private and row is not None:
            return (cell, "own", tuple(time[:row + 1]))
        return (cell,)

    touched = []
    memory = {}
    lasts = {}  # by cell: what the last iteration of the entry that is going on left
    entry = None
    for instance, time, row in events:
        if instance not in live:
            continue
        now = None if row is None else (row, time[:row])
        if now != entry:
            leave(lasts, memory)
            entry = now
        number, at, i, j = instance
        statement = kernel.parts[number][1][at]
        for one, source in zip(statement.sources, sources[instance]):
            cell = one.cell(i, j)
            where = place(one.name, cell, instance, source, time, row)
            touched.append((where, False, time, row))
            got = memory.get(where)
            if where[1:2] == ("own",) and where not in memory:
                got = memory.get((cell,)) if "firstprivate" in private[one.name] else "nothing"
            if got != source:
                return False, f"{instance} reads {one.source()} of {got} instead of {source}"
        cell = statement.target.cell(i, j)
        where = place(statement.target.name, cell, instance, instance, time, row)
        touched.append((where, True, time, row))
        memory[where] = instance
        if where[1:2] == ("own",) and "lastprivate" in private[statement.target.name]:
            lasts[cell] = max(lasts.get(cell, (time[row], where)), (time[row], where))
    leave(lasts, memory)
    for cell, by in left.items():
        name = cell[0]
        where = (cell, "new", counters(by, expanded[name])) if name in expanded else (cell,)
        if name in private and "lastprivate" not in private[name] and where not in memory:
            return False, f"{cell} is lost"
        if memory.get(where) != by:
            return False, f"{cell} is of {memory.get(where)} instead of {by}"
    for k, (where, writes, time, row) in enumerate(touched):
        for other_where, other_writes, other_time, other_row in touched[k + 1:]:
            if where != other_where or not (writes or other_writes) or row is None or row != other_row:
                continue
            if time[:row] == other_time[:row] and time[row] != other_time[row]:
                return False, f"two iterations use {where}"
    return True, ""


def look_at(number):
    kernel = Kernel(number)
    with lf.Directory() as directory:
        path = os.path.join(directory, "kernel.c")
        with open(path, "w") as file:
            file.write(kernel.text())
        level = kernel.rng.choice(["-O0", "-O1"])
        program = os.path.join(directory, "kernel")
        built = lf.run(["gcc", level, "-g", "-o", program, path])
        if not suite.check(f"kernel {number}: builds", built.status == 0, built):
            return
        out = os.path.join(directory, "out")
        lf.run([lf.LOOPFOLD, "record", "-q", "-o", out, "--", program])
        for steps in kernel.schedules():
            text = kernel.step_text(steps)
            checked = lf.run([lf.LOOPFOLD, "check", "-q", "--format", "json", "--schedule", "-", out],
                             stdin=text.encode())
            what = f"kernel {number} {level}: {text}"
            if checked.status == 3:  # the compiler took a loop away, or statements cannot be split there
                counts["no such loop"] = counts.get("no such loop", 0) + 1
                continue
            try:
                answer = json.loads(checked.stdout)
            except ValueError:
                suite.check(f"{what}: is answered", False, f"{checked}\n{kernel.text()}")
                continue
            verdict = answer["verdict"]
            counts[verdict] = counts.get(verdict, 0) + 1
            nothing = {"requires": []}
            if verdict in ("legal", "legal after"):
                names = {one["variable"] for one in answer["requires"]}
                if not names <= set(ARRAYS) | set(SCALARS):
                    counts["by register"] = counts.get("by register", 0) + 1
                    continue
                right, why = is_right(kernel, steps, answer, level == "-O0")
                suite.check(f"{what}: {verdict} is right", right, f"{why}\n{answer}\n{kernel.text()}")
            elif verdict == "illegal" and level == "-O0":
                right, _ = is_right(kernel, steps, nothing, True)
                suite.check(f"{what}: illegal is not right as it is", not right, f"{answer}\n{kernel.text()}")


def main():
    suite.each(look_at, range(KERNELS))
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    answers = sum(counts.get(verdict, 0) for verdict in ("legal", "legal after", "illegal", "unknown"))
    suite.check("enough was decided", counts.get("unknown", 0) * 3 <= answers, counts)
    suite.check("all answers occur", all(counts.get(verdict) for verdict in ("legal", "legal after", "illegal")), counts)
    suite.finish()


if __name__ == "__main__":
    main()
