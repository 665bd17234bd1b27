"""Building on a bare machine: scripts/setup and the configuration say in one line what is missing and what to do."""

import os
import re

import lf

suite = lf.Suite()
SETUP = os.path.join(lf.SOURCE, "scripts", "setup")


def fake(directory, name, body):
    """A command that stands in for a system tool."""
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write(f"#!/bin/sh\n{body}\n")
    os.chmod(path, 0o755)
    return path


def tools(directory, **bodies):
    """A directory of stand-ins, to be put first in PATH; apt-get writes down how it was called."""
    os.mkdir(directory)
    for name, body in bodies.items():
        fake(directory, name.replace("_", "-"), body.replace("LOG", os.path.join(directory, "log")))
    return {**lf.ENVIRONMENT, "PATH": f"{directory}:/usr/sbin:/usr/bin:/sbin:/bin"}


def calls(directory):
    path = os.path.join(directory, "log")
    return open(path).read().splitlines() if os.path.exists(path) else []


INSTALLED = "for p; do case $p in -*|*Status*) ;; *) echo \"$p install ok installed\";; esac; done"
MISSING_TWO = ("s=0; for p; do case $p in -*|*Status*) ;; valgrind|gfortran) s=1;; "
               "*) echo \"$p install ok installed\";; esac; done; exit $s")


def setup(directory):
    def case(name, status, **bodies):
        place = os.path.join(directory, re.sub(r"\W+", "-", name))
        result = lf.run([SETUP], env=tools(place, **bodies))
        suite.check(f"setup, {name}: status", (result.status == 0) == (status == 0), result)
        return result, calls(place)

    result, log = case("nothing missing", 0, dpkg_query=INSTALLED, apt_get="echo \"$@\" >> LOG")
    suite.check("setup, nothing missing: apt-get is not called", log == [], log)
    suite.check("setup, nothing missing: silent", result.stdout + result.stderr == b"", result)

    result, log = case("two missing", 0, dpkg_query=MISSING_TWO, apt_get="echo \"$@\" >> LOG", id="echo 0")
    installs = [line for line in log if " install " in f" {line} "]
    suite.check("setup, two missing: only they are installed",
                len(installs) == 1 and set(installs[0].split()) >= {"valgrind", "gfortran"}
                and not set(installs[0].split()) & {"cmake", "g++"}, log)

    for name, bodies in (("no network", {"apt_get": "exit 100", "id": "echo 0"}),
                         ("no root", {"apt_get": "exit 100", "id": "echo 1000", "sudo": "exit 1"})):
        result, _ = case(name, 1, dpkg_query=MISSING_TWO, **bodies)
        lines = result.stderr.decode().splitlines()
        suite.check(f"setup, {name}: one line that names the packages",
                    len(lines) == 1 and "valgrind" in lines[0] and "gfortran" in lines[0], result)


def configure(directory):
    """CMake with a pkg-config that knows no valgrind, or an old one."""
    for name, answer in (("missing", "exit 1"), ("too old", "case \"$*\" in *modversion*) echo 3.18.1; exit 0;; esac")):
        real = "exec /usr/bin/pkg-config \"$@\""
        pkg_config = fake(directory, f"pkg-config-{name.replace(' ', '-')}",
                          f"case \"$*\" in *valgrind*) {answer};; esac\n{real}")
        result = lf.run(["cmake", "-S", lf.SOURCE, "-B", os.path.join(directory, name.replace(" ", "-")),
                         "-DLOOPFOLD_TESTS=OFF", f"-DPKG_CONFIG_EXECUTABLE={pkg_config}"])
        suite.check(f"configure, valgrind {name}: fails", result.status not in (0, "timeout"), result)
        text = " ".join(result.stderr.decode().split())
        suite.check(f"configure, valgrind {name}: says what to do",
                    re.search(r"valgrind 3\.19 or newer .*scripts/setup", text), result)


with lf.Directory() as temporary:
    suite.each(lambda group: group(temporary), [setup, configure])
suite.finish()
