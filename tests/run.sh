#!/usr/bin/env bash
# Builds and runs the tests: bash tests/run.sh [--full | --tsan | --tidy | --wheels | --web]
#
#   (nothing)   the code's rules and every test of a Release build: about 8 minutes on 2 cores
#   --full      besides: long lists, mutants, address, undefined-behaviour and thread sanitizer, fuzzing, clang-tidy
#               and, where its root has been brought, the page in a browser: at most 65 minutes
#   --tsan      the thread sanitizer alone, over kernels, profiling, model and tasks
#   --tidy      clang-tidy alone
#   --wheels    the Python wheel alone, in a clean folder of each Python there is (tests/wheels.sh)
#   --web       the page in a browser alone (tests/web.sh)
# Every part runs even when one before it failed; the last line counts all of them.
set -Eeuo pipefail

# shellcheck source=app/setup/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../app/setup/lib.sh"

passed=0
failed=0
skipped=0
declare -a failures=() ctest_prefix=()

count_pass() { passed=$((passed + 1)); }
count_skip() {
  skipped=$((skipped + 1))
  say "    skipped: $1"
}
count_fail() {
  failed=$((failed + 1))
  failures+=("$1")
  say "    FAILED: $1"
}

# count_verdicts COMMAND...: adds what a script of its own prints, a line a check.
count_verdicts() {
  local line
  while IFS= read -r line; do
    case "$line" in
      PASS*)
        count_pass
        say "    ${line#PASS }"
        ;;
      SKIP*) count_skip "${line#SKIP }" ;;
      FAIL*) count_fail "${line#FAIL }" ;;
    esac
  done < <("$@" || true)
}

# ---- parts

check_rules() {
  step "Rules of the code"
  local line
  while IFS= read -r line; do
    case "$line" in
      PASS*) count_pass ;;
      SKIP*) count_skip "${line#SKIP }" ;;
      FAIL*) count_fail "${line#FAIL }" ;;
      *) say "$line" ;;
    esac
  done < <(bash "$root/tests/rules.sh" || true)
}

# run_ctest FOLDER NAME [CTEST ARGUMENT...]: adds its counts to ours.
run_ctest() {
  local build="$1" name="$2" report="$1/report.xml" line
  shift 2
  rm -rf "$report" "$build/shards"
  # A folder of their own for what tests write, gone at the end; what is left in it is a test that does not clean up.
  local temporary left
  temporary="$(mktemp -d "${TMPDIR:-/tmp}/attnscope-tests-XXXXXX")"
  # One more than there are cores: many tests wait, for a child that hangs or a file that is locked.
  (cd "$build" && TMPDIR="$temporary" logged "$build/ctest.log" "${ctest_prefix[@]}" ctest -j "$(($(nproc) + 1))" \
    --output-on-failure \
    --output-junit "$report" "$@") || true
  left="$(find "$temporary" -mindepth 1 -maxdepth 1 -printf '%f ')"
  rm -rf "$temporary"
  if [[ -n $left ]]; then count_fail "$name: tests left in the temporary folder: $left"; else count_pass; fi
  if [[ ! -s $report ]]; then
    count_fail "$name: ctest wrote no report; its words are in $build/ctest.log"
    return 0
  fi
  while IFS= read -r line; do
    case "$line" in
      PASS*) count_pass ;;
      FAIL*) count_fail "$name: ${line#FAIL }" ;;
      SKIP*)
        line="${line#SKIP }"
        skipped=$((skipped + ${line%%$'\t'*}))
        say "    skipped: ${line#*$'\t'}"
        ;;
    esac
  done < <(python3 "$root/tests/report.py" "$report")
  took
}

# prepared PRESET TARGETS [CMAKE ARGUMENT...]: configures and builds build/PRESET; sets folder.
prepared() {
  local preset="$1" targets="$2"
  shift 2
  build_folder "$preset"
  need_space "$folder" 1500
  configure "$preset" "$folder" "$gui" "$@"
  # shellcheck disable=SC2086 # a list of targets
  build "$folder" $targets
  took
}

