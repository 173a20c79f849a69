#!/usr/bin/env bash
# Makes the sessions of recorded pipelines, on a machine with an NVIDIA GPU:
#   bash tests/gpu/make_timeline_session.sh path/to/attnscope OUT-timeline.attn [warps|pairs]    for assets/sessions/
# warps: flash_mma, D = 128, f16, L = 1024 and 16384, full and causal; under 30 s.
# pairs: flash_hopper at L = 1024, D = 128, with and without a third and a fourth slot, turns and persistent blocks, of
# one GPU in one go, so that what a change gains can be told with its quartiles; under 60 s. Of grids, blocks 128 to
# 135: the last of the first wave and the first of the second. Of steps 2 (without turns) and 3, the first block too.
# Exit code 77 where there is no GPU.
set -euo pipefail

# shellcheck source=tests/gpu/session_script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/session_script.sh"
begin_session "$@"
readonly most_bytes=900000 most_seconds=90

# record KERNEL OPTION...: adds a recording
record() {
  timeout "$(left_of "$most_seconds")" "$program" timeline "$@" --hq 16 --d 128 --dtype f16 --save "$out" | sed -n 1,4p
}

warps() {
  for mask in "" --causal; do
    for batch in "1024 16" "16384 1"; do
      read -r length b <<<"$batch"
      record flash_mma --l "$length" --b "$b" ${mask:+"$mask"}
    done
  done
}

pairs() {
  local -r problem=(flash_hopper --l 1024 --b 16)
  for slots in 2 3 4; do record "${problem[@]}" --stages "$slots"; done
  for step in 2 3 6; do record "${problem[@]}" --set step="$step" --block 128 --blocks 8; done
  record "${problem[@]}" --set step=7
  for step in 2 3; do record "${problem[@]}" --set step="$step"; done
}

case "${3:-warps}" in
  warps) warps ;;
  pairs) pairs ;;
  *)
    echo "Unknown set '$3'; use warps or pairs."
    exit 2
    ;;
esac
end_session "$most_bytes"
