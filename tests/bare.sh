#!/usr/bin/env bash
# Tries the README's two commands and the package on systems with nothing installed:
#   bash tests/bare.sh [--only run|tests|package]... [SUITE...]     SUITE: bookworm (Debian 12), trixie (13); both
# By hand, as root: each suite is brought by debootstrap (60 MB) into ATTNSCOPE_BARE, else /var/tmp/attnscope-bare,
# kept there for the next time, copied for each try and entered by chroot. A try takes 10 to 20 minutes on 2 cores.
# A line a try: PASS, FAIL or SKIP with its reason; exit status 1 if one failed.
#   run      app/run.sh, with no display: text, picture and CSV; again, which must be quick
#   tests    tests/run.sh
#   package  cpack; the .deb in a system without compilers: starts, draws, completes, goes without a trace
# shellcheck disable=SC2016 # words for a shell in the rootfs
set -euo pipefail

root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
readonly root
readonly place="${ATTNSCOPE_BARE:-/var/tmp/attnscope-bare}"
readonly mirror="${ATTNSCOPE_MIRROR:-}" # empty: the one that debootstrap knows
failed=0
only=""

say() { printf '%s\n' "$*"; }

# entered ROOTFS COMMAND: a shell's words, run in the rootfs with /proc and /dev of their own, which go with them.
entered() {
  unshare --mount --pid --fork --kill-child bash -euc '
    mount --make-rprivate /
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      PIP_CERT=/etc/ssl/certs/host.crt chroot "$1" bash -euc "$2"' - "$1" "$2" </dev/null
}

# base SUITE: brings it where it is not there yet. Prints why not.
base() {
  local suite="$1"
  if [[ -f $place/$suite/.whole ]]; then return 0; fi
  rm -rf "${place:?}/$suite"
  mkdir -p "$place"
  if ! debootstrap --variant=minbase "$suite" "$place/$suite" ${mirror:+"$mirror"} >"$place/$suite.log" 2>&1; then
    printf 'debootstrap could not bring it from %s: %s' "${mirror:-its own mirror}" "$(tail -n 1 "$place/$suite.log")"
    return 1
  fi
  cp /etc/resolv.conf "$place/$suite/etc/resolv.conf"
  # Some hosts reach the network through a proxy with a certificate of its own.
  mkdir -p "$place/$suite/etc/ssl/certs"
  cp /etc/ssl/certs/ca-certificates.crt "$place/$suite/etc/ssl/certs/host.crt" 2>/dev/null || true
  touch "$place/$suite/.whole"
}

# fresh SUITE NAME: a copy of the suite as it came; prints its folder.
fresh() {
  local folder="$place/$1-$2"
  rm -rf "$folder"
  cp -a "$place/$1" "$folder"
  printf '%s\n' "$folder"
}

# with_sources ROOTFS: the working tree without builds, where a clone would lie.
with_sources() {
  mkdir -p "$1/root/attnscope"
  tar -C "$root" --exclude=./build --exclude=./.git -cf - . | tar -C "$1/root/attnscope" -xf -
}

# try NAME LOG COMMAND...: a line of the outcome.
try() {
  local name="$1" log="$2" begin=$SECONDS
  shift 2
  if "$@" >"$log" 2>&1; then
    say "PASS $name ($(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s)"
  else
    tail -n 15 "$log"
    say "FAIL $name: its words are in $log"
    failed=1
  fi
}

try_run() { # SUITE
  local rootfs
  rootfs="$(fresh "$1" run)"
  with_sources "$rootfs"
  try "$1 app/run.sh" "$place/$1-run.log" entered "$rootfs" '
    cd /root/attnscope
    bash app/run.sh --output /root/out
    test -s /root/out/blackboard.txt && test -s /root/out/step.png && test -s /root/out/cpu_sweep.csv'
  try "$1 app/run.sh again, within 10 s" "$place/$1-again.log" entered "$rootfs" '
    cd /root/attnscope
    SECONDS=0
    bash app/run.sh --setup-only
    test "$SECONDS" -lt 10'
}

try_tests() { # SUITE
  local rootfs
  rootfs="$(fresh "$1" tests)"
  with_sources "$rootfs"
  try "$1 tests/run.sh" "$place/$1-tests.log" entered "$rootfs" 'cd /root/attnscope && bash tests/run.sh'
}

try_package() { # SUITE
  local build="$place/$1-run" rootfs package
  if [[ ! -x $build/root/attnscope/build/release/bin/attnscope ]]; then
    build="$(fresh "$1" run)"
    with_sources "$build"
    try "$1 app/run.sh --setup-only" "$place/$1-build.log" entered "$build" \
      'cd /root/attnscope && bash app/run.sh --setup-only'
  fi
  try "$1 cpack" "$place/$1-cpack.log" entered "$build" '
    apt-get install -y --no-install-recommends dpkg-dev file
    cd /root/attnscope/build/release && rm -f ./*.deb && cpack'
  package="$(compgen -G "$build/root/attnscope/build/release/attnscope_*.deb" | head -n 1 || true)"
  if [[ -z $package ]]; then
    say "FAIL $1 package: cpack made none"
    failed=1
    return
  fi
  rootfs="$(fresh "$1" package)"
  cp "$package" "$rootfs/root/attnscope.deb"
  # Its dependencies first, so that what is compared is the package alone. Icon and menu caches are their packages'.
  try "$1 package starts, draws and goes without a trace" "$place/$1-package.log" entered "$rootfs" '
    cd /root
    apt-get update
    dpkg -i attnscope.deb || apt-get install -y -f --no-install-recommends
    attnscope --version
    attnscope doctor
    attnscope step --preset blackboard >/dev/null
    attnscope shot --view step --preset late_outlier --step 26 -o step.png
    test -s step.png && test -s /usr/share/man/man1/attnscope.1.gz
    test -s /usr/share/doc/attnscope/copyright && test -s /usr/share/applications/attnscope.desktop
    bash -c ". /usr/share/bash-completion/completions/attnscope; COMP_WORDS=(attnscope ste); COMP_CWORD=1; _attnscope
      [[ \${COMPREPLY[0]} == step ]]"
    dpkg -P attnscope
    left="$(find / -xdev -iname "*attnscope*" -not -path "/root/*" -not -path "/proc/*")"
    test -z "$left" || { printf "left behind: %s\n" "$left"; exit 1; }'
}

main() {
  local -a suites=()
  while (($# > 0)); do
    case "$1" in
      --only)
        only+=" $2 "
        shift
        ;;
      -*)
        sed -n '2,/^set/{/^#/s/^# \?//p}' "${BASH_SOURCE[0]}"
        exit 2
        ;;
      *) suites+=("$1") ;;
    esac
    shift
  done
  if ((${#suites[@]} == 0)); then suites=(bookworm trixie); fi
  local suite part why
  for suite in "${suites[@]}"; do
    if ((EUID != 0)); then
      say "SKIP $suite: a rootfs is entered by chroot, which needs root"
    elif ! command -v debootstrap >/dev/null; then
      say "SKIP $suite: there is no debootstrap (apt-get install debootstrap)"
    elif ! why="$(base "$suite")"; then
      say "SKIP $suite: $why"
    else
      for part in run tests package; do
        if [[ -z $only || $only == *" $part "* ]]; then "try_$part" "$suite"; fi
      done
    fi
  done
  return "$failed"
}

main "$@"
