"""What kernels say about advice: `// expect:` at the head of a loop, `// expect-advice:` in the lines above it, read.

docs/kernels.md describes the notation. A verdict is as in expectations.py. Advice is a list of facts with semicolons
between them; a fact speaks of the loop below, or of the region that the loop is in. This file knows the language and
nothing of profiles: advice_facts.py looks whether a fact is true of one.
"""

import dataclasses
import os
import re

from expectations import HEAD, VERDICT, Loop, nest

RULES = ("LF-PAR", "LF-RED", "LF-SIMD", "LF-ICH", "LF-TIL", "LF-SKW", "LF-FUS", "LF-DIS", "LF-SPC", "LF-PRV", "LF-EXP",
         "LF-CON", "LF-LAY")
PERCENTAGES = ("parallel_ops", "simd_ops", "reuse", "potential_reuse", "tilable_ops")
NEEDS = ("private", "expand", "reduction", "reload")
CHOICES = {"skew": ("yes", "no"), "interprocedural": ("yes", "no"), "fusion": ("max", "smart", "none"),
           "status": ("found", "original", "gave up"), "blocks": ("yes", "no", "reduction", "unknown")}
LEVELS = ("-O0", "-O1", "-O2")
ADVICE = re.compile(r"expect-advice(?P<level> -O[012])?(?: at (?P<call>\w+))?:(?P<facts>.*)$")
C_NAME = re.compile(r"for\s*\([\w\s*]*?(\w+)\s*=")
FORTRAN_HEAD = re.compile(r"^\s*do\s+(?:while\b|(\w+)\s*=)", re.IGNORECASE)
FORTRAN_END = re.compile(r"^\s*end\s*do\b", re.IGNORECASE)
AMOUNT = re.compile(r"(?:(>=|<=)\s*(\d+)|(\d+)\.\.(\d+)|(\d+))$")


@dataclasses.dataclass(frozen=True)
class Amount:
    """A range of numbers. One number alone is itself, or that many percent with one to spare."""
    least: float
    most: float
    text: str

    def holds(self, number):
        return self.least <= number <= self.most


@dataclasses.dataclass(frozen=True)
class Fact:
    """One thing that is true of a loop or of its region. What `values` are depends on the kind."""
    loop: Loop
    text: str
    kind: str
    values: tuple
    level: str = None  # only in this build
    call: int = None   # only where the loop was reached through the call in this line

    def of_loop(self):
        return self.kind in ("stride01", "trip", "blocking", "hidden", "blocks")


def amount(text, spare):
    found = AMOUNT.match(text.strip())
    if not found:
        raise ValueError(f"not an amount: {text}")
    sign, bound, low, high, alone = found.groups()
    if sign:
        return Amount(float(bound), float("inf"), text) if sign == ">=" else Amount(float("-inf"), float(bound), text)
    least, most = (int(low), int(high)) if low else (int(alone) - spare, int(alone) + spare)
    if least > most:
        raise ValueError(f"an empty range: {text}")
    return Amount(least, most, text)


