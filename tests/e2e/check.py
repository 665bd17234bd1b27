"""loopfold check: what it answers, and how it says it.

Whether its answers are right is tested against runs of other orders (tests/oracle); here it is asked what a person would
ask, and must agree with the report.
"""

import json
import os

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


def line_of(text, mark):
    return next(number for number, line in enumerate(text.splitlines(), 1) if f"// {mark}" in line)


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

    def answer(self, steps):
        asked = self.ask(steps, "-q", "--format", "json")
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


def main():
    with lf.Directory() as directory:
        check_reductions(directory)
    suite.finish()


if __name__ == "__main__":
    main()
