#!/usr/bin/env bash
# Tries rings of GPUs on a machine with two or more: answers by every way of dealing and travelling, how much faster two
# are than one, and what becomes of a ring whose rank dies, stands still or has no GPU.
#   OUT=reports bash tests/gpu/ring.sh path/to/attnscope
# Each try's words are left in OUT, of those timed also figures, spans and a session. Takes a few minutes. Exit code 1
# if one went otherwise, 77 where there are not two GPUs. LONG=1 also tries L = 131072. PARTS: some of answers,
# backward, speeds, nccl (the same speeds by NCCL, however fast), backward_speeds and lost; nccl and backward_speeds
# must be asked for.
set -uo pipefail

parts=" ${PARTS:-answers backward speeds lost} "
program="$(realpath -- "${1:?which attnscope}")"
out="${OUT:-$(mktemp -d)}"
mkdir -p -- "$out"
failed=0
gpus="$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')" || gpus=0
((gpus >= 2)) || { echo "no two GPUs here"; exit 77; }
bad() { echo "BAD $*"; failed=1; }
used() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | tr '\n' ' '; }
before="$(used)"

# NAME WANTED WORDS ARGUMENTS...: it ends with that exit code, and says the words.
try() {
  local name="$1" wanted="$2" words="$3" code
  shift 3
  timeout -s KILL 100 "$program" ring --hang-limit 20 "$@" >"$out/$name.txt" 2>&1
  code=$?
  if [[ $code == "$wanted" ]] && grep -qF -- "$words" "$out/$name.txt"; then
    echo "GOOD $name"
  else
    bad "$name: exit $code, wanted $wanted and '$words'"
    tail -3 "$out/$name.txt"
  fi
}
has_nccl() {
  "$program" ring --gpus 2 --l 1024 --travel nccl --repeats 1 2>&1 | grep -qF 'was not found' || return 0
  echo "no NCCL here"
  return 1
}
answers() {
  local mask dtype flag
  for mask in full causal; do
    flag=()
    [[ $mask == full ]] || flag=(--causal)
    for dtype in f16 bf16; do
      try "zigzag-$mask-$dtype" 0 correct: --gpus 2 --l 4096 --dtype "$dtype" --repeats 3 ${flag[@]+"${flag[@]}"}
    done
    try "in_order-$mask" 0 correct: --gpus 2 --l 4000 --hq 8 --hkv 2 --d 64 --deal in_order --repeats 3 \
      ${flag[@]+"${flag[@]}"}
    try "heads-$mask" 0 correct: --gpus 1,0 --l 4096 --deal heads --repeats 3 ${flag[@]+"${flag[@]}"}
  done
  try one 0 correct: --gpus 1 --l 4096 --repeats 3
  ! has_nccl || try nccl 0 NCCL --gpus 2 --l 8192 --travel nccl --repeats 3
  try wrong-gpu 3 "there is no GPU 99" --gpus 0,99 --l 1024
}

backward() {
  local mask d flag
  for mask in full causal; do
    flag=()
    [[ $mask == full ]] || flag=(--causal)
    for d in 64 128; do
      try "backward-$mask-f16-$d" 0 correct: --pass backward --gpus 2 --l 2999 --hq 4 --hkv 2 --d "$d" --repeats 3 \
        ${flag[@]+"${flag[@]}"}
      try "backward-$mask-bf16-$d" 0 correct: --pass backward --gpus 2 --l 3502 --hq 4 --d "$d" --dtype bf16 \
        --repeats 3 ${flag[@]+"${flag[@]}"}
    done
    try "backward-in_order-$mask" 0 correct: --pass backward --gpus 2 --l 3001 --hq 8 --hkv 2 --d 64 --deal in_order \
      --repeats 3 ${flag[@]+"${flag[@]}"}
  done
  try backward-heads 0 correct: --pass backward --gpus 1,0 --l 2048 --deal heads --causal --repeats 3
  try backward-one 0 correct: --pass backward --gpus 1 --l 2048 --repeats 3
  try backward-deterministic 0 correct: --pass backward --gpus 2 --l 2048 --set deterministic=true --repeats 3
  try backward-d96 3 "D = Dv = 64 or 128, not D = 96" --pass backward --gpus 2 --l 1024 --d 96
  ! has_nccl || try backward-nccl 0 NCCL --pass backward --gpus 2 --l 4096 --causal --travel nccl --repeats 3
}

