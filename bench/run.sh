#!/bin/bash
# Measures recording and reading against native, valgrind --tool=none and lackey; then analysis, end to end, how it
# grows, and folding by itself; then what the allocator is worth, what the advice on one kernel is worth natively, what
# layout search chooses (into docs/layout.md), reconstruction (into docs/reconstruct.md) and checking schedules (into
# docs/check.md); then, if there is perf, where the time of analysis goes. The argument is the loopfold binary.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
loopfold=$(realpath "${1:-build/loopfold}")
python3 -B "$here/run.py" "$loopfold" "${@:2}"
python3 -B "$here/analysis.py" "$loopfold" "${@:2}"
python3 -B "$here/allocator.py" "$loopfold" "${@:2}"
python3 -B "$here/backprop.py"
python3 -B "$here/layout.py" "$loopfold" --update "$here/../docs/layout.md"
python3 -B "$here/reconstruct.py" "$(dirname "$loopfold")"
python3 -B "$here/check.py" "$loopfold" --update "$here/../docs/check.md"
if command -v perf > /dev/null; then
  python3 -B "$here/stages.py" "$loopfold" "${@:2}"
else
  echo "no perf (Debian: linux-perf): where the time of analysis goes is not measured" >&2
fi
