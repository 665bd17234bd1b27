"""A loopfold that was built without Node.js: everything but --html works, and --html says what is missing.

Registered instead of page.py in such a build (cmake -DLOOPFOLD_PAGE=OFF, or no Node.js).
"""

import os

import pages
from pages import lf

suite = lf.Suite()


def refused(name, result, status, left):
    text = result.stderr.decode()
    suite.check(f"{name}: status {status}", result.status == status, result)
    suite.check(f"{name}: one line that says what to do",
                text.count("\n") == 1 and text.startswith("loopfold: error: ") and "Node.js" in text
                and "scripts/setup" in text, result)
    suite.check(f"{name}: nothing is written", not os.path.exists(left) and result.stdout == b"", result)


with lf.Directory() as directory:
    source = os.path.join(lf.SOURCE, "kernels", pages.KERNELS["relaxation"])
    binary = os.path.join(directory, "relaxation")
    out = os.path.join(directory, "relaxation.out")
    page = os.path.join(directory, "page.html")
    pages.must(lf.run(["gcc", "-O1", "-g", source, "-o", binary, "-lm"]))
    result = lf.run([lf.LOOPFOLD, "run", "-q", "-o", out, "--", binary])
    suite.check("run works", result.status == 0 and b"relaxation.c:12" in result.stdout, result)
    suite.check("report works", lf.run([lf.LOOPFOLD, "report", out]).status == 0)
    suite.check("diff works", lf.run([lf.LOOPFOLD, "diff", out, out]).status == 0)
    refused("report --html", lf.run([lf.LOOPFOLD, "report", out, "--html", page]), 4, page)
    refused("report --html -", lf.run([lf.LOOPFOLD, "report", out, "--html", "-"]), 4, page)
    refused("diff --html", lf.run([lf.LOOPFOLD, "diff", out, out, "--html", page]), 4, page)
    other = os.path.join(directory, "other.out")
    refused("run --html", lf.run([lf.LOOPFOLD, "run", "-o", other, "--html", page, "--", binary]), 125, other)
suite.finish()
