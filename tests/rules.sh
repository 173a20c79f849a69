#!/usr/bin/env bash
# The rules of the code that no compiler checks. Prints a line each: PASS, FAIL or SKIP,
# the rule, and after FAIL what breaks it. Exit status 1 if one failed.
#   bash tests/rules.sh          check
#   bash tests/rules.sh --fix    lay the code out with clang-format
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

readonly format_version=14
failed=0

pass() { printf 'PASS %s\n' "$1"; }
skip() { printf 'SKIP %s: %s\n' "$1" "$2"; }
verdict() { # RULE OFFENDERS
  if [[ -z $2 ]]; then
    pass "$1"
  else
    printf 'FAIL %s\n%s\n' "$1" "       ${2//$'\n'/$'\n'       }"
    failed=1
  fi
}

# Ours alone: not the build folders, whether or not this is a git checkout.
sources() { # FOLDER... -- NAME PATTERN...
  find "$@" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) | LC_ALL=C sort
}
readonly rooms=(kernels profiling viz app)

# offenders PATTERN FOLDER...: where an #include matches.
offenders() {
  local pattern="$1"
  shift
  sources "$@" | xargs -r grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($pattern)" || true
}

check_format() {
  local rule="code is laid out by clang-format" version
  if ! command -v clang-format >/dev/null; then
    skip "$rule" "clang-format is not installed"
    return
  fi
  version="$(clang-format --version | sed -E 's/.*version ([0-9]+).*/\1/')"
  if [[ $version != "$format_version" ]]; then
    skip "$rule" "this is version $version, which lays out some lines differently from $format_version"
    return
  fi
  verdict "$rule (mend: bash tests/rules.sh --fix)" "$(
    sources "${rooms[@]}" tests | xargs -r clang-format --dry-run 2>&1 |
      sed -nE 's/^([^:]+):[0-9]+:[0-9]+: warning.*/\1/p' | sort | uniq -c || true
  )"
}

check_direction() {
  verdict "room kernels includes no other room, no GUI, no profiler" \
    "$(offenders '(profiling|viz|app|tests)/|imgui|implot|GLFW|cupti' kernels)"
  verdict "room profiling includes kernels alone, no GUI" \
    "$(offenders '(viz|app|tests)/|imgui|implot|GLFW' profiling)"
  verdict "room viz includes no app, no GLFW, GL, CUDA, threads or files" \
    "$(offenders '(app|tests)/|GLFW|GL/|imgui_impl|cuda|thread>|mutex>|future>|fstream>' viz)"
  verdict "app/python includes kernels alone: no window, no command line, no profiler, no CUDA" \
    "$(offenders '(profiling|viz|app)/|imgui|implot|GLFW|cupti|cuda' app/python | grep -v '"app/python/' || true)"
  verdict "no room includes the tests" "$(offenders 'tests/|gtest|benchmark' "${rooms[@]}")"
  verdict "includes read \"room/file.h\", from the root" "$(offenders '\.\./' "${rooms[@]}" tests)"
}

# What a port to another system looks at stands together.
check_posix() {
  local headers='unistd|fcntl|signal|poll|dlfcn|pthread|sched|spawn|termios|dirent|glob|fnmatch|ftw|wordexp|getopt'
  headers+='|pwd|grp|netdb|langinfo|semaphore|mqueue|aio|syslog|ucontext|execinfo|link|elf|strings|utime'
  verdict "POSIX is asked in app/system and kernels/base alone" "$(
    offenders "((sys|linux|asm|arpa|net|netinet)/|($headers)\\.h>|csignal>)" "${rooms[@]}" |
      grep -vE '^(app/system|kernels/base)/' || true
  )"
}

# A lesson sets its stage as any hand would: undo, state strings and tests rest on that one mechanism.
check_lessons() {
  verdict "lessons change the state by commands alone" "$(
    sources app/control | grep '/lesson' | xargs -r grep -nE 'context_\.state' |
      grep -vE 'const State& state\(\) const|context_\.state = \*std::move\(next\);' || true
  )"
}

# What another user's run left, or another run at the same time, must not get in the way.
check_temporary() {
  verdict "tests write to temporary folders of their own (tests/kernels/temp_folder.h)" "$(
    grep -rnE 'temp_directory_path|TempDir\(\)|mktemp |gettempdir|"/tmp' tests --include='*.cpp' --include='*.h' \
      --include='*.py' --include='*.sh' | grep -vE 'XXXXXX|getpid|mktemp -d|^tests/rules.sh' || true
  )"
}

