"""What the programs of kernels/verdicts say about their loops: the `// expect:` lines, read.

Shared by the tests that check the lines (reality.py) and those that check Loopfold against them (verdicts.py).
docs/kernels.md describes the notation.
"""

import os
import re

HEAD = re.compile(r"\b(FOR|WHILE|WHILE_INDEX|for|while)\s*\(")
MACROS = ("FOR", "WHILE", "WHILE_INDEX")
BUILD = re.compile(r"(gcc|clang) -O[12]")  # an optimised one; at -O3 any loop may be `unknown`
VERDICT = re.compile(r"(parallel|no|unknown|reduction\(([-+*^&|,]|max|min)+\))(: .*)?$")


class Loop:
    """A head in the source, and what is expected of it."""

    def __init__(self, line, number, studied, text, words, above=""):
        self.line, self.number, self.studied, self.text = line, number, studied, text
        self.expected, _, self.reason = words.partition(": ")
        self.argued, self.anew = "// by-argument:" in above, "// anew:" in above
        hidden = re.search(r"// hidden: ([^:]*): ", above)
        self.hidden = hidden[1].split(", ") if hidden else []  # builds that do not show what is expected
        strange = [build for build in self.hidden if not BUILD.fullmatch(build)]
        if strange or ("// hidden:" in above and not hidden):
            raise ValueError(f"line {line - 1}: not `// hidden: BUILDS: why`: {above.strip()}")
        self.last_line = line  # of its body
        self.parent = None     # the loop around it in the text

    def needs_reload(self):
        return self.expected == "parallel" and self.reason.startswith("reload")


def loops_of(source):
    """All loops of a program in the order of the text. A line with several heads has their expectations in that order,
    separated by semicolons. Raises ValueError where a line does not say what it must."""
    loops, number, lines = [], 0, source.split("\n")
    for line, text in enumerate(lines, start=1):
        code, _, comment = text.partition("//")
        heads = HEAD.findall(code)
        said = comment.strip()[len("expect:"):].split(";") if comment.strip().startswith("expect:") else []
        if len(heads) != len(said):
            raise ValueError(f"line {line}: {len(heads)} loops, {len(said)} expectations: {text.strip()}")
        for head, words in zip(heads, said):
            if not VERDICT.match(words.strip()):
                raise ValueError(f"line {line}: not a verdict: {words}")
            loop = Loop(line, number if head in MACROS else None, head in MACROS, code.strip(), words.strip(),
                        lines[line - 2])
            if loop.argued == loop.studied:
                raise ValueError(f"line {line}: either FOR or WHILE, or a reason in the line above: {text.strip()}")
            loops.append(loop)
            number += head in MACROS
    return loops


def nest(source, loops):
    """Finds where each loop ends, and the loop around it."""
    text = re.sub(r"//.*", "", source)
    heads = list(HEAD.finditer(text))
    assert len(heads) == len(loops)
    open_loops = []
    for head, loop in zip(heads, loops):
        end = matching(text, text.index("(", head.start()), "(", ")")
        close = end_of_body(text, end + 1)
        loop.last_line = text.count("\n", 0, close) + 1
        open_loops = [(other, at) for other, at in open_loops if at > head.start()]
        loop.parent = open_loops[-1][0] if open_loops else None
        open_loops.append((loop, close))
    return loops


def end_of_body(text, start):
    """The end of the statement at `start`: a block, another loop, or what a semicolon ends."""
    start += len(text[start:]) - len(text[start:].lstrip())
    if text[start] == "{":
        return matching(text, start, "{", "}")
    head = HEAD.match(text, start)
    if head:
        return end_of_body(text, matching(text, head.end() - 1, "(", ")") + 1)
    return text.index(";", start)


def matching(text, start, opening, closing):
    """The end of what is opened at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == opening) - (text[at] == closing)
        if depth == 0:
            return at
    raise ValueError("unbalanced")


def normal(verdict):
    """Operators in one order."""
    name, _, operators = verdict.rstrip(")").partition("(")
    return name, sorted(operators.split(","))


class Program:
    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            self.source = file.read()
        self.loops = nest(self.source, loops_of(self.source))

    def __str__(self):
        return self.name

    __repr__ = __str__

    def compiler(self, family):
        """The compiler of gcc's or clang's family for its language."""
        return {"gcc": "g++", "clang": "clang++"}[family] if self.is_cxx() else family

    def standard(self):
        return "-std=gnu++20" if self.is_cxx() else "-std=gnu17"

    def is_cxx(self):
        return self.name.endswith(".cc")

    def studied(self):
        return [loop for loop in self.loops if loop.studied]


def programs_in(directory, wanted):
    """Those that the regular expression matches."""
    paths = sorted(os.path.join(directory, name) for name in os.listdir(directory) if name.endswith((".c", ".cc")))
    return [Program(path) for path in paths if re.search(wanted, path)]
