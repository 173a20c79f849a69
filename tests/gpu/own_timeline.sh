#!/usr/bin/env bash
# An own kernel's timeline on a GPU: tests/gpu/own_timeline.cu is right, records its four lanes, and what was recorded
# reads again; a kernel that declares none is refused.
#   OUT=reports bash tests/gpu/own_timeline.sh path/to/attnscope
# Takes a quarter of a minute. Exit code 1 if one went otherwise, 77 where there is no GPU.
set -uo pipefail

program="$(realpath -- "${1:?which attnscope}")"
kernel="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/own_timeline.cu"
out="${OUT:-$(mktemp -d)}"
mkdir -p -- "$out"
failed=0
"$program" worker --check >/dev/null 2>&1 || { echo "no GPU here"; exit 77; }

# NAME WANTED WORDS ARGUMENTS...: it ends with that exit code, and says the words.
try() {
  local name="$1" wanted="$2" words="$3" code
  shift 3
  timeout 60 "$program" "$@" >"$out/$name.txt" 2>&1
  code=$?
  if [[ $code == "$wanted" ]] && grep -qF -- "$words" "$out/$name.txt"; then
    echo "GOOD $name: $(head -n 2 "$out/$name.txt" | tr '\n' ' ' | cut -c1-160)"
  else
    echo "BAD $name: exit $code, wanted $wanted and '$words'"
    tail -n 5 "$out/$name.txt" | cut -c1-300
    failed=1
  fi
}
try verify 0 "checks passed" verify "$kernel" --random 8
rm -f -- "$out/own.attn"
try record 0 "Recorded / plain" timeline "$kernel" --l 512 --hq 4 --d 64 --block 7 --save "$out/own.attn"
try again 0 "warp 3" timeline --session "$out/own.attn" --csv "$out/own.csv"
grep -q '^7,.*,warp,0,load,15,1,' "$out/own.csv" || { echo "BAD: the last load is not in the table"; failed=1; }
"$program" list --template >"$out/plain.cu"
try undeclared 2 "no \"timeline\" in its header" timeline "$out/plain.cu" --l 512 --d 64
exit "$failed"
