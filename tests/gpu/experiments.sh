#!/usr/bin/env bash
# The lab on a machine with an NVIDIA GPU: each prepared experiment is right and timed; a text that does not compile,
# one that is wrong, one astray, one without an end and one that asks for too much are told in a line each, and the
# next answer is right.
#   OUT=reports bash tests/gpu/experiments.sh path/to/attnscope
# Each try's words are left in OUT. Takes two minutes. Exit code 1 if one went otherwise, 77 where there is no GPU.
set -uo pipefail

# shellcheck source=tests/gpu/tries.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/tries.sh"
limit=90
for id in pad_away drop_prefetch one_stage divide_every_tile expf half_warps maximum_first; do
  try "$id" 0 "Correct: the largest error" lab --experiment "$id"
done

base="$("$program" lab flash_simt --text)"
# NAME FROM TO WANTED WORDS: flash_simt with one thing changed.
broken() {
  printf '%s\n' "${base/"$2"/"$3"}" >"$out/$1.cu"
  [[ $base == *"$2"* ]] || { echo "BAD $1: flash_simt has no '$2'"; failed=1; }
  try "$1" "$4" "$5" lab "$out/$1.cu"
}
broken typo 'kAt.v_columns + at.tx' 'kAt.v_column + at.tx' 1 'It does not compile: line'
broken wrong 'exp2_fast(s[i][j] - shift)' 'exp2_fast(s[i][j] - 0.99f * shift)' 1 'The output is wrong.'
broken astray 'static_cast<float*>(a.out) + row' 'static_cast<float*>(a.out) + (int64{1} << 42) + row' 1 'illegal'
broken endless '  store(a, head, r0' $'  volatile int n = 1;\n  while (n > 0) n = 1;\n  store(a, head, r0' \
  1 'no answer within'
broken greedy 'extern __shared__ __align__(16) float shared[];' \
  $'extern __shared__ __align__(16) float shared[];
  __shared__ float more[40000];
  more[threadIdx.x] = a.scale;
  if (a.scale < -1e30f) a.lse[0] = more[threadIdx.x ^ 1];' \
  1 'shared memory'
try right_again 0 "Correct: the largest error" lab flash_simt
exit "$failed"
