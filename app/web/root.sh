#!/usr/bin/env bash
# Brings what the page is compiled with: a Debian 13 root with Emscripten 3.1.69, and in it zlib, libzip and giflib
# compiled for WebAssembly from Debian's pinned sources. About 230 MB of downloads, 1 GB of disk and five minutes, once;
# it lies in ${XDG_CACHE_HOME:-~/.cache}/attnscope/web. Where it lies there whole, nothing is done.
#   bash app/web/root.sh             prints the root's folder on stdout, everything else on stderr
#   bash app/web/root.sh --whole     whether it lies there (exit status 0), without bringing it
#   bash app/web/root.sh --enter COMMAND [FOLDER=PLACE]...   runs a shell's words in it, with folders of the system
#                                    bound to places of the root
# A root is entered by chroot, so this wants to be root itself. It needs debootstrap.
# shellcheck disable=SC2016 # words for a shell in the root
set -euo pipefail

readonly cache="${XDG_CACHE_HOME:-$HOME/.cache}/attnscope/web"
readonly target="$cache/trixie"
readonly mirror="${ATTNSCOPE_MIRROR:-}" # empty: the one that debootstrap knows
readonly emscripten=3.1.69
# Of the root: Emscripten, the build, and headers that have nothing to link.
readonly packages="emscripten cmake ninja-build ccache python3-minimal git dpkg-dev brotli bzip2 xz-utils
  libfmt-dev nlohmann-json3-dev libexpected-dev libstb-dev libcli11-dev libhwy-dev"
# NAME FILE SHA256 of the upstream sources that Debian 12's source packages hold: the versions of the program there.
readonly sources="
zlib zlib_1.2.13.dfsg.orig.tar.bz2 71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1
libzip libzip_1.7.3.orig.tar.xz a60473ffdb7b4260c08bfa19c2ccea0438edac11193c3afbbb1f17fbcf6c6132
giflib giflib_5.2.1.orig.tar.gz 31da5562f44c5f15d63340a09a4fd62b48c45620cd302f77a6d9acf0077879bd"

say() { printf '%s\n' "$*" >&2; }

# What this root is made of; another list makes another root.
stamp() { printf '%s\n' "$emscripten" "$packages" "$sources" 3 | sha256sum | cut -c 1-16; }

whole() { [[ -f $target/.attnscope && "$(<"$target/.attnscope")" == "$(stamp)" ]]; }

# enter ROOT COMMAND [FOLDER=PLACE]...: /proc, /dev and what is bound go with the command.
enter() {
  local root="$1" command="$2"
  shift 2
  unshare --mount --pid --fork --kill-child bash -euc '
    root="$1" command="$2"
    shift 2
    mount --make-rprivate /
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    for pair in "$@"; do
      mkdir -p "$root${pair##*=}"
      mount --bind "${pair%=*}" "$root${pair##*=}"
    done
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive CCACHE_DIR=/root/.ccache \
      chroot "$root" bash -euc "$command"' - "$root" "$command" "$@" </dev/null
}

# The libraries, for WebAssembly, under /opt/wasm of the root.
libraries() { # ROOT
  local name file sum
  enter "$1" '
    sed "s/^deb /deb-src /; s/trixie/bookworm/" /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list
    apt-get -q update
    mkdir -p /opt/sources && cd /opt/sources
    apt-get -q source --download-only zlib libzip giflib' >&2
  while read -r name file sum; do
    [[ -n $name ]] || continue
    if ! (cd "$1/opt/sources" && printf '%s  %s\n' "$sum" "$file" | sha256sum --check --status); then
      say "The sources of $name do not match the pinned ones ($file)."
      return 1
    fi
    mkdir -p "$1/opt/sources/$name"
    tar -xf "$1/opt/sources/$file" -C "$1/opt/sources/$name" --strip-components=1
  done <<<"$sources"
  enter "$1" '
    export CFLAGS="-O2 -fwasm-exceptions -w"
    mkdir -p /opt/wasm/lib /opt/wasm/include /opt/headers
    cd /opt/sources/zlib
    for name in adler32 compress crc32 deflate infback inffast inflate inftrees trees uncompr zutil; do
      emcc $CFLAGS -c "$name.c" -o "$name.o"
    done
    emar rcs /opt/wasm/lib/libz.a ./*.o
    cp zlib.h zconf.h /opt/wasm/include/
    cd /opt/sources
    emcmake cmake -S libzip -B libzip/wasm -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/opt/wasm \
      -DBUILD_SHARED_LIBS=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF -DBUILD_OSSFUZZ=OFF -DBUILD_EXAMPLES=OFF \
      -DBUILD_DOC=OFF -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF -DENABLE_ZSTD=OFF -DENABLE_OPENSSL=OFF -DENABLE_GNUTLS=OFF \
      -DENABLE_MBEDTLS=OFF -DENABLE_COMMONCRYPTO=OFF \
      -DZLIB_LIBRARY=/opt/wasm/lib/libz.a -DZLIB_INCLUDE_DIR=/opt/wasm/include
    ninja -C libzip/wasm
    cp libzip/wasm/lib/libzip.a /opt/wasm/lib/
    cp libzip/lib/zip.h libzip/wasm/zipconf.h /opt/wasm/include/
    ln -s /usr/include/fmt /usr/include/nlohmann /usr/include/tl /usr/include/stb /usr/include/CLI /usr/include/hwy \
      /opt/headers/
    cd giflib
    for name in dgif_lib egif_lib gif_err gif_hash gifalloc openbsd-reallocarray quantize; do
      emcc $CFLAGS -c "$name.c" -o "$name.o"
    done
    emar rcs /opt/wasm/lib/libgif.a ./*.o
    cp gif_lib.h /opt/wasm/include/' >&2
}

# What is finished stays when this is cut off.
bring() {
  local folder
  folder="$cache/.partial-$(stamp)"
  find "$cache" -maxdepth 1 -name '.partial-*' ! -path "$folder" -exec rm -rf {} +
  say "    fetching Debian 13 with Emscripten (230 MB; about 5 minutes)"
  if [[ ! -f $folder/.base ]]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    # shellcheck disable=SC2086 # the mirror, if there is one
    debootstrap --variant=minbase trixie "$folder" $mirror >&2
    cp /etc/resolv.conf "$folder/etc/resolv.conf"
    touch "$folder/.base"
  fi
  enter "$folder" "apt-get -q update && apt-get -q install -y --no-install-recommends ${packages//$'\n'/}" >&2
  if ! enter "$folder" "emcc --version | head -n 1 | grep -qF ' $emscripten'"; then
    say "Debian 13 no longer has Emscripten $emscripten, which the page is built with."
    return 1
  fi
  libraries "$folder"
  stamp >"$folder/.attnscope"
  rm -rf "$target"
  mv "$folder" "$target"
}

main() {
  if [[ ${1:-} == --enter ]]; then
    shift
    enter "$target" "$@"
    return
  fi
  if [[ ${1:-} == --whole ]]; then
    whole
    return
  fi
  if ((EUID != 0)); then
    say "The page is compiled in a Debian 13 root entered with chroot: run this as root."
    return 1
  fi
  if ! command -v debootstrap >/dev/null; then
    say "debootstrap is missing; run apt-get install debootstrap."
    return 1
  fi
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  whole || (bring)
  printf '%s\n' "$target"
}

main "$@"
