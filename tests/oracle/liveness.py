"""Live ranges: what Loopfold says of the loops and schedules of kernels/liveness is what their comments say.

- `// NAME reuse: WHAT` behind the head of a loop names it and says what its row must have: `none`, `unknown`, `carried X`
  (X is in neither list), `reduction X`, or a list of `private X`, `firstprivate X`, `lastprivate X`, `expand X`; with
  `or` between two of these, one of them.
- `// check: STEPS => ANSWER` says what `loopfold check` must answer, with loops by their names: `legal`, `illegal`,
  `unknown`, or a list of `private X` and `expand X`, which must be all that is required.
- Built with -DTWIN, the program is transformed with its variables treated as told, and prints the same; with -DBROKEN
  without that, and prints something else (if it has such). So the comments are checked against reality, too.
- What `check` calls legal is run that way, by brute force over all live ranges of the trace (tests/reference/live_*.h):
  nothing may be overwritten with the variables treated as told, and something must be without that; what it calls
  illegal must go wrong. (At -O1 a scalar may never leave its register, so that there is nothing to overwrite.)

At -O0 and -O1 every comment must be met; a loop may be gone above -O0, and at -O2 `unknown` is allowed.
"""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e")]
import lf  # noqa: E402
import live_ranges  # noqa: E402

KERNELS = os.path.join(lf.SOURCE, "kernels", "liveness")
LEVELS = ("-O0", "-O1", "-O2")
PARAMETERS = {"firstprivate": {"values": "table", "to": "out"}, "double_buffer": {"new": "first"}}  # what pointers point to

lf.skip_library_debug_info()
suite = lf.Suite()


