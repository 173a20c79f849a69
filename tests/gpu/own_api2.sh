#!/usr/bin/env bash
# Tries own kernels of api 2 on a GPU of sm_90a: each of tests/gpu/own_api2 is right, in both layouts where it takes
# both, and one whose list is not the function's is refused.
#   OUT=reports bash tests/gpu/own_api2.sh path/to/attnscope
# Each try's words are left in OUT. Takes half a minute. Exit code 1 if one went otherwise, 77 where there is no GPU.
set -uo pipefail

here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/gpu/tries.sh
source "$here/tries.sh"
folder="$here/own_api2"
for kernel in split cluster maps; do
  try "verify_$kernel" 0 "checks passed" verify "$folder/$kernel.cu" --random 8
done
try verify_gradients 0 "checks passed" verify "$folder/gradients.cu" --pass backward --random 4
for kernel in split maps; do
  for layout in bhld blhd; do
    try "bench_${kernel}_$layout" 0 "$kernel@" bench --kernels "$folder/$kernel.cu" --values 257,512 --hq 8 --hkv 2 \
      --d 64 --dtype f16 --layout "$layout" --verify full --time-limit 0.1
    if grep -qiE 'wrong|not verified' "$out/bench_${kernel}_$layout.txt"; then
      echo "BAD $kernel $layout: not right"
      failed=1
    fi
  done
done
sed 's/"Lk", "scale"/"scale"/' "$folder/cluster.cu" >"$out/short.cu"
try short 2 "has 11 parameters, but its header lists 10" inspect "$out/short.cu" --arch sm_90a
exit "$failed"
