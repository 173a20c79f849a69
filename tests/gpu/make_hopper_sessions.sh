#!/usr/bin/env bash
# Makes the sessions of the rungs for Hopper, on an H100 with a python3 that has torch, FlashAttention-3 and -4:
#   bash tests/gpu/make_hopper_sessions.sh path/to/attnscope OUT-hopper.attn [PYTHON [SECONDS]]
# Left out: python3, 900. Writes OUT-hopper.attn (f16 and bf16, D = 64, 128 and 256, full and causal), OUT-steps.attn
# (each step of flash_hopper in f16) and OUT-backward.attn; they go to assets/sessions/. B·L = 16384, H = 16. What does
# not fit the time is left out. Without nvdisasm the files keep no machine code and are smaller. Exit code 77 where
# there is no GPU.
set -euo pipefail

# shellcheck source=tests/gpu/session_script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/session_script.sh"
begin_session "$@"
python="${3:-python3}" seconds="${4:-900}"
readonly most_bytes=1500000
steps="${out%hopper.attn}steps.attn" backward="${out%hopper.attn}backward.attn"
rm -f -- "$steps" "$backward"

# sweep FILE MASK ARGUMENTS...
sweep() {
  local file="$1" causal=()
  [[ $2 == full ]] || causal=(--causal)
  shift 2
  if (($(left_of "$seconds") < 15)); then
    echo "Left out for time: ${causal[*]} $*"
    return
  fi
  timeout --signal=INT "$(($(left_of "$seconds") - 5))" "$program" bench --device gpu --hq 16 --time-limit 0.1 \
    --no-samples --resume -o "$file" "${causal[@]}" "$@" >/dev/null || echo "Not complete: ${causal[*]} $*"
}

for d in 64 128; do
  for mask in full causal; do
    for batch in "1024 16" "4096 4" "16384 1"; do
      read -r length b <<<"$batch"
      sweep "$steps" "$mask" --kernels flash_hopper --axis step --values 1,2,3,4,5,6,7,8,9,10,11 --l "$length" \
        --b "$b" --d "$d" --dtype f16
    done
  done
done
for d in 128 64 256; do
  for dtype in f16 bf16; do
    for mask in full causal; do
      sweep "$out" "$mask" --kernels flash_mma,flash_hopper --values 1024,2048,4096,8192,16384 --tokens 16384 \
        --d "$d" --dtype "$dtype" --peers torch-flash,torch-cudnn,flash-attn-3,flash-attn-4 --peers-python "$python" \
        --no-counters
    done
  done
done
for d in 128 64; do
  for dtype in f16 bf16; do
    for mask in full causal; do
      sweep "$backward" "$mask" --pass backward --kernels flash_bwd,flash_bwd_hopper --values 1024,4096,8192,16384 \
        --tokens 16384 --d "$d" --dtype "$dtype" --peers torch-flash,torch-cudnn,flash-attn-4 \
        --peers-python "$python" --no-counters
    done
  done
done
for out in "$out" "$steps" "$backward"; do end_session "$most_bytes"; done
