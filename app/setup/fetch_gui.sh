#!/usr/bin/env bash
# Brings the pinned GUI sources into the cache, outside the source tree:
# ${XDG_CACHE_HOME:-~/.cache}/attnscope/sources/imgui_bundle-VERSION/external.
# Where they lie there whole, it does nothing and needs no network.
# Prints the folder 'external' on stdout, everything else on stderr. With --version it prints the version alone.
set -euo pipefail

readonly version=1.93.0
readonly sha256=10ad1dab8258a6787b4f07bb926b08d0efc648a7906242568c8dd778c5e719bf
readonly archive_name="imgui_bundle-$version.tar.gz"
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
readonly here
readonly cache="${XDG_CACHE_HOME:-$HOME/.cache}/attnscope"
readonly archive="$cache/downloads/$archive_name"
readonly target="$cache/sources/imgui_bundle-$version"

say() { printf '%s\n' "$*" >&2; }

# Names and sizes of all files: enough to see a file gone or cut short, and quick.
manifest() { (cd "$1" && find external -type f -printf '%s %p\n' | LC_ALL=C sort); }

complete() {
  [[ -f $target/manifest ]] && manifest "$target" | cmp -s - "$target/manifest"
}

archive_good() {
  [[ -f $archive ]] && printf '%s  %s\n' "$sha256" "$archive" | sha256sum --check --status
}

# follow FOLDER: how much has come, each second, on a terminal. Ends with this script or with kill.
follow() {
  local mib
  while sleep 1 && kill -0 $$ 2>/dev/null; do
    mib="$(du -sm -- "$1" 2>/dev/null | cut -f 1)"
    printf '\r\033[K    %s of 52 MiB' "$((${mib:-0} < 52 ? ${mib:-0} : 52))" >&2
  done
}

# pip brings the package by name and hash. It would also fetch and run the package's
# build tools to ask for its metadata (30 MB, seconds); no_backend/ answers instead.
download() {
  local folder
  folder="$(mktemp -d "$cache/downloads/.partial.XXXXXX")"
  printf 'imgui-bundle==%s --hash=sha256:%s\n' "$version" "$sha256" >"$folder/requirements.txt"
  say "    fetching the GUI sources (52 MiB)"
  watcher=""
  if [[ -t 2 ]]; then
    follow "$folder" &
    watcher=$!
  fi
  # Also where Ctrl+C ends it.
  # shellcheck disable=SC2064 # these values
  trap "rm -rf '$folder'; if [[ -n '$watcher' ]]; then kill '$watcher' 2>/dev/null; printf '\r\033[K' >&2; fi" EXIT
  # pip's temporary copies lie beside the result: /tmp may be small.
  if ! (cd -- "$folder" && PYTHONPATH="$here/no_backend" TMPDIR="$PWD" python3 "$here/run_module.py" pip download \
    --quiet --no-deps --no-build-isolation --no-binary imgui-bundle --require-hashes --no-cache-dir \
    --disable-pip-version-check -r requirements.txt -d .) >"$folder/log" 2>&1; then
    tail -n 3 "$folder/log" >&2
    say "Cannot download the GUI sources (54 MB, package imgui-bundle $version from the Python package index)."
    say "Fix: check the network and the free space of $cache ($(free_mib) MiB), then rerun."
    say "Or copy $archive_name from another machine into $cache/downloads/."
    return 1
  fi
  mv -f "$folder/$archive_name" "$archive"
}

free_mib() { df -Pm -- "$cache" 2>/dev/null | awk 'NR == 2 { print $4 }' || true; }

need_space() { # MIB
  local free
  free="$(free_mib)"
  if [[ -n $free ]] && ((free < $1)); then
    say "$cache has $free MiB free, but the GUI sources need $1 MiB."
    say "Fix: free some space there, or set XDG_CACHE_HOME to a folder on a larger disk."
    return 1
  fi
}

unpack() {
  local folder root="imgui_bundle-$version/external"
  folder="$(mktemp -d "$cache/sources/.partial.XXXXXX")"
  # Only what we build, read or copy: 40 of 136 MB.
  if ! tar -xzf "$archive" -C "$folder" --strip-components=1 --no-same-owner \
      --exclude='*/MicroTeX/platform' --exclude='*/MicroTeX/readme' --exclude='*/bindings' \
      --exclude='*/imgui_rich_md/tests' --exclude='*/imgui_rich_md/docs' \
      "$root/imgui" "$root/implot" "$root/glfw" "$root/imgui_test_engine" "$root/imgui_rich_md" \
      "$root/imgui_microtex" "$root/ImGuiColorTextEdit" "$root/portable_file_dialogs" >&2; then
    rm -rf "$folder"
    say "Cannot unpack the GUI sources to $cache/sources (free: $(free_mib) MiB)."
    return 1
  fi
  manifest "$folder" >"$folder/manifest"
  chmod 755 "$folder"
  rm -rf "$target"
  mv "$folder" "$target"
}

main() {
  if [[ ${1:-} == --version ]]; then
    printf '%s\n' "$version"
    return 0
  fi
  if ! complete; then
    if ! mkdir -p "$cache/downloads" "$cache/sources"; then
      say "Fix: set XDG_CACHE_HOME to a folder you can write to."
      return 1
    fi
    # One at a time: two set-ups started together would unpack over each other.
    exec 9>"$cache/lock"
    flock 9
    rm -rf "$cache"/downloads/.partial.* "$cache"/sources/.partial.*
    if ! complete; then
      if ! archive_good; then
        rm -f "$archive"
        need_space 220
        (download)
      fi
      if ! archive_good; then
        say "The download did not match the pinned sha256 and was deleted."
        rm -f "$archive"
        return 1
      fi
      need_space 60
      unpack
    fi
  fi
  printf '%s\n' "$target/external"
}

main "$@"