class Reader:
    """Facts of one kernel: loops are named by their counters, lines by their tags."""

    def __init__(self, loops, names, tags):
        self.loops, self.names, self.tags = loops, names, tags

    def fact(self, loop, text, level, call):
        kind, _, rest = text.partition(" ")
        method = {"suggests": self.suggestion, "never": self.suggestion, "interchange": self.interchange,
                  "blocking": self.blocking, "components": self.components, "others": self.others, "obstacles": self.obstacles,
                  "hidden": self.hidden}.get(kind)
        if method:
            values = method(loop, rest.strip())
        elif kind in CHOICES:
            values = (self.choice(rest.strip(), CHOICES[kind]),)
        elif kind in PERCENTAGES + ("stride01", "affine"):
            values = (amount(rest, 1),)
        elif kind in ("tile_depth", "trip"):
            values = (amount(rest, 0),)
        else:
            raise ValueError(f"not a fact: {text}")
        return Fact(loop, text, kind, values, level, self.line(call) if call else None)

    @staticmethod
    def choice(text, choices):
        if text not in choices:
            raise ValueError(f"{text} is none of {', '.join(choices)}")
        return text

    @staticmethod
    def obstacles(_, text):
        """Letters, in their order; none at all: `none`."""
        if text != "none" and not re.fullmatch("R?C?B?F?A?P?", text):
            raise ValueError(f"obstacles are some of RCBFAP: {text}")
        return ("" if text == "none" else text,)

    @staticmethod
    def hidden(_, text):
        """Periods of hidden levels, outermost first; none at all: `none`."""
        if text != "none" and not re.fullmatch(r"\d+( \d+)*", text):
            raise ValueError(f"hidden levels are periods, or none: {text}")
        return () if text == "none" else tuple(int(period) for period in text.split())

    def suggestion(self, loop, text):
        """(rule, loops, what it needs, whether it is legal); no rule: `nothing`."""
        if text == "nothing":
            return None, (), (), None
        text, _, legal = text.partition(" legal ")
        text, _, needs = text.partition(" needs ")
        rule, *names = text.split()
        needs = tuple(self.choice(word, NEEDS) for word in needs.split())
        return (self.choice(rule, RULES), tuple(self.loop(loop, name) for name in names), needs,
                self.choice(legal, ("yes", "no", "unknown")) if legal else None)

    def interchange(self, loop, text):
        """Two loops, the outer one first, or none at all."""
        names = [] if text == "none" else text.split()
        if len(names) not in (0, 2):
            raise ValueError(f"interchange of two loops, or none: {text}")
        return tuple(self.loop(loop, name) for name in names)

    def blocking(self, _, text):
        """(line that produces, line that consumes, distance or None)"""
        found = re.match(r"(\w+) -> (\w+)(?: distance (-?\d+))?$", text)
        if not found:
            raise ValueError(f"not `blocking A -> B [distance D]`: {text}")
        return self.line(found[1]), self.line(found[2]), int(found[3]) if found[3] else None

    @staticmethod
    def components(_, text):
        found = re.match(r"(\d+) -> (\d+)$", text)
        if not found:
            raise ValueError(f"not `components A -> B`: {text}")
        return int(found[1]), int(found[2])

    def others(self, _, text):
        return (self.choice(text, ("unknown",)),)

    def line(self, tag):
        if tag not in self.tags:
            raise ValueError(f"no line has the tag {tag}")
        return self.tags[tag]

    def loop(self, near, name):
        """The loop over `name` in the nest of a loop, else in the file; `i.2` is the second one of that name."""
        name, _, number = name.partition(".")
        same = [loop for loop in self.loops if self.names[id(loop)] == name]
        found = [loop for loop in same if outermost(loop) is outermost(near)] or same
        if not found or (len(found) > 1 and not number) or (number and not 1 <= int(number) <= len(found)):
            raise ValueError(f"{len(found)} loops are over {name}{', which is ' + number if number else ''}")
        return found[int(number) - 1 if number else 0]


def outermost(loop):
    while loop.parent:
        loop = loop.parent
    return loop


