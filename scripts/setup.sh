#!/usr/bin/env bash
# Installs from Debian's packages the commands that are missing. No service is started: what needs a server starts a
# private one.
#
#   scripts/setup.sh COMMAND[=PACKAGE]...     for example: scripts/setup.sh mariadbd=mariadb-server sysbench
#
# Says nothing when everything is there.
set -euo pipefail

# An ordinary user's PATH lacks the directory of Debian's servers.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

packages=()
for need in "$@"; do
  command -v "${need%%=*}" >/dev/null || packages+=("${need#*=}")
done
[ ${#packages[@]} -gt 0 ] || exit 0

die() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

command -v apt-get >/dev/null ||
  die "missing: ${packages[*]} (Debian package names), and there is no apt-get here; install them yourself and run this again"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  sudo -n true 2>/dev/null ||
    die "missing: ${packages[*]}; root is needed to install them. Run: sudo apt-get install ${packages[*]}"
  as_root=(sudo -n)
fi

log=$(mktemp)
guard=/usr/sbin/policy-rc.d
guarded=no
clean_up() {
  [ "$guarded" = no ] || "${as_root[@]}" rm -f "$guard"
  rm -f "$log"
}
trap clean_up EXIT

# Debian asks policy-rc.d before a package starts its service; 101 means no.
if [ ! -e "$guard" ]; then
  guarded=yes
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$guard" >/dev/null
  "${as_root[@]}" chmod 755 "$guard"
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=120 "$@" >>"$log" 2>&1
}
install() { apt install --no-install-recommends "${packages[@]}"; }

echo "setup: installing ${packages[*]}"
# The first try saves an update where the package lists are fresh.
install || { apt update && install; } || {
  tail -n 30 "$log" >&2
  die "apt-get could not install ${packages[*]}; its last lines are above"
}
