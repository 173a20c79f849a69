#!/usr/bin/env bash
# Tries a user's own kernel on a machine with an NVIDIA GPU: the template is right, timed and sampled; a wrong one, one
# without an end, one astray and one that asks for too much are a line each, and the next kernel's answer is right.
#   OUT=reports bash tests/gpu/own_kernel.sh path/to/attnscope
# Each try's words are left in OUT. Takes a minute. Exit code 1 if one went otherwise, 77 where there is no GPU.
set -uo pipefail

program="$(realpath -- "${1:?which attnscope}")"
out="${OUT:-$(mktemp -d)}"
mkdir -p -- "$out/kernels"
failed=0
"$program" worker --check >/dev/null 2>&1 || { echo "no GPU here"; exit 77; }

template="$("$program" list --template)"
# NAME FROM TO: the template with one thing changed.
kernel() {
  printf '%s\n' "${template/"$2"/"$3"}" >"$out/kernels/$1.cu"
  [[ $2 == "$3" ]] || ! diff -q <(printf '%s\n' "$template") "$out/kernels/$1.cu" >/dev/null || {
    echo "BAD $1: the template has no '$2'"
    failed=1
  }
}
kernel my_attention same same
kernel narrow '"D": {"min": 1, "max": 256}, "Dv": {"min": 1, "max": 256}' '"D": [64]'
kernel off_by_one 'key_length(a, head), r);' 'key_length(a, head), r) - 1;'
kernel endless '  const int64 last =' $'  volatile int turns = 1;\n  while (turns > 0) turns = 1;\n  const int64 last ='
kernel astray 'static_cast<Element*>(a.out) +' 'static_cast<Element*>(a.out) + (int64{1} << 42) +'
kernel greedy '"shared": "4 *' '"shared": "4000 *'
kernel typo 'last_key(a' 'lst_key(a'

# NAME WANTED LIMIT WORDS ARGUMENTS...: it ends with that exit code within the limit, and says the words.
try() {
  local name="$1" wanted="$2" limit="$3" words="$4" code
  shift 4
  timeout "$limit" "$program" "$@" >"$out/$name.txt" 2>&1
  code=$?
  if [[ $code == "$wanted" ]] && grep -qF -- "$words" "$out/$name.txt"; then
    echo "GOOD $name"
  else
    echo "BAD $name: exit $code, wanted $wanted and '$words'"
    tail -n 5 "$out/$name.txt" | cut -c1-300
    failed=1
  fi
}
cd -- "$out/kernels" || exit 1
for dtype in f32 f16 bf16; do
  try "verify_$dtype" 0 120 "checks passed" verify my_attention.cu --dtype "$dtype" --random 8
done
try narrow 0 60 "All 8 checks passed" verify narrow.cu --dtype f32 --random 8
try off_by_one 1 60 "FAIL off_by_one@" verify off_by_one.cu --dtype f32 --random 2
try astray 1 60 "1 of" verify astray.cu my_attention.cu --dtype f32 --random 1
try endless 1 60 "no answer within 8 s" verify endless.cu my_attention.cu --dtype f32 --random 2 --hang-limit 8
try greedy 3 60 "of shared memory" bench --kernels greedy.cu --values 256 --d 64 --time-limit 0.1
try typo 1 60 "identifier \"lst_key\" is undefined" verify typo.cu --dtype f32 --random 1
try bench 0 60 "my_attention@" bench --kernels my_attention.cu,flash_simt --values 512,1024 --hq 16 --d 64 \
  --time-limit 0.2 --csv "$out/bench.csv"
try profile 0 60 "Where the warps' time goes" profile my_attention.cu --l 1024 --hq 16 --d 64 --sample --seconds 0.2
exit "$failed"
