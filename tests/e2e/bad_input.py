"""What cannot be done is said in one line, with the status of the contract: programs, directories, trace files."""

import os
import re
import stat
import struct

import lf

suite = lf.Suite()


def write(path, data, executable=False):
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755 if executable else 0o644)
    return path


def elf_header(bits, machine):
    """An ELF file that is nothing but a header."""
    ident = b"\x7fELF" + bytes([1 if bits == 32 else 2, 1, 1, 0]) + bytes(8)
    word = "I" if bits == 32 else "Q"
    size = 52 if bits == 32 else 64
    fields = (2, machine, 1, 0x8048000, size, 0, 0, size, 32, 0, 0, 0, 0)
    return ident + struct.pack(f"<HHI{word}{word}{word}IHHHHHH", *fields)


def line_of(source, text):
    with open(os.path.join(lf.SOURCE, "tests", "programs", source)) as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def refused(name, command, statuses, *fragments, directory):
    """The program is not started, and no trace is left behind."""
    trace = os.path.join(directory, "refused")
    result = lf.record(trace, command, cwd=directory)
    suite.check_error(name, result, statuses, *fragments)
    suite.check(f"{name}: nothing on stdout", result.stdout == b"", result)
    suite.check(f"{name}: no trace", not os.path.exists(trace), os.path.exists(trace) and os.listdir(trace))


def programs(directory):
    def here(name):
        return os.path.join(directory, name)

    refused("missing", [here("nothing-here")], 127, "nothing-here", directory=directory)
    refused("missing in PATH", ["no-such-command-anywhere"], 127, "no-such-command-anywhere", directory=directory)
    refused("missing directory", ["/nonexistent/program"], 127, "/nonexistent/program", directory=directory)
    refused("not executable", [write(here("plain"), b"text\n")], 126, "plain", "executable", directory=directory)
    refused("a directory", [directory], 126, "directory", directory=directory)
    refused("32-bit", [write(here("old"), elf_header(32, 3) + bytes(4096), True)], 126, "old", "32-bit",
            directory=directory)
    refused("other processor", [write(here("arm"), elf_header(64, 183) + bytes(4096), True)], 126, "arm",
            directory=directory)
    refused("garbage", [write(here("garbage"), bytes(range(256)) * 8, True)], 126, "garbage", directory=directory)
    refused("cut off", [write(here("cut"), elf_header(64, 62)[:40], True)], 126, "cut", directory=directory)
    refused("empty", [write(here("empty"), b"", True)], 126, "empty", directory=directory)
    refused("split DWARF", [lf.program("split_dwarf")], 126, "split", "dwarf", directory=directory)
    refused("script without interpreter", [write(here("lost"), b"#!/nonexistent/shell\n", True)], (126, 127),
            "/nonexistent/shell", directory=directory)


def avx512(directory):
    """Found only when it executes: what came before is the program's own output, and the line is named."""
    result = lf.record(os.path.join(directory, "avx512"), [lf.program("avx512")])
    line = line_of("avx512.c", "the line to name")
    suite.check_error("AVX-512", result, 126, "AVX-?512", rf"avx512\.c:{line}\b")
    suite.check("AVX-512: output before it", result.stdout == b"before\n", result)
    suite.check("AVX-512: trace of what came before", lf.trace("check", os.path.join(directory, "avx512")).status == 0)


def scripts(directory):
    script = write(os.path.join(directory, "script"), b"#!/bin/sh\necho script \"$@\"\nexit 6\n", True)
    trace = os.path.join(directory, "script-trace")
    result = lf.record(trace, [script, "a", "b c"], options=())
    suite.check("script: output", result.stdout == b"script a b c\n", result)
    suite.check("script: status", result.status == 6, result)
    suite.check("script: a line names the interpreter",
                re.search(rb"^loopfold: .*script.*/bin/sh", result.stderr, re.MULTILINE), result)
    suite.check_trace("script", trace)
    result = lf.record(trace, [script], options=("--quiet",))
    suite.check("script, quiet: says nothing", result.stderr == b"", result)


