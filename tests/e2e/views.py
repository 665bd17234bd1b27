"""The commands that show the loop tree, on a made-up profile: what they print and write, where, with which status."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import xml.dom.minidom

import lf

suite = lf.Suite()
UTF8 = dict(lf.ENVIRONMENT, LC_ALL="C.UTF-8")


def node(number, parent, kind, function, line, own, entries=1, rounds=0, **more):
    counts = {"min": rounds, "max": rounds, "total": rounds * entries}
    return {"id": number, "parent": parent, "kind": kind, "function": function,
            "source": line and {"file": "/src/demo.c", "line": line}, "ops": own, "self_ops": own, "mem_ops": 0,
            "fp_ops": 0, "entries": entries, "iterations": rounds * entries, "iterations_per_entry": counts,
            "trip": counts, **more}


def profile():
    tree = [node(0, None, "root", "", None, 0), node(1, 0, "call", "main", 30, 500),
            node(2, 1, "call", "kernel\x1b[31m;</title><script>", 3, 500),
            node(3, 2, "loop", "kernel", 5, 1000, 1, 100),
            node(4, 3, "loop", "kernel", 6, 90000, 100, 50), node(5, 1, "call", "small", 20, 10)]
    for element in reversed(tree[1:]):
        tree[element["parent"]]["ops"] += element["ops"]
    return {"schema": "loopfold-profile/1",
            "program": {"argv": ["./demo"], "exit_status": 0, "partial": True, "instructions": tree[0]["ops"],
                        "threads": 1},
            "quality": [{"kind": "partial", "text": "recording was killed", "share": 1}], "gave_up": [], "tree": tree}


def write(directory, text):
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "profile.json"), "w") as file:
        file.write(text)
    return directory


def loopfold(*arguments, **more):
    return lf.run([lf.LOOPFOLD, *arguments], **more)


def tree_as_text(directory):
    good = write(os.path.join(directory, "text"), json.dumps(profile()))
    result = loopfold("tree", good, env=UTF8)
    text = result.stdout.decode()
    suite.check("tree: status", result.status == 0 and result.stderr == b"", result)
    for part in ("./demo", "partial: recording was killed", "└ loop demo.c:6  ×50", "… 1 more below 1 %",
                 f"loopfold flame {good} --svg flame.svg"):
        suite.check(f"tree: says {part!r}", part in text, result)
    suite.check("tree: names are inert", "\x1b" not in text and "kernel\\x1b[31m" in text, result)
    plain = loopfold("tree", good)
    suite.check("tree: ASCII in the C locale", plain.stdout.isascii(), plain)
    suite.check("tree: the same rows in ASCII", b"`-loop demo.c:6  x50" in plain.stdout, plain)
    quiet = loopfold("tree", good, "--quiet")
    suite.check("tree --quiet: no next command", b"Next" not in quiet.stdout, quiet)
    found = loopfold("tree", good, "--function", "small")
    suite.check("tree --function", b"small" in found.stdout and b"kernel" not in found.stdout, found)
    shallow = loopfold("tree", good, "--depth", "1")
    suite.check("tree --depth", b"main" in shallow.stdout and b"loop demo" not in shallow.stdout, shallow)
    all_of_it = loopfold("tree", good, "--min-percent", "0", "--stats")
    suite.check("tree --min-percent 0", b"small" in all_of_it.stdout, all_of_it)
    suite.check("tree --stats", re.search(rb"6 nodes", all_of_it.stderr), all_of_it)
    write(os.path.join(directory, "loopfold.out"), json.dumps(profile()))
    default = loopfold("tree", cwd=directory)
    suite.check("tree: DIR has a default", b"loopfold flame --svg" in default.stdout, default)


def tree_as_json(directory):
    good = write(os.path.join(directory, "json"), json.dumps(profile()))
    result = loopfold("tree", good, "--format", "json")
    shown = json.loads(result.stdout)
    suite.check("json: all nodes", [n["id"] for n in shown["tree"]] == [0, 1, 2, 3, 4, 5], result)
    suite.check("json: names are exact", shown["tree"][2]["function"] == profile()["tree"][2]["function"], result)
    part = json.loads(loopfold("tree", good, "--format", "json", "--depth", "1").stdout)
    suite.check("json --depth", [n["id"] for n in part["tree"]] == [0, 1], part)


def on_a_terminal(directory):
    good = write(os.path.join(directory, "terminal"), json.dumps(profile()))

    def shown(*options, columns=60, **environment):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([lf.LOOPFOLD, "tree", good, "-q", *options], stdout=theirs, stderr=theirs,
                                   env=dict(UTF8, **environment))
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        process.wait()
        os.close(ours)
        return text.decode()

    suite.check("terminal: colour", "\x1b[36mloop " in shown(), shown())
    suite.check("terminal: NO_COLOR", "\x1b" not in shown(NO_COLOR="1"), shown(NO_COLOR="1"))
    suite.check("terminal: --color never", "\x1b" not in shown("--color", "never"))
    rows = shown("--color", "never").replace("\r", "").splitlines()[3:]
    suite.check("terminal: rows fit", rows and max(map(len, rows)) <= 60, rows)
    suite.check("no terminal: no colour", b"\x1b" not in loopfold("tree", good).stdout)
    suite.check("no terminal: --color always", b"\x1b[36m" in loopfold("tree", good, "--color", "always").stdout)


def flame(directory):
    good = write(os.path.join(directory, "flame"), json.dumps(profile()))
    svg, collapsed, speedscope = (os.path.join(directory, name) for name in ("f.svg", "f.txt", "f.json"))
    result = loopfold("flame", good, "--svg", svg, "--collapsed", collapsed, "--speedscope", speedscope)
    suite.check("flame: status", result.status == 0 and result.stdout == b"", result)
    suite.check("flame: says what it wrote", len(result.stderr.splitlines()) == 3, result)
    document = xml.dom.minidom.parse(svg)
    suite.check("flame: one script", len(document.getElementsByTagName("script")) == 1)
    suite.check("flame: frames", len([g for g in document.getElementsByTagName("g") if g.hasAttribute("data-n")]) == 6)
    lines = open(collapsed).read().splitlines()
    suite.check("flame: collapsed", lines[-2].endswith(";loop demo.c:5;loop demo.c:6 90000"), lines)
    suite.check("flame: collapsed adds up", sum(int(line.rpartition(" ")[2]) for line in lines) == 92010, lines)
    suite.check("flame: speedscope", json.load(open(speedscope))["profiles"][0]["endValue"] == 92010)
    again = loopfold("flame", good, "--svg", "-", "--quiet")
    suite.check("flame --svg -: the same bytes", again.stdout == open(svg, "rb").read() and again.stderr == b"", again)


def what_cannot_be_done(directory):
    good = write(os.path.join(directory, "good"), json.dumps(profile()))
    for name, text in (("cut", json.dumps(profile())[:-20]), ("empty", ""), ("array", "[]"), ("nested", "[" * 100000),
                       ("foreign", "{\"a\": 1}"), ("later", json.dumps(dict(profile(), schema="loopfold-profile/2")))):
        bad = write(os.path.join(directory, name), text)
        suite.check_error(f"{name} profile: tree", loopfold("tree", bad), 3, f"{name}/profile.json")
        suite.check_error(f"{name} profile: flame", loopfold("flame", bad, "--svg", "-"), 3, f"{name}/profile.json")
        for arguments in (("report",), ("report", "--table5"), ("ast",), ("explain", "0"), ("export", "--format", "sarif"),
                          ("export", "--format", "openscop")):
            result = loopfold(arguments[0], bad, *arguments[1:])
            suite.check_error(f"{name} profile: {arguments}", result, 3, f"{name}/profile.json")
    for arguments in (("report",), ("ast",), ("explain", "0"), ("export", "--format", "sarif")):
        result = loopfold(arguments[0], good, *arguments[1:])
        suite.check_error(f"{arguments}: a loop tree only", result, 3, "record again")
    suite.check_error("nothing there", loopfold("tree", os.path.join(directory, "absent")), 3, "absent")
    os.mkdir(os.path.join(directory, "hollow"))
    suite.check_error("no trace and no profile", loopfold("tree", os.path.join(directory, "hollow")), 3, "hollow")
    suite.check_error("no output", loopfold("flame", good), 2, "--svg")
    suite.check_error("two to stdout", loopfold("flame", good, "--svg", "-", "--collapsed", "-"), 2, "standard output")
    for option in ("--svg", "--collapsed", "--speedscope"):
        suite.check_error(f"{option} nowhere", loopfold("flame", good, option, "/nonexistent/f"), 4, "/nonexistent/f")
        suite.check_error(f"{option} a directory", loopfold("flame", good, option, directory), 4, "directory")
        suite.check_error(f"{option} full disk", loopfold("flame", good, option, "/dev/full"), 4, "/dev/full", "space")
    for arguments in (("--depth", "x"), ("--depth", "-1"), ("--min-percent", "101"), ("--format", "xml"),
                      ("--color", "red"), ("--nonsense",)):
        result = loopfold("tree", good, *arguments)
        suite.check(f"tree {arguments}: status 2", result.status == 2 and result.stderr, result)
    full = open("/dev/full", "wb")
    result = subprocess.run([lf.LOOPFOLD, "tree", good], stdout=full, stderr=subprocess.PIPE, env=lf.ENVIRONMENT)
    suite.check("tree: full disk", result.returncode == 4 and b"standard output" in result.stderr, result)


with lf.Directory() as temporary:
    suite.each(lambda group: group(temporary),
               [tree_as_text, tree_as_json, on_a_terminal, flame, what_cannot_be_done])
suite.finish()
