#!/usr/bin/env bash
# Makes the session whose rows have a heartbeat beside their samples, on a machine with an NVIDIA GPU:
#   bash tests/gpu/make_heartbeat_session.sh path/to/attnscope OUT.attn     then OUT.attn goes to assets/sessions/
# L = 4096, H = 16, D = 64; under 60 s. Exit code 77 where there is no GPU.
set -euo pipefail

program="$(realpath -- "${1:?which attnscope}")"
out="${2:?which file}"
readonly most_bytes=150000 most_seconds=60

if ! "$program" doctor | grep -q '^ok  GPU 0'; then
  echo "There is no GPU here: $("$program" doctor | grep -A1 'NVIDIA driver' | head -n 1)"
  exit 77
fi
rm -f -- "$out"
begin=$SECONDS
for kernel in flash_simt naive flash_mma; do
  left=$((most_seconds - SECONDS + begin))
  timeout "$left" "$program" profile "$kernel" --l 4096 --hq 16 --d 64 --heartbeat --seconds 0.5 --lines 0 \
    --save "$out" --heartbeat-csv "${out%.attn}-$kernel.csv" >"${out%.attn}-$kernel.txt"
  sed -n '/^Heartbeat/,$p' "${out%.attn}-$kernel.txt"
done
bytes=$(stat -c %s -- "$out")
echo "$out: $bytes bytes, $((SECONDS - begin)) s"
if ((bytes > most_bytes)); then
  echo "The file is larger than $most_bytes bytes."
  exit 1
fi