class Kernel:
    """A source file with its loops, their verdicts and facts. Raises ValueError where a line is not what it must be."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.read(path, file.read())

    def read(self, path, source):
        self.path, self.name, self.source = path, os.path.basename(path), source
        self.mark = "!" if self.is_fortran() else "//"
        self.run = self.header("run")
        if self.run is None:
            raise ValueError(f"{self.name}: no line `{self.mark} advice: run SIZES`")
        builds = self.header("builds")
        self.levels = [level for level in builds.partition(":")[0].split()] if builds else ["-O1", "-O2"]
        if not set(self.levels) <= set(LEVELS):
            raise ValueError(f"{self.name}: builds are of {LEVELS}: {builds}")
        self.lines = source.split("\n")
        self.loops, names = self.fortran_loops() if self.is_fortran() else self.c_loops()
        self.facts = self.read_facts(Reader(self.loops, names, self.tags()))

    def __str__(self):
        return self.name

    __repr__ = __str__

    def is_fortran(self):
        return self.name.endswith(".f90")

    def compiler(self):
        return "gfortran" if self.is_fortran() else "gcc"

    def judged(self):
        return [loop for loop in self.loops if loop.expected]

    def header(self, word):
        found = re.search(rf"^{self.mark} advice: {word}\b(.*)$", self.source, re.MULTILINE)
        return found[1].strip() if found else None

    def comment(self, text):
        return text.partition(self.mark)[2].strip()

    def tags(self):
        found = {}
        for line, text in enumerate(self.lines, start=1):
            tag = re.search(rf"\S.*{self.mark} (\w+):$", text)
            if tag and tag[1] in found:
                raise ValueError(f"{self.name}:{line}: {tag[1]} is the tag of line {found[tag[1]]} too")
            if tag:
                found[tag[1]] = line
        return found

    def new_loop(self, line, text, words):
        words = words.strip()
        if words and not VERDICT.match(words):
            raise ValueError(f"{self.name}:{line}: not a verdict: {words}")
        return Loop(line, None, False, text.strip(), words, self.lines[line - 2])

    def expectations(self, line):
        """What the comment of a line expects, for each of its heads."""
        comment = self.comment(self.lines[line - 1])
        return comment[len("expect:"):].split(";") if comment.startswith("expect:") else []

    def c_loops(self):
        loops, names = [], {}
        for line, text in enumerate(self.lines, start=1):
            code = text.partition("//")[0]
            heads = list(HEAD.finditer(code))
            said = self.expectations(line) or [""] * len(heads)
            if len(said) != len(heads):
                raise ValueError(f"{self.name}:{line}: {len(heads)} loops, {len(said)} expectations")
            for head, words in zip(heads, said):
                loops.append(self.new_loop(line, code, words))
                counter = C_NAME.match(code, head.start())
                names[id(loops[-1])] = counter[1] if counter else head[1]
        return nest(self.source, loops), names

    def fortran_loops(self):
        loops, names, around = [], {}, []
        for line, text in enumerate(self.lines, start=1):
            code = text.partition("!")[0]
            head, said = FORTRAN_HEAD.match(code), self.expectations(line)
            if said and not head:
                raise ValueError(f"{self.name}:{line}: an expectation, but no loop")
            if head:
                loop = self.new_loop(line, code, said[0] if said else "")
                loop.parent = around[-1] if around else None
                around.append(loop)
                loops.append(loop)
                names[id(loop)] = head[1] or "while"
            if FORTRAN_END.match(code):
                around.pop().last_line = line
        if around:
            raise ValueError(f"{self.name}:{around[-1].line}: no end of the loop")
        return loops, names

    def read_facts(self, reader):
        facts = []
        for line, text in enumerate(self.lines, start=1):
            if not text.strip().startswith(self.mark) or not self.comment(text).startswith("expect-advice"):
                continue
            try:
                said = ADVICE.match(self.comment(text))
                if not said:
                    raise ValueError("not `expect-advice [-O1] [at TAG]: FACTS`")
                loop, level = self.loop_below(line), (said["level"] or "").strip() or None
                facts += [reader.fact(loop, words.strip(), level, said["call"]) for words in said["facts"].split(";")]
            except ValueError as error:
                raise ValueError(f"{self.name}:{line}: {error}") from None
        return facts

    def loop_below(self, line):
        """The first loop of the first line that is no comment."""
        while self.lines[line].strip().startswith(self.mark):
            line += 1
        found = [loop for loop in self.loops if loop.line == line + 1]
        if not found:
            raise ValueError(f"no loop in line {line + 1}")
        return found[0]


def is_kernel(path):
    with open(path, encoding="utf-8") as file:
        return re.search(r"^(//|!) advice: run", file.read(), re.MULTILINE) is not None


def kernels_in(directories, wanted):
    """Those with something to say on advice, whose path the regular expression matches."""
    paths = [os.path.join(directory, name) for directory in directories for name in sorted(os.listdir(directory))
             if name.endswith((".c", ".f90"))]
    return [Kernel(path) for path in paths if is_kernel(path) and re.search(wanted, path)]
