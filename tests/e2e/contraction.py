"""LF-CON: what is suggested for temporary arrays is right, and one cell fewer is not.

Each program reads and writes its temporary array through a macro T. What the suggestion says, `t[2][48]: use t[i0 % 2][i1]`,
becomes an array and that macro: the program must print the same. With any modulus one smaller it must not. Programs whose array is needed
otherwise get no suggestion.
"""

import json
import os
import re

import lf

suite = lf.Suite()
HEAD = """#include <stdio.h>
#include <stdlib.h>
enum { N = 40, M = 48 };
static double in[N][M], out[N][M];
DECLARATION
#ifdef T
static double contracted SHAPE;
#else
#define T(...) ORIGINAL
#endif
static double shown(void) { double sum = 0; for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) sum = sum * 0.9 + out[i][j]; return sum; }
int main(void) {
  for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) in[i][j] = (i * 31 + j * 17) % 101 * 0.25;
  BEFORE
BODY
  AFTER
  printf("%.17g\\n", shown());
  return 0;
}
"""
MATRIX, ROW = "static double t[N][M];", "static double t[N * M];"


def program(body, declaration=MATRIX, indices="i0, i1", original="t[i0][i1]", before="", after=""):
    text = HEAD.replace("T(...)", f"T({indices})")
    for word, put in (("DECLARATION", declaration), ("ORIGINAL", original), ("BEFORE", before), ("AFTER", after), ("BODY", body)):
        text = text.replace(word, put)
    return text


def rows(distance):
    """Rows of the matrix are used again `distance` iterations later."""
    return f"""  for (int i = 0; i < N; i++) {{
    for (int j = 0; j < M; j++) T(i, j) = in[i][j] * 2 + j;
    for (int j = 0; j < M; j++) out[i][j] = T(i, j) + (i < {distance} ? 0 : T(i - {distance}, j));
  }}"""


VECTOR = dict(declaration=ROW, indices="i0", original="t[i0]")
CHAIN = """  for (int k = 0; k < N * M; k++) {
    T(k) = in[k / M][k % M] * 3 + (k < 3 ? 0 : T(k - 3));
    out[k / M][k % M] = T(k) + (k < 1 ? 0 : T(k - 1));
  }"""
# name: (source, the text of the suggestion, or None if there must be none)
PROGRAMS = {
    "one row": (program(rows(0)), "[i1]"),
    "two rows": (program(rows(1)), "[i0 % 2][i1]"),
    "three rows": (program(rows(2)), "[i0 % 3][i1]"),
    "cells of a chain": (program(CHAIN, **VECTOR), "[i0 % 3]"),
    "on the heap": (program(CHAIN, declaration="static double *t;", indices="i0", original="t[i0]",
                            before="t = malloc(N * M * sizeof *t);", after="free(t);"), "[i0 % 3]"),
    "on the stack": (program(CHAIN, declaration="", indices="i0", original="t[i0]", before="double t[N * M];"), "[i0 % 3]"),
    "read behind": (program(rows(1), after="out[0][0] += t[3][7];"), None),
    "read before it is written": (program(rows(1).replace("(i < 1 ? 0 : T(i - 1, j))", "T((i + 1) % N, j)")), None),
    "filled before": (program(rows(1), before="for (int j = 0; j < M; j++) t[3][j] = j;"), None),
    "all alive": (program("""  for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) T(i, j) = in[i][j] + 1;
  for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) out[i][j] = T(N - 1 - i, j);"""), None),
    "subscripts from data": (program(rows(1).replace("T(i, j) +", "T(i, (int)in[i][j] % M) +")), None),
}


def suggestions(directory, name, source):
    """The LF-CON suggestions of a program, or a message."""
    binary, trace = os.path.join(directory, name), os.path.join(directory, name + ".out")
    level = "-O0" if "stack" in name else "-O1"  # debug information knows arrays in frames at -O0 only
    built = lf.run(["gcc", "-g", level, "-fno-inline", "-w", source, "-o", binary])
    if built.status != 0:
        return f"does not build: {built}"
    for command in (["record", "-o", trace, "--", binary], ["analyze", trace]):
        result = lf.run([lf.LOOPFOLD, *command])
        if result.status != 0:
            return f"{command[0]}: {result}"
    profile = json.load(open(os.path.join(trace, "profile.json")))
    return [s for region in profile["regions"] for s in region["suggestions"] if s["rule"] == "LF-CON"]


def output(directory, name, source, shape=None, subscripts=None):
    """What it prints, with an array of this shape and these subscripts in place of the temporary one."""
    binary = os.path.join(directory, name)
    indices = "i0" if "T(i0)" in open(source).read() else "i0, i1"
    element = "contracted" + re.sub(r"(i\d)", r"(\1)", subscripts or "")
    macro = [] if shape is None else [f"-DT({indices})={element}", f"-DSHAPE={shape}"]
    built = lf.run(["gcc", "-O1", "-w", *macro, source, "-o", binary])
    return lf.run_native([binary]).stdout if built.status == 0 else str(built)


def fewer(element):
    """The same with one modulus smaller by one, for each."""
    for found in re.finditer(r"% (\d+)", element):
        yield element[:found.start()] + f"% {int(found[1]) - 1}" + element[found.end():]


def judge(name):
    text, wanted = PROGRAMS[name]
    with lf.Directory() as directory:
        name_of_file = name.replace(" ", "_")
        source = os.path.join(directory, name_of_file + ".c")
        with open(source, "w") as file:
            file.write(text)
        found = suggestions(directory, name_of_file, source)
        if not suite.check(f"{name}: recorded", isinstance(found, list), found):
            return
        titles = [s["title"] for s in found]
        if wanted is None:
            suite.check(f"{name}: nothing is suggested", not titles, titles)
            return
        parts = [re.match(r"Contract .*? to [^\[]*(\[.*\]): use [^\[]*(\[.*\])$", title) for title in titles]
        if not suite.check(f"{name}: suggested once", len(parts) == 1 and parts[0] and parts[0][2] == wanted, titles):
            return
        suite.check(f"{name}: legal", found[0]["legal"] == "yes" and found[0]["where"], found[0])
        before = output(directory, "before", source)
        suite.check(f"{name}: the same output", output(directory, "after", source, *parts[0].groups()) == before, titles)
        for less in fewer(wanted):
            suite.check(f"{name}: not with {less}", output(directory, "less", source, parts[0][1], less) != before, less)


suite.each(judge, sorted(PROGRAMS))
suite.finish()
