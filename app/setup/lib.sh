# Shared by app/run.sh and tests/run.sh: steps, packages, builds.
# shellcheck shell=bash

root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)"
readonly root
# A service or a container may start us without HOME.
if [[ -z ${HOME:-} ]]; then
  HOME="$(getent passwd "$(id -u)" | cut -d: -f6)"
  export HOME
fi
cache="${XDG_CACHE_HOME:-$HOME/.cache}/attnscope"
readonly cache

step_name="start"
step_number=0
step_started=0
declare -a step_times=()  # "SECONDS NAME" of each step that has ended
apt_log=""

# All words go to stderr: stdout belongs to the program's data.
say() { printf '%s\n' "$*" >&2; }

step() {
  step_number=$((step_number + 1))
  step_name="$1"
  step_started=$SECONDS
  say "[$step_number] $step_name"
}

# fail MEND...: ends with the step's name and what to do, one line each.
fail() {
  say ""
  say "FAILED in step $step_number: $step_name"
  local line
  for line in "$@"; do say "  $line"; done
  exit 1
}

# Whatever nobody expected still names its step.
unexpected() { # STATUS LINE COMMAND
  trap - ERR
  say ""
  say "FAILED in step $step_number: $step_name"
  say "  exit status $1 at line $2: $3"
  exit 1
}
trap 'unexpected "$?" "$LINENO" "$BASH_COMMAND"' ERR

# Ctrl+C. What runs in the foreground gets it too; apt lets dpkg finish first.
interrupted() {
  trap - ERR INT
  say ""
  say "Stopped in step $step_number: $step_name"
  say "  Rerun the same command to resume: finished work is kept, and packages are checked again."
  if [[ -n $apt_log ]]; then rm -f "$apt_log" "$apt_log.failed"; fi
  exit 130
}
trap interrupted INT

free_mib() { df -Pm -- "$1" 2>/dev/null | awk 'NR == 2 { print $4 }' || true; }

# need_space FOLDER MIB: the folder must exist.
need_space() {
  local free
  free="$(free_mib "$1")"
  if [[ -n $free ]] && ((free < $2)); then
    fail "$1 has $free MiB free, but $2 MiB are needed." \
      "Fix: free some space there, then rerun the same command."
  fi
}

# quietly LOG COMMAND...: its words are added to the log; a terminal shows the latest one.
quietly() {
  local log="$1" line status=0
  shift
  if [[ -t 2 ]]; then
    { "$@" </dev/null 2>&1 || printf '%s\n' "$?" >"$log.failed"; } | tee -a "$log" |
      while IFS= read -r line; do printf '\r\033[K    %.100s' "$line" >&2; done
    printf '\r\033[K' >&2
    if [[ -f $log.failed ]]; then
      rm -f "$log.failed"
      return 1
    fi
  else
    "$@" </dev/null >>"$log" 2>&1 || status=1
  fi
  return "$status"
}

# ---- packages

listed_packages() { sed -E 's/#.*//; s/^[[:space:]]*([^[:space:]]*).*/\1/; /^$/d' "$@"; }

# Prints the packages of the lists that are not installed.
missing_packages() {
  local package
  local -A installed=()
  while read -r package; do installed["$package"]=1; done < <(
    dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | sed -n 's/^ii  *//p')
  listed_packages "$@" | while read -r package; do
    [[ -n ${installed["$package"]:-} ]] || printf '%s\n' "$package"
  done
}

# install_packages LIST...: nothing is asked of apt when nothing is missing.
install_packages() {
  if [[ -n ${ATTNSCOPE_SKIP_PACKAGES:-} ]]; then
    say "    skipped (ATTNSCOPE_SKIP_PACKAGES)"
    return 0
  fi
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "This system has no apt: setup supports Debian 12 and 13, and Ubuntu 24.04 or newer." \
      "On other systems, install the equivalents of the packages in these files:" "$@" \
      "then rerun with ATTNSCOPE_SKIP_PACKAGES=1."
  fi
  local -a missing
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then return 0; fi
  say "    missing: ${missing[*]}"
  local by_hand="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  local -a as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      fail "These packages are missing, and installing them needs sudo, which was not found." \
        "Fix: run as root:  $by_hand"
    fi
    if ! sudo -n true 2>/dev/null && [[ ! -t 0 ]]; then
      fail "These packages are missing, and sudo needs a password but cannot ask for one here." \
        "Fix: run as root:  $by_hand"
    fi
    as_root=(sudo)
  fi
  apt_log="$(mktemp "${TMPDIR:-/tmp}/attnscope-apt-XXXXXX.log")" ||
    fail "Fix: set TMPDIR to a folder you can write to."
  # The lock timeout waits for another apt, such as an unattended upgrade.
  local -a apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  # A bare system has no package lists; an old one has stale ones, which only the
  # download notices. So: install, else update the lists and install again.
  # Where one was cut off, dpkg has work left, and apt refuses before that is done.
  say "    installing them with apt; on a bare system this takes a minute or two"
  local -a install=("${apt[@]}" install --no-install-recommends "${missing[@]}")
  if compgen -G '/var/lib/dpkg/updates/[0-9]*' >/dev/null; then
    quietly "$apt_log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive dpkg --configure -a || true
  fi
  if ! quietly "$apt_log" "${install[@]}"; then
    say "    updating the package lists"
    # By itself apt calls an update that reached nobody a success.
    if ! quietly "$apt_log" "${apt[@]}" -o APT::Update::Error-Mode=any update ||
      ! quietly "$apt_log" "${install[@]}"; then
      tail -n 15 "$apt_log" >&2
      fail "apt could not install the packages. The end of its output is above. The full output is in $apt_log." \
        "Fix: check the network, the free space ($(free_mib /) MiB on /) and /etc/apt/sources.list*." \
        "The package names are those of Debian 12 and 13 and Ubuntu 24.04 (universe). By hand:  $by_hand"
    fi
  fi
  rm -f "$apt_log"
  apt_log=""
}

