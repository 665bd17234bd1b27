"""Asks tests/reference/live_ranges, which runs another order of a recorded run, and knows what a source says of its variables.

    with Replay(trace, "kernel.c") as replay:
        replay.ask(nest, "interchange 12 13; parallel 12", variables)   # {"right": ..., "overlaps": ..., ...}
"""

import json
import os
import re
import subprocess

import lf

TOOL = os.environ.get("LOOPFOLD_LIVE_RANGES") or os.path.join(os.path.dirname(lf.LOOPFOLD), "tests", "live_ranges")


class Replay:
    def __init__(self, directory, file):
        self.process = subprocess.Popen([TOOL, directory, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, nest, steps, variables):
        question = {"nest": nest, "steps": parsed(steps), "variables": variables}
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else {"error": "the replay has ended"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def parsed(text):
    """Steps of a schedule, as the replay wants them. `private` declares, and does nothing."""
    steps = []
    for words in (step.split() for step in text.split(";")):
        numbers = [int(number) for word in words[1:] for number in word.split(",") if re.fullmatch(r"-?\d+", number)]
        if words[0] in ("tile", "skew"):
            steps.append({"what": words[0], "lines": numbers[:-1], "number": numbers[-1]})
        elif words[0] != "private":
            steps.append({"what": "parallel" if words[0] == "vector" else words[0], "lines": numbers})
    return steps


def assigned(text, names):
    """Name -> (lines in which it, or an element of it, is assigned to; whether it is a scalar)."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r"for \([^;]*;[^;]*;.*?\)", "", line.split("//")[0])
        for name, element in re.findall(r"\b(\w+)((?:\[[^\]]*\])*)\s*[-+*/]?=(?!=)", code):
            if name in names:
                lines, scalar = found.get(name, ([], True))
                found[name] = (lines + [number], scalar and not element)
    return found


def declared_in_loops(text):
    """Name of a double -> lines of the loops around its declaration."""
    found, around, depth = {}, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0]
        if re.match(r"\s*for\b.*\{\s*$", code):
            around.append((depth, number))
        for match in re.finditer(r"^\s*double (\w+)\b(?!\()", code):
            if around:
                found[match[1]] = [loop for _, loop in around]
        depth += code.count("{") - code.count("}")
        while around and depth <= around[-1][0]:
            around.pop()
    return found


def variables_of(lines, born=(), requires=(), reductions=()):
    """For Replay.ask: `lines` by name (assigned()), `born` by name (declared_in_loops()), `requires` as check answers."""
    made = {name: {"lines": where, "scalar": scalar} for name, (where, scalar) in lines.items()}
    for name in born:
        if name in made:
            made[name].update(kind="expand", along=born[name])
    for name in reductions:
        if name in made:
            made[name].update(kind="reduction")
    for one in requires:
        into = made.get(one["variable"])
        if into is None:
            continue
        into.pop("along", None)
        clause = one.get("clause") or ""
        if one["kind"] == "private":
            into.update(kind="private", first="firstprivate" in clause, last="lastprivate" in clause)
        else:
            into.update(kind="expand", along=[int(line) for line in one["lines"]])
    return made
