"""The programs of transparency.py: other people's, and ours in every way they can be built."""

import bz2
import gzip
import lf

_state = 12345


def _words(count):
    """Deterministic text: lines of three to eight short words."""
    global _state
    lines = []
    for _ in range(count):
        line = []
        for _ in range(3 + _state % 6):
            _state = (_state * 1103515245 + 12345) % 2**31
            line.append("".join(chr(97 + (_state >> (4 + 4 * i)) % 26) for i in range(1 + _state // 65536 % 5)))
        lines.append(" ".join(line))
    return ("\n".join(lines) + "\n").encode()


TEXT = _words(400)
SMALL = _words(60)


class Case:
    """`status` is what the program ends with natively: it guards against a case that fails for a reason of its own."""

    def __init__(self, name, command, stdin=b"", status=0, env=None, files=None, odd_signals=False, extra_fd=False,
                 execs=False):
        self.name, self.command, self.stdin, self.status = name, command, stdin, status
        self.env, self.files, self.odd_signals, self.extra_fd = env or {}, files or {}, odd_signals, extra_fd
        self.execs = execs  # replaces itself by another program, so that the trace cannot know how that ended

    def __str__(self):
        return self.name


LUA = """
local t, s = {}, 0
for i = 1, 2000 do t[i] = (i * 7919) % 1009 end
table.sort(t)
for i, v in ipairs(t) do s = (s * 31 + v) % 1000003 end
print(s, #t, string.rep('ab', 5), pcall(error, 'caught'))
print(string.format('%.3f %5d %s', math.sqrt(2), 42, ('text'):upper()))
"""

PYTHON = """
import hashlib, sys
digest = hashlib.sha256()
for i in range(200):
    digest.update(str(i).encode())
print(digest.hexdigest(), sorted({'b': 1, 'a': 2}.items()), file=sys.stdout)
print('to stderr', file=sys.stderr)
sys.exit(5)
"""

SQL = """
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 150)
insert into t select i, 'row' || (i * 37 % 101), i * 0.5 from n;
create index byb on t(b);
select count(*), sum(c), min(b), max(b) from t;
select b, count(*) from t group by substr(b, 1, 4) order by b limit 5;
"""

PERL = r"""
my %count; my $text = join(' ', map { 'w' . ($_ * 7 % 13) } 1 .. 300);
$count{$_}++ for split / /, $text;
print join(',', map { "$_=$count{$_}" } sort keys %count), "\n";
$text =~ s/w(\d)/<$1>/g; print length($text), "\n"; warn "to stderr\n"; exit 3;
"""

AWK = "{ n += NF; c[length($1)]++ } END { for (i = 1; i < 8; i++) printf \"%d:%d \", i, c[i]; print n, NR, sin(1) }"

SYSTEM = [
    Case("sort", ["sort"], TEXT),
    Case("sort -rnk2", ["sort", "-r", "-k2"], SMALL),
    Case("sha256sum", ["sha256sum"], TEXT),
    Case("md5sum of files", ["md5sum", "a", "b"], files={"a": SMALL, "b": TEXT}),
    Case("wc", ["wc"], TEXT),
    Case("tr", ["tr", "a-m", "N-Z"], TEXT),
    Case("cut", ["cut", "-d", " ", "-f", "2-3"], TEXT),
    Case("uniq -c", ["uniq", "-c"], b"a\na\nb\nc\nc\nc\n"),
    Case("seq", ["seq", "-w", "1", "3", "500"]),
    Case("head", ["head", "-n", "7"], SMALL),
    Case("tail", ["tail", "-n", "3"], SMALL),
    Case("od", ["od", "-A", "x", "-t", "x1z"], SMALL),
    Case("base64", ["base64"], TEXT),
    Case("cksum", ["cksum"], TEXT),
    Case("factor", ["factor", "1234567890", "9699690", "1000003"]),
    Case("expr", ["expr", "6", "*", "7"]),
    Case("expr false", ["expr", "1", "=", "2"], status=1),
    Case("false", ["false"], status=1),
    Case("ls", ["ls", "-1", "-a"], files={"one": b"1", "two": b"2", "three": b"3"}),
    Case("ls missing", ["ls", "not-there"], status=2),
    Case("cat", ["cat", "-n", "-", "x"], SMALL, files={"x": b"from a file\n"}),
    Case("date", ["date", "-u", "-d", "@0", "+%F %T %A"]),
    Case("env", ["env"]),
    Case("env with traps", ["env"], env={"LD_LIBRARY_PATH": "/nonexistent", "GLIBCXX_FORCE_NEW": "0", "EMPTY": "",
                                         "TRICKY": "a=b\nc"}),
    Case("env of a child", ["env", "sh", "-c", "env | sort"], execs=True),
    Case("valgrind's own settings", ["seq", "3"], env={"VALGRIND_OPTS": "--tool=none -v --stats=yes"},
         files={".valgrindrc": b"--tool=memcheck\n--verbose\n"}),
    Case("printf", ["/usr/bin/printf", "%5.2f|%s|%x\\n", "3.14159", "text", "255"]),
    Case("cp", ["cp", "a", "b"], files={"a": TEXT}),
    Case("split", ["split", "-l", "100", "a", "part."], files={"a": TEXT}),
    Case("comm", ["comm", "a", "b"], files={"a": b"1\n2\n4\n", "b": b"2\n3\n4\n"}),
    Case("gzip", ["gzip", "-9", "-n", "-c"], TEXT),
    Case("gzip in place", ["gzip", "-n", "a"], files={"a": SMALL}),
    Case("gunzip", ["gzip", "-d", "-c"], gzip.compress(TEXT, mtime=0)),
    Case("gunzip of garbage", ["gzip", "-d", "-c"], b"not a gzip file", status=1),
    Case("bzip2", ["bzip2", "-1", "-c"], SMALL),
    Case("bunzip2", ["bzip2", "-d", "-c"], bz2.compress(SMALL)),
    Case("xz", ["xz", "-0", "-c"], SMALL),
    Case("lua", ["lua5.4", "-"], LUA.encode()),
    Case("python3", ["/usr/bin/python3", "-I", "-S", "-c", PYTHON], status=5),
    Case("sqlite3", ["sqlite3", "-batch", ":memory:"], SQL.encode()),
    Case("perl", ["perl", "-e", PERL], status=3, env={"PERL_HASH_SEED": "0"}),
    Case("mawk", ["mawk", AWK], TEXT),
    Case("gawk", ["gawk", AWK], SMALL),
    Case("sed", ["sed", "-n", "-e", "s/\\([a-z]\\)\\([a-z]\\)/\\2\\1/gp"], SMALL),
    Case("grep", ["grep", "-n", "-E", "(ab|cd).*[xyz]"], TEXT),
    Case("grep without a match", ["grep", "QQQ"], SMALL, status=1),
    Case("sh", ["sh", "-c", "i=0; while [ $i -lt 50 ]; do i=$((i+1)); done; echo $i; echo no >&2; exit 9"], status=9),
    Case("sh killed", ["sh", "-c", "echo before; kill -TERM $$; echo after"], status=143),
    Case("sh pipeline", ["sh", "-c", "seq 20 | sort -r | head -n 3; exit 2"], status=2),
    Case("find", ["find", ".", "-name", "*.x", "-size", "-2"], files={"a.x": b"1", "b.y": b"2"}),
    Case("diff", ["diff", "a", "b"], status=1, files={"a": b"1\n2\n3\n", "b": b"1\nx\n3\n"}),
]

ARGUMENTS = ["", "two words", "--", "-o", "new\nline", "é€", "$HOME", "*"]


def _ours():
    """Our own programs: name → how it ends, for those that do not end with 0."""
    plain = ["hello", "threads", "main_leaves_first", "atomics", "openmp", "fork_wait", "vfork_exec", "spawn",
             "fork_exec", "segv_longjmp", "alarm", "sigaltstack", "raise_loop", "longjmp_loops", "recursion",
             "jump_table", "function_pointers", "tail_calls", "ifunc", "jit", "rep_strings", "x87", "sse2", "avx2",
             "mask_moves", "bmi2", "coroutines", "syscalls", "dlopen", "illegal", "close_fds", "self_exe", "big_stack",
             "exceptions", "containers", "bad_alloc", "malloc_family", "stderr_writer", "signal_state"]
    statuses = {"exit42": 42, "at_exit": 9, "thread_exits_process": 7, "stack_overflow": 8, "segv": 139, "abort": 134,
                "divide": 136, "uncaught": 134, "fortran_arrays": 4}
    variants = {"compute": ["O0", "O1", "O2", "g", "O3-avx2", "static", "static-pie", "stripped", "stripped-static",
                            "stripped-static-pie"],
                "exceptions": ["O0", "O2", "static", "static-pie", "stripped", "stripped-static"],
                "containers": ["O0", "O3-avx2", "static", "stripped"],
                "malloc_family": ["O0", "static", "stripped", "stripped-static"],
                "segv_longjmp": ["O0", "static"], "recursion": ["O0", "O2"], "jump_table": ["O0", "O2", "O3-avx2"],
                "scope": ["g", "O0", "no-pie", "static", "stripped", "stripped-no-pie", "stripped-static",
                          "stripped-static-pie"],
                "fork_exec": ["static"], "ifunc": ["static", "static-pie", "stripped-static"],
                "fortran_arrays": ["O0", "static", "stripped"], "threads": ["O0", "O2", "static", "stripped-static"],
                "markers": ["g", "O0", "O2", "static", "stripped"]}
    names = plain + list(statuses) + [f"{stem}.{variant}" for stem, list_ in variants.items() for variant in list_]
    return [Case(name, [lf.program(name)], status=statuses.get(name.partition(".")[0], 0)) for name in names]


OURS = _ours() + [
    Case("stdin_count", [lf.program("stdin_count")], TEXT),
    Case("stdin_count of nothing", [lf.program("stdin_count")]),
    Case("exec_self", [lf.program("exec_self")], status=6, execs=True),
    Case("ticker", [lf.program("ticker"), "5", "out.txt"]),
    Case("noise", [lf.program("noise"), "5000"], status=11),
    Case("close_fds with one inherited", [lf.program("close_fds")], extra_fd=True),
    Case("signal_state with odd signals", [lf.program("signal_state")], odd_signals=True),
    Case("found through PATH", ["args_env", "x"], status=3, env={"PATH": f"/nonexistent:{lf.PROGRAMS}:/usr/bin"}),
] + [Case(f"{name} with arguments", [lf.program(name), *ARGUMENTS], status=3)
     for name in ("args_env", "args_env.static", "args_env.static-pie", "args_env.stripped")]

CASES = SYSTEM + OURS
