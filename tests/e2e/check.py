"""loopfold check: what it answers, and how it says it.

Whether its answers are right is tested against runs of other orders (tests/oracle); here it is asked what a person would
ask, and must agree with the report.
"""

import json
import os
import re

import lf

suite = lf.Suite()

SUM = """#include <stdio.h>
enum { N = 60 };
static double a[N];
int main(void) {
  for (int i = 0; i < N; i++) a[i] = i * 0.5;
  double sum = 0;
  for (int i = 0; i < N; i++)  // SUM
    sum += a[i];
  printf("%g\\n", sum);
  return 0;
}
"""

# Rows of a sparse matrix: how far each goes, and what it reads, is in the data.
SPARSE = """#include <stdio.h>
enum { N = 40 };
static double x[N], y[N], value[8 * N];
static int row[N + 1], column[8 * N];
static void multiply(void) {
  for (int i = 0; i < N; i++) {  // ROWS
    double s = 0;
    for (int k = row[i]; k < row[i + 1]; k++)  // ROW
      s += value[k] * x[column[k]];
    y[i] = s;
  }
}
int main(void) {
  unsigned state = 1;
  for (int i = 0; i < N; i++) {
    state = state * 1103515245u + 12345u;
    row[i + 1] = row[i] + 1 + (state >> 16) % 7;
    for (int k = row[i]; k < row[i + 1]; k++) column[k] = (state >> 8) % N, value[k] = k;
    x[i] = i;
  }
  multiply();
  printf("%g\\n", y[N - 1]);
  return 0;
}
"""

# The step of the inner loop is another one each time, so that its domain is none.
SIEVE = """#include <stdio.h>
enum { N = 100 };
static int crossed[N];
static void sieve(void) {
  for (int p = 2; p * p < N; p++)  // OUTER
    if (crossed[p] == 0)
      for (int q = p * p; q < N; q += p)  // INNER
        crossed[q] = p;
}
int main(void) {
  sieve();
  printf("%d\\n", crossed[N - 1]);
  return 0;
}
"""

# Each iteration reads what the one before wrote, at places that are in the data.
CHAIN = """#include <stdio.h>
enum { N = 60 };
static int place[N], a[N];
static void chain(void) {
  for (int i = 1; i < N; i++)  // CHAIN
    a[place[i]] = a[place[i - 1]] + 1;
}
int main(void) {
  for (int i = 0; i < N; i++) place[i] = i;
  unsigned state = 1;
  for (int i = N - 1; i > 0; i--) {
    state = state * 1103515245u + 12345u;
    int j = (state >> 16) % (i + 1), t = place[i];
    place[i] = place[j], place[j] = t;
  }
  chain();
  printf("%d\\n", a[place[N - 1]]);
  return 0;
}
"""

# The loop's counter is in the frame of a function that is called.
CALLEE = """#include <stdio.h>
enum { N = 20 };
static double a[N][N];
static void row(int i) {
  for (int j = 0; j < N; j++)  // INNER
    a[i][j] = i * j;
}
int main(void) {
  for (int i = 0; i < N; i++) row(i);
  printf("%g\\n", a[N - 1][N - 1]);
  return 0;
}
"""


def line_of(text, mark):
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.endswith(f"// {mark}"))


class Program:
    """A recorded program, and its lines by the marks in it."""

    def __init__(self, directory, name, text, level="-O1"):
        self.text, self.out = text, os.path.join(directory, name + ".out")
        path, program = (os.path.join(directory, name + end) for end in (".c", ""))
        with open(path, "w") as file:
            file.write(text)
        built = lf.run(["gcc", level, "-g", "-fno-tree-vectorize", "-o", program, path])
        recorded = lf.record(self.out, [program], options=("-q",))
        suite.check(f"{name}: builds and is recorded", built.status == 0 and recorded.status == 0, (built, recorded))

    def steps(self, steps):
        """With lines for the marks in capital letters."""
        return " ".join(str(line_of(self.text, word)) if word.isupper() else word for word in steps.split())

    def ask(self, steps, *options):
        return lf.run([lf.LOOPFOLD, "check", *options, "--schedule", "-", self.out], stdin=self.steps(steps).encode())

    def answer(self, steps, *options):
        asked = self.ask(steps, "-q", "--format", "json", *options)
        try:
            return json.loads(asked.stdout)
        except ValueError:
            return {"verdict": str(asked)}


