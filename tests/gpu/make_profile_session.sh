#!/usr/bin/env bash
# Makes the session that Profile offers where no GPU is: rows with all that is collected of them, on a machine with an
# NVIDIA GPU:
#   bash tests/gpu/make_profile_session.sh path/to/attnscope OUT.attn     then OUT.attn goes to assets/sessions/
# Every rung at L = 4096, H = 16, D = 64, in the first dtype that it takes, and two of them at D = 128; under 150 s. The
# file has lines and phases in it: it is shown with no GPU, no compiler and no nvdisasm. Exit code 77 where there is no
# GPU.
set -euo pipefail

# shellcheck source=tests/gpu/session_script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/session_script.sh"
begin_session "$@"
readonly most_bytes=600000 most_seconds=150
# The one that is looked at first comes first: its sweep is the run's.
for row in "flash_simt 64" "naive 64" "tiled 64" "flash_tf32x3 64" "flash_simt 128" "flash_mma 64" "flash_wmma 64" \
  "flash_mma 128"; do
  read -r kernel d <<<"$row"
  timeout "$(left_of "$most_seconds")" "$program" profile "$kernel" --l 4096 --hq 16 --d "$d" --sample --counts \
    --heartbeat --seconds 0.5 --lines 10 --save "$out" >"${out%.attn}-$kernel-d$d.txt"
  sed -n '/^Where the/,$p' "${out%.attn}-$kernel-d$d.txt"
done
end_session "$most_bytes"
