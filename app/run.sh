#!/usr/bin/env bash
# Sets AttnScope up and opens it: bash app/run.sh [ARGUMENTS OF attnscope...]
#
# On a bare Debian 12 or 13 or Ubuntu 24.04 it installs the system packages that are missing,
# brings the GUI sources, builds, and runs. Again it is quick, and needs no network.
# With neither display nor arguments it writes the text, a picture and a CSV instead:
#   bash app/run.sh --output FOLDER   where to
#   bash app/run.sh --setup-only      only sets up
set -Eeuo pipefail

# shellcheck source=app/setup/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup/lib.sh"

set_up() {
  build_folder release
  announce "$folder" "$root/app/setup/packages"
  step "System packages"
  install_packages "$root/app/setup/packages"
  check_tools

  step "GUI sources"
  gui_sources

  step "Configure"
  # Two set-ups at once would build over each other.
  exec 8>"$folder/lock"
  flock 8
  configure release "$folder" "$gui"

  step "Build in $folder"
  build "$folder"
  # The program must not inherit the lock.
  exec 8>&-
}

# What a person without a display gets: the same example as text, picture and table.
first_run() {
  local program="$1" output="$2"
  step "No display: the example as text, picture and table"
  mkdir -p "$output" || fail "Fix: choose another folder:  bash app/run.sh --output FOLDER"
  say "    Neither DISPLAY nor WAYLAND_DISPLAY is set, so no window can open."

  step "The blackboard run, step by step"
  "$program" step --preset blackboard | tee "$output/blackboard.txt" ||
    fail "The program's output is above." "Fix: see what works here:  bash app/run.sh doctor"

  step "A picture of the Step view"
  local picture="$output/step.png"
  if ! "$program" shot --view step --step 12 -o "$picture"; then
    say "    The picture could not be drawn. The reason is above. Everything else continues."
    picture=""
  fi

  step "A small sweep of the CPU kernels"
  "$program" bench --kernels cpu_sequential,cpu_multicore,cpu_tiled,cpu_flash1,cpu_flash \
    --axis L --values 64,128,256,512 --csv "$output/cpu_sweep.csv" ||
    fail "The program's output is above." "Fix: see what works here:  bash app/run.sh doctor"

  say ""
  say "Written:"
  say "  $output/blackboard.txt   every step of the example"
  if [[ -n $picture ]]; then say "  $picture         the Step view"; fi
  say "  $output/cpu_sweep.csv    the CPU kernels' times"
  say "With a display, the same command opens the window. All commands:  bash app/run.sh --help"
}

main() {
  local output="${XDG_DATA_HOME:-$HOME/.local/share}/attnscope/first-run" setup_only=""
  while (($# > 0)); do
    case "$1" in
      --output)
        (($# >= 2)) || fail "--output needs a folder."
        mkdir -p "$2" || fail "Fix: choose a folder you can write to."
        output="$(cd -- "$2" && pwd)"
        shift 2
        ;;
      --setup-only)
        setup_only=1
        shift
        ;;
      *) break ;;
    esac
  done

  local folder gui
  set_up
  local program="$folder/bin/attnscope"
  [[ -x $program ]] || fail "The build did not produce $program."
  if [[ -n $setup_only ]]; then
    say "Ready: $program"
  elif (($# == 0)) && [[ -z ${DISPLAY:-} && -z ${WAYLAND_DISPLAY:-} ]]; then
    first_run "$program" "$output"
  else
    exec "$program" "$@"
  fi
}

main "$@"
