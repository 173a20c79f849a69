#!/usr/bin/env bash
# What the scripts that make a session share; they source it. `program` and `out` are theirs afterwards.

# begin_session PROGRAM OUT.attn: exit code 77 where there is no GPU
begin_session() {
  program="$(realpath -- "${1:?which attnscope}")"
  out="${2:?which file}"
  if ! "$program" doctor | grep -q '^ok  GPU 0'; then
    echo "There is no GPU here: $("$program" doctor | grep -A1 'NVIDIA driver' | head -n 1)"
    exit 77
  fi
  rm -f -- "$out"
  begin=$SECONDS
}

# left_of SECONDS: those that are left of them
left_of() { echo $(($1 - SECONDS + begin)); }

# end_session MOST-BYTES: says how large it became, and refuses more
end_session() {
  local bytes
  bytes=$(stat -c %s -- "$out")
  echo "$out: $bytes bytes, $((SECONDS - begin)) s"
  if ((bytes > $1)); then
    echo "The file is larger than $1 bytes."
    exit 1
  fi
}
