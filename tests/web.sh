#!/usr/bin/env bash
# Builds the page and tries it in Chromium and Firefox: bash tests/web.sh BINARY [FOLDER]
#
# BINARY: the desktop program, which says what the page must show. FOLDER (build/web) gets the page. Prints a line each:
# PASS, FAIL or SKIP and what. Exit status 1 if one failed. What the page is compiled with is kept (app/web/root.sh).
set -euo pipefail

root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
binary="$1"
folder="${2:-$root/build/web}"
mkdir -p "$folder"
folder="$(cd -- "$folder" && pwd)"
readonly root binary folder

skip() {
  printf 'SKIP the page in a browser: %s\n' "$1"
  exit 0
}

if ((EUID != 0)); then skip "it is compiled in a Debian 13 root, which root alone enters"; fi
for tool in debootstrap chromium firefox-esr xvfb-run; do
  command -v "$tool" >/dev/null || skip "there is no $tool (app/setup/packages_web)"
done
if ! bash "$root/app/web/root.sh" >/dev/null 2>"$folder/root.log"; then
  skip "its root could not be brought: $(tail -n 1 "$folder/root.log")"
fi
venv="$folder/venv"
if [[ ! -x $venv/bin/python || ! -f $venv/whole ]]; then
  rm -rf "$venv"
  # Debian's NumPy and Pillow serve.
  if ! { /usr/bin/python3 -m venv --system-site-packages "$venv" &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check playwright websockets; } >"$folder/venv.log" 2>&1; then
    rm -rf "$venv"
    skip "pip could not bring playwright; its words are in $folder/venv.log"
  fi
  touch "$venv/whole"
fi
if ! bash "$root/app/web/build.sh" "$folder" >/dev/null 2>"$folder/words.log"; then
  tail -n 20 "$folder/words.log" >&2
  printf 'FAIL the page is built: the words are in %s\n' "$folder/words.log"
  exit 1
fi
printf 'PASS the page is built: %s\n' "$(grep -o 'compressed [0-9.]* MB; .*' "$folder/words.log" | tail -n 1)"
xvfb-run -a -s '-screen 0 1600x1200x24' "$venv/bin/python" "$root/tests/web/page_test.py" "$folder" "$binary"