# What the Python package is built and tested with, from PyPI, in a folder of the build's own; sets python_arguments.
# Where it cannot be had the package is left out, and its tests with it.
python_packages() {
  step "Python packages"
  local venv="$folder/venv" list="$root/app/setup/packages_python" log="$folder/venv.log" wanted
  wanted="$(sha256sum <"$list")"
  if [[ ! -x $venv/bin/python || ! -f $venv/installed || "$(<"$venv/installed")" != "$wanted" ]]; then
    rm -rf "$venv" "$log"
    if [[ -n ${ATTNSCOPE_SKIP_PACKAGES:-} ]]; then
      count_skip "the Python package: its build wants $list (ATTNSCOPE_SKIP_PACKAGES)"
      return 0
    fi
    if ! { quietly "$log" python3 -m venv "$venv" &&
      quietly "$log" "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$list"; }; then
      rm -rf "$venv"
      count_skip "the Python package: pip could not bring $list; its words are in $log"
      return 0
    fi
    printf '%s' "$wanted" >"$venv/installed"
  fi
  python_arguments=("-DPython_EXECUTABLE=$venv/bin/python")
  took
}

test_release() { # LONG
  local -a python_arguments=()
  build_folder tests
  python_packages
  step "Build of the tests"
  prepared tests "all${1:+ attnscope_bench}" "${python_arguments[@]}"
  step "Tests${1:+, long lists too}"
  ATTNSCOPE_LONG_TESTS="${1:-}" run_ctest "$folder" "release"
}

# ATTNSCOPE_SANITIZED: fewer cases will do. With clang the fuzz targets are built along, so all is compiled once.
test_asan() {
  step "Build with address and undefined-behaviour sanitizers, and the fuzz targets"
  if [[ -n $clang ]]; then
    prepared fuzz all "${with_clang[@]}"
  else
    prepared asan all
  fi
  step "Tests under address and undefined-behaviour sanitizers"
  # They start the program hundreds of times, and what it does there other tests do in process.
  local black_box='pictures|readme|documents|report|trace|run_contract|gpu_script|setup|display|profile|lessons|peers'
  black_box+='|backward|tune|memory_limit|printed|own_kernel|texts|describe|csv|peer_packages|python_of_peers'
  black_box+='|pages|ring|training|sentences'
  # NVRTC, which is not watched, does all the work of these.
  local compiles='*EveryArch.*:*HookedCode.*:*ScoreCode.*:Hooks.AreCode*:Museum.EveryCuda*:*ExperimentTest.Compiles*'
  # Graphics drivers keep what they allocate until the process ends.
  cat >"$folder/leaks" <<'END'
leak:libEGL
leak:libGLX
leak:libGL
leak:libgallium
leak:swrast_dri
leak:libLLVM
leak:libxml2
leak:liblzma
leak:libX11
leak:libglapi
leak:libdrm
leak:libwayland
leak:_dlerror
leak:dl_open
leak:<unknown module>
END
  local address="strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1"
  ATTNSCOPE_SANITIZED=address \
    ASAN_OPTIONS="$address:max_allocation_size_mb=8192" \
    LSAN_OPTIONS="suppressions=$folder/leaks:print_suppressions=0" \
    UBSAN_OPTIONS="print_stacktrace=1" \
    GTEST_FILTER="-$compiles" \
    run_ctest "$folder" "address sanitizer" -E "cli\.test_($black_box)\$"
  if in_time 5 "mutated files and state strings"; then mutated_inputs; fi
  if [[ -z $clang ]]; then
    count_skip "fuzzing: there is no clang++"
  elif in_time 4 "fuzzing"; then
    fuzz
  fi
}

# in_time MINUTES WHAT: whether that much is left. The later parts of --full give way where a machine is slow.
in_time() {
  if ((SECONDS > most_seconds - 60 * $1)); then
    count_skip "$2: less than $1 minutes were left"
    return 1
  fi
}

test_tsan() {
  step "Build with thread sanitizer"
  prepared tsan "test_kernels test_profiling test_app" "${with_clang[@]}"
  step "Tests of model and tasks under thread sanitizer"
  # With more address randomisation than the sanitizer of this compiler knows it ends
  # at once; without any it runs.
  if setarch -R true 2>/dev/null; then ctest_prefix=(setarch -R); fi
  # Software OpenGL draws in threads of its own, which synchronise where the sanitizer does not look; so does NVRTC
  # where two threads compile. A test's worker is a fork of it, and starts threads of its own.
  cat >"$folder/races" <<'END'
race:libnvrtc
race:swrast_dri.so
race:libgallium
race:libLLVM
deadlock:swrast_dri.so
deadlock:libgallium
END
  # What one thread does from its first line to its last, at length: the address sanitizer looks at it.
  local name one_thread=""
  for name in Hooks '*HookedCode' Museum OwnKernel OwnHeader ScoreLines '*ScoreCode' 'TraceOf*' Printable Exp Exact \
    RecordingFile FirstWrong Npy BundledHashes BundledSessions SessionVersion3 SessionFile Csv Lessons WrongFiles \
    BeatBorders; do
    one_thread+=":$name.*"
  done
  local watch="halt_on_error=1:die_after_fork=0:second_deadlock_stack=1"
  # Without TZ the C library keeps its time zone anew at each call, for libzip, under a lock that the sanitizer does not
  # see.
  ATTNSCOPE_SANITIZED=thread TZ=UTC0 \
    TSAN_OPTIONS="$watch:suppressions=$folder/races:print_suppressions=0" \
    GTEST_FILTER="-${one_thread#:}" \
    run_ctest "$folder" "thread sanitizer" -L '^(kernels|profiling|app)$'
  ctest_prefix=()
}

