"""What all measurements share: the cost of a command, on how many cores it may run, compiled programs and generated
inputs, and tables between markers of a document.
"""

import hashlib
import os
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
QUICK = "--quick" in sys.argv
REPEAT = 1 if QUICK else 3
CORES = sorted(os.sched_getaffinity(0))

# What sqlite3 gets to do: expressions, a table, an index, grouping and sorting.
SQL = """create table t(id integer primary key, name text, x integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)
  insert into t select i, 'n' || (i * 7919 %% 1000), i * i %% 97 from n;
create index by_name on t(name);
select count(*), sum(x) from t where name > 'n5';
select x, count(*) from t group by x order by 2 desc limit 5;
"""


@dataclass
class Cost:
    """Seconds of a command and of all that it starts, memory of the largest of these processes, what it said.

    To the system a process has at its start the peak of the one that started it, this script. A peak that is not above
    `floor`, the script's own, is not known.
    """
    cpu: float
    wall: float
    peak: int
    floor: int
    stderr: str = ""

    def __add__(self, other):
        return Cost(self.cpu + other.cpu, self.wall + other.wall, max(self.peak, other.peak),
                    max(self.floor, other.floor))

    def megabytes(self):
        return f"{'' if self.peak > 1.05 * self.floor else '≤ '}{self.peak / 1e6:.0f}"


def spend(command, cores=None):
    """Runs a command, on so many cores if told."""
    if cores is not None:
        command = ["taskset", "-c", ",".join(map(str, CORES[:cores])), *command]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{text}")
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - start, 1024 * usage.ru_maxrss, 1024 * floor, text)


def least(function, key, repeat=REPEAT):
    """The cheapest of some calls."""
    return min((function() for _ in range(repeat)), key=key)


def compiled(directory, source, *options):
    """The binary of one of the programs here, built if it is not there yet; at -O2, unless options say otherwise."""
    binary = os.path.join(directory, "".join([source.split(".")[0], *options]))
    compiler = ["g++", "-std=c++17"] if source.endswith(".cc") else ["gcc", "-std=gnu17"]
    if not os.path.exists(binary):
        subprocess.run([*compiler, "-O2", "-g", *options, os.path.join(HERE, "programs", source), "-o", binary], check=True)
    return binary


def text_file(directory, lines):
    """A file of so many lines to compress."""
    path = os.path.join(directory, f"text{lines}")
    with open(path, "w") as file:
        file.write("\n".join(f"{i * i % 977:x} {i % 13} line" for i in range(lines)))
    return path


def sqlite(directory, rows):
    """sqlite3 on a script that makes a table of so many rows."""
    path = os.path.join(directory, f"script{rows}.sql")
    with open(path, "w") as file:
        file.write(SQL % rows)
    return ["sqlite3", "-batch", "-init", "/dev/null", ":memory:", f".read {path}"]


def size_and_hash(path):
    """Of a file, in pieces: what this script has in memory at once, commands seem to have too."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 16):
            digest.update(piece)
    return os.path.getsize(path), digest.hexdigest()


def option(name, default=None):
    """The value after an option of the command line."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def publish(sections):
    """Prints tables; with --update FILE puts each between its markers there, <!-- name --> and <!-- end name -->."""
    for lines in sections.values():
        print("\n".join(lines) + "\n", flush=True)
    path = option("--update")
    if path is None:
        return
    with open(path) as file:
        document = file.read()
    for name, lines in sections.items():
        if not lines:
            continue
        document, found = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)",
                                  lambda m, lines=lines: m[1] + "\n".join(lines) + "\n" + m[2], document, flags=re.S)
        if not found:
            sys.exit(f"{path}: no place for the table: <!-- {name} --> … <!-- end {name} -->")
    with open(path, "w") as file:
        file.write(document)