# A room's own rooms, lowest first: each may include those before it; "." is what lies beside them. A new folder takes
# its place in the list, or has that of the folder it lies in, if that has one. So there is no circle.
rooms_inside() { # ROOM
  case "$1" in
    kernels)
      printf "base formats model/problem model model/inputs arithmetic recording recording/replay recording/file \
judge judge/first_wrong orders gpu/compile gpu/compile/listing gpu/device gpu/own_kernel gpu/rungs \
gpu/rungs/trace gpu/rungs/stamps gpu/rungs/cuda_cores gpu/rungs/tensor_cores gpu/rungs/hopper gpu/rungs/splitkv \
gpu/rungs/backward gpu/launch gpu/ring cpu cpu/backward . museum lab"
      ;;
    profiling) printf 'figures spec session/json session timeline cupti measure measure/cpu measure/gpu tune sweep .' ;;
    viz)
      printf "state draw step/place step/orders step/facts step/charts step/beside step/tiles step/ring step/timeline \
step/problem step/bars step bench/runs bench/sweep bench/ladder bench/tiles bench/ranks bench/sources bench/scene \
bench/charts bench/table bench/panel bench/verdict bench profile/roofline profile/occupancy \
profile/source profile/phases profile/heartbeat profile/timeline/scene profile/timeline profile/figures \
profile/strip profile/lab profile \
learn/lesson learn/exercise learn/card learn/figure learn ."
      ;;
    app)
      printf "system state/apply state/inputs state/string state/lessons print graphics worker ring peers \
control/tasks control/step control/learn control/bench control/files control/profile control shell/keys \
shell/widgets shell/palette shell window cli/arguments cli/bench cli/profile cli/step cli/verify cli \
web web/absent python ."
      ;;
  esac
}

# upwards ROOM LIST: includes within the room that go into a folder that comes later. CUDA sources name one another by
# names of their own, which are no places.
upwards() {
  sources "$1" | grep -v '\.cuh\?$' | xargs -r grep -HnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*\"$1/" |
    awk -v room="$1" -v list="$2" '
      function place(file,  folder, around) {
        folder = substr(file, length(room) + 2)
        if (!sub(/\/[^\/]*$/, "", folder)) return "."
        around = folder
        while (!(around in rank) && sub(/\/[^\/]*$/, "", around)) {}
        return around in rank ? around : folder
      }
      BEGIN { count = split(list, names, " "); for (n = 1; n <= count; ++n) rank[names[n]] = n }
      {
        split($0, parts, ":")
        from = place(parts[1])
        match($0, /"[^"]+"/)
        to = place(substr($0, RSTART + 1, RLENGTH - 2))
        if (from == to) next
        if (!(from in rank)) print parts[1] ": the folder " from " has no place in tests/rules.sh"
        else if (!(to in rank)) print parts[1] ":" parts[2] ": the folder " to " has no place in tests/rules.sh"
        else if (rank[to] > rank[from]) print parts[1] ":" parts[2] ": " from " includes " to ", which is above it"
      }' || true
}

check_rooms_inside() {
  local room
  for room in "${rooms[@]}"; do
    verdict "inside $room includes go one way: $(rooms_inside "$room")" "$(upwards "$room" "$(rooms_inside "$room")")"
  done
}

check_rings() {
  verdict "no ring of includes, header and source as one, nor of Python's imports" \
    "$(python3 tests/rings.py "${rooms[@]}" assets tests || true)"
}

# A folder is a floor; its rooms are its sources, a header and its source being one, and the folders in it.
check_floors() {
  local most=16
  verdict "no folder has more than $most rooms" "$(
    { sources "${rooms[@]}" tests; } | awk -v most="$most" -F / '
      {
        for (n = 2; n <= NF; ++n) {
          floor = $1
          for (k = 2; k < n; ++k) floor = floor "/" $k
          room = $n
          if (n == NF) sub(/\.[a-z]+$/, "", room)
          if (!seen[floor "/" room (n == NF ? "" : "/")]++) ++count[floor]
        }
      }
      END { for (floor in count) if (count[floor] > most) print floor ": " count[floor] " rooms" }' | LC_ALL=C sort
  )"
}

