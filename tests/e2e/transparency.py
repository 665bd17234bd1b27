"""A recorded program cannot tell, and nobody who reads its output can: native against recorded.

For each case: byte-identical stdout and stderr, the same files left behind, equal status (128+n for signal n), and a
trace that passes `loopfold trace check`.
"""

import os
import signal

import lf
from transparency_cases import CASES

suite = lf.Suite()


def files_in(directory):
    """Every file below a directory with its contents."""
    found = {}
    for path, _, names in os.walk(directory):
        for name in names:
            full = os.path.join(path, name)
            with open(full, "rb") as file:
                found[os.path.relpath(full, directory)] = file.read()
    return found


def prepare_signals():
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])


def run_case(case):
    with lf.Directory() as temporary:
        trace = os.path.join(temporary, "trace")
        results, left_behind = [], []
        for runner in (lf.run_native, lambda command, **rest: lf.record(trace, command, **rest)):
            # Both runs get the same path as working directory, freshly made.
            work = os.path.join(temporary, "work")
            os.mkdir(work)
            for name, contents in case.files.items():
                with open(os.path.join(work, name), "wb") as file:
                    file.write(contents)
            extra = None
            if case.extra_fd:
                opened = os.open("/dev/null", os.O_RDONLY)
                extra = os.dup2(opened, 40)  # the same number in both runs
                os.close(opened)
            results.append(runner(case.command, stdin=case.stdin, cwd=work, env={**lf.ENVIRONMENT, **case.env},
                                  preexec=prepare_signals if case.odd_signals else None,
                                  pass_fds=() if extra is None else (extra,)))
            if extra is not None:
                os.close(extra)
            left_behind.append(files_in(work))
            os.rename(work, work + str(len(results)))
        native, recorded = results
        name = case.name
        suite.check(f"{name}: stdout", native.stdout == recorded.stdout,
                    f"{lf.difference('stdout', native.stdout, recorded.stdout)}\n{recorded}")
        suite.check(f"{name}: stderr", native.stderr == recorded.stderr,
                    lf.difference("stderr", native.stderr, recorded.stderr))
        suite.check(f"{name}: status", native.status == recorded.status, f"native {native.status}\nrecorded {recorded}")
        suite.check(f"{name}: files", left_behind[0] == left_behind[1],
                    f"native {sorted(left_behind[0])}, recorded {sorted(left_behind[1])}, or their contents differ")
        suite.check(f"{name}: the case itself is sound", native.status == case.status, native)
        facts = suite.check_trace(name, trace)
        if facts and not case.execs:
            suite.check(f"{name}: status in the trace", facts["program"]["exit_status"] == case.status, facts)


assert len({case.name for case in CASES}) == len(CASES) >= 40
suite.each(run_case, CASES)
suite.finish()
