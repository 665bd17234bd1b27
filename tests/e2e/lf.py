"""What the end-to-end tests share: finding Loopfold, running programs natively and recorded, counting checks.

A test is a script. It makes a Suite, calls suite.check() for every fact, and ends with suite.finish(), which prints
`N passed, N failed` and exits with 1 if anything failed or nothing was checked.

    LOOPFOLD           the binary under test (or the script's first argument; default: build/loopfold)
    LOOPFOLD_PROGRAMS  the built test programs (default: tests/programs beside the binary)
    LOOPFOLD_JOBS      how many programs run at a time (default 2)
    LOOPFOLD_SOAK      multiplies the number of random trials (default 1)
    LOOPFOLD_KEEP      keep the temporary directories, to look at a failure
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
JOBS = int(os.environ.get("LOOPFOLD_JOBS", "2"))
SOAK = int(os.environ.get("LOOPFOLD_SOAK", "1"))
TIMEOUT = 120


def _find_loopfold():
    given = os.environ.get("LOOPFOLD") or (sys.argv[1] if len(sys.argv) > 1 else None)
    path = os.path.abspath(given or os.path.join(SOURCE, "build", "loopfold"))
    if not os.access(path, os.X_OK):
        sys.exit(f"{path}: no such program; build first, or set LOOPFOLD")
    return path


LOOPFOLD = _find_loopfold()
PROGRAMS = os.environ.get("LOOPFOLD_PROGRAMS") or os.path.join(os.path.dirname(LOOPFOLD), "tests", "programs")

# The environment of every program: small, and the same on every machine.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C", "TZ": "UTC", "LF_TEST": "some text"}


def skip_library_debug_info():
    """For tests that are about the program's own loops: a large part of a short analysis would be libc's files."""
    ENVIRONMENT["LOOPFOLD_DEBUG_DIRECTORY"] = ""


def program(name):
    path = os.path.join(PROGRAMS, name)
    if not os.path.exists(path):
        sys.exit(f"{path}: not built")
    return path


class Result:
    """How a command ended. `status` is as a shell would say it for a native run, and raw for Loopfold's own process."""

    def __init__(self, command, status, stdout, stderr, seconds):
        self.command, self.status, self.stdout, self.stderr, self.seconds = command, status, stdout, stderr, seconds

    def __str__(self):
        return (f"$ {' '.join(map(str, self.command))}\nstatus {self.status} after {self.seconds:.1f} s\n"
                f"stdout: {shorten(self.stdout)}\nstderr: {shorten(self.stderr)}")


def shorten(data, limit=1500):
    text = data.decode(errors="backslashreplace") if isinstance(data, bytes) else str(data)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def run(command, stdin=b"", env=None, cwd=None, timeout=TIMEOUT, preexec=None, pass_fds=()):
    """Runs a command to its end. A timeout kills its whole session and gives the status 'timeout'."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=ENVIRONMENT if env is None else env, cwd=cwd, preexec_fn=preexec,
                               pass_fds=pass_fds, start_new_session=True)
    try:
        out, err = process.communicate(stdin, timeout=timeout)
        status = process.returncode
    except subprocess.TimeoutExpired:
        kill_session(process.pid)
        out, err = process.communicate()
        status = "timeout"
    return Result(command, status, out, err, time.monotonic() - began)


def run_native(command, **arguments):
    result = run(command, **arguments)
    if isinstance(result.status, int) and result.status < 0:
        result.status = 128 - result.status
    return result


def record(directory, command, options=("--quiet", "--checksum"), **arguments):
    """Runs `loopfold record`. A negative status means that Loopfold itself was killed, never the program."""
    return run([LOOPFOLD, "record", *options, "-o", directory, "--", *command], **arguments)


def trace(action, directory, *options, **arguments):
    return run([LOOPFOLD, "trace", action, *options, directory], **arguments)


def info(directory):
    """`trace info` as a dictionary, or a Result if it failed."""
    result = trace("info", directory, "--format", "json")
    if result.status != 0:
        return result
    try:
        return json.loads(result.stdout)
    except ValueError:
        return result


def tree(directory, *options):
    """The whole `loopfold tree` as a dictionary, or a Result if it failed."""
    result = run([LOOPFOLD, "tree", "--format", "json", "--min-percent", "0", *options, directory])
    if result.status != 0:
        return result
    try:
        return json.loads(result.stdout)
    except ValueError:
        return result


def kill_session(session):
    """Kills every process of a session that a test started itself."""
    for pid in processes():
        try:
            if os.getsid(pid) == session:
                os.kill(pid, 9)
        except OSError:
            pass


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children_of(parent):
    """Live (not zombie) children of a process."""
    found = []
    for pid in processes():
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                state, ppid = file.read().rpartition(b")")[2].split()[:2]
        except OSError:
            continue
        if int(ppid) == parent and state != b"Z":
            found.append(pid)
    return found


def wait_until(condition, seconds, step=0.005):
    """Polls until condition() is true; its value, or None when the time is up."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            return None
        time.sleep(step)