def check_reductions(directory):
    program = Program(directory, "sum", SUM)
    for step in ("parallel SUM", "vector SUM"):
        plain, told = program.answer(step), program.answer(step + " reduction")
        suite.check(f"{step}: a chain is in the way", plain["verdict"] == "illegal", plain)
        suite.check(f"{step}: it is said that a reduction is legal",
                    plain.get("as_reduction") == program.steps(step + " reduction"), plain)
        suite.check(f"{step} reduction: legal", told["verdict"] == "legal", told)
        text = program.ask(step)
        suite.check(f"{step}: in words",
                    f"Legal as a reduction: {program.steps(step)} reduction\n".encode() in text.stdout, text)
        suite.check(f"{step}: the chain is listed once, with its variable",
                    [one["variable"] for one in plain["violations"]] == ["sum"], plain)
        suite.check(f"{step}: one is no plural",
                    b"\n1 dependence is violated:\n" in text.stdout and b"; 1 dependence and " in text.stdout, text)


def check_agreement(directory):
    """Of a loop that the report calls parallel, check may not know it; but it is not illegal."""
    for name, text in (("sum", SUM), ("sparse", SPARSE), ("sieve", SIEVE), ("callee", CALLEE)):
        for level in ("-O0", "-O1"):
            program = Program(directory, name + level, text, level)
            lf.run([lf.LOOPFOLD, "analyze", "-q", program.out])
            with open(os.path.join(program.out, "profile.json")) as file:
                rows = [row for region in json.load(file)["regions"] for row in region["loops"]]
            for row in rows:
                if row["parallel"] not in ("yes", "reduction") or not row["source"]["file"].endswith(f"{name}{level}.c"):
                    continue
                step = f"parallel {row['source']['line']}@{row['node']}"
                answer = program.answer(step + (" reduction" if row["parallel"] == "reduction" else ""))
                suite.check(f"{name} {level}: {step} is {row['parallel']}, and not illegal",
                            answer["verdict"] in ("legal", "legal after", "unknown"), answer)
                suite.check(f"{name} {level}: {step}: what is not known has a reason",
                            answer["verdict"] != "unknown" or answer["why"], answer)


def check_certainty(directory):
    program = Program(directory, "sparse", SPARSE, "-O0")
    for step in ("parallel ROW reduction", "vector ROW reduction"):
        answer = program.answer(step)
        suite.check(f"{step}: what is over-approximated is no proof",
                    answer["verdict"] == "unknown" and not answer["violations"], answer)
    answer = program.answer("parallel ROW")
    suite.check("parallel ROW: the sum is carried", answer["verdict"] == "illegal", answer)
    for level in ("-O0", "-O1"):
        program = Program(directory, "chain" + level, CHAIN, level)
        for step in ("parallel CHAIN", "vector CHAIN", "reverse CHAIN"):
            answer = program.answer(step)
            suite.check(f"{step} {level}: carried, wherever it goes", answer["verdict"] == "illegal", answer)


PRIVATE = """#include <stdio.h>
enum { N = 30 };
static double a[N], b[N];
int main(void) {
  double t;
  for (int i = 0; i < N; i++) {  // LOOP
    t = i * 0.5;
    a[i] = t + 1;
    b[i] = t * t;
  }
  printf("%g\\n", a[N - 1] + b[N - 1]);
  return 0;
}
"""


