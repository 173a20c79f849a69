#!/usr/bin/env bash
# Makes the session of flash_mma's recorded pipeline, on a machine with an NVIDIA GPU:
#   bash tests/gpu/make_timeline_session.sh path/to/attnscope OUT-timeline.attn    then it goes to assets/sessions/
# D = 128, f16, L = 1024 and 16384, full and causal; under 30 s. Exit code 77 where there is no GPU.
set -euo pipefail

# shellcheck source=tests/gpu/session_script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/session_script.sh"
begin_session "$@"
readonly most_bytes=600000 most_seconds=60
for mask in full causal; do
  for batch in "1024 16" "16384 1"; do
    read -r length b <<<"$batch"
    causal=()
    [[ $mask == full ]] || causal=(--causal)
    timeout "$(left_of "$most_seconds")" "$program" timeline flash_mma --l "$length" --b "$b" --hq 16 --d 128 \
      --dtype f16 "${causal[@]}" --save "$out" | sed -n 1,3p
  done
done
end_session "$most_bytes"
