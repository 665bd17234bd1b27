"""`loopfold reconstruct`: every kind of input and output, regeneration, compression, bad input."""

import json
import os
import shutil
import struct
import subprocess

import lf

suite = lf.Suite()

N = 12


def accesses():
    """(ip, kind, address, size) of a small triangular product: three references with three, three and two loops."""
    for i in range(N):
        for j in range(i + 1):
            for k in range(N):
                yield 0x401000, "R", 0x10000 + 8 * (20 * i + k), 8
                yield 0x401004, "R", 0x50000 + 8 * (30 * k + j), 8
            yield 0x401010, "W", 0x7FFFFFFFFFFFFFF0 + 8 * (20 * i + j), 8


LEVELS = {0x401000: 3, 0x401004: 3, 0x401010: 2}


def write(directory, name, content):
    path = os.path.join(directory, name)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def csv_text():
    return "".join(f"{ip:#x},{kind},{address:#x},{size}\n" for ip, kind, address, size in accesses())


def lackey_text():
    letters = {"R": "L", "W": "S"}
    lines = ["==77== Lackey, an example Valgrind tool"]
    for ip, kind, address, size in accesses():
        lines += [f"I  {ip:08x},4", f" {letters[kind]} {address:08x},{size}"]
    return "\n".join(lines) + "\n"


def pinatrace_text():
    return "".join(f"{ip:#x}: {kind} {address:#x}\n" for ip, kind, address, _ in accesses()) + "#eof\n"


def reconstruct(path, *options, **arguments):
    return lf.run([lf.LOOPFOLD, "reconstruct", path, *options], **arguments)


def document(path, *options, **arguments):
    result = reconstruct(path, "--format", "json", *options, **arguments)
    return (json.loads(result.stdout)["instructions"] if result.status == 0 else []), result


def generate(piece):
    """The addresses of a piece of the JSON document, by the definition of the bounds."""
    n, u, w, c = piece["levels"], piece["bounds"]["U"], piece["bounds"]["w"], piece["coefficients"]

    def bound(level, index):
        return w[level] + sum(u[level][r] * index[r] for r in range(min(level, len(index))))

    def walk(level, index, address):
        if level == n:
            yield address % 2**64
            return
        for i in range(bound(level, index) + 1):
            if any(bound(m, index + [i]) < 0 for m in range(level + 1, n)):
                break
            yield from walk(level + 1, index + [i], address + c[level] * i)

    yield from walk(0, [], piece["base"])


def of(ip):
    return [address for at, _, address, _ in accesses() if at == ip]


def check_instructions(name, instructions, result):
    found = {one["ip"]: one for one in instructions}
    suite.check(f"{name}: three instructions", set(found) == set(LEVELS), result)
    for ip, levels in LEVELS.items():
        one = found.get(ip)
        if one is None:
            continue
        suite.check(f"{name}: {ip:#x} has {levels} loops", one["levels"] == levels and one["coverage"] == 1, one)
        regenerated = [address for piece in one["pieces"] for address in generate(piece)]
        suite.check(f"{name}: {ip:#x} is generated again", regenerated == of(ip), one)
        suite.check(f"{name}: {ip:#x} counts", one["accesses"] == len(of(ip)) == sum(p["count"] for p in one["pieces"]))
        suite.check(f"{name}: {ip:#x} is foretold", 0.9 < one["predicted_single_stride"] <= 1, one)


def inputs(directory):
    for name, text in (("csv", csv_text()), ("lackey", lackey_text()), ("pinatrace", pinatrace_text())):
        path = write(directory, f"trace.{name}", text)
        instructions, result = document(path, "--verify")
        suite.check(f"{name}: status 0", result.status == 0, result)
        suite.check(f"{name}: verified", b"generated again, all equal" in result.stderr, result)
        check_instructions(name, instructions, result)
        instructions, result = document("-", stdin=text.encode())
        check_instructions(f"{name} by pipe", instructions, result)
        one, result = document(path, "--input", name, "--jobs", "1")
        check_instructions(f"{name}, said so", one, result)
    raw = b"".join(struct.pack("<Q", address) for address in of(0x401004))
    path = write(directory, "trace.raw", raw)
    instructions, result = document(path, "--input", "raw", "--verify")
    suite.check("raw: one instruction with three loops", [one["levels"] for one in instructions] == [3], result)


