#!/usr/bin/env bash
# Makes the sessions of recorded pipelines, on a machine with an NVIDIA GPU:
#   bash tests/gpu/make_timeline_session.sh path/to/attnscope OUT-timeline.attn [warps|pairs]    for assets/sessions/
#   bash tests/gpu/make_timeline_session.sh path/to/attnscope OUT.attn seen|fresh                for tests/profiling/
# warps: flash_mma, D = 128, f16, L = 1024 and 16384, full and causal; under 30 s.
# pairs: flash_hopper at L = 1024, D = 128, with and without a third and a fourth slot, turns and persistent blocks, of
# one GPU in one go, so that what a change gains can be told with its quartiles; under 60 s. Of grids, blocks 128 to
# 135: the last of the first wave and the first of the second. Of steps 2 (without turns) and 3, the first block too.
# seen, fresh: flash_hopper with and without a third slot, turns and persistent blocks, on the problems that derived
# gains are checked on (docs/profile.md, "What a change would gain"). First all without, from which gains are derived:
# OUT-first.attn; then, in turns, each with the change, OUT-with.attn, and once more without it, OUT-again.attn; under
# a minute and a half each.
# Exit code 77 where there is no GPU.
set -euo pipefail

# shellcheck source=tests/gpu/session_script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/session_script.sh"
begin_session "$@"
readonly most_bytes=900000
most_seconds=90

# record KERNEL OPTION...: adds a recording
record() {
  timeout "$(left_of "$most_seconds")" "$program" timeline "$@" --hq 16 --save "$out" | sed -n 1,4p
}

warps() {
  for mask in "" --causal; do
    for batch in "1024 16" "16384 1"; do
      read -r length b <<<"$batch"
      record flash_mma --d 128 --dtype f16 --l "$length" --b "$b" ${mask:+"$mask"}
    done
  done
}

pairs() {
  local -r problem=(flash_hopper --d 128 --dtype f16 --l 1024 --b 16)
  for slots in 2 3 4; do record "${problem[@]}" --stages "$slots"; done
  for step in 2 3 6; do record "${problem[@]}" --set step="$step" --block 128 --blocks 8; done
  record "${problem[@]}" --set step=7
  for step in 2 3; do record "${problem[@]}" --set step="$step"; done
}

# WHAT LENGTH D MASK DTYPE a line. On `seen` the rules were made; `fresh` they were only checked on.
seen_problems() {
  local length d mask
  for length in 1024 2048 4096; do
    for d in 128 64; do
      for mask in full causal; do
        [[ "$length $d $mask" == "1024 128 full" ]] || echo "slots $length $d $mask f16"
      done
    done
  done
  for mask in "64 full" "128 causal" "64 causal"; do echo "stays 1024 $mask f16"; done
  for mask in "2048 128 full" "4096 128 full" "1024 128 causal" "2048 64 full"; do echo "turns $mask f16"; done
}
fresh_problems() {
  local mask
  for mask in full causal; do
    for d in 128 64; do echo "slots 8192 $d $mask f16" && echo "slots 2048 $d $mask bf16"; done
    echo "slots 2048 96 $mask f16"
  done
  echo "slots 512 128 full f16"
  echo "slots 512 64 causal f16"
  for mask in "1024 128 full bf16" "512 128 full f16" "512 64 full f16"; do echo "stays $mask"; done
  for mask in "1024 128 full bf16" "1024 64 full f16"; do echo "turns $mask"; done
}

# held_one with|without WHAT LENGTH D MASK DTYPE
held_one() {
  local -a problem=(flash_hopper --l "$3" --b $((16384 / $3)) --d "$4" --dtype "$6")
  [[ $5 == full ]] || problem+=(--causal)
  case "$2 $1" in
    "slots without") record "${problem[@]}" --stages 2 ;;
    "slots with") record "${problem[@]}" --stages 3 ;;
    "turns without") record "${problem[@]}" --set step=2 --block 128 --blocks 8 ;;
    "turns with") record "${problem[@]}" --set step=3 --block 128 --blocks 8 ;;
    "stays without") record "${problem[@]}" --set step=6 --block 128 --blocks 8 ;;
    "stays with") record "${problem[@]}" --set step=7 ;;
  esac
}

held() {
  local -a all
  local one base="${out%.attn}"
  most_seconds=300
  rm -f -- "$base"-{first,with,again}.attn
  mapfile -t all < <("$1")
  out="$base-first.attn"
  # shellcheck disable=SC2086 # a line is several words
  for one in "${all[@]}"; do held_one without $one; done
  # shellcheck disable=SC2086
  for one in "${all[@]}"; do
    out="$base-with.attn" && held_one with $one
    out="$base-again.attn" && held_one without $one
  done
  for out in "$base"-{first,with,again}.attn; do end_session 2000000; done
}

case "${3:-warps}" in
  warps) warps ;;
  pairs) pairs ;;
  seen | fresh)
    held "$3_problems"
    exit
    ;;
  *)
    echo "Unknown set '$3'; use warps, pairs, seen or fresh."
    exit 2
    ;;
esac
end_session "$most_bytes"
