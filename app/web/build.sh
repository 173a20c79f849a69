#!/usr/bin/env bash
# Builds the page: Step and Learn in a browser, as static files.
#   bash app/web/build.sh [FOLDER]     FOLDER: where they go; build/web without it
# The first time it brings a Debian 13 root with Emscripten (app/web/root.sh), which wants to be root itself.
# Besides the page for a web server it makes attnscope.html, one file that opens by itself. docs/web.md says more.
# shellcheck disable=SC2016 # words for a shell in the root
set -Eeuo pipefail

# shellcheck source=app/setup/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../setup/lib.sh"
readonly most_bytes=11500000 # of the page, compressed by gzip, and of the file

main() {
  local folder="${1:-$root/build/web}" gui trixie commit
  mkdir -p "$folder/build"
  folder="$(cd "$folder" && pwd)"
  step "What the page is compiled with"
  gui="$(bash "$root/app/setup/fetch_gui.sh")" || fail "The GUI sources could not be fetched. The reason is above."
  trixie="$(bash "$root/app/web/root.sh")" || fail "The root for compiling the page is missing. The reason is above."
  say "    $trixie"
  step "The page"
  commit="$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null || printf unknown)"
  logged "$folder/build.log" nice -n 5 bash "$root/app/web/root.sh" --enter "
    cd /out/build
    [ -f build.ninja ] || emcmake cmake -S /src/app/web -B . -G Ninja -DATTNSCOPE_GUI=/gui
    cmake -DATTNSCOPE_COMMIT=$commit . >configure.log 2>&1 || { cat configure.log; exit 1; }
    ninja -k 0 -j $(jobs_count) page" "$root=/src" "$gui=/gui" "$folder=/out" ||
    explain_build_failure "$folder/build.log" "$folder"
  step "Files for a server, and one for itself"
  python3 "$root/app/web/pack.py" "$root/app/web" "$folder" "$most_bytes" >&2
  took
  printf '%s\n' "$folder"
}

main "$@"