# What an order is, its row says (kernels/model/order_row.h): code that switched on one would not know the next.
check_orders() {
  local id='((attn|model)::)?(Phase|Slot|Order)::' order='((attn|model)::)?Order::'
  verdict "outside kernels/orders nothing switches on Order, Phase or Slot, nor compares an Order with one by name" "$(
    sources "${rooms[@]}" | grep -v '^kernels/orders/' |
      xargs -r grep -nE "case $id|using enum (Phase|Slot|Order)\\b|[!=]= ?$order|\\bOrder::[a-z0-9_]+ [!=]=" || true
  )"
  verdict "an order's own phases and slots are named in its row, its look and the CPU kernels that walk it" "$(
    sources "${rooms[@]}" | grep -vE '^(kernels/(orders|cpu)|viz/step/orders)/' |
      xargs -r grep -nE '^[^/]*(phase|slot)_named\("' || true
  )"
}

# What is in the core (app/setup/core.txt) links by itself: no source is reached that is not in it, and nothing in it
# asks for threads, processes, libraries that are opened, a driver or a profiler. Files and the program's own path are
# POSIX's, in one source each. A tensor map as it is asked for is plain values.
readonly core_without='profiling/(sweep|measure|tune|cupti)/|kernels/gpu/(device|launch)/|kernels/base/library\.h'
readonly core_threadless='kernels/cpu/thread_crew|kernels/base/on_threads|thread>|mutex>|stop_token>|future>'
readonly core_system='condition_variable>|semaphore>|latch>|barrier>|dlfcn|pthread|sched\.h|spawn|unistd|sys/|poll\.h'
check_core() {
  local reached posix='^(kernels/base/files|app/system/posix)\.cpp:'
  reached="$(python3 tests/reach.py --listed app/setup/core.txt)"
  verdict "the core reaches no source outside app/setup/core.txt" \
    "$(python3 tests/reach.py --outside app/setup/core.txt)"
  verdict "the core includes no threads, processes, libraries, driver or profiler" "$(
    xargs grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($core_without|$core_threadless|$core_system)" \
      <<<"$reached" | grep -vE "$posix|kernels/gpu/device/tensor_map\.h" || true
  )"
  verdict "Step reaches at most 240 files, with Learn 340" "$(
    python3 tests/reach.py --most 240 viz/step/workspace.h
    python3 tests/reach.py --most 340 viz/step/workspace.h viz/learn/workspace.h
  )"
}

# The texts of GPU kernels are as they were measured: a shorter file would be another kernel.
readonly frozen='^kernels/gpu/rungs/([^/]*/)*([^/]*\.cuh?|[^/]*_layout\.h|args\.h)$'

check_length() {
  local listed sources
  listed="$(git ls-files 2>/dev/null || true)"
  [[ -n $listed ]] || listed="$(find . -path ./build -prune -o -type f -printf '%P\n')"
  listed="$(while IFS= read -r file; do if [[ -f $file ]]; then printf '%s\n' "$file"; fi; done <<<"$listed")"
  sources="$(grep -E '\.(h|cpp|cuh?|py|sh|cmake)$|(^|/)CMakeLists\.txt$' <<<"$listed" | grep -vE "$frozen")"
  verdict "no source is longer than 450 lines" "$(xargs python3 tests/lengths.py --files 450 <<<"$sources" || true)"
  verdict "no function is longer than 80 lines" "$(xargs python3 tests/lengths.py --functions 80 <<<"$sources" || true)"
  # -I leaves binary files out; what is collected in assets/texts has a line a text.
  verdict "no other file is longer than 600 lines" "$(
    grep -vE '^assets/texts/' <<<"$listed" | grep -vxF "$sources" | while IFS= read -r file; do
      if grep -qI . "$file"; then
        lines="$(wc -l <"$file")"
        if ((lines > 600)); then printf '%s: %s lines\n' "$file" "$lines"; fi
      fi
    done
  )"
}

# Dear ImGui also breaks a line behind the points of "libcuda.so.1".
check_wrapping() {
  verdict "text is wrapped by wrapped_text() and draw_paragraph() alone" "$(
    sources viz app | grep -vx 'viz/draw/widgets.cpp' | xargs -r grep -nE 'PushTextWrapPos|TextWrapped' || true
  )"
}

