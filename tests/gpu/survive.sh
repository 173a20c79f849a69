#!/usr/bin/env bash
# Kernels that go astray and that never end, between good ones, on a machine with an NVIDIA GPU: each costs its row,
# says why, and the next kernel is right. The kernels are this folder's: the program has none that breaks on purpose.
#   bash tests/gpu/survive.sh path/to/attnscope
# Takes half a minute. Exit code 1 if one went otherwise, 77 where there is no GPU.
set -uo pipefail

program="$(realpath -- "${1:?which attnscope}")"
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
"$program" worker --check >/dev/null 2>&1 || { echo "no GPU here"; exit 77; }
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

"$program" bench --kernels "$here/illegal_address.cu,$here/hang.cu,naive" --values 64,65 --hq 1 --d 8 --device gpu \
  --time-limit 0.1 --hang-limit 5 --csv "$folder/rows.csv" >"$folder/words.txt" 2>&1
code=$?
cat "$folder/words.txt"
failed=0
# WANTED PATTERN: as many rows of the table look so.
rows() {
  local found
  found="$(grep -cE -- "$2" "$folder/rows.csv")"
  [[ $found == "$1" ]] && return
  echo "BAD: $found rows are $2, $1 are wanted"
  failed=1
}
rows 2 '^illegal_address@.*illegal'
rows 2 '^hang@.*no answer within 5 s'
rows 2 '^naive,.*,done,'
((code == 1)) || { echo "BAD: exit $code, wanted 1"; failed=1; }
((failed == 0)) || cat "$folder/rows.csv"
exit "$failed"
