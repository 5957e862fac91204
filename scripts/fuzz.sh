#!/usr/bin/env bash
# Runs every fuzz target in turn.
#
#   scripts/fuzz.sh [PER_TARGET]     a number of runs as 10000x, which is the default, or a time as 30s
#
# Counted in runs since a target that stops by the clock can fail with "context deadline exceeded" (go1.26).
set -euo pipefail
cd "$(dirname "$0")/.."

each=${1:-10000x}
git ls-files --cached --others --exclude-standard '*_test.go' |
  xargs grep -HoE '^func Fuzz[A-Za-z0-9_]+' /dev/null |
  while IFS=: read -r file func; do
    target=${func#func }
    echo "fuzz $target in $(dirname "$file")"
    # Two workers: more would fight for the two cores of the usual machine.
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$each" -parallel 2 "./$(dirname "$file")" </dev/null
  done