# One that Dear ImGui opens by itself ends in the midst of a row.
check_lists() {
  verdict "lists of choices are opened by begin_list() alone" "$(
    sources viz app | grep -vx 'viz/draw/widgets.cpp' | xargs -r grep -nE 'ImGui::(BeginCombo|Combo|BeginListBox)\(' ||
      true
  )"
}

# A picture is two files: x.cpp makes plain values with the text in them and is tested without a window, x_draw.cpp
# draws them. So of viz only viz/draw/, *_draw.* and the workspaces may reach Dear ImGui, be it through other headers.
check_pictures() {
  local graphics='imgui|implot' reach more=''
  reach="$graphics"
  while true; do
    more="$(sources viz | grep '\.h$' | xargs -r grep -lE "^#include [<\"]($reach)" | paste -sd '|')"
    more="$graphics|${more//./\\.}"
    [[ $more != "$reach" ]] || break
    reach="$more"
  done
  verdict "pictures: x.cpp is pure, x_draw.cpp draws" "$(
    sources viz | grep -vE '^viz/draw/|_draw\.(h|cpp)$|/workspace\.cpp$' |
      xargs -r grep -nE "^#include [<\"]($reach)" || true
  )"
}

# The formatter leaves long comments and strings as they are. What GPUs compile is left out: a comment there changes the
# hash by which saved measurements know their kernel.
check_width() {
  verdict "no line is longer than 120 columns (addresses may be)" "$(
    find "${rooms[@]}" tests assets/peers CHANGELOG.md -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.py' \
      -o -name '*.sh' -o -name '*.cmake' -o -name 'CHANGELOG.md' \) | LC_ALL=C sort |
      LC_ALL=C.UTF-8 xargs -r grep -nE '^.{121,}' |
      grep -vE '[a-z]://' | cut -c1-120 || true
  )"
}

# Two types of one name in one namespace: the linker takes one's functions for the other, and nothing says so.
check_names() {
  # shellcheck disable=SC2016 # awk's fields
  verdict "no two headers define a type of the same name" "$(
    sources "${rooms[@]}" | grep '\.h$' | xargs -r awk '
      FNR == 1 { space = "" }
      /^namespace [a-z_:]+ \{/ && space == "" { space = $2 }
      /^(struct|class|union|enum class) [A-Za-z0-9_]+[^;(]*\{/ {
        name = $1 == "enum" ? $3 : $2
        if (seen[space "::" name] != "" && seen[space "::" name] != FILENAME)
          print FILENAME ": " name " is defined in " seen[space "::" name] " as well"
        seen[space "::" name] = FILENAME
      }'
  )"
}

# What a kernel does is a function of its row; ids stand in tables of data alone.
check_ids() {
  local ids
  ids="$(grep -rhoE 'row\.id = "[a-z0-9_]+"' kernels --include='*.cpp' | cut -d '"' -f 2 | paste -sd '|')"
  verdict "no code compares a kernel's id with a text, or looks one up by it" "$(
    sources "${rooms[@]}" |
      xargs -r grep -nE "(==|!=) *\"($ids)\"|\"($ids)\" *(==|!=)|find_kernel\(\"" || true
  )"
}

# Otherwise only the long run of all mutants would notice that a source moved away under one.
check_mutants() {
  verdict "every mutant's text stands in its source" "$(python3 tests/mutants.py --stale || true)"
}

check_shell() {
  local rule="shell scripts pass shellcheck"
  if command -v shellcheck >/dev/null; then
    verdict "$rule" "$(shellcheck -x -f gcc app/run.sh tests/run.sh tests/rules.sh tests/bare.sh tests/wheels.sh \
      tests/web.sh app/web/*.sh app/setup/*.sh 2>&1 ||
      true)"
  else
    skip "$rule" "shellcheck is not installed"
  fi
}

main() {
  if [[ ${1:-} == --fix ]]; then
    sources "${rooms[@]}" tests | xargs -r clang-format -i
    return
  fi
  check_format
  check_direction
  check_posix
  check_lessons
  check_pictures
  check_wrapping
  check_lists
  check_rooms_inside
  check_floors
  check_rings
  check_core
  check_temporary
  check_orders
  check_length
  check_width
  check_names
  check_ids
  check_mutants
  check_shell
  return "$failed"
}

main "$@"
