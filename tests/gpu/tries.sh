# shellcheck shell=bash
# For scripts that try the program on a GPU: sourced with the program as its argument. Sets program, out (OUT, or a new
# folder) and failed; ends the script with 77 where there is no GPU.

program="$(realpath -- "${1:?which attnscope}")"
out="${OUT:-$(mktemp -d)}"
mkdir -p -- "$out"
failed=0
"$program" worker --check >/dev/null 2>&1 || { echo "no GPU here"; exit 77; }

# NAME WANTED WORDS ARGUMENTS...: it ends with that exit code within `limit` seconds (60), and says the words; what it
# said is left in OUT.
try() {
  local name="$1" wanted="$2" words="$3" code
  shift 3
  timeout "${limit:-60}" "$program" "$@" >"$out/$name.txt" 2>&1
  code=$?
  if [[ $code == "$wanted" ]] && grep -qF -- "$words" "$out/$name.txt"; then
    echo "GOOD $name: $(grep -m 1 -F -- "$words" "$out/$name.txt" | cut -c1-160)"
  else
    echo "BAD $name: exit $code, wanted $wanted and '$words'"
    tail -n 5 "$out/$name.txt" | cut -c1-300
    failed=1
  fi
}
