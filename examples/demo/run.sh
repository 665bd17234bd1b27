#!/bin/bash
# Builds the bundled example, records it, shows its loops, draws a flame graph, and folds its dependences. The argument is the loopfold binary.
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

show loopfold tree
"$loopfold" tree

show loopfold flame --svg flame.svg --collapsed flame.txt --speedscope flame.json
"$loopfold" flame --svg flame.svg --collapsed flame.txt --speedscope flame.json

show loopfold analyze
"$loopfold" analyze

show loopfold export --format isl -o heat.isl
"$loopfold" export --format isl -o heat.isl
echo "(the folded program, for isl: in $work/heat.isl)"

show loopfold trace info
"$loopfold" trace info

show loopfold trace check --iteration-vectors
"$loopfold" trace check --iteration-vectors

show loopfold verify
"$loopfold" verify

show loopfold report
"$loopfold" report

if "$loopfold" report -q --html page.html; then
  show loopfold report --html page.html
  page="$work/page.html"
fi

echo
echo "The trace is in $work/loopfold.out, the flame graph in $work/flame.svg."
[[ -z ${page:-} ]] || echo "The report as a page: $page (open it in a browser)"