def loops_of(text):
    """Name -> (line, expectation)."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = re.search(r"// (\w+) reuse: (.*)$", line)
        if match:
            found[match[1]] = (number, match[2].strip())
    return found


def rows_of(profile, line, file):
    return [row for region in profile["regions"] for row in region["loops"]
            if row["source"] and row["source"]["line"] == line and row["source"]["file"].endswith(file)]


def told(row):
    """What a row asks for, as the comments say it."""
    words = []
    for touched in row["private"]:
        kinds = re.findall(r"(\w+)\(", touched.get("clause", "")) or ["private"]
        words += [f"{kind} {touched.get('variable', '?')}" for kind in kinds]
    words += [f"expand {touched.get('variable', '?')}" for touched in row["expand"]]
    return sorted(words)


def matches(row, expected):
    if " or " in expected:
        return any(matches(row, one) for one in expected.split(" or "))
    if expected == "unknown":
        return row["reuse"] == "unknown" and row.get("reuse_why")
    if expected == "none":
        return row["reuse"] == "none" and not told(row)
    if expected.startswith("carried"):
        names = expected.split()[1:]
        return row["parallel"] == "no" and not any(name in word for word in told(row) for name in names)
    if expected.startswith("reduction"):
        name = expected.split()[1]
        return row["parallel"] == "reduction" and [r["variable"] for r in row["reductions"]] == [name] and not told(row)
    return told(row) == sorted(part.strip() for part in expected.split(","))


def with_lines(steps, loops):
    return re.sub(r"\b[A-Z]\b", lambda match: str(loops[match[0]][0]), steps)


def answer_of(answer):
    if answer["verdict"] != "legal after":
        return answer["verdict"]
    return ", ".join(sorted(f"{one['kind']} {one['variable']}" for one in answer["requires"]))


def replayed(replay, name, text, level, steps, what, answer):
    """The order, run on the trace."""
    loops = loops_of(text)
    lines = live_ranges.assigned(text, set(re.findall(r"\b[a-z]\w*\b", text)))
    for pointer, to in PARAMETERS.get(name, {}).items():
        lines.setdefault(to, ([], False))[0].extend(lines.pop(pointer, ([], False))[0])
    born = live_ranges.declared_in_loops(text)
    nest = min(line for line, _ in loops.values())
    reductions = [name for _, one in loops.values() for name in one.split()[1:] if one.startswith("reduction")]
    reductions = reductions if "reduction" in steps else []
    as_told = replay.ask(nest, steps, live_ranges.variables_of(lines, born, answer["requires"], reductions))
    plain = replay.ask(nest, steps, live_ranges.variables_of(lines, born))
    verdict = answer["verdict"]
    if verdict in ("legal", "legal after"):
        suite.check(f"{name} {level}: {what} is right when run, as told", as_told.get("right"), (answer, as_told))
    if level == "-O0" and (verdict in ("legal after", "illegal") or reductions):
        suite.check(f"{name} {level}: {what} goes wrong without that", plain.get("right") is False, (answer, plain))


def look_at(directory, name, level):
    path = os.path.join(KERNELS, name + ".c")
    with open(path) as file:
        text = file.read()
    program = os.path.join(directory, name + level)
    built = lf.run(["gcc", level, "-g", "-fno-tree-vectorize", "-o", program, path])
    suite.check(f"{name} {level}: builds", built.status == 0, built)
    out = program + ".out"
    lf.run([lf.LOOPFOLD, "record", "-q", "-o", out, "--", program])
    analysed = lf.run([lf.LOOPFOLD, "analyze", "-q", out])
    if not suite.check(f"{name} {level}: is analysed", analysed.status == 0, analysed):
        return
    with open(os.path.join(out, "profile.json")) as file:
        profile = json.load(file)
    loops = loops_of(text)
    for label, (line, expected) in loops.items():
        rows = rows_of(profile, line, name + ".c")
        lenient = level == "-O2"
        suite.check(f"{name} {level}: {label} is {expected}",
                    all(matches(row, expected) or (lenient and row["reuse"] == "unknown") for row in rows) and
                    (rows or level != "-O0"),
                    [(row["parallel"], row["reuse"], row.get("reuse_why"), told(row)) for row in rows])
    with live_ranges.Replay(out, name + ".c") as replay:
        check_schedules(replay, name, text, level, out)


def check_schedules(replay, name, text, level, out):
    loops = loops_of(text)
    for match in re.finditer(r"^// check: (.*) => (.*)$", text, re.M):
        steps, expected = with_lines(match[1], loops), match[2].strip()
        checked = lf.run([lf.LOOPFOLD, "check", "-q", "--format", "json", "--schedule", "-", out], stdin=steps.encode())
        try:
            answer = json.loads(checked.stdout)
        except ValueError:
            suite.check(f"{name} {level}: check {match[1]}", level != "-O0" and checked.status == 3, checked)
            continue
        said = answer_of(answer)
        fine = said == ", ".join(sorted(part.strip() for part in expected.split(",")))
        suite.check(f"{name} {level}: check {match[1]} => {expected}",
                    fine or (level == "-O2" and said == "unknown"), (said, checked))
        suite.check(f"{name} {level}: status of check {match[1]}",
                    checked.status == (1 if said in ("illegal", "unknown") else 0), checked)
        replayed(replay, name, text, level, steps, match[1], answer)


def compare_twins(directory, name):
    path = os.path.join(KERNELS, name + ".c")
    with open(path) as file:
        if "BROKEN" not in file.read():
            return
    outputs = []
    for flags in ([], ["-DTWIN"], ["-DBROKEN"]):
        program = os.path.join(directory, name + "".join(flags))
        built = lf.run(["gcc", "-O1", *flags, "-o", program, path])
        suite.check(f"{name}: builds {flags}", built.status == 0, built)
        outputs.append(lf.run([program]).stdout)
    suite.check(f"{name}: the twin prints the same", outputs[0] == outputs[1], outputs)
    suite.check(f"{name}: without the treatment it does not", outputs[0] != outputs[2], outputs)


def main():
    names = sorted(file[:-2] for file in os.listdir(KERNELS) if file.endswith(".c"))
    wanted = os.environ.get("LOOPFOLD_KERNELS")
    names = [name for name in names if not wanted or re.search(wanted, name)]
    with lf.Directory() as directory:
        for name in names:
            compare_twins(directory, name)
            for level in LEVELS:
                look_at(directory, name, level)
    suite.finish()


if __name__ == "__main__":
    main()
