#!/bin/bash
# Builds the bundled example, records it and shows what was recorded. The argument is the loopfold binary.
set -euo pipefail
loopfold=$(realpath "${1:-build/loopfold}")
source=$(dirname "$(realpath "$0")")
work=$(dirname "$loopfold")/demo
mkdir -p "$work"
cd "$work"

show() {
  echo
  echo "\$ $*"
}

show gcc -g -O1 heat.c -o heat
gcc -g -O1 "$source/heat.c" -o heat

show loopfold record -- ./heat
"$loopfold" record -- ./heat

show loopfold trace info
"$loopfold" trace info

show "loopfold trace dump --function spread | head -n 25"
("$loopfold" trace dump --function spread || true) | head -n 25

show loopfold trace check
"$loopfold" trace check
echo
echo "The trace is in $work/loopfold.out."
