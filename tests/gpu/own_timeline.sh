#!/usr/bin/env bash
# An own kernel's timeline on a GPU: tests/gpu/own_timeline.cu is right, records its four lanes, and what was recorded
# reads again; a kernel that declares none is refused.
#   OUT=reports bash tests/gpu/own_timeline.sh path/to/attnscope
# Takes a quarter of a minute. Exit code 1 if one went otherwise, 77 where there is no GPU.
set -uo pipefail

here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/gpu/tries.sh
source "$here/tries.sh"
kernel="$here/own_timeline.cu"
try verify 0 "checks passed" verify "$kernel" --random 8
rm -f -- "$out/own.attn"
try record 0 "Recorded / plain" timeline "$kernel" --l 512 --hq 4 --d 64 --block 7 --save "$out/own.attn"
try again 0 "warp 3" timeline --session "$out/own.attn" --csv "$out/own.csv"
grep -q '^7,.*,warp,0,load,15,1,' "$out/own.csv" || { echo "BAD: the last load is not in the table"; failed=1; }
"$program" list --template >"$out/plain.cu"
try undeclared 2 "no \"timeline\" in its header" timeline "$out/plain.cu" --l 512 --d 64
exit "$failed"