# A fixed number of mutated files and state strings under the address sanitizer, the same ones each time.
mutated_inputs() { # in folder
  step "Mutated files and state strings"
  each_fuzz_target mutated
  took
}

fuzz() { # in folder
  step "Fuzzing, ${fuzz_seconds} s a target"
  each_fuzz_target fuzzed
  took
}

# each_fuzz_target mutated|fuzzed: two at a time.
each_fuzz_target() {
  local target name
  local -a how=() running=() names=()
  mkdir -p "$folder/crashes"
  for target in "$folder"/bin/fuzz_*; do
    [[ -x $target && ! -d $target ]] || continue
    name="${target##*/fuzz_}"
    arguments_of "$1" "$name"
    (
      cd "$folder"
      ASAN_OPTIONS="allocator_may_return_null=1" exec "$target" "${how[@]}"
    ) >"$folder/$1_$name.log" 2>&1 &
    running+=("$!")
    names+=("$name")
    while (($(jobs -rp | wc -l) >= 2)); do wait -n || true; done # its results are read below
  done
  fuzz_results "$1"
}

# arguments_of mutated|fuzzed NAME: sets how.
arguments_of() {
  local count=10000 seeds="$root/tests/fuzz/corpus/$2" work="$folder/corpus/$2"
  if [[ $2 == state ]]; then count=100000; fi
  if [[ -z $clang ]]; then
    how=(--mutations "$count" --seconds 600 --least "$count" "$seeds")
    return 0
  fi
  how=(-max_total_time="$fuzz_seconds")
  if [[ $1 == mutated ]]; then
    work="$folder/corpus/list_$2"
    rm -rf "$work"
    how=(-runs="$count" -seed=1)
  fi
  mkdir -p "$work"
  how+=(-timeout=20 -rss_limit_mb=3072 -max_len=65536 -print_final_stats=1 -artifact_prefix="$folder/crashes/$2-"
    "$work" "$seeds")
}

fuzz_results() { # reads running and names of each_fuzz_target()
  local i log said
  for i in "${!running[@]}"; do
    log="$folder/$1_${names[$i]}.log"
    if wait "${running[$i]}"; then
      count_pass
      said="$(sed -nE 's/^stat::number_of_executed_units: */inputs /p; s/^stat::peak_rss_mb: */peak memory in MiB /p;
        s/^fuzz_[a-z]*: [0-9]* inputs, //p' "$log" | paste -sd, -)"
      say "    ${names[$i]}: $said, no crash"
    else
      tail -n 30 "$log" >&2
      count_fail "$1 inputs of ${names[$i]}: the words are in $log, an input that fails in $folder/crashes"
    fi
  done
}

test_wheels() {
  step "The Python wheel"
  count_verdicts bash "$root/tests/wheels.sh"
  took
}

# It needs the desktop program to be held against.
test_web() {
  build_folder tests
  if [[ ! -x $folder/bin/attnscope || -n $web ]]; then
    step "The program"
    prepared tests attnscope
  fi
  step "The page in a browser"
  count_verdicts bash "$root/tests/web.sh" "$folder/bin/attnscope"
  took
}

# In --full only where the page's root is there already: to bring it takes as long as all of this.
test_web_at_hand() {
  if bash "$root/app/web/root.sh" --whole; then
    if in_time 10 "the page in a browser (bash tests/run.sh --web)"; then test_web; fi
  else
    count_skip "the page in a browser: Emscripten's root is not here (bash tests/run.sh --web brings it)"
  fi
}

