#!/bin/bash
# Measures recording and reading against native, valgrind --tool=none and lackey. The argument is the loopfold binary.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
exec python3 -B "$here/run.py" "$(realpath "${1:-build/loopfold}")" "${@:2}"