def output_directories(directory):
    hello = [lf.program("hello")]

    def here(name):
        return os.path.join(directory, name)

    write(here("file"), b"precious\n")
    suite.check_error("output is a file", lf.record(here("file"), hello), 125, "file")
    suite.check("output is a file: untouched", open(here("file"), "rb").read() == b"precious\n")
    suite.check_error("output below a file", lf.record(here("file/below"), hello), 125, "file/below")
    suite.check_error("output nowhere", lf.record("/proc/loopfold-test", hello), 125, "/proc/loopfold-test")
    os.mkdir(here("other"))
    write(here("other/notes.txt"), b"precious\n")
    suite.check_error("output is something else", lf.record(here("other"), hello), 125, "other")
    suite.check("output is something else: untouched", os.listdir(here("other")) == ["notes.txt"],
                os.listdir(here("other")))
    if os.geteuid() != 0:
        os.mkdir(here("locked"))
        os.chmod(here("locked"), stat.S_IRUSR | stat.S_IXUSR)
        suite.check_error("output not writable", lf.record(here("locked/trace"), hello), 125, "locked")
        os.chmod(here("locked"), stat.S_IRWXU)
    os.mkdir(here("fresh"))
    suite.check("output is an empty directory", lf.record(here("fresh"), hello).status == 0)
    suite.check_trace("output is an empty directory", here("fresh"))


def old_traces(directory):
    """An earlier trace is kept as DIR.old; an older one is replaced."""
    trace = os.path.join(directory, "kept")
    sizes = []
    for steps in ("10", "2000", "20"):
        lf.record(trace, [lf.program("noise"), steps])
        facts = suite.check_trace(f"recording {steps} steps", trace)
        sizes.append(facts.get("instructions") if facts else None)
        names = sorted(name for name in os.listdir(directory) if name.startswith("kept"))
        expected = ["kept"] if len(sizes) == 1 else ["kept", "kept.old"]
        suite.check(f"old traces after {len(sizes)}", names == expected, names)
        if len(sizes) > 1:
            old = suite.check_trace(f"old trace after {len(sizes)}", trace + ".old") or {}
            suite.check(f"old trace after {len(sizes)}: is the one before", old.get("instructions") == sizes[-2],
                        f"{old.get('instructions')} in {sizes}")
    suite.check("the recordings differ", len(set(sizes)) == 3, sizes)


def usage(directory):
    def loopfold(*arguments):
        return lf.run([lf.LOOPFOLD, *arguments], cwd=directory)

    for arguments in (("frobnicate",), ("trace",), ("trace", "frobnicate"), ("trace", "info", "--nonsense"),
                      ("trace", "info", "a", "b")):
        result = loopfold(*arguments)
        suite.check(f"{arguments}: status 2", result.status == 2, result)
        suite.check(f"{arguments}: says so", result.stderr.strip(), result)
    for arguments in (("record",), ("record", "--nonsense", "--", "true"),
                      ("record", "--max-instructions", "x", "--", "true")):
        result = loopfold(*arguments)
        suite.check(f"{arguments}: status", result.status in (2, 125), result)
        suite.check(f"{arguments}: says so", result.stderr.strip(), result)
    for arguments, text in ((("--version",), rb"loopfold .*\d+\.\d+"), (("--help",), rb"record"),
                            (("record", "--help"), rb"--max-trace-size"), (("trace", "dump", "--help"), rb"--accesses"),
                            (("doctor",), rb"valgrind")):
        result = loopfold(*arguments)
        suite.check(f"{arguments}", result.status == 0 and re.search(text, result.stdout), result)


def traces(directory):
    missing = os.path.join(directory, "missing")
    garbage, empty = os.path.join(directory, "garbage-trace"), os.path.join(directory, "empty-trace")
    os.mkdir(garbage)
    os.mkdir(empty)
    write(os.path.join(garbage, "trace.lft"), bytes((i * 7 + i // 256) % 256 for i in range(5000)))
    for action in ("info", "dump", "check"):
        suite.check_error(f"trace {action}: missing", lf.trace(action, missing), 3, "missing")
        suite.check_error(f"trace {action}: garbage", lf.trace(action, garbage), 3, "garbage-trace/trace.lft")
        suite.check_error(f"trace {action}: no trace in it", lf.trace(action, empty), 3, "empty-trace")


with lf.Directory() as temporary:
    suite.each(lambda group: group(temporary),
               [programs, avx512, scripts, output_directories, old_traces, usage, traces])
suite.finish()
