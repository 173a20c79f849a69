#!/usr/bin/env bash
# Makes a session of the whole ladder with peers, on a machine with an NVIDIA GPU and a python3 with torch:
#   bash tests/gpu/make_ladder_session.sh path/to/attnscope OUT.attn [SECONDS [SECONDS-A-POINT]]     left out: 600, 0.2
# f16 and f32, full and causal, D = 64 and 128, L = 512 to 16384 at B·L = 16384, H = 16, counters included; what does
# not fit the time is left out, the outer lengths last. Statistics stay, single repeats do not: the file is under 1 MB.
# Exit code 77 where there is no GPU or no torch.
set -euo pipefail

# shellcheck source=tests/gpu/session_script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/session_script.sh"
begin_session "$@"
seconds="${3:-600}" a_point="${4:-0.2}"
readonly most_bytes=1000000

if ! "$program" doctor | grep -q '^ok  Peers'; then
  echo "There is no torch here: $("$program" list --peers | tail -n 1)"
  exit 77
fi

# sweep DTYPE KERNELS D MASK VALUES
sweep() {
  if (($(left_of "$seconds") < 15)); then
    echo "Left out for time: $*"
    return
  fi
  local mask=()
  [[ $4 == causal ]] && mask=(--causal)
  timeout --signal=INT "$(($(left_of "$seconds") - 5))" "$program" bench --device gpu --kernels "$2" \
    --dtype "$1" --d "$3" "${mask[@]}" --axis L --values "$5" --tokens 16384 --hq 16 --peers \
    --time-limit "${a_point}" --no-samples --resume -o "$out" --csv "${out%.attn}.csv" || echo "Not complete: $*"
}

for values in 1024,4096,16384 512,2048,8192; do
  for d in 128 64; do
    for mask in full causal; do
      sweep f16 naive,tiled,flash_wmma,flash_mma "$d" "$mask" "$values"
      sweep f32 naive,tiled,flash_simt,flash_tf32x3 "$d" "$mask" "$values"
    done
  done
done
end_session "$most_bytes"
