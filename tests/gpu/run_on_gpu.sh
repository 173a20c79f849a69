#!/usr/bin/env bash
# Checks the GPU kernels on a machine with an NVIDIA GPU and leaves reports:
#   OUT=reports bash tests/gpu/run_on_gpu.sh path/to/attnscope
#   bash tests/gpu/run_on_gpu.sh path/to/attnscope --kernels    says which kernels and dtypes it would check
# summary.txt has a line a part, report.txt everything that was said. Needs the program, NVRTC and, for some parts,
# compute-sanitizer and python3 with torch; what is missing is skipped and said so. Each part has a time limit; all of
# them take under 10 minutes.
# Exit code 1 if a part failed, 77 where there is no GPU.
# shellcheck disable=SC2317 # functions that a part runs in a shell of its own
set -uo pipefail

program="$(realpath -- "${1:?which attnscope}")"

# Every GPU rung of the program's own table and what it takes, so that no loop below can miss one. A rung's line of
# `attnscope list` begins with its number; the lines that explain it are indented. Runs of a backward rung that adds in
# any order are compared bit by bit with its option deterministic.
kernels=()
declare -A dtypes=() passes=() repeatable=()
while read -r kernel pass set taken; do
  kernels+=("$kernel")
  passes[$kernel]="$pass"
  dtypes[$kernel]="$taken"
  repeatable[$kernel]="$set"
done < <("$program" list | awk '
  function say() { if (kernel != "") print kernel, pass, set taken }
  /^[^ ]/ {
    say()
    kernel = $4 == "gpu" ? $2 : ""
    pass = "forward"
    set = "-"
    taken = ""
    for (n = 5; $n ~ /^(f32|f16|bf16)$/; ++n) taken = taken " " $n
  }
  /^ +pass: / { pass = $2 }
  /deterministic off/ { set = "deterministic=true" }
  END { say() }')
if ((${#kernels[@]} == 0)); then
  echo "attnscope list names no GPU kernel"
  exit 1
fi
if [[ ${2:-} == --kernels ]]; then
  for kernel in "${kernels[@]}"; do printf '%s %s\n' "$kernel" "${dtypes[$kernel]}"; done
  exit 0
fi
# Those that can be timed side by side, as they take the same dtype: LIST DTYPE a line. Forwards alone.
by_dtype="$(for dtype in f32 f16 bf16; do
  list=""
  for kernel in "${kernels[@]}"; do
    [[ ${passes[$kernel]} == forward && " ${dtypes[$kernel]} " == *" $dtype "* ]] && list+=",$kernel"
  done
  [[ -z $list ]] || printf '%s %s\n' "${list#,}" "$dtype"
done)"

out="${OUT:-gpu_reports}"
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p "$out"
reports="$(realpath -- "$out")"
out="$(mktemp -d)" # one text a part; joined at the end
XDG_CACHE_HOME="$(mktemp -d)"
export XDG_CACHE_HOME
trap 'rm -rf "$out" "$XDG_CACHE_HOME"' EXIT
summary="$reports/summary.txt"
: >"$summary"
failed=0
readonly most_seconds=570 # of all parts

note() { printf '%s\n' "$*" | tee -a "$summary"; }

# part NAME SECONDS COMMAND...: its words go to $out/NAME.txt, one line to the summary.
part() {
  local name="$1" limit="$2" status=0 begin=$SECONDS
  shift 2
  if ((SECONDS > most_seconds - 20)); then
    note "SKIP $name: the time for all parts is up"
    return
  fi
  timeout -k 5 "$limit" "$@" >"$out/$name.txt" 2>&1 || status=$?
  verdict "$name" "$status" $((SECONDS - begin))
}
verdict() { # NAME STATUS SECONDS
  case "$2" in
    0) note "PASS $1 ($3 s)" ;;
    77) note "SKIP $1: $(tail -n 1 "$out/$1.txt")" ;;
    124 | 137) note "FAIL $1: its time limit was reached"; failed=1 ;;
    *) note "FAIL $1 (exit $2, $3 s): $(tail -n 1 "$out/$1.txt")"; failed=1 ;;
  esac
}

