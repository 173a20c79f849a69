#!/usr/bin/env bash
# Makes the session whose instructions are counted, on a machine with an NVIDIA GPU:
#   bash tests/gpu/make_counts_session.sh path/to/attnscope OUT.attn      then OUT.attn goes to assets/sessions/
# flash_simt and naive at L = 4096, H = 16, D = 64, with their samples; under 40 s. It is shown with no GPU, no compiler
# and no nvdisasm. Exit code 77 where there is no GPU.
set -euo pipefail

# shellcheck source=tests/gpu/session_script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/session_script.sh"
begin_session "$@"
readonly most_bytes=100000 most_seconds=40
for kernel in flash_simt naive; do
  timeout "$(left_of "$most_seconds")" "$program" profile "$kernel" --l 4096 --hq 16 --d 64 --sample --counts \
    --seconds 0.5 --lines 10 --save "$out" >"${out%.attn}-$kernel.txt"
  sed -n '/^Instruction counts/,$p' "${out%.attn}-$kernel.txt"
done
end_session "$most_bytes"
