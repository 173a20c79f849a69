#!/usr/bin/env bash
# Brings what the program needs of CUDA where no toolkit is installed, from the Python package index:
#   bash app/setup/fetch_cuda.sh               the headers of the driver API, CUPTI and NVTX (12 MB), for the build
#   bash app/setup/fetch_cuda.sh --with-nvrtc  besides the run-time compiler and CUPTI (100 MB), for GPU kernels
#   bash app/setup/fetch_cuda.sh --with-nvdisasm  besides nvdisasm (5 MB), which prints their machine code
# The options may stand together.
# Headers go to ${XDG_CACHE_HOME:-~/.cache}/attnscope/cuda/include, libraries to
# ${XDG_DATA_HOME:-~/.local/share}/attnscope/cuda/nvidia/cu13; with them the headers once more, for kernels that include
# CUDA's. What lies there whole is not brought again; what is missing or cut short is.
set -euo pipefail
shopt -s inherit_errexit

readonly cache="${XDG_CACHE_HOME:-$HOME/.cache}/attnscope/cuda"
readonly data="${XDG_DATA_HOME:-$HOME/.local/share}/attnscope/cuda"
readonly libraries="$data/nvidia/cu13/lib" kernel_headers="$data/nvidia/cu13/include"
# name==version and the sha256 of the wheel for this processor
readonly runtime="nvidia-cuda-runtime==13.0.96"
readonly crt="nvidia-cuda-crt==13.0.88" # what the runtime's headers include
readonly nvrtc="nvidia-cuda-nvrtc==13.0.88"
readonly cupti="nvidia-cuda-cupti==13.0.85"
readonly nvtx="nvidia-nvtx==13.0.85"
readonly nvdisasm="nvidia-cuda-nvdisasm==13.5.37" # newer than the compiler: it reads the machine code of all before

# Beside this script, also where it is a link.
here="$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)"
readonly here

say() { printf '%s\n' "$*" >&2; }

# The wheels' hashes, by processor.
hash_of() { # PACKAGE
  case "$1 $(uname -m)" in
    "$runtime x86_64") printf '7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548' ;;
    "$runtime aarch64") printf 'ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55' ;;
    "$crt x86_64") printf '2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4' ;;
    "$crt aarch64") printf 'ee2ea2a97073e02ee62bb27841f437332be2c248e3eac013df07997ada39c003' ;;
    "$nvrtc x86_64") printf 'ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575' ;;
    "$nvrtc aarch64") printf 'd27f20a0ca67a4bb34268a5e951033496c5b74870b868bacd046b1b8e0c3267b' ;;
    "$cupti x86_64") printf '4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8' ;;
    "$cupti aarch64") printf '796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151' ;;
    "$nvtx x86_64") printf '4936d1d6780fbe68db454f5e72a42ff64d1fd6397df9f363ae786930fd5c1cd4' ;;
    "$nvtx aarch64") printf 'cb7780edb6b14107373c835bf8b72e7a178bac7367e23da7acb108f973f157a6' ;;
    "$nvdisasm x86_64") printf 'd3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca' ;;
    "$nvdisasm aarch64") printf 'a3a8248074edb9fba63b74c38a5416b712a91ab09e70b8ab37186c3d293fc605' ;;
    *)
      say "No pinned CUDA wheel for $(uname -m); install a CUDA toolkit 12.8 or newer."
      return 1
      ;;
  esac
}

# in_folder FOLDER MODULE ARGUMENTS: a module of Python's, run in a folder that holds nothing but ours.
in_folder() {
  (cd -- "$1" && shift && TMPDIR="$PWD" python3 "$here/run_module.py" "$@")
}