# The correctness list: every kernel and dtype is a process of its own, all at once; they share
# the GPU and the cache of compiled kernels.
verify_all() {
  local kernel dtype name begin=$SECONDS
  local -a names=() running=()
  for kernel in "${kernels[@]}"; do
    for dtype in ${dtypes[$kernel]}; do
      name="verify_${kernel}_$dtype"
      timeout -k 5 200 "$program" verify --device gpu --pass "${passes[$kernel]}" --kernel "$kernel" \
        --dtype "$dtype" >"$out/$name.txt" 2>&1 &
      running+=("$!")
      names+=("$name")
    done
  done
  collect
}
# 250 runs of six shapes, with memory poisoned before each: the same bits every time.
repeat_all() {
  local kernel begin=$SECONDS
  local -a names=() running=() set=()
  for kernel in "${kernels[@]}"; do
    set=()
    [[ ${repeatable[$kernel]} == - ]] || set=(--set "${repeatable[$kernel]}")
    timeout -k 5 120 "$program" verify --device gpu --pass "${passes[$kernel]}" --kernel "$kernel" "${set[@]}" \
      --dtype "${dtypes[$kernel]%% *}" --repeat-list --repeats 250 >"$out/repeats_$kernel.txt" 2>&1 &
    running+=("$!")
    names+=("repeats_$kernel")
  done
  collect
}
# Every step of flash_hopper, whose option `step` adds one idea each, over the shapes up to 513.
steps_all() {
  local step begin=$SECONDS
  local -a names=() running=()
  "$program" list | grep -q '^[^ ]* *flash_hopper ' || return
  for step in 1 2 3 4 5 6 7 8 9 10; do
    timeout -k 5 200 "$program" verify --device gpu --kernel flash_hopper --dtype f16 --longest 513 \
      --set "step=$step" >"$out/step_$step.txt" 2>&1 &
    running+=("$!")
    names+=("step_$step")
  done
  collect
}
# Each kernel records itself: the plain run's bits, and a record that replays. Its last lines say what that costs.
trace_all() {
  local kernel dtype name begin=$SECONDS
  local -a names=() running=()
  for kernel in "${kernels[@]}"; do
    [[ ${passes[$kernel]} == forward ]] || continue
    for dtype in ${dtypes[$kernel]}; do
      name="traced_${kernel}_$dtype"
      timeout -k 5 90 "$program" verify --device gpu --pass "${passes[$kernel]}" --traced --kernel "$kernel" \
        --dtype "$dtype" --random 6 >"$out/$name.txt" 2>&1 &
      running+=("$!")
      names+=("$name")
    done
  done
  collect
}
# Four tools over the shapes up to 513.
sanitize_all() {
  local tool kernel begin=$SECONDS
  local -a names=() running=()
  if ! command -v compute-sanitizer >/dev/null; then
    note "SKIP compute-sanitizer: it is not installed"
    return
  fi
  local left=$((most_seconds - SECONDS - 20))
  if ((left < 30)); then
    note "SKIP compute-sanitizer: the time for all parts is up"
    return
  fi
  for tool in memcheck racecheck initcheck synccheck; do
    for kernel in "${kernels[@]}"; do
      timeout -k 5 "$left" compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 9 \
        "$program" verify --device gpu --pass "${passes[$kernel]}" --kernel "$kernel" \
        --dtype "${dtypes[$kernel]%% *}" --longest 513 >"$out/${tool}_$kernel.txt" 2>&1 &
      running+=("$!")
      names+=("${tool}_$kernel")
    done
  done
  collect
}
collect() { # reads names, running, begin
  local n status
  for n in "${!running[@]}"; do
    status=0
    wait "${running[$n]}" || status=$?
    # The tool's exit code is the worker's; its own count is the verdict.
    if grep -q '========= ERROR SUMMARY' "$out/${names[$n]}.txt" &&
      ! grep -qE 'ERROR SUMMARY: 0 errors' "$out/${names[$n]}.txt"; then
      status=9
    fi
    # What a kernel cannot do, it says.
    grep -qE 'cannot record itself (on a GPU )?yet|runs on .*, not on' "$out/${names[$n]}.txt" &&
      grep -q 'Nothing was checked' "$out/${names[$n]}.txt" && status=77
    verdict "${names[$n]}" "$status" $((SECONDS - begin))
  done
}

