"""Programs and surroundings that once went wrong, one function per case. All run as they do natively."""

import os
import re
import resource
import shutil
import signal

import lf

suite = lf.Suite()
FULL = "/dev/full"


def same(name, native, recorded, *, whats=("status", "stdout", "stderr")):
    for what in whats:
        suite.check(f"{name}: {what}", getattr(native, what) == getattr(recorded, what), f"{native}\n{recorded}")


def compare(name, directory, command, options=(), **arguments):
    """Runs a command natively and recorded, and compares. Returns the trace's directory."""
    trace = os.path.join(directory, "trace")
    native = lf.run_native(command, cwd=directory, **arguments)
    same(name, native, lf.record(trace, command, options=("--quiet", *options), cwd=directory, **arguments))
    return trace


def compare_and_check(name, directory, command, options=(), **arguments):
    """The same, with a look at the trace. Returns what `trace info` says, as a dictionary."""
    trace = compare(name, directory, command, options, **arguments)
    return suite.check_trace(name, trace) or {}


def traces(directory):
    return sorted(name for name in os.listdir(directory) if re.fullmatch(r"trace(\.[\d.]+)?", name))


def recorded_counts(name, command, directory, options):
    """Instructions, exactly: without address-space randomisation."""
    trace = os.path.join(directory, re.sub(r"\W+", "-", name))
    result = lf.run(["setarch", "-R", lf.LOOPFOLD, "record", "--quiet", *options, "-o", trace, "--", *command])
    suite.check(f"{name}: recorded", result.status == 0 and result.stderr == b"", result)
    return (suite.check_trace(name, trace) or {}).get("instructions", 0), trace


def mnemonics(trace):
    """The mnemonics of a dump in order, with "(signal)" where a handler was entered."""
    result = lf.trace("dump", trace)
    suite.check("dump", result.status == 0, result)
    line = r"^    0x[0-9a-f]+  (\S+)|^\[\d+\] thread \d+ @\d+  (signal) \d+ \(\w+\) handler entered"
    found = re.finditer(line, result.stdout.decode(errors="replace"), re.MULTILINE)
    return [match[1] or "(signal)" for match in found]


def user_preload(directory):
    """A program sees the user's LD_PRELOAD and nothing of the recorder's; so do its children."""
    environment = dict(lf.ENVIRONMENT, LD_PRELOAD="libm.so.6")
    for number, (name, command, options) in enumerate((
            ("dynamic", [lf.program("args_env"), "a b"], ()),
            ("static", [lf.program("args_env.static")], ()),
            ("static, position independent", [lf.program("args_env.static-pie")], ()),
            ("in order", ["/usr/bin/env"], ()),
            ("child", ["/bin/sh", "-c", "env; exit 4"], ()),
            ("followed child", ["/bin/sh", "-c", "env; exit 4"], ("--follow-children",)))):
        place = os.path.join(directory, str(number))
        os.mkdir(place)
        facts = compare_and_check(f"LD_PRELOAD, {name}", place, command, options, env=environment)
        if name == "in order":
            paths = [module["path"] for module in facts.get("modules", [])]
            suite.check("LD_PRELOAD: the library is loaded", any("/libm.so.6" in path for path in paths), paths)
    result = lf.record(os.path.join(directory, "text"), ["/usr/bin/env"], env=environment)
    found = [line for line in result.stdout.splitlines() if line.startswith(b"LD_PRELOAD")]
    suite.check("LD_PRELOAD: exactly the user's", found == [b"LD_PRELOAD=libm.so.6"], result)


def interrupted_blocks(directory):
    """A fault behind an instruction that may leave the block: all that had been completed is in the trace."""
    completed = ["call", "movaps", "mov", "add", "mov", "(signal)"]
    for program, faults in (("write_barrier", 50), ("fault_longjmp", 100)):
        place = os.path.join(directory, program)
        os.mkdir(place)
        facts = compare_and_check(program, place, [lf.program(program)])
        suite.check(f"{program}: signals", facts.get("signals") == {"SIGSEGV": faults}, facts.get("signals"))
        code = mnemonics(os.path.join(place, "trace"))
        at = [index for index, text in enumerate(code) if text == "(signal)"]
        suite.check(f"{program}: handlers in the dump", len(at) == faults, len(at))
        wrong = [code[max(0, index - 5):index + 1] for index in at if code[max(0, index - 5):index + 1] != completed]
        suite.check(f"{program}: completed instructions", not wrong, f"{len(wrong)} of {len(at)}, first {wrong[:1]}")
    # The store is executed once its page is writable, after the handler: then it is there, with what follows it.
    text = lf.trace("dump", os.path.join(directory, "write_barrier", "trace")).stdout.decode(errors="replace")
    stores = re.findall(r"  mov \[rsi\], rax +store 8 @0x[0-9a-f]+\n    0x[0-9a-f]+  add rax, rcx +rax=0xd8\n", text)
    suite.check("write_barrier: the repeated stores", len(stores) == 50, len(stores))


