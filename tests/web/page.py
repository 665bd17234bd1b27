"""The report page: written for five kernels, gzip, nothing, hostile names and 100,000 nodes, and looked at in a browser.

What the commands do is tested here, what the pages do in page.mjs. NODE is the Node.js to use.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import pages
from pages import lf

NODE = os.environ.get("NODE") or shutil.which("node")
HERE = os.path.dirname(os.path.abspath(__file__))
if not NODE:
    print("skipped: no Node.js; scripts/setup installs it")
    sys.exit(77)

suite = lf.Suite()


def commands(directory):
    """What report --html, run --html and diff say and leave behind."""
    out = os.path.join(directory, "relaxation.out")
    first, second = (os.path.join(directory, name) for name in ("first.html", "second.html"))
    result = lf.run([lf.LOOPFOLD, "report", out, "--html", first])
    suite.check("report --html: says what it wrote", result.status == 0 and b"wrote" in result.stderr
                and b"browser" in result.stderr and result.stdout == b"", result)
    lf.run([lf.LOOPFOLD, "report", out, "-q", "--html", second])
    suite.check("report --html: the same bytes each time", open(first, "rb").read() == open(second, "rb").read())
    page = open(first).read()
    suite.check("report --html: a strict policy", "default-src 'none'" in page and "unsafe" not in page)
    suite.check("report --html: no address in it", not re.search(r"https?://(?!www\.w3\.org/)", page),
                re.findall(r"https?://[^\s\"')]*", page)[:5])
    with open(os.path.join(out, "profile.json")) as file:
        statements = json.load(file)["statements"]
    spread = [one for one in statements if one.get("source_instructions")]
    suite.check("profile: instructions of each line", spread and all(
        len(one["source_instructions"]) == len(one["source"]) and
        0 < sum(one["source_instructions"]) * one["count"] <= one["ops"] for one in spread if one.get("ops")), spread[:3])
    small = len(page) - os.path.getsize(os.path.join(directory, "empty.html"))
    suite.check("report --html: a small profile adds little", small < 60_000, small)
    suite.check("report --html: the page without data is small",
                os.path.getsize(os.path.join(directory, "empty.html")) < 400_000)
    result = lf.run([lf.LOOPFOLD, "report", out, "--html", "-"])
    suite.check("report --html -: to standard output", result.status == 0 and result.stdout == page.encode(), result.status)
    result = lf.run([lf.LOOPFOLD, "report", out, "--html", "/nonexistent/page.html"])
    suite.check("report --html: cannot be written", result.status == 4 and result.stderr.count(b"\n") == 1, result)
    both = [os.path.join(directory, f"{name}.out") for name in ("backprop", "backprop_by_hand")]
    text = lf.run([lf.LOOPFOLD, "diff", *both], env=dict(lf.ENVIRONMENT, LC_ALL="C.UTF-8")).stdout.decode()
    for name, pattern in (("interchange", r"changed places with backprop\.c:\d+: 24 × 97 trips became 97 × 24"),
                          ("strides", r"near accesses 67 % → 100 %"), ("verdict", r"verdict reduction\(\+\)\*? → parallel"),
                          ("operations", r"operations [\d.]+ k → [\d.]+ k \([+-][\d.]+ %\)"),
                          ("in short", r"In short\n(.*\n)*?.*forward, backprop\.c:\d+ → backprop_by_hand\.c:\d+\n"
                           r" +- loops changed places: 24 × 97 trips became 97 × 24\n"),
                          ("suggestion", r"No longer suggested\n(.*\n)*?.*LF-ICH Interchange")):
        suite.check(f"diff: tells the story of the interchange: {name}", re.search(pattern, text), text)
    result = lf.run([lf.LOOPFOLD, "diff", both[0], both[0]])
    suite.check("diff: with itself: nothing changed", result.status == 0 and b"Loops that changed\n  none" in result.stdout,
                result)
    result = lf.run([lf.LOOPFOLD, "diff", both[0], "/nonexistent"])
    suite.check("diff: no such run", result.status in (3, 4) and result.stderr.count(b"\n") == 1, result)
    suite.check("diff: usage", lf.run([lf.LOOPFOLD, "diff", both[0]]).status == 2)


def configure_without_page(directory):
    """CMake without Node.js: everything else is there to be built, and a warning says what is missing."""
    build = os.path.join(directory, "without")
    result = lf.run(["cmake", "-S", lf.SOURCE, "-B", build, "-DLOOPFOLD_TESTS=OFF", "-DLOOPFOLD_PAGE=OFF"])
    said = " ".join(result.stderr.decode().split())
    suite.check("without Node.js: configuring works", result.status == 0, result)
    suite.check("without Node.js: a warning says what to do", "report page is not built" in said and "scripts/setup" in said,
                result)
    template = os.path.join(build, "generated", "views", "page_template.cc")
    suite.check("without Node.js: there is no template", "return {};" in open(template).read())


with lf.Directory() as temporary:
    pages.all_pages(temporary)
    commands(temporary)
    configure_without_page(temporary)
    result = subprocess.run([NODE, os.path.join(HERE, "page.mjs"), temporary], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, timeout=600)
    print(result.stdout.decode())
    suite.check("pages in a browser", result.returncode == 0, result.stdout.decode())
suite.finish()
