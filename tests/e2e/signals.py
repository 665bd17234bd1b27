"""SIGINT and SIGTERM sent to `loopfold record`, and Ctrl-C on a terminal, reach the program; the trace is readable."""

import fcntl
import os
import pty
import signal
import subprocess
import termios
import time

import lf

suite = lf.Suite()


def until_ready(read):
    """Reads until the program has said that it is ready; what was read."""
    seen = b""
    while b"ready" not in seen:
        data = read()
        if not data:
            break
        seen += data
    return seen


def send(case):
    """Sends a signal to the recorder alone, or to its process group."""
    name, number, whole_group, program, status, output = case
    with lf.Directory() as directory:
        trace = os.path.join(directory, "trace")
        process = subprocess.Popen([lf.LOOPFOLD, "record", "--quiet", "-o", trace, "--", lf.program(program)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=lf.ENVIRONMENT, start_new_session=True)
        seen = until_ready(lambda: os.read(process.stdout.fileno(), 4096))
        suite.check(f"{name}: the program runs", b"ready" in seen, seen)
        time.sleep(0.2)
        (os.killpg if whole_group else os.kill)(process.pid, number)
        try:
            rest, error = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            lf.kill_session(process.pid)
            process.communicate()
            suite.check(f"{name}: ends", False, "still running after a minute")
            return
        suite.check(f"{name}: status {status}", process.returncode == status, f"{process.returncode} {error!r}")
        suite.check(f"{name}: stderr is the program's", error == b"", error)
        if output is not None:
            suite.check(f"{name}: output", (seen + rest).decode() == output, seen + rest)
        suite.check_trace(name, trace)


def control_c(case):
    """Types Ctrl-C on a terminal of which the recorder and the program are the foreground group."""
    program, status, output = case
    name = f"Ctrl-C, {program}"
    with lf.Directory() as directory:
        trace = os.path.join(directory, "trace")
        terminal, side = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        process = subprocess.Popen([lf.LOOPFOLD, "record", "--quiet", "-o", trace, "--", lf.program(program)],
                                   stdin=side, stdout=side, stderr=side, env=lf.ENVIRONMENT, preexec_fn=take_terminal)
        os.close(side)

        def read():
            try:
                return os.read(terminal, 4096)
            except OSError:  # the other side was closed
                return b""

        seen = until_ready(read)
        time.sleep(0.2)
        os.write(terminal, b"\x03")
        while True:
            data = read()
            if not data:
                break
            seen += data
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            lf.kill_session(process.pid)
            process.wait()
        os.close(terminal)
        text = seen.decode(errors="replace").replace("\r\n", "\n").replace("^C", "")
        suite.check(f"{name}: status {status}", process.returncode == status, f"{process.returncode} {seen!r}")
        if output is not None:
            suite.check(f"{name}: output", text == output, text)
        suite.check_trace(name, trace)


CASES = []
for label, number in (("SIGINT", signal.SIGINT), ("SIGTERM", signal.SIGTERM)):
    caught = f"ready\nsignal {int(number)}, 1 time\n"
    CASES.append((f"{label}, handled", number, False, "signal_exit", 5, caught))
    CASES.append((f"{label}, not handled", number, False, "forever", 128 + number, None))
    CASES.append((f"{label} to the group", number, True, "forever", 128 + number, None))

suite.each(send, CASES)
suite.each(control_c, [("signal_exit", 5, "ready\nsignal 2, 1 time\n"), ("forever", 130, None)])
suite.finish()