class Directory:
    """A temporary directory for one case; removed at the end unless LOOPFOLD_KEEP is set."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="loopfold-e2e-")
        return self.path

    def __exit__(self, *unused):
        if os.environ.get("LOOPFOLD_KEEP"):
            print(f"kept {self.path}")
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def difference(what, native, recorded):
    """Where two byte strings differ, for a person."""
    if native == recorded:
        return ""
    at = next((i for i, (a, b) in enumerate(zip(native, recorded)) if a != b), min(len(native), len(recorded)))
    return (f"{what} differs at byte {at} (native {len(native)} bytes, recorded {len(recorded)}):\n"
            f"  native   …{native[max(0, at - 40):at + 80]!r}\n  recorded …{recorded[max(0, at - 40):at + 80]!r}")


ERROR_LINE = re.compile(r"\Aloopfold: error: [^\n]+: [^\n]+\n\Z")


class Suite:
    def __init__(self):
        self.passed, self.failed, self.lock = 0, 0, threading.Lock()

    def check(self, name, condition, detail=""):
        """Counts one fact. The detail is printed only if it is false."""
        with self.lock:
            if condition:
                self.passed += 1
            else:
                self.failed += 1
                print(f"FAILED {name}\n    " + str(detail).replace("\n", "\n    "), flush=True)
        return bool(condition)

    def check_error(self, name, result, statuses, *fragments):
        """A failure of Loopfold: the right status, and exactly one line on stderr that names the trouble."""
        statuses = statuses if isinstance(statuses, tuple) else (statuses,)
        text = result.stderr.decode(errors="replace")
        self.check(f"{name}: status {statuses}", result.status in statuses, result)
        self.check(f"{name}: one error line", ERROR_LINE.match(text), result)
        for fragment in fragments:
            self.check(f"{name}: the line says {fragment!r}", re.search(fragment, text, re.IGNORECASE), result)

    def check_trace(self, name, directory):
        """A sound trace with something in it. Returns its info, or None."""
        result = trace("check", directory, "--deep")
        self.check(f"{name}: trace check", result.status == 0, result)
        facts = info(directory)
        if not self.check(f"{name}: trace info", isinstance(facts, dict), facts):
            return None
        self.check(f"{name}: something was recorded", facts.get("instructions", 0) > 0, facts)
        return facts

    def check_vectors(self, name, directory):
        """The numeric iteration vectors increase strictly over each thread's run."""
        result = trace("check", directory, "--iteration-vectors")
        self.check(f"{name}: iteration vectors increase", result.status == 0, result)

    def each(self, function, cases):
        """Runs function(case) for all cases, some at a time; an exception is a failure of its case."""
        def guarded(case):
            try:
                function(case)
            except Exception as error:  # reported, and the other cases go on
                self.check(f"{case}", False, f"{type(error).__name__}: {error}")
        with ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(guarded, cases))

    def finish(self):
        if self.passed + self.failed == 0:
            self.failed = 1
            print("FAILED: nothing was checked")
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)