timings() {
  local d list dtype clock=""
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=timestamp,clocks.sm,temperature.gpu,power.draw --format=csv -lms 500 >clocks.txt 2>&1 &
    clock=$!
  fi
  while read -r list dtype; do
    for d in 64 128; do
      "$program" worker --time "$list" --dtype "$dtype" --l 4096 --hq 16 --d "$d" --seconds 1 || return 1
    done
    "$program" worker --time "$list" --dtype "$dtype" --l 1024 --b 16 --hq 16 --d 64 --seconds 1 || return 1
  done <<<"$by_dtype"
  "$program" worker --time flash_simt --l 4096 --hq 16 --d 128 --causal --seconds 1 || return 1
  "$program" worker --time flash_simt --l 16384 --hq 16 --d 128 --seconds 1 || return 1
  "$program" worker --time flash_simt --l 131072 --hq 1 --d 128 --seconds 1 || return 1
  [[ -z $clock ]] || kill "$clock"
}
measure() { # time, counters and clocks of every kernel
  local list dtype
  while read -r list dtype; do
    "$program" worker --measure "$list" --dtype "$dtype" --l 4096 --hq 4 --d 64 --seconds 0.3 >measure.csv || return 1
    head -n 1 measure.csv | tr ',' '\n' | grep -qx dram_read_bytes || return 1
  done <<<"$by_dtype"
}
# The way of sm_75, without cp.async and with half-sized products: an edited copy, since a newer GPU has all it needs.
sm75() {
  local folder
  folder="$(mktemp -d)"
  { printf '#define ATTN_SM75 1\n' && cat "$here/../../kernels/gpu/rungs/tensor_cores/flash_mma.cu"; } \
    >"$folder/flash_mma.cu"
  ATTNSCOPE_KERNELS="$folder" "$program" verify --device gpu --kernel flash_mma --dtype f16 --longest 1024
  local status=$?
  rm -rf "$folder"
  return "$status"
}
tiles() { # how the default compares with other tiles
  local tile
  for tile in "128x128 256" "128x64 256" "64x128 128" "64x64 128" "128x128 512" "64x64 256" "128x32 256"; do
    # shellcheck disable=SC2086 # tile and threads
    set -- $tile
    for d in 64 128; do
      "$program" worker --time flash_simt --l 4096 --hq 16 --d "$d" --tile "$1" --threads "$2" --seconds 0.5 | tail -n 1
    done
  done
}
memory_limit() { # naive must refuse what flash_simt runs, with the largest L
  local words
  words="$("$program" worker --time naive --l 131072 --hq 1 --d 128 --memory-limit 80G --seconds 0.1)"
  printf '%s\n' "$words"
  grep -q 'largest L that fits' <<<"$words"
}

cd "$out" || exit 1
part doctor 60 "$program" doctor
if ! grep -q '^ok  GPU 0' "$out/doctor.txt"; then
  note "SKIP all: $(grep -A1 'NVIDIA driver\|GPU  ' "$out/doctor.txt" | head -n 1)"
  exit 77
fi
part check 60 "$program" worker --check
part survive 120 bash "$here/survive.sh" "$program"
export program by_dtype here
part timings 120 bash -c "$(declare -f timings); timings"
part measure 60 bash -c "$(declare -f measure); measure"
part sm75 120 bash -c "$(declare -f sm75); sm75"
part peers 90 python3 "$here/torch_peers.py"
part peers_agree 150 python3 "$here/compare_peers_with_torch.py" "$program" 100
part tiles 60 bash -c "$(declare -f tiles); tiles"
part ncu 150 python3 "$here/compare_with_ncu.py" "$program"
part conflict_free 60 python3 "$here/conflict_free.py" "$program"
part refuses 30 bash -c "$(declare -f memory_limit); memory_limit"
verify_all
steps_all
repeat_all
trace_all
sanitize_all
part inspect 60 "$program" inspect "$(IFS=,; printf '%s' "${kernels[*]}")" --arch sm_90a --head-dim 64,128,256
for text in "$out"/*.txt; do
  printf '\n==== %s\n' "$(basename "$text" .txt)"
  cat "$text"
done >"$reports/report.txt"
rm -rf "$XDG_CACHE_HOME" "$out"
note "took $SECONDS s"
exit "$failed"
