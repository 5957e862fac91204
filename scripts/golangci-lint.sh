#!/usr/bin/env bash
# Runs golangci-lint at the version this project is checked with, building it on first use (2-3 minutes on two cores).
set -euo pipefail

version=v2.15.0
dir=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/conntag/golangci-lint-$version
if [ ! -x "$dir/golangci-lint" ]; then
  echo "building golangci-lint $version" >&2
  GOBIN=$dir GOFLAGS='' go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
fi
exec "$dir/golangci-lint" "$@"
