#!/usr/bin/env bash
# Makes the session whose rows have a heartbeat beside their samples, on a machine with an NVIDIA GPU:
#   bash tests/gpu/make_heartbeat_session.sh path/to/attnscope OUT.attn     then OUT.attn goes to assets/sessions/
# L = 4096, H = 16, D = 64; under 60 s. Exit code 77 where there is no GPU.
set -euo pipefail

# shellcheck source=tests/gpu/session_script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/session_script.sh"
begin_session "$@"
readonly most_bytes=150000 most_seconds=60
for kernel in flash_simt naive flash_mma; do
  timeout "$(left_of "$most_seconds")" "$program" profile "$kernel" --l 4096 --hq 16 --d 64 --heartbeat \
    --seconds 0.5 --lines 0 --save "$out" --heartbeat-csv "${out%.attn}-$kernel.csv" >"${out%.attn}-$kernel.txt"
  sed -n '/^Heartbeat/,$p' "${out%.attn}-$kernel.txt"
done
end_session "$most_bytes"