def check_private(directory):
    program = Program(directory, "private", PRIVATE, "-O0")
    answer = program.answer("parallel LOOP ; private t")
    suite.check("private t: that is what it needs", answer["verdict"] == "legal after" and
                [one["variable"] for one in answer["requires"]] == ["t"], answer)
    asked = program.ask("parallel LOOP ; private nosuch")
    suite.check("private nosuch: an error", asked.status == 3, asked)
    suite.check("private nosuch: what there is", b"'private nosuch': no such variable" in asked.stderr and
                b" t\n" in asked.stderr, asked)


# Two loops in one line, inside each other and side by side, and one line that is in two places.
LINES = """#include <stdio.h>
enum { N = 30 };
static double a[N][N], b[N], c[N];
static void fill(int by) {
  for (int j = 0; j < N; j++)  // PLACES
    b[j] += j * by;
}
int main(void) {
  for (int t = 0; t < 3; t++) {  // TIMES
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) a[i][j] += i - j;  // NESTED
    for (int i = 0; i < N; i++) c[i] = i; for (int i = 0; i < N; i++) b[i] += c[i];  // BESIDE
    fill(1);
    fill(2);
  }
  printf("%g\\n", a[N - 1][0] + b[N - 1] + c[N - 1]);
  return 0;
}
"""


def check_lines(directory):
    program = Program(directory, "lines", LINES, "-O0")
    for mark, between in (("NESTED", ", inside it "), ("BESIDE", ", ")):
        line = line_of(LINES, mark)
        for step in (f"parallel {mark}", f"reverse {mark}", f"interchange TIMES {mark}", f"tile {mark} 8"):
            asked = program.ask(step)
            nodes = re.search(rf"there are 2 loops at {line}; which one is meant: {line}@(\d+){between}{line}@(\d+)\?",
                              asked.stderr.decode())
            if suite.check(f"{step}: two loops are named", asked.status == 3 and nodes, asked):
                answers = [program.answer(f"parallel {line}@{node}")["verdict"] for node in nodes.groups()]
                suite.check(f"{step}: and can be asked for", answers == ["legal", "legal"], answers)
    asked = program.ask("parallel PLACES")
    suite.check("parallel PLACES: one loop, in two places", asked.status in (0, 1), asked)


# Variables whose last values are used behind the nest, where an optimising compiler keeps them in registers.
LAST = """#include <stdio.h>
enum { N = 40 };
static int a[N][N], b[N][N], c[N], d[N], e[N];
__attribute__((noinline)) static int plain(void) {
  int s = 0;
  for (int i = 0; i < N; i++) {  // PLAIN
    s = a[i][3] * 3 + i;
    b[i][3] = s + 1;
  }
  return s;
}
__attribute__((noinline)) static int triangle(void) {
  int s = 0;
  for (int i = 0; i < N; i++)  // ROWS
    for (int j = 0; j < N - i; j++) {  // COLUMNS
      s = a[i][j] * 3 + i;
      b[i][j] = s ^ j;
    }
  return s;
}
__attribute__((noinline)) static int some(void) {
  int s = 0;
  for (int i = 0; i < N; i++) {  // SOME
    s = c[i] * 3;
    d[i] = s + 1;
    for (int j = 0; j < 4; j++) b[i][j] += j;
    if (i < 30) { s = a[i][0] * 5; e[i] = s; }  // OTHER
  }
  return s;
}
__attribute__((noinline)) static int pair(void) {
  int s = 0;
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < N; i++) {  // FIRST
      s = c[i] * 3;
      d[i] += s;
    }
    for (int i = 0; i < N; i++) {  // SECOND
      if (i < 20) { s = a[i][1] * 5; e[i] ^= s; }
    }
  }
  return s;
}
__attribute__((noinline)) static int whole(void) {
  int s = 0;
  for (int i = 0; i < N; i++)  // I
    for (int j = 0; j < N; j++) {  // J
      s = a[i][j] * 7 + i;
      b[i][j] ^= s;
    }
  return s;
}
__attribute__((noinline)) static int number(int most) {
  int s = 3;
  for (int i = 0; i < N; i++) {  // NUMBER
    int k = i * 7;
    while (k > most) k -= most;
    s = k;
    e[i] += i;
  }
  return s;
}
int main(void) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) a[i][j] = i * 7 + j * j, c[i] = i * 3 % 7;
  int sum = plain() + triangle() + some() + pair() + whole() + number(25);
  for (int i = 0; i < N; i++) sum = sum * 33 + b[i][3] + d[i] + e[i];
  printf("%d\\n", sum);
  return 0;
}
"""