def nested_forks(directory):
    compare("nested forks", directory, [lf.program("nested_forks"), "6"], ("--follow-children",))
    found = traces(directory)
    suite.check("nested forks: a trace for every process",
                len(found) == 7 and all(re.fullmatch(r"trace(\.\d+)?", name) for name in found), found)
    for name in found:
        facts = suite.check_trace(f"nested forks: {name}", os.path.join(directory, name)) or {}
        suite.check(f"nested forks: {name}: whole", facts.get("partial") is False, facts)
        about = facts.get("program", {})
        suite.check(f"nested forks: {name}: its status", about.get("exit_status") == 7, about)


def worker_outlives_main(directory):
    name = "pthread_exit in main"
    facts = compare_and_check(name, directory, [lf.program("worker_outlives_main")])
    suite.check(f"{name}: the worker is recorded", facts.get("instructions", 0) > 1_000_000, facts)
    suite.check(f"{name}: two threads", len(facts.get("threads", [])) == 2, facts)


def altstack_longjmp(directory):
    """Below the interrupted stack (heap) and above it (main's frame); around 30 times, a table of 32 is just full."""
    for place, own in (("heap", 1), ("frame", 0)):
        for rounds in (0, 1, 30, 31, 40):
            name = f"siglongjmp from an alternate stack, {place}, {rounds} times"
            case = os.path.join(directory, f"{place}{rounds}")
            os.mkdir(case)
            facts = compare_and_check(name, case, [lf.program("altstack_longjmp"), str(rounds), place])
            suite.check(f"{name}: ends with main", facts.get("instructions", 0) < 50_000, facts.get("instructions"))
            heap = facts.get("allocations", {})  # the stack, 50 blocks, the buffer of stdout
            suite.check(f"{name}: allocations", (heap.get("count"), heap.get("frees")) == (51 + own, 50), heap)


def closed_standard_files(directory):
    script = os.path.join(directory, "script.sh")
    with open(script, "w") as file:
        file.write("#!/bin/sh\necho hi\nexit 3\n")
    os.chmod(script, 0o755)
    for closed in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"):
        shell = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh"]
        for program in (script, lf.program("exit42"), lf.program("close_fds")):
            name = f"closed {closed}, {os.path.basename(program)}"
            trace = os.path.join(directory, f"trace{len(os.listdir(directory))}")
            native = lf.run_native([*shell, program], timeout=30)
            quiet = [] if "2>" in closed else ["--quiet"]
            recorded = lf.run([*shell, lf.LOOPFOLD, "record", *quiet, "-o", trace, "--", program], timeout=30)
            same(name, native, recorded)
            suite.check_trace(name, trace)


def full_standard_error(directory):
    """What Loopfold has to say cannot be written; the program's status is unharmed, and failures keep theirs."""
    for name, command, status in (("a program", [lf.program("exit42")], 42), ("no program", ["/nonexistent"], 127)):
        trace = os.path.join(directory, name)
        result = lf.run(["/bin/sh", "-c", f'exec "$@" 2>{FULL}', "sh", lf.LOOPFOLD, "record", "-o", trace, "--",
                         *command], timeout=30)
        suite.check(f"full standard error, {name}: status", result.status == status, result)
        if status == 42:
            suite.check_trace(f"full standard error, {name}", trace)


def ignored_sigchld(directory):
    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    for program, options in (("exit42", ()), ("signal_state", ()), ("exit42", ("--follow-children",))):
        name = " ".join(("ignored SIGCHLD", program, *options))
        place = os.path.join(directory, re.sub(r"\W+", "-", name))
        os.mkdir(place)
        compare_and_check(name, place, [lf.program(program)], options, preexec=ignore)
    result = lf.record(os.path.join(directory, "state"), [lf.program("signal_state")], preexec=ignore)
    suite.check("ignored SIGCHLD: still ignored", b"inherited: 17ignored\n" in result.stdout, result)


def double_dash(directory):
    text, trace = os.path.join(directory, "text"), os.path.join(directory, "trace")
    with open(text, "w") as file:
        file.write("an x\n-x\n")
    command = ["grep", "--", "-x", text]
    native = lf.run_native(command)
    recorded = lf.run([lf.LOOPFOLD, "record", "--quiet", "-o", trace, *command])
    same("-- of the program", native, recorded)
    suite.check("-- of the program: something was found", native.stdout == b"-x\n", native)
    facts = suite.check_trace("-- of the program", trace) or {}
    arguments = facts.get("program", {}).get("argv", [])
    suite.check("-- of the program: arguments", arguments[1:] == command[1:], arguments)


def from_main(directory):
    command = [lf.program("late_work")]
    default, _ = recorded_counts("from main by default", command, directory, ())
    explicit, _ = recorded_counts("--from main", command, directory, ("--from", "main"))
    suite.check("--from main: as by default", default == explicit, f"{explicit}, by default {default}")
    suite.check("--from main: ends with main", 0 < explicit < 50_000, explicit)