def outputs(directory):
    path = write(directory, "trace.csv", csv_text())
    c = reconstruct(path, "--format", "c", "--ip", "0x401004")
    suite.check("C: status 0", c.status == 0, c)
    start = "#include <stdio.h>\n#define access(a) printf(\"%lu\\n\", (unsigned long)(a))\nint main(void) {\n"
    source = write(directory, "loops.c", start + c.stdout.decode() + "return 0; }\n")
    built = lf.run(["cc", "-w", "-o", os.path.join(directory, "loops"), source])
    suite.check("C: compiles", built.status == 0, built)
    ran = lf.run([os.path.join(directory, "loops")])
    suite.check("C: runs and accesses the same", [int(line) for line in ran.stdout.split()] == of(0x401004), ran)
    isl = reconstruct(path, "--format", "isl", "--ip", "0x401010")
    text = isl.stdout.decode()
    suite.check("isl: domain, access and schedule", all(f"S0_0_{part} := {{" in text for part in
                                                        ("domain", "access", "schedule")), isl)
    suite.check("isl: the triangle", "0 <= i1 <= i0" in text, isl)
    table = reconstruct(path, "--predict")
    suite.check("table: a line per instruction, and prediction", len(table.stdout.splitlines()) == 4
                and b"with stride %" in table.stdout, table)
    instructions, result = document(path, "--no-gamma")
    check_instructions("without gamma", instructions, result)
    stats = reconstruct(path, "--stats")
    suite.check("statistics", b"candidates tried" in stats.stderr, stats)
    flat = write(directory, "flat.csv", "".join(f"1,R,{8 * i},8\n" for i in range(60))
                 + "".join(f"2,R,{800 * i + 8 * j},8\n" for i in range(5) for j in range(12)))
    instructions, result = document(flat, "--min-depth", "2")
    deep = {one["ip"]: one["pieces"][0] for one in instructions}
    suite.check("--min-depth: as another reference has it", deep[1]["bounds"]["w"] == [4, 11], result)
    suite.check("--min-depth: the same addresses", list(generate(deep[1])) == [8 * i for i in range(60)], result)


def noise(directory):
    addresses = [1000 * i + 8 * j for i in range(40) for j in range(30)]
    addresses[700] = 99999999
    path = write(directory, "noise.csv", "".join(f"1,R,{address},8\n" for address in addresses))
    instructions, result = document(path, "--tolerance", "1", "--verify")
    one = instructions[0]
    suite.check("tolerance: one piece of two loops", one["levels"] == 2 and len(one["pieces"]) == 1, result)
    suite.check("tolerance: the outlier is listed", one["pieces"][0]["outliers"] ==
                [{"kind": "replaced", "position": 700, "address": 99999999}], result)
    suite.check("tolerance: verified", b"all equal" in result.stderr, result)
    state = 12345
    lines = []
    for _ in range(3000):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        lines.append(f"5,R,{state >> 40},8\n")
    path = write(directory, "random.csv", "".join(lines))
    instructions, result = document(path, "--verify")
    suite.check("random: not affine, and said so", instructions[0]["coverage"] < 0.1, result)
    suite.check("random: verified", b"all equal" in result.stderr, result)
    text = reconstruct(path, "--format", "c").stdout.decode()
    suite.check("random: in words too", "not one affine nest" in text and "more pieces" in text, text[:300])


def compression(directory):
    for name, text in (("csv", csv_text()), ("lackey", lackey_text()), ("pinatrace", pinatrace_text()),
                       ("odd", csv_text() + "# odd\n\nwhat\n 1 , R, 2,3")):
        path, packed, back = (os.path.join(directory, f"{name}.{end}") for end in ("txt", "lfrc", "back"))
        write(directory, f"{name}.txt", text)
        done = reconstruct(path, "--compress", packed)
        suite.check(f"compress {name}: status 0, with ratios", done.status == 0 and b"zstd -19" in done.stderr, done)
        suite.check(f"compress {name}: small", os.path.getsize(packed) < len(text) / 60, os.path.getsize(packed))
        expanded = reconstruct(packed, "--expand", back)
        with open(back, "rb") as file:
            suite.check(f"expand {name}: exact", expanded.status == 0 and file.read() == text.encode(), expanded)
        out = reconstruct(packed, "--expand", "-")
        suite.check(f"expand {name} to standard output", out.stdout == text.encode(), out)
    wrong = reconstruct(os.path.join(directory, "csv.txt"), "--expand", "-")
    suite.check("expand: what is not compressed is refused", wrong.status == 3, wrong)


def refused(name, result, status, *words):
    suite.check(f"{name}: status {status}", result.status == status, result)
    suite.check(f"{name}: one line", bool(lf.ERROR_LINE.match(result.stderr.decode())), result)
    for word in words:
        suite.check(f"{name}: says {word}", word.encode() in result.stderr, result)