tidy() {
  step "clang-tidy"
  local program line
  program="$(command -v "clang-tidy-$clang_version" || command -v clang-tidy || true)"
  if [[ -z $program ]]; then
    count_skip "clang-tidy is not installed"
    return 0
  fi
  # Configured alone: it wants the flags of each source.
  build_folder tidy
  configure tests "$folder" "$gui" -DATTNSCOPE_UNITY=OFF
  build "$folder" attnscope_write_version
  local log="$folder/tidy.log" left=$((most_seconds - SECONDS)) late=0
  if ((left > tidy_seconds)); then left="$tidy_seconds"; fi
  if ((left < 60)); then left=60; fi
  while IFS= read -r line; do
    case "$line" in
      PASS*) count_pass ;;
      FAIL*) count_fail "clang-tidy: ${line#FAIL }; its words are in $log" ;;
      *) late=$((late + 1)) ;;
    esac
  done < <(python3 "$root/tests/tidy.py" --program "$program" --seconds "$left" --jobs "$(jobs_count)" \
    "$folder" 2>"$log" || true)
  if ((late > 0)); then
    count_skip "clang-tidy of $late sources: $left s were left; all of it is \`bash tests/run.sh --tidy\`"
  fi
  if grep -q . "$log"; then head -n 200 "$log" >&2; fi
  took
}

# Small mistakes put into the judge, the predictions, the figures, CSV and undo: the tests must notice each.
mutants() {
  step "Mutants"
  local line
  while IFS= read -r line; do
    case "$line" in
      KILLED*) count_pass ;;
      SURVIVED* | STALE*) count_fail "mutant $line" ;;
      *) say "    $line" ;;
    esac
  done < <(python3 "$root/tests/mutants.py" --jobs "$(jobs_count)" "$1" || true)
  took
}

# The version of clang for --full: 16, else the newest there is, installed or in the package lists.
choose_clang() {
  local versions
  versions="$({
    compgen -c clang++- | sed -nE 's/^clang\+\+-([0-9]+)$/\1/p'
    apt-cache search --names-only '^clang-[0-9]+$' 2>/dev/null | sed -nE 's/^clang-([0-9]+) .*/\1/p'
  } | sort -n -u)"
  if [[ -z $versions ]] || grep -qx 16 <<<"$versions"; then
    printf '16\n'
  else
    tail -n 1 <<<"$versions"
  fi
}

# ---- all of it

main() {
  local full="" tsan="" tidy="" wheels="" web="" folder gui clang clang_version=16 line
  local -a with_clang=()
  case "${1:-}" in
    --full) full=1 ;;
    --tsan) tsan=1 ;;
    --tidy) tidy=1 ;;
    --wheels) wheels=1 ;;
    --web) web=1 ;;
    "") ;;
    *)
      say "usage: bash tests/run.sh [--full | --tsan | --tidy | --wheels | --web]"
      exit 2
      ;;
  esac
  local fuzz_seconds="${ATTNSCOPE_FUZZ_SECONDS:-20}" tidy_seconds="${ATTNSCOPE_TIDY_SECONDS:-1200}"
  # clang-tidy comes last and takes what is left of this: a machine that is slow does not run into its own limit.
  local most_seconds="${ATTNSCOPE_MOST_SECONDS:-3840}"

  build_folder tests
  announce "$folder" "$root/app/setup/packages" "$root/app/setup/packages_tests"
  step "System packages"
  install_packages "$root/app/setup/packages" "$root/app/setup/packages_tests"
  if [[ -n $full$tsan$tidy ]]; then
    clang_version="$(choose_clang)"
    sed "s/VERSION /$clang_version /; s/VERSION-/$clang_version-/" "$root/app/setup/packages_full" \
      >"$folder/packages_full"
    install_packages "$folder/packages_full"
  fi
  if [[ -n $web ]]; then install_packages "$root/app/setup/packages_web"; fi
  check_tools
  clang="$(command -v "clang++-$clang_version" || command -v clang++ || true)"
  if [[ -n $clang ]]; then
    with_clang=(-DCMAKE_CXX_COMPILER="$clang" -DCMAKE_C_COMPILER="${clang/clang++/clang}")
  fi
  step "GUI sources"
  gui_sources

  if [[ -n $wheels ]]; then test_wheels; fi
  if [[ -z $tsan$tidy$wheels$web ]]; then
    check_rules
    test_release "$full"
    if [[ -n $full ]]; then mutants "$folder"; fi
  fi
  if [[ -n $web ]]; then test_web; fi
  if [[ -n $full ]]; then test_asan; fi
  if [[ -n $tsan ]]; then test_tsan; fi
  if [[ -n $full ]] && in_time 6 "the thread sanitizer (bash tests/run.sh --tsan)"; then test_tsan; fi
  if [[ -n $full ]]; then test_web_at_hand; fi
  if [[ -n $full$tidy ]]; then tidy; fi

  say ""
  for line in "${failures[@]}"; do say "FAILED: $line"; done
  say "Took $((SECONDS / 60)) min $((SECONDS % 60)) s, of which:"
  long_steps
  printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
  if ((failed > 0)); then exit 1; fi
}

main "$@"
