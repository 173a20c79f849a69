#!/usr/bin/env bash
# Makes the session that Bench offers where no GPU is, on a machine with an NVIDIA GPU:
#   bash tests/gpu/make_session.sh path/to/attnscope OUT.attn     then OUT.attn goes to assets/sessions/
# Every length from 512 to 16384 at B·L = 16384, H = 16, fp32, with D = 128 and D = 64, for naive, tiled and flash_simt,
# counters included; 36 points, under 150 seconds. Statistics stay, single repeats do not: the file is under 300 KB.
# Exit code 77 where there is no GPU.
set -euo pipefail

# shellcheck source=tests/gpu/session_script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/session_script.sh"
begin_session "$@"
readonly most_bytes=300000 most_seconds=150
for d in 64 128; do
  timeout "$(left_of "$most_seconds")" "$program" bench --device gpu --kernels naive,tiled,flash_simt \
    --axis L --values 512,1024,2048,4096,8192,16384 --tokens 16384 --hq 16 --d "$d" --dtype f32 \
    --time-limit 0.5 --no-samples --resume -o "$out" --csv "${out%.attn}-d$d.csv" --png "${out%.attn}-d$d.png"
done
end_session "$most_bytes"