# fetch PACKAGE: prints a folder with the unpacked wheel.
fetch() {
  local package="$1" folder hash
  hash="$(hash_of "$package")"
  folder="$(mktemp -d "$cache/.partial.XXXXXX")"
  printf '%s --hash=sha256:%s\n' "$package" "$hash" >"$folder/requirements.txt"
  if ! in_folder "$folder" pip download --quiet --no-deps --only-binary=:all: --require-hashes --no-cache-dir \
    --disable-pip-version-check -r requirements.txt -d . >"$folder/log" 2>&1; then
    tail -n 3 "$folder/log" >&2
    rm -rf "$folder"
    say "$package cannot be downloaded from the Python package index."
    say "Fix: check the network and the free space of $cache, then rerun, or install a CUDA toolkit."
    return 1
  fi
  local -a wheel=("$folder"/*.whl)
  in_folder "$folder" zipfile -e "${wheel[0]}" unpacked
  printf '%s\n' "$folder"
}

# Names and sizes of all files: enough to see a file gone or cut short, and quick.
manifest() { (cd "$1" && find . -type f -printf '%s %p\n' | LC_ALL=C sort); }

# whole FOLDER LIST: every file of the list lies in the folder, in its size. Others may lie there too.
whole() {
  [[ -f $2 && -d $1 ]] && [[ -z "$(LC_ALL=C comm -13 <(manifest "$1") "$2" 2>/dev/null || printf missing)" ]]
}

headers_whole() {
  # What was brought before there was a list: the last of them was copied last.
  if [[ ! -f $cache/manifest ]]; then
    [[ -f $cache/include/cudaTypedefs.h && -f $cache/include/crt/host_defines.h &&
      -f $cache/include/nvtx3/nvToolsExt.h ]]
    return
  fi
  whole "$cache/include" "$cache/manifest"
}

bring_headers() {
  local folder made package
  say "Fetching CUDA's headers (12 MB)"
  made="$(mktemp -d "$cache/.partial.XXXXXX")"
  for package in "$runtime" "$crt" "$cupti" "$nvtx"; do
    folder="$(fetch "$package")"
    cp -R "$folder"/unpacked/nvidia/cu13/include/. "$made/"
    rm -rf "$folder"
  done
  chmod 755 "$made"
  rm -rf "$cache/include" "$cache/manifest"
  mv "$made" "$cache/include"
  manifest "$cache/include" >"$cache/manifest.new"
  mv "$cache/manifest.new" "$cache/manifest"
}

# libraries_whole NAME PATTERN: NAME's list, or without one (brought before there were lists) a file of the pattern.
libraries_whole() {
  if [[ ! -f $data/$1.manifest ]]; then
    compgen -G "$libraries/$2" >/dev/null
    return
  fi
  whole "$libraries" "$data/$1.manifest"
}

# bring_libraries NAME PACKAGE: its lib folder, beside what is there already.
bring_libraries() {
  local folder
  say "Fetching $1"
  mkdir -p "$libraries"
  folder="$(fetch "$2")"
  cp -R "$folder"/unpacked/nvidia/cu13/lib/. "$libraries/"
  manifest "$folder/unpacked/nvidia/cu13/lib" >"$data/$1.manifest"
  rm -rf "$folder"
}

# The run-time compiler finds mma.h and what it includes beside itself; the cache may be emptied at any time.
kernel_headers_whole() { whole "$kernel_headers" "$data/headers.manifest"; }
bring_kernel_headers() {
  mkdir -p "$kernel_headers"
  cp -R "$cache/include/." "$kernel_headers/"
  manifest "$cache/include" >"$data/headers.manifest"
}

readonly programs="$data/nvidia/cu13/bin"
nvdisasm_whole() { [[ -x $programs/nvdisasm ]] && whole "$programs" "$data/nvdisasm.manifest"; }
bring_nvdisasm() {
  local folder
  say "Fetching nvdisasm (5 MB)"
  mkdir -p "$programs"
  folder="$(fetch "$nvdisasm")"
  cp -R "$folder"/unpacked/nvidia/cu13/bin/. "$programs/"
  chmod 755 "$programs/nvdisasm"
  manifest "$folder/unpacked/nvidia/cu13/bin" >"$data/nvdisasm.manifest"
  rm -rf "$folder"
}

main() {
  local with_nvrtc="" with_nvdisasm="" option
  for option in "$@"; do
    case "$option" in
      --with-nvrtc) with_nvrtc=1 ;;
      --with-nvdisasm) with_nvdisasm=1 ;;
      *)
        say "usage: bash fetch_cuda.sh [--with-nvrtc] [--with-nvdisasm]"
        return 2
        ;;
    esac
  done
  if ! headers_whole || { [[ -n $with_nvrtc ]] && { ! libraries_whole NVRTC 'libnvrtc.so.*' ||
    ! libraries_whole CUPTI 'libcupti.so.*' || ! kernel_headers_whole; }; } ||
    { [[ -n $with_nvdisasm ]] && ! nvdisasm_whole; }; then
    if ! mkdir -p "$cache"; then
      say "Fix: set XDG_CACHE_HOME to a folder you can write to."
      return 1
    fi
    # One at a time: two set-ups started together would copy over each other.
    exec 9>"$cache/lock"
    flock 9
    rm -rf "$cache"/.partial.*
    if ! headers_whole; then bring_headers; fi
    if [[ -n $with_nvrtc ]]; then
      if ! libraries_whole NVRTC 'libnvrtc.so.*'; then bring_libraries NVRTC "$nvrtc"; fi
      if ! libraries_whole CUPTI 'libcupti.so.*'; then bring_libraries CUPTI "$cupti"; fi
      if ! kernel_headers_whole; then bring_kernel_headers; fi
    fi
    if [[ -n $with_nvdisasm ]] && ! nvdisasm_whole; then bring_nvdisasm; fi
  fi
  printf '%s\n' "$cache/include"
}

main "$@"
