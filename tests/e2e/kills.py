"""kill -9 of either process at a random moment leaves a readable trace, and never harms the program.

Each trial has a seed, printed if it fails. Where the program is killed, the recorder keeps what was published; where
the recorder is killed, the program goes on unrecorded and its output is as it would have been. LOOPFOLD_SOAK multiplies
the number of trials.
"""

import os
import random
import signal
import subprocess
import time

import lf

suite = lf.Suite()
TRIALS = 30 * lf.SOAK
FIRST_SEED = int(os.environ.get("LOOPFOLD_SEED", "1000"))
LINES = 500
# What may be missing from the trace: a ring segment if the recorder lived; else also a group, which the recorder ends
# every 50 ms (twice that is allowed, for a busy machine), and what stands in the ring.
SEGMENT = 200_000  # instructions
RING = 1_500_000
GROUP_SECONDS = 0.1


def may_lose(victim):
    return SEGMENT if victim == "program" else RING + int(INSTRUCTIONS * GROUP_SECONDS / SECONDS)


def start(directory):
    out = os.path.join(directory, "out.txt")
    command = [lf.LOOPFOLD, "record", "--quiet", "-o", os.path.join(directory, "trace"), "--",
               lf.program("ticker"), str(LINES), out]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env=lf.ENVIRONMENT, start_new_session=True)
    return process, out


def trace_begun(directory):
    try:
        return os.path.getsize(os.path.join(directory, "trace", "trace.lft")) > 0
    except OSError:
        return False


def recorded_program(recorder, out):
    """The process that runs the program: the child of the recorder that has the output's name among its arguments."""
    for pid in lf.children_of(recorder):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if out.encode() in file.read():
                    return pid
        except OSError:
            pass
    return None


def running(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def full_run():
    """The undisturbed run: its output, its instructions, and how long it takes from the first bytes of the trace on."""
    with lf.Directory() as directory:
        process, out = start(directory)
        lf.wait_until(lambda: trace_begun(directory), 30)
        began = time.monotonic()
        error = process.communicate()[1]
        seconds = time.monotonic() - began
        suite.check("undisturbed run: status", process.returncode == 0, f"{process.returncode} {error}")
        facts = suite.check_trace("undisturbed run", os.path.join(directory, "trace")) or {}
        native = os.path.join(directory, "native.txt")
        lf.run([lf.program("ticker"), str(LINES), native])
        expected = contents(native)
        suite.check("undisturbed run: output", contents(out) == expected != b"", lf.shorten(contents(out)))
        suite.check("undisturbed run: not partial", facts.get("partial") is False, facts)
        return expected, facts.get("instructions", 0), seconds


EXPECTED, INSTRUCTIONS, SECONDS = full_run()
killed_in_time = []


def trial(seed):
    rng = random.Random(seed)
    victim = "program" if seed % 2 else "recorder"
    name = f"seed {seed}, {victim} killed"
    with lf.Directory() as directory:
        process, out = start(directory)
        if not suite.check(f"{name}: trace begun", lf.wait_until(lambda: trace_begun(directory), 30)):
            lf.kill_session(process.pid)
            return
        time.sleep(rng.uniform(0, SECONDS))
        pid = recorded_program(process.pid, out)
        if pid is None:
            process.wait()  # too late: it had ended
        else:
            lines_then = contents(out).count(b"\n")
            os.kill(pid if victim == "program" else process.pid, signal.SIGKILL)
            killed_in_time.append(seed)
            process.wait()
            if victim == "program":
                suite.check(f"{name}: status", process.returncode in (137, 0), process.returncode)
                suite.check(f"{name}: output so far", EXPECTED.startswith(contents(out)), lf.shorten(contents(out)))
            elif not lf.wait_until(lambda: not running(pid), 60):
                lf.kill_session(process.pid)
                suite.check(f"{name}: the program ends", False, f"still running, {lines_then} of {LINES} lines written")
            else:
                suite.check(f"{name}: the program's output", contents(out) == EXPECTED,
                            lf.difference("output", EXPECTED, contents(out)))
        process.stderr.close()
        facts = info_after_kill(name, os.path.join(directory, "trace"))
        if facts and pid is not None:
            least = lines_then * INSTRUCTIONS // LINES - may_lose(victim)
            suite.check(f"{name}: not more than a chunk is lost", facts.get("instructions", -1) >= least,
                        f"{lines_then} of {LINES} lines were written, so at least {least} instructions\n{facts}")


def info_after_kill(name, directory):
    result = lf.trace("check", directory)
    suite.check(f"{name}: trace check", result.status == 0, result)
    facts = lf.info(directory)
    suite.check(f"{name}: trace info", isinstance(facts, dict), facts)
    return facts if isinstance(facts, dict) else None


print(f"{TRIALS} kills with seeds {FIRST_SEED} to {FIRST_SEED + TRIALS - 1}; a whole run takes {SECONDS:.1f} s, "
      f"{INSTRUCTIONS} instructions")
suite.each(trial, range(FIRST_SEED, FIRST_SEED + TRIALS))
suite.check("most kills hit a running program", len(killed_in_time) >= TRIALS * 2 // 3, f"{len(killed_in_time)} did")
suite.finish()