def bad_input(directory):
    bad = write(directory, "bad.csv", "1,R,16,8\n1,R,24,8\n1,Q,32,8\n1,R,40,8\n")
    refused("bad line", reconstruct(bad), 3, "bad.csv:3", "R or W")
    skipped = reconstruct(bad, "--skip-bad", "--format", "json")
    suite.check("--skip-bad goes on", skipped.status == 0
                and json.loads(skipped.stdout)["instructions"][0]["accesses"] == 3, skipped)
    suite.check("--skip-bad counts", b"1 bad line" in skipped.stderr and b"bad.csv:3" in skipped.stderr, skipped)
    empty = reconstruct(write(directory, "empty.csv", ""), "--format", "json", "--verify")
    suite.check("empty: status 0, no instructions", empty.status == 0
                and json.loads(empty.stdout) == {"instructions": []}, empty)
    suite.check("empty: a warning", b"no accesses" in empty.stderr, empty)
    one, result = document(write(directory, "one.csv", "1,R,18446744073709551615,8\n"), "--verify")
    suite.check("one address", one[0]["levels"] == 0 and one[0]["pieces"][0]["base"] == 2**64 - 1, result)
    middle = "".join(f"1,R,{2**63 - 40 + 8 * i},8\n" for i in range(20))
    one, result = document(write(directory, "middle.csv", middle), "--verify")
    suite.check("around 2^63", one[0]["levels"] == 1 and one[0]["pieces"][0]["coefficients"] == [8], result)
    trace = write(directory, "trace.csv", csv_text())
    refused("unknown instruction", reconstruct(trace, "--ip", "0x999"), 2, "0x999")
    refused("no number", reconstruct(trace, "--ip", "main"), 2, "main")
    refused("no such file", reconstruct(os.path.join(directory, "none")), 3, "none")
    refused("--at without a recording", reconstruct(trace, "--at", "a.c:3"), 2, "--ip")
    cut = write(directory, "cut.raw", b"\0" * 20)
    refused("raw that ends in an address", reconstruct(cut, "--input", "raw"), 3, "4 bytes")
    early = reconstruct("-", "--format", "json", stdin=csv_text().encode()[:-5])
    refused("a pipe that closes in a line", early, 3, "standard input:")
    process = subprocess.Popen([lf.LOOPFOLD, "reconstruct", trace, "--format", "json"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdout.close()
    text = process.stderr.read()
    suite.check("a closed output is no error", process.wait() == 0 and text == b"", text)


PROGRAM = """
static double a[40][40], b[1600];
int main(void) {
  for (int i = 0; i < 40; i++)
    for (int j = 0; j <= i; j++)
      a[i][j] = i + j;        // line 6
  for (int k = 0; k < 1600; k++)
    b[k] = a[k % 40][k / 40]; // line 8: a hidden nest
  return b[41] > 1e9;
}
"""


def recordings(directory):
    source = write(directory, "hidden.c", PROGRAM)
    program = os.path.join(directory, "hidden")
    built = lf.run(["cc", "-g", "-O1", "-o", program, source])
    suite.check("program builds", built.status == 0, built)
    trace = os.path.join(directory, "trace")
    recorded = lf.record(trace, [program])
    suite.check("program is recorded", recorded.status == 0, recorded)
    instructions, result = document(trace, "--at", "hidden.c:6", "--verify")
    stores = [one for one in instructions if one["accesses"] == 820 and "store" in one["where"]]
    suite.check("a recording: the triangle", len(stores) == 1 and stores[0]["levels"] == 2, result)
    instructions, result = document(trace, "--at", "hidden.c:8", "--verify")
    loads = [one for one in instructions if one["accesses"] == 1600 and "load" in one["where"]]
    suite.check("a recording: the hidden loops", len(loads) == 1 and loads[0]["levels"] == 2
                and loads[0]["pieces"][0]["coefficients"] == [8, 320], result)
    everything = reconstruct(trace, "--verify")
    suite.check("a recording: all of it", everything.status == 0 and b"all equal" in everything.stderr, everything)
    refused("a line without accesses", reconstruct(trace, "--at", "hidden.c:99"), 2, "hidden.c:99")
    refused("no line", reconstruct(trace, "--at", "hidden.c"), 2, "FILE:LINE")
    refused("a recording is not compressed again", reconstruct(trace, "--compress", "x"), 2)


def real_lackey(directory):
    if shutil.which("valgrind") is None:
        return
    traced = lf.run(["valgrind", "--tool=lackey", "--trace-mem=yes", "/bin/true"])
    path = write(directory, "true.lackey", traced.stderr if len(traced.stderr) > len(traced.stdout) else traced.stdout)
    done = reconstruct(path, "--verify")
    suite.check("lackey's own trace", done.status == 0 and b"all equal" in done.stderr, done)
    packed = os.path.join(directory, "true.lfrc")
    reconstruct(path, "--compress", packed)
    with open(path, "rb") as file:
        suite.check("lackey's own trace, there and back", reconstruct(packed, "--expand", "-").stdout == file.read())


for case in (inputs, outputs, noise, compression, bad_input, recordings, real_lackey):
    with lf.Directory() as place:
        case(place)
suite.finish()
