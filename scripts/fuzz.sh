#!/usr/bin/env bash
# Runs every fuzz target in turn.
#
#   scripts/fuzz.sh [TIME_PER_TARGET]     default 5s
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-5s}
git ls-files --cached --others --exclude-standard '*_test.go' |
  xargs grep -HoE '^func Fuzz[A-Za-z0-9_]+' /dev/null |
  while IFS=: read -r file func; do
    target=${func#func }
    echo "fuzz $target in $(dirname "$file")"
    # Two workers: more would fight for the two cores of the usual machine.
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel 2 "./$(dirname "$file")" </dev/null
  done
