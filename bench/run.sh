#!/bin/bash
# Measures recording and reading against native, valgrind --tool=none and lackey; then analysis, how it grows, and
# folding by itself. The argument is the loopfold binary.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
loopfold=$(realpath "${1:-build/loopfold}")
python3 -B "$here/run.py" "$loopfold" "${@:2}"
exec python3 -B "$here/analysis.py" "$loopfold" "${@:2}"