def clones(directory):
    command = [lf.program("clones")]
    clone, _ = recorded_counts("--only clone", command, directory, ("--only", "solve.constprop.0"))
    only, trace = recorded_counts("--only function", command, directory, ("--only", "solve"))
    suite.check("--only: a clone answers to the function's name", only == clone > 3 * 3000, f"{only}, {clone}")
    dump = lf.trace("dump", trace)
    scope = dump.stdout.partition(b"recording on")[2]
    suite.check("--only: the clone and nothing else", b"solve" in scope and b"  main" not in scope, dump)
    started, _ = recorded_counts("--from function", command, directory, ("--from", "solve"))
    whole, _ = recorded_counts("clones", command, directory, ())
    suite.check("--from: a clone answers to the function's name", only < started < whole, f"{started} of {whole}")


def failed_thread(directory):
    name = "failed pthread_create"
    native = lf.run_native([lf.program("thread_create_fails")])
    if native.status != 3:
        print(f"skipped {name}: the limit of processes does not hold here")
        return
    facts = compare_and_check(name, directory, [lf.program("thread_create_fails")])
    threads = facts.get("threads", [])
    suite.check(f"{name}: no others than those that ran",
                len(threads) == 2 and all(one["events"] > 0 and one["ended"] for one in threads), threads)


def handlers_in_malloc(directory):
    for program in ("alarm_in_malloc", "reentrant_malloc"):
        place = os.path.join(directory, program)
        os.mkdir(place)
        facts = compare_and_check(program, place, [lf.program(program)])
        heap = facts.get("allocations", {})
        if program == "reentrant_malloc":  # 100, one inside each, and the buffer of stdout
            suite.check(f"{program}: allocations", (heap.get("count"), heap.get("frees")) == (201, 200), heap)
        else:
            suite.check(f"{program}: allocations", heap.get("count", 0) >= 20000, heap)


def exec_of_descriptor(directory):
    for call, options in (("fexecve", ()), ("execveat", ()), ("fexecve", ("--follow-children",))):
        name = " ".join((call, *options))
        place = os.path.join(directory, re.sub(r"\W+", "-", name))
        os.mkdir(place)
        command = [lf.program("exec_descriptor"), *(["at"] if call == "execveat" else []), lf.program("exit42")]
        facts = compare_and_check(name, place, command, options)
        suite.check(f"{name}: end reason", facts.get("end", {}).get("reason") == "exec", facts.get("end"))
        suite.check(f"{name}: exit status", facts.get("program", {}).get("exit_status") == 42, facts.get("program"))
        if options:
            suite.check(f"{name}: two traces", len(traces(place)) == 2, traces(place))


def tiny_file_limit(directory):
    limit = 100 * 1024

    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    result = lf.record(os.path.join(directory, "trace"), [lf.program("hello")], options=(), preexec=set_limit)
    suite.check_error("tiny RLIMIT_FSIZE", result, 125, "file too large")
    suite.check("tiny RLIMIT_FSIZE: the program was not run", result.stdout == b"", result)


def generations(directory):
    """Each exec of a followed process begins another trace: DIR, DIR.PID, DIR.PID.1, DIR.PID.2."""
    name = "repeated exec"
    compare(name, directory, [lf.program("exec_self")], ("--follow-children",))
    found = traces(directory)
    pids = {part for trace in found for part in trace.split(".")[1:2]}
    pid = min(pids, default="?")
    expected = ["trace", f"trace.{pid}", f"trace.{pid}.1", f"trace.{pid}.2"]
    suite.check(f"{name}: traces", found == expected, found)
    for generation, trace in enumerate(found):
        facts = suite.check_trace(f"{name}: {trace}", os.path.join(directory, trace)) or {}
        about = facts.get("program", {})
        arguments = about.get("argv", [])[1:]
        suite.check(f"{name}: {trace}: arguments", arguments == ([str(generation)] if generation else []), arguments)
        reason = "exec" if generation < 3 else "program_ended"
        suite.check(f"{name}: {trace}: {reason}", facts.get("end", {}).get("reason") == reason, facts.get("end"))
        if generation == 3:
            suite.check(f"{name}: {trace}: its status", about.get("exit_status") == 6, about)


def address_sanitizer(directory):
    source, program = os.path.join(directory, "empty.c"), os.path.join(directory, "sanitized")
    with open(source, "w") as file:
        file.write("int main(void) { return 0; }\n")
    compiler = shutil.which("gcc")
    if compiler is None or lf.run([compiler, "-fsanitize=address", source, "-o", program]).status != 0:
        print("skipped AddressSanitizer: gcc cannot link -fsanitize=address")
        return
    result = lf.record(os.path.join(directory, "trace"), [program])
    suite.check_error("AddressSanitizer", result, 126, "sanitizer")


CASES = [user_preload, interrupted_blocks, nested_forks, worker_outlives_main, altstack_longjmp, closed_standard_files,
         full_standard_error, ignored_sigchld, double_dash, from_main, clones, failed_thread, handlers_in_malloc,
         exec_of_descriptor, tiny_file_limit, generations, address_sanitizer]


def run_case(name):
    with lf.Directory() as directory:
        globals()[name](directory)


suite.each(run_case, [case.__name__ for case in CASES])
suite.finish()