# ---- what comes

# announce FOLDER LIST...: what a first set-up will bring, before it does. FOLDER: where it will build.
announce() {
  local folder="$1" mib=0 disk=0 cores packages=0
  shift
  local -a parts=()
  if [[ -z ${ATTNSCOPE_SKIP_PACKAGES:-} ]] && command -v dpkg-query >/dev/null; then
    packages="$(missing_packages "$@" | wc -l)"
    if ((packages > 0)); then
      # On a bare Debian 13 app/setup/packages and packages_tests are 202 MB, unpacked 831, for 38 names.
      mib=$((mib + 53 * packages / 10))
      disk=$((disk + 22 * packages))
      parts+=("$packages packages of the system")
    fi
  fi
  if [[ ! -f $cache/sources/imgui_bundle-$("$BASH" "$root/app/setup/fetch_gui.sh" --version)/manifest ]]; then
    mib=$((mib + 54))
    disk=$((disk + 100))
    parts+=("the GUI sources")
  fi
  if ! cuda_toolkit && [[ ! -f $cache/cuda/include/cudaTypedefs.h ]]; then
    mib=$((mib + 12))
    disk=$((disk + 20))
    parts+=("CUDA's headers")
  fi
  local words=""
  if ((${#parts[@]} > 0)); then
    words="$(printf ', %s' "${parts[@]}")"
    words="downloads of about $mib MB (${words#, }), "
  fi
  if [[ ! -f $folder/build.ninja ]]; then
    cores="$(jobs_count)"
    # Core-minutes of a build: of the program, with its tests.
    local work=10
    if [[ $folder == */tests ]]; then work=17; fi
    disk=$((disk + 300))
    words+="a build of about $(((work + cores - 1) / cores)) minutes on $cores cores, "
  fi
  if [[ -n $words ]]; then
    say "This run needs: ${words}about $disk MB of disk. Later runs fetch and build only what changed."
  fi
}

# ---- tools

version_at_least() { # HAVE WANTED
  [[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" == "$2" ]]
}

check_tools() {
  local compiler="${CXX:-g++}" version
  command -v "$compiler" >/dev/null || fail "Compiler not found: $compiler." \
    "Fix: install g++, or set CXX to a C++20 compiler."
  version="$("$compiler" -dumpfullversion 2>/dev/null || "$compiler" -dumpversion)"
  local wanted=12
  if "$compiler" --version | grep -qi clang; then wanted=14; fi
  version_at_least "$version" "$wanted" || fail \
    "$compiler is version $version, but this C++20 program needs $wanted or newer." \
    "Fix: install g++ from Debian 12 or 13 or Ubuntu 24.04, or set CXX to a newer compiler."
  version="$(cmake --version | sed -n '1s/[^0-9]*//p')"
  version_at_least "$version" 3.25 || fail \
    "cmake is version $version, but 3.25 or newer is needed." \
    "Fix: use the cmake of Debian 12 or 13 or Ubuntu 24.04; an older one in your PATH may come first."
}

# ---- building

# build_folder NAME: sets folder, where to build; the cache when the source tree cannot
# be written. (Sets instead of printing: fail must end the script, not a subshell.)
build_folder() {
  folder="$root/build/$1"
  if ! { mkdir -p "$folder" && [[ -w $folder ]]; } 2>/dev/null; then
    folder="$cache/build/$(printf '%s' "$root" | sha256sum | cut -c 1-8)/$1"
    mkdir -p "$folder" || fail "Neither $root/build nor $cache can be written." \
      "Fix: set XDG_CACHE_HOME to a folder you can write to."
  fi
}

# Sets gui, the folder of the GUI sources.
gui_sources() {
  gui="$(bash "$root/app/setup/fetch_gui.sh")" ||
    fail "The GUI sources could not be fetched. The reason and the fix are above."
  cuda_headers
}

# Whether a toolkit has CUDA's headers of the driver API, CUPTI and NVTX; CMake looks in the same places.
cuda_toolkit() {
  local folder
  for folder in "${ATTNSCOPE_CUDA:-/nowhere}" /usr/local/cuda /usr/local/cuda-13.0 /usr/local/cuda-12.9 \
    /usr/local/cuda-12.8; do
    if [[ -f $folder/include/cudaTypedefs.h && -f $folder/include/nvtx3/nvToolsExt.h ]] &&
      [[ -f $folder/include/cupti_range_profiler.h || -f $folder/extras/CUPTI/include/cupti_range_profiler.h ]]; then
      return 0
    fi
  done
  return 1
}

# CUDA's headers from a toolkit or else the cache.
cuda_headers() {
  if cuda_toolkit; then return 0; fi
  bash "$root/app/setup/fetch_cuda.sh" >/dev/null ||
    fail "CUDA's headers could not be fetched. The reason and the fix are above."
}

jobs_count() {
  # A compiler takes up to 1 GiB here: fewer at a time where memory is short.
  local cores mib
  cores="$(nproc)"
  mib="$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || echo 8192)"
  local by_memory=$((mib / 1024))
  ((by_memory >= 1)) || by_memory=1
  printf '%s\n' "${ATTNSCOPE_JOBS:-$((cores < by_memory ? cores : by_memory))}"
}

# Ninja's lines, shortened to the file's name: on a terminal one line that moves on,
# else a line each. What is no such line, a compiler's words above all, is shown whole.
progress() {
  local line
  while IFS= read -r line; do
    case "$line" in
      *"Re-checking globbed"* | *"Entering directory"* | *version.cmake* | *" Generating "* | "ninja: no work"*)
        continue
        ;;
      \[*"Building "*) line="${line%%]*}] ${line##*/}" ;;
      # ctest's lines: a terminal shows each test, a log every fiftieth and what went wrong.
      *"    Start "*) continue ;;
      *" Test "*"   Passed "*)
        if [[ ! -t 2 && ! $line =~ ^\ *[0-9]*(00|50)/ ]]; then continue; fi
        line="[${line## }"
        ;;
    esac
    if [[ -t 2 && $line == \[* ]]; then
      printf '\r\033[K    %.100s' "$line" >&2
    else
      if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
      say "    $line"
    fi
  done
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

# logged LOG COMMAND...: runs it with progress; returns its status.
logged() {
  local log="$1"
  shift
  { "$@" 2>&1 || printf '%s\n' "exit status $?" >"$log.failed"; } | tee "$log" | progress
  if [[ -f $log.failed ]]; then
    rm -f "$log.failed"
    return 1
  fi
}

explain_build_failure() { # LOG FOLDER
  if grep -q 'No space left on device' "$1"; then
    fail "The disk of $2 is full ($(free_mib "$2") MiB free)." \
      "Fix: free 1 GiB there, then rerun the same command."
  elif grep -qE 'Killed signal|internal compiler error: Killed|out of memory' "$1"; then
    fail "The compiler ran out of memory." \
      "Fix: rerun with ATTNSCOPE_JOBS=1, which compiles one file at a time."
  elif grep -q 'interrupted by user' "$1"; then
    interrupted
  fi
  fail "The end of the failed tool's output is above. The full output is in $1." \
    "Fix: if you changed a source file, correct it; otherwise, remove $2 and rerun."
}

# configure PRESET FOLDER GUI [CMAKE ARGUMENT...]: only when the folder is new or was
# configured for another place or with other arguments; ninja sees to the rest by itself.
# Several files are compiled as one, which is quicker from nothing; arguments may say otherwise.
configure() {
  local preset="$1" folder="$2" gui="$3"
  shift 3
  local wanted="$root|$preset|$gui|${CXX:-}|$*" log="$folder/configure.log"
  if [[ -f $folder/build.ninja && -f $folder/configured ]] &&
    [[ "$(<"$folder/configured")" == "$wanted" ]]; then
    return 0
  fi
  need_space "$folder" 600
  # --fresh: a cache of another place, compiler or library misleads.
  if ! (cd "$root" && cmake --preset "$preset" -B "$folder" --fresh \
    -DATTNSCOPE_GUI_SOURCES="$gui" -DATTNSCOPE_UNITY=ON "$@") >"$log" 2>&1; then
    tail -n 25 "$log" >&2
    explain_build_failure "$log" "$folder"
  fi
  printf '%s' "$wanted" >"$folder/configured"
}

build() { # FOLDER [TARGET...]
  local folder="$1" log="$1/build.log"
  shift
  logged "$log" env NINJA_STATUS='[%f of %t, %e s] ' ninja -C "$folder" -j "$(jobs_count)" "$@" ||
    explain_build_failure "$log" "$folder"
}

took() {
  local spent=$((SECONDS - step_started))
  step_times+=("$spent $step_name")
  say "    done in $spent s"
}

# The steps that took 20 s or more, in the order in which they ran.
long_steps() {
  local each
  for each in "${step_times[@]}"; do
    if ((${each%% *} >= 20)); then say "  $(printf '%5s s' "${each%% *}")  ${each#* }"; fi
  done
}