def check_last_values(directory):
    """What a new order makes the last value of a variable is not always what it was."""
    for level in ("-O0", "-O1", "-O2"):
        program = Program(directory, "last" + level, LAST, level)
        for steps in ("reverse PLAIN", "interchange ROWS COLUMNS", "reverse ROWS", "distribute SOME at OTHER",
                      "fuse FIRST SECOND", "reverse I"):
            answer = program.answer(steps, "--min-percent", "0")
            suite.check(f"{steps} {level}: not without a place for each value", answer["verdict"] != "legal", answer)
        for steps in ("reverse PLAIN", "interchange ROWS COLUMNS") if level != "-O2" else ():
            answer = program.answer(steps, "--min-percent", "0")
            suite.check(f"{steps} {level}: s is expanded", answer["verdict"] == "legal after" and
                        [one["kind"] for one in answer["requires"] if one["variable"] == "s"] == ["expand"], answer)
        answer = program.answer("interchange I J", "--min-percent", "0")
        suite.check(f"interchange I J {level}: the last one stays the last", answer["verdict"] == "legal", answer)
        answer = program.answer("parallel NUMBER", "--min-percent", "0")
        suite.check(f"parallel NUMBER {level}: its last value is needed", answer["verdict"] == "unknown" or
                    any("lastprivate" in one["clause"] or one["kind"] == "expand" for one in answer["requires"]), answer)


# The loop ends early if some element is large; none is.
EXITS = """#include <stdio.h>
enum { N = 400 };
static double a[N], b[N];
__attribute__((noinline)) static int are_small(double most) {
  for (int i = 0; i < N; i++) {  // LOOP
    if (a[i] > most)  // EXIT
      return 0;
    b[i] = a[i] * 2;
  }
  return 1;
}
int main(void) {
  for (int i = 0; i < N; i++) a[i] = i;
  printf("%d %g\\n", are_small(1e9), b[N - 1]);
  return 0;
}
"""


def check_assumptions(directory):
    program = Program(directory, "exits", EXITS)
    exit_line = line_of(EXITS, "EXIT")
    answer = program.answer("parallel LOOP")
    suite.check("parallel LOOP: legal if the exit is never taken", answer["verdict"] == "legal" and
                [one["line"] for one in answer.get("assumes", [])] == [exit_line], answer)
    asked = program.ask("parallel LOOP")
    suite.check("parallel LOOP: in words", f"Assumes that the branch at exits.c:{exit_line} always goes the way of this "
                "run.\n".encode() in asked.stdout, asked)
    report = lf.run([lf.LOOPFOLD, "report", "--format", "json", program.out])
    regions = json.loads(report.stdout)["regions"]
    offered = [suggestion for region in regions for suggestion in region["suggestions"]
               if line_of(EXITS, "LOOP") in [place["line"] for place in suggestion["where"]]]
    suite.check("what is suggested requires that, too", offered and all(
        any(need["kind"] == "assume" and need["variable"].endswith(f"exits.c:{exit_line}") for need in one["requires"])
        for one in offered), offered)


def main():
    with lf.Directory() as directory:
        check_reductions(directory)
        check_assumptions(directory)
        check_last_values(directory)
        check_agreement(directory)
        check_certainty(directory)
        check_private(directory)
        check_lines(directory)
    suite.finish()


if __name__ == "__main__":
    main()