# NAME LEAST ARGUMENTS...: so many times as fast as one GPU.
speed() {
  local name="$1" least="$2"
  shift 2
  rm -f -- "$out/$name.attn"
  try "$name" 0 correct: --gpus 2 --json "$out/$name.json" --csv "$out/$name.csv" -o "$out/$name.attn" "$@"
  python3 - "$out/$name.json" "$least" <<'PY' || bad "$name is too slow"
import json, sys
r = json.load(open(sys.argv[1]))
one, two = r["one_gpu"]["us_median"], r["time"]["us_median"]
spread = max(r["time"]["us_q3"] / two - 1, 1 - r["time"]["us_q1"] / two)
guess = next((f["us"] for f in r["forecasts"] if f["gpus"] == 2), None)
print(f"{one / two:.3f} times as fast, wanted {sys.argv[2]}; quartiles within {100 * spread:.1f} %; "
      f"forecast {'none' if guess is None else f'{100 * (two / guess - 1):+.1f} %'}; "
      f"{one / 1e3:.3f} and {two / 1e3:.3f} ms, {r['gpu']}")
sys.exit(one / two < float(sys.argv[2]))
PY
}
speeds() {
  speed full-16k 1.6 --l 16384
  speed full-64k 1.92 --l 65536
  speed causal-64k 1.85 --l 65536 --causal
  [[ -z ${LONG:-} ]] || speed full-128k 1.96 --l 131072
}
speeds_by_nccl() {
  speed nccl-full-16k 0 --l 16384 --travel nccl
  speed nccl-full-64k 0 --l 65536 --travel nccl
  speed nccl-causal-64k 0 --l 65536 --causal --travel nccl
  [[ -z ${LONG:-} ]] || speed nccl-full-128k 0 --l 131072 --travel nccl
}
backward_speeds() {
  local l least mask flag
  for l in 16384 32768 65536; do
    least=1.7
    ((l > 16384)) || least=1.3
    for mask in full causal; do
      flag=()
      [[ $mask == full ]] || flag=(--causal)
      speed "backward-$mask-$l" "$least" --pass backward --l "$l" --repeats 10 ${flag[@]+"${flag[@]}"}
    done
  done
}

# NAME SIGNAL WORDS LIMIT ARGUMENTS...: a rank gets the signal in the middle of its runs; the ring says so in time and
# leaves nobody.
lose() {
  local name="$1" signal="$2" words="$3" limit="$4" ring ranks began ended
  shift 4
  timeout -s KILL 100 "$program" ring --gpus 2 --repeats 1000 --hang-limit "$limit" "$@" >"$out/$name.txt" 2>&1 &
  ring=$!
  sleep 8
  ranks="$(pgrep -f -- 'worker --gpu-rank')"
  [[ $(wc -w <<<"$ranks") == 2 ]] || bad "$name: not two ranks, but '$ranks'"
  began="$(date +%s%N)"
  kill "-$signal" "$(tail -1 <<<"$ranks")"
  wait "$ring"
  ended="$(date +%s%N)"
  echo "$name: after $(((ended - began) / 1000000)) ms: $(tail -1 "$out/$name.txt")"
  grep -qF -- "$words" "$out/$name.txt" || bad "$name: said something else"
  (((ended - began) / 1000000 <= (limit + 1) * 1000)) || bad "$name: too late"
  [[ -z $(pgrep -f -- 'worker --gpu-rank') ]] || bad "$name: a rank is left"
  sleep 2
  local after n
  after="$(used)"
  for n in $(seq 1 "$gpus"); do
    (($(cut -d' ' -f"$n" <<<"$after") - $(cut -d' ' -f"$n" <<<"$before") <= 50)) || bad "$name: memory is left: $after"
  done
  try "after-$name" 0 correct: --gpus 1 --l 2048 --repeats 2
}
lost() {
  lose killed KILL "exited unexpectedly" 5 --l 65536
  lose stopped STOP "did not report for 5 s" 5 --l 65536
  lose backward-killed KILL "exited unexpectedly" 5 --l 16384 --pass backward
  lose backward-stopped STOP "did not report for 5 s" 5 --l 16384 --pass backward
}
[[ $parts != *" answers "* ]] || answers
[[ $parts != *" backward "* ]] || backward
[[ $parts != *" speeds "* ]] || speeds
[[ $parts != *" backward_speeds "* ]] || backward_speeds
[[ $parts != *" nccl "* ]] || speeds_by_nccl
[[ $parts != *" lost "* ]] || lost
exit $failed
